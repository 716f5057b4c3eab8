// windows_of_all_kinds.hpp - runs something with no window open, and under each kind of window.
//
// Room:     tests/malloc_family
// Called:   by tests of what must not depend on windows
// Threads:  one
// Memory:   none

#ifndef ALLOCSCOPE_TESTS_MALLOC_FAMILY_WINDOWS_OF_ALL_KINDS_HPP
#define ALLOCSCOPE_TESTS_MALLOC_FAMILY_WINDOWS_OF_ALL_KINDS_HPP

#include <allocscope/allocscope.hpp>

#include <cstdint>           // uint64_t
#include <initializer_list>  // initializer_list

namespace allocscope_test {

inline allocscope::options sampling_with(std::uint64_t sample_bytes) {
    allocscope::options wanted;
    wanted.record = allocscope::recording::sampled;
    wanted.sample_bytes = sample_bytes;
    return wanted;
}

inline allocscope::options recording_as(allocscope::recording record) {
    allocscope::options wanted;
    wanted.record = record;
    return wanted;
}

// With an interval of 1 a sampled window records every event; with 2 nearly every block is a
// sample that begins at a page.
template <class Work>
void with_every_kind_of_window(Work work) {
    work("no window");
    for (const auto record : {allocscope::recording::exact, allocscope::recording::counters}) {
        allocscope::scope window{"kind", recording_as(record)};
        work(record == allocscope::recording::exact ? "exact" : "counters");
    }
    for (const std::uint64_t sample_bytes : {2U, 4096U}) {
        allocscope::scope window{"kind", sampling_with(sample_bytes)};
        work(sample_bytes == 2 ? "sampled, each" : "sampled, some");
    }
}

}  // namespace allocscope_test

#endif  // ALLOCSCOPE_TESTS_MALLOC_FAMILY_WINDOWS_OF_ALL_KINDS_HPP
