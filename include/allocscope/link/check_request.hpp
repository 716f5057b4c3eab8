// check_request.hpp - the limits that a window is checked against.
//
// Room:     link (floor 1), malloc-safe
// Called:   filled by measure/, judged by verdict/
// Threads:  a plain value
// Memory:   the texts belong to the caller

#ifndef ALLOCSCOPE_LINK_CHECK_REQUEST_HPP
#define ALLOCSCOPE_LINK_CHECK_REQUEST_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/config.hpp>
#include <allocscope/link/engine.hpp>

#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

class snapshot;
struct leak_stack;

namespace detail {

// Both ends are included.
struct count_range {
    std::uint64_t least = 0;
    std::uint64_t most = ~std::uint64_t{0};
};

struct check_limits {
    count_range allocations;
    count_range bytes;
    count_range peak_bytes;
    count_range live_objects;
    count_range live_bytes;
};

enum class check_kind : std::uint32_t {
    budget,          // `limits` apply to the window's counts
    leaks,           // live_objects and live_bytes apply to what is alive and not expected
    repeated_leaks,  // the same for what one run of `runs` added; the caller did the arithmetic
    allocated_rows,  // nothing is judged: gives the rows of what was allocated, freed or not
    judged           // the caller has judged: saves the evidence, with `headline` above `rows`
};

struct check_request {
    check_kind kind = check_kind::budget;
    after_stats then = after_stats::go_on;
    check_limits limits;
    const char* expected = "";  // leaks that are expected, see verdict/leak_patterns.hpp
    // Also says for each stack whether it is expected. `expected_context` is passed to it.
    bool (*is_expected)(const leak_stack& stack, const void* context) = nullptr;
    const void* expected_context = nullptr;

    window_id window = 0;  // 0: the window has ended, and the two members below are its results
    allocation_counts counts;
    const snapshot* rows = nullptr;

    // repeated_leaks: how many runs there were, and the least that any of them added.
    std::uint64_t runs = 0;
    std::uint64_t added_objects = 0;
    std::uint64_t added_bytes = 0;

    // Like is_expected, but called first: see detail::expected_leaks.
    bool (*is_expected_by_symbols)(const leak_stack& stack, const void* context) = nullptr;

    // judged: what is wrong, and the name for the file.
    const char* headline = "";
    const char* name = "";
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_LINK_CHECK_REQUEST_HPP
