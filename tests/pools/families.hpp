// families.hpp - what a snapshot says of one family.
//
// Room:     tests/pools
// Called:   by the tests of pools
// Threads:  any
// Memory:   none

#ifndef ALLOCSCOPE_TESTS_POOLS_FAMILIES_HPP
#define ALLOCSCOPE_TESTS_POOLS_FAMILIES_HPP

#include <allocscope/allocscope.hpp>

#include <cstddef>  // size_t
#include <cstring>  // strcmp

namespace allocscope_test {

// All zero when there is no such family.
inline allocscope::snapshot::family family_of(const allocscope::snapshot& seen, const char* name) {
    const allocscope::snapshot::window_info& info = seen.info();
    for (std::size_t i = 0; i < info.family_count; ++i) {
        if (std::strcmp(info.families[i].name, name) == 0) return info.families[i];
    }
    return {name, 0, 0, 0, 0};
}

}  // namespace allocscope_test

#endif  // ALLOCSCOPE_TESTS_POOLS_FAMILIES_HPP
