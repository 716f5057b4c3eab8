// measured_part.hpp - the two ways to measure the same part of a program.
//
// Each program here is built twice. With WITH_ALLOCSCOPE it opens a window around its work and
// prints the counts of the window. Without, it marks the begin and the end of the work for Valgrind
// by a malloc of a size that nobody else asks for, and the operators are libstdc++'s.

#ifndef ALLOCSCOPE_TESTS_EXACTNESS_MEASURED_PART_HPP
#define ALLOCSCOPE_TESTS_EXACTNESS_MEASURED_PART_HPP

#ifdef WITH_ALLOCSCOPE
    #include <allocscope/allocscope.hpp>
#endif

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace testing {

inline void mark(unsigned long size) {
    void* block = std::malloc(size);
    __asm__ volatile("" : "+r"(block) : : "memory");
    std::free(block);
}

// Runs work() and accounts for it. `argument` is the program's first: "counters", "exact" or empty.
template <class Work>
int measure(const char* argument, Work&& work) {
#ifdef WITH_ALLOCSCOPE
    allocscope::options wanted;
    if (std::strcmp(argument, "counters") == 0) wanted.record = allocscope::recording::counters;
    allocscope::scope window{"measured part", wanted};
    work();
    const allocscope::allocation_counts counts = window.counts();
    const char* problem = window.stop().info().not_recording;
    std::printf("allocations %llu frees %llu bytes %llu bytes_freed %llu\n%s",
                static_cast<unsigned long long>(counts.allocations),
                static_cast<unsigned long long>(counts.frees),
                static_cast<unsigned long long>(counts.bytes_allocated),
                static_cast<unsigned long long>(counts.bytes_freed), problem);
    return *problem == '\0' ? 0 : 1;
#else
    (void)argument;
    constexpr unsigned long begin_mark = 777777;
    constexpr unsigned long end_mark = 777779;
    mark(begin_mark);
    work();
    mark(end_mark);
    return 0;
#endif
}

}  // namespace testing

#endif  // ALLOCSCOPE_TESTS_EXACTNESS_MEASURED_PART_HPP
