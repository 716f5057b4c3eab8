// open_mutex.hpp - the value of a mutex that nobody holds.
//
// Room:     platform (floor 1), malloc-safe
// Called:   where a mutex is declared, and in a child whose parent's threads held some
// Threads:  any
// Memory:   none of its own
//
// PTHREAD_MUTEX_INITIALIZER has zeros for pointers, and g++ blames the file that uses it.

#ifndef ALLOCSCOPE_PLATFORM_OPEN_MUTEX_HPP
#define ALLOCSCOPE_PLATFORM_OPEN_MUTEX_HPP

#include <allocscope/config.hpp>

#include <pthread.h>  // pthread_mutex_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
constexpr pthread_mutex_t open_mutex = PTHREAD_MUTEX_INITIALIZER;
#pragma GCC diagnostic pop

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLATFORM_OPEN_MUTEX_HPP
