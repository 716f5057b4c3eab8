// version.hpp - which allocscope this is.
//
// Room:     root (floor 0), malloc-safe
// Called:   by the preprocessor, by CMake (which reads the three numbers), by the reports
// Threads:  any
// Memory:   none
//
// The version follows semver.org. `ALLOCSCOPE_ABI_VERSION` changes whenever a structure that two
// modules of one process share (an executable and its plugins) changes its layout or meaning. A
// module that finds another number in its process records nothing and says so.

#ifndef ALLOCSCOPE_VERSION_HPP
#define ALLOCSCOPE_VERSION_HPP

#define ALLOCSCOPE_VERSION_MAJOR 0
#define ALLOCSCOPE_VERSION_MINOR 1
#define ALLOCSCOPE_VERSION_PATCH 0
#define ALLOCSCOPE_VERSION_STRING "0.1.0"
#define ALLOCSCOPE_ABI_VERSION 8

#endif  // ALLOCSCOPE_VERSION_HPP
