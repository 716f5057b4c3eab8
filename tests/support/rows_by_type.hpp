// rows_by_type.hpp - how many objects of a type the rows of a snapshot have.
//
// Room:     tests/support
// Called:   by tests that compare types
// Threads:  any
// Memory:   none

#ifndef ALLOCSCOPE_TESTS_SUPPORT_ROWS_BY_TYPE_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_ROWS_BY_TYPE_HPP

#include <allocscope/snapshot/snapshot.hpp>

#include <cstdint>  // uint64_t
#include <cstring>  // strcmp

namespace allocscope_test {

inline std::uint64_t objects_of_type(const allocscope::snapshot& seen, const char* type) {
    std::uint64_t objects = 0;
    for (const allocscope::snapshot::row& row : seen) {
        if (std::strcmp(row.type, type) == 0) objects += row.objects;
    }
    return objects;
}

}  // namespace allocscope_test

#endif  // ALLOCSCOPE_TESTS_SUPPORT_ROWS_BY_TYPE_HPP
