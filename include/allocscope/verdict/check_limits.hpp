// check_limits.hpp - finds the broken limits and writes the line that reports them.
//
// Room:     verdict (floor 11), not malloc-safe
// Called:   by verdict/check_window.hpp
// Threads:  any
// Memory:   of the text that is written to

#ifndef ALLOCSCOPE_VERDICT_CHECK_LIMITS_HPP
#define ALLOCSCOPE_VERDICT_CHECK_LIMITS_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/link/check_request.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/verdict/check_message.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// Which rows explain a broken limit best.
enum class evidence { alive, allocated };

struct broken_limit {
    const char* field = nullptr;
    std::uint64_t seen = 0;
    count_range allowed;
    bool counts_bytes = false;
    evidence rows = evidence::allocated;
};

inline void add_if_broken(list<broken_limit>& found, const char* field, std::uint64_t seen,
                          const count_range& allowed, bool counts_bytes, evidence rows) {
    if (seen >= allowed.least && seen <= allowed.most) return;
    found.push_back({field, seen, allowed, counts_bytes, rows});
}

// Adds the limits of a budget that were broken. The rows of the message explain the first.
inline void find_broken(list<broken_limit>& found, const check_limits& limits,
                        const allocation_counts& counts) {
    constexpr evidence allocated = evidence::allocated;
    constexpr evidence alive = evidence::alive;
    add_if_broken(found, "allocations", counts.allocations, limits.allocations, false, allocated);
    add_if_broken(found, "bytes", counts.bytes_allocated, limits.bytes, true, allocated);
    add_if_broken(found, "peak_bytes", counts.peak_bytes, limits.peak_bytes, true, allocated);
    add_if_broken(found, "live_objects", counts.live_objects(), limits.live_objects, false, alive);
    add_if_broken(found, "live_bytes", counts.live_bytes(), limits.live_bytes, true, alive);
}

inline void write_allowed(text_out& out, const count_range& allowed) {
    if (allowed.most == 0) {
        out << '0';
    } else if (allowed.least == allowed.most) {
        out << "exactly " << decimal{allowed.most};
    } else if (allowed.most == ~std::uint64_t{0}) {
        out << "at least " << decimal{allowed.least};
    } else if (allowed.least == 0) {
        out << "at most " << decimal{allowed.most};
    } else {
        out << decimal{allowed.least} << " to " << decimal{allowed.most};
    }
}

// If there are rows, the line also says what they are.
inline void write_budget_headline(text_out& out, const list<broken_limit>& broken, const char* name,
                                  const snapshot& rows, evidence rows_are) {
    write_heading(out, "budget", name);
    for (const broken_limit& limit : broken) {
        out << (&limit == broken.begin() ? "" : "; ") << limit.field << " is "
            << decimal{limit.seen} << ", allowed ";
        write_allowed(out, limit.allowed);
    }
    if (rows.empty()) return;
    out << (rows_are == evidence::alive ? "; alive:" : "; allocated, freed since or not:");
}

inline void write_leak_headline(text_out& out, const check_request& asked, const char* name,
                                std::uint64_t objects, std::uint64_t bytes) {
    const bool is_repeated = asked.kind == check_kind::repeated_leaks;
    write_heading(out, "leak check", name);
    if (is_repeated) {
        out << "each of ";
        write_count(out, asked.runs, "run", "runs");
        out << " left at least ";
        objects = asked.added_objects;
        bytes = asked.added_bytes;
    }
    write_sums(out, objects, bytes);
    out << (is_repeated ? " more alive" : objects == 1 ? " is still alive" : " are still alive");
    const count_range& allowed = asked.limits.live_objects;
    out << (objects < allowed.least ? ", expected " : ", allowed ");
    if (objects < allowed.least || objects > allowed.most) {
        write_allowed(out, allowed);
    } else {
        const std::uint64_t most = asked.limits.live_bytes.most;
        write_allowed(out, {0, most});
        out << (most == 1 ? " byte" : " bytes");
    }
}

// Whether the check fails: too much is alive, or less than a `least`, which requires leaks.
ALLOCSCOPE_PURE inline bool has_leaked(const check_request& asked, std::uint64_t objects,
                                       std::uint64_t bytes) noexcept {
    return objects > asked.limits.live_objects.most || bytes > asked.limits.live_bytes.most ||
           objects < asked.limits.live_objects.least;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_VERDICT_CHECK_LIMITS_HPP
