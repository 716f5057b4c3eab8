// one_processor.hpp - threads of two priorities on one processor.
//
// Room:     tests/support
// Called:   by tests of threads that wait for each other
// Threads:  each function is about the calling thread
// Memory:   none

#ifndef ALLOCSCOPE_TESTS_SUPPORT_ONE_PROCESSOR_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_ONE_PROCESSOR_HPP

#include <pthread.h>  // pthread_setschedparam
#include <sched.h>    // sched_setaffinity
#include <cstddef>    // size_t

namespace allocscope_test {

// From now on this thread, and the threads that it starts, run on one processor only. False: the
// kernel refuses.
inline bool share_one_processor() {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return false;
    std::size_t first = 0;
    while (!CPU_ISSET(first, &allowed)) ++first;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(first, &only);
    return sched_setaffinity(0, sizeof only, &only) == 0;
}

// Whenever this thread can run, those of the usual priority on its processor do not. False: that
// needs a privilege.
inline bool become_real_time() {
    sched_param wanted{};
    wanted.sched_priority = 1;
    return pthread_setschedparam(pthread_self(), SCHED_FIFO, &wanted) == 0;
}

}  // namespace allocscope_test

#endif  // ALLOCSCOPE_TESTS_SUPPORT_ONE_PROCESSOR_HPP
