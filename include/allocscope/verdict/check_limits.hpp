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

// The limits of a budget that were broken. The rows of the message explain the first.
struct broken_limits {
    broken_limit each[5];
    std::size_t count = 0;
};

inline broken_limits find_broken(const check_limits& limits, const allocation_counts& counts) {
    const broken_limit all[] = {
        {"allocations", counts.allocations, limits.allocations, false, evidence::allocated},
        {"bytes", counts.bytes_allocated, limits.bytes, true, evidence::allocated},
        {"peak_bytes", counts.peak_bytes, limits.peak_bytes, true, evidence::allocated},
        {"live_objects", counts.live_objects(), limits.live_objects, false, evidence::alive},
        {"live_bytes", counts.live_bytes(), limits.live_bytes, true, evidence::alive},
    };
    broken_limits found;
    for (const broken_limit& limit : all) {
        const count_range& allowed = limit.allowed;
        if (limit.seen < allowed.least || limit.seen > allowed.most) {
            found.each[found.count++] = limit;
        }
    }
    return found;
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
inline void write_budget_headline(text_out& out, const broken_limits& broken, const char* name,
                                  const snapshot& rows, evidence rows_are) {
    out << "budget";
    write_quoted(out, name);
    for (std::size_t i = 0; i < broken.count; ++i) {
        const broken_limit& limit = broken.each[i];
        out << (i == 0 ? ": " : "; ") << limit.field << " is " << decimal{limit.seen}
            << ", allowed ";
        write_allowed(out, limit.allowed);
    }
    if (rows.empty()) return;
    out << (rows_are == evidence::alive ? "; alive:" : "; allocated, freed since or not:");
}

inline void write_leak_headline(text_out& out, const check_request& asked, const char* name,
                                std::uint64_t objects, std::uint64_t bytes) {
    const bool is_repeated = asked.kind == check_kind::repeated_leaks;
    out << "leak check";
    write_quoted(out, name);
    out << ": ";
    if (is_repeated) {
        out << "each of ";
        write_count(out, asked.runs, "run", "runs");
        out << " left at least ";
        objects = asked.added_objects;
        bytes = asked.added_bytes;
    }
    write_count(out, objects, "object", "objects");
    out << " with ";
    write_count(out, bytes, "byte", "bytes");
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
inline bool has_leaked(const check_request& asked, std::uint64_t objects,
                       std::uint64_t bytes) noexcept {
    return objects > asked.limits.live_objects.most || bytes > asked.limits.live_bytes.most ||
           objects < asked.limits.live_objects.least;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_VERDICT_CHECK_LIMITS_HPP
