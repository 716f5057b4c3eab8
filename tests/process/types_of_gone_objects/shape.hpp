// shape.hpp - a class that compilers describe only where its first virtual function is.
//
// Room:     tests/process
// Called:   by main.cpp
// Threads:  any
// Memory:   what its users ask for

#ifndef ALLOCSCOPE_TESTS_PROCESS_TYPES_OF_GONE_OBJECTS_SHAPE_HPP
#define ALLOCSCOPE_TESTS_PROCESS_TYPES_OF_GONE_OBJECTS_SHAPE_HPP

namespace shop {

class shape {
public:
    virtual ~shape();
    virtual long size() const { return sides_[0]; }

private:
    long sides_[11] = {};
};

}  // namespace shop

#endif  // ALLOCSCOPE_TESTS_PROCESS_TYPES_OF_GONE_OBJECTS_SHAPE_HPP
