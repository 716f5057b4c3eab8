// allocation_budget.hpp - how much a window may, and must, allocate.
//
// Room:     measure (floor 8), not malloc-safe
// Called:   filled by the user, judged by check() and by measure/budget_guard.hpp
// Threads:  plain values; check() from any thread
// Memory:   none; the engine owns the result
//
//     allocscope::scope window{"parse"};
//     parse();
//     auto kept = check(window, allocscope::allocation_budget{.allocations = 3});     // C++20
//
//     allocscope::allocation_budget limits;                                           // C++17
//     limits.allocations = 3;                             // at most 3
//     limits.bytes = allocscope::between(1, 4096);        // also at least 1
//
// What is not set is not limited. A plain number is the most; at_least(), between() and exactly()
// also set the least. A most of 0 allows none.

#ifndef ALLOCSCOPE_MEASURE_ALLOCATION_BUDGET_HPP
#define ALLOCSCOPE_MEASURE_ALLOCATION_BUDGET_HPP

#include <allocscope/config.hpp>
#include <allocscope/link/check_request.hpp>
#include <allocscope/measure/check_options.hpp>
#include <allocscope/measure/check_result.hpp>
#include <allocscope/measure/scope.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Any integer as the user wrote it, so that an error message can show a negative number.
struct typed_number {
    std::uint64_t bits = 0;  // two's complement
    bool is_negative = false;

    constexpr typed_number(int value) noexcept : typed_number(static_cast<long long>(value)) {}
    constexpr typed_number(long value) noexcept : typed_number(static_cast<long long>(value)) {}
    constexpr typed_number(long long value) noexcept
        : bits(static_cast<std::uint64_t>(value)), is_negative(value < 0) {}
    constexpr typed_number(unsigned value) noexcept : bits(value) {}
    constexpr typed_number(unsigned long value) noexcept : bits(value) {}
    constexpr typed_number(unsigned long long value) noexcept : bits(value) {}
};

}  // namespace detail

// The least and the most that is allowed, both included.
class allocation_limit {
public:
    constexpr allocation_limit() noexcept = default;  // no limit
    // Implicit, from any integer type; the number is the most. The check refuses a negative number.
    template <class Integer>
    constexpr allocation_limit(Integer most) noexcept : most_(most) {}
    constexpr allocation_limit(detail::typed_number least, detail::typed_number most) noexcept
        : least_(least), most_(most) {}

    constexpr detail::typed_number least() const noexcept { return least_; }
    constexpr detail::typed_number most() const noexcept { return most_; }

private:
    detail::typed_number least_ = 0;
    detail::typed_number most_ = ~std::uint64_t{0};
};

constexpr allocation_limit at_most(detail::typed_number most) noexcept {
    return {0, most};
}
constexpr allocation_limit at_least(detail::typed_number least) noexcept {
    return {least, ~std::uint64_t{0}};
}
constexpr allocation_limit between(detail::typed_number least, detail::typed_number most) noexcept {
    return {least, most};
}
constexpr allocation_limit exactly(detail::typed_number count) noexcept {
    return {count, count};
}

// The limits for the counts of a window. The fields correspond to those of allocation_counts.
class allocation_budget {
public:
    allocation_limit allocations{};
    allocation_limit bytes{};         // bytes_allocated
    allocation_limit peak_bytes{};    // most bytes alive at one time
    allocation_limit live_objects{};  // still alive at the check
    allocation_limit live_bytes{};
};

// Checks whether the window has kept to the budget up to now, or up to stop() if it has been
// stopped. An open window stays open. The result reports the first limit that is broken.
//
// Throws std::invalid_argument when a limit is negative, a least is more than its most, or two
// limits exclude each other (-fno-exceptions: prints the message and aborts).
// Cost: that of scope::counts(). A check that fails also names stacks, which takes milliseconds.
// Here and elsewhere the name stands in brackets, because programs have macros check(x).
ALLOCSCOPE_EXCEPTIONS_TAG check_result(check)(const scope& window, const allocation_budget& budget);

// definitions

namespace detail {

[[noreturn]] ALLOCSCOPE_EXCEPTIONS_TAG inline void refuse_limit(const char* owner,
                                                                const char* field,
                                                                const char* before,
                                                                typed_number value,
                                                                const char* remedy) {
    char space[256] = {};
    fixed_text text{space, sizeof space - 1};
    text.append("allocscope: ");
    text.append(owner);
    text.append("::");
    text.append(field);
    text.append(before);
    if (value.is_negative) {
        text.append_signed(static_cast<std::int64_t>(value.bits));
    } else {
        text.append_decimal(value.bits);
    }
    text.append(remedy);
    refuse_options(space);
}

[[noreturn]] ALLOCSCOPE_EXCEPTIONS_TAG inline void refuse_order(const char* owner,
                                                                const char* field,
                                                                std::uint64_t least,
                                                                std::uint64_t most) {
    char space[80] = {};
    fixed_text remedy{space, sizeof space - 1};
    remedy.append(" and at most ");
    remedy.append_decimal(most);
    remedy.append("; exchange the two numbers");
    refuse_limit(owner, field, " must be at least ", least, space);
}

ALLOCSCOPE_EXCEPTIONS_TAG inline std::uint64_t checked_count(const char* owner, const char* field,
                                                             typed_number value) {
    if (value.is_negative) {
        refuse_limit(owner, field, " is ", value, "; it counts something, so give 0 or more");
    }
    return value.bits;
}

ALLOCSCOPE_EXCEPTIONS_TAG inline count_range checked_range(const char* field,
                                                           const allocation_limit& limit) {
    count_range range;
    range.least = checked_count("allocation_budget", field, limit.least());
    range.most = checked_count("allocation_budget", field, limit.most());
    if (range.least > range.most) {
        refuse_order("allocation_budget", field, range.least, range.most);
    }
    return range;
}

ALLOCSCOPE_EXCEPTIONS_TAG inline void check_order(const char* field, const count_range& smaller,
                                                  const char* remedy, const count_range& larger) {
    if (smaller.least <= larger.most) return;
    refuse_limit("allocation_budget", field, " must be at least ", smaller.least, remedy);
}

ALLOCSCOPE_EXCEPTIONS_TAG inline check_limits checked_limits(const allocation_budget& budget) {
    check_limits limits;
    limits.allocations = checked_range("allocations", budget.allocations);
    limits.bytes = checked_range("bytes", budget.bytes);
    limits.peak_bytes = checked_range("peak_bytes", budget.peak_bytes);
    limits.live_objects = checked_range("live_objects", budget.live_objects);
    limits.live_bytes = checked_range("live_bytes", budget.live_bytes);
    check_order("live_objects", limits.live_objects,
                ", but fewer may be allocated; raise the most of `allocations`",
                limits.allocations);
    check_order("live_bytes", limits.live_bytes,
                ", but the peak may not reach that; raise the most of `peak_bytes`",
                limits.peak_bytes);
    check_order("live_bytes", limits.live_bytes,
                ", but fewer may be allocated; raise the most of `bytes`", limits.bytes);
    check_order("peak_bytes", limits.peak_bytes,
                ", but fewer may be allocated; raise the most of `bytes`", limits.bytes);
    return limits;
}

// Reads the private members of a scope.
struct scope_reader {
    static void describe(const scope& window, check_request& asked) noexcept {
        asked.window = window.window_;
        asked.counts = window.last_counts_;
        asked.rows = &window.last_;
    }
    // Called after the engine has ended the window.
    static void end(scope& window, const allocation_counts& counts) noexcept {
        window.window_ = 0;
        window.last_counts_ = counts;
    }
    static const engine* engine_of(const scope& window) noexcept { return window.engine_; }
};

inline check_result ask_engine(const engine* used, const check_request& asked) {
    if (used == nullptr) return check_result{refused_check(find_engine())};
    return result_of(used->judge(asked));
}

inline check_result check_budget(const scope& window, const check_limits& limits,
                                 after_stats then) {
    check_request asked;
    asked.limits = limits;
    asked.then = then;
    scope_reader::describe(window, asked);
    return ask_engine(scope_reader::engine_of(window), asked);
}

// What the open window has allocated, whether freed since or not, by place. Empty once it has
// ended.
inline snapshot allocated_in(const scope& window) {
    check_request asked;
    asked.kind = check_kind::allocated_rows;
    scope_reader::describe(window, asked);
    if (asked.window == 0) return snapshot{};
    return ask_engine(scope_reader::engine_of(window), asked).rows();
}

// Saves the evidence of a check that other code has made. saved_to() of the result is the file; if
// saving failed, the message of the result ends with the reason.
inline check_result save_evidence_of(const snapshot& rows, const char* name, const char* headline) {
    check_request asked;
    asked.kind = check_kind::judged;
    asked.rows = &rows;
    asked.name = name;
    asked.headline = headline;
    return ask_engine(usable_engine(), asked);
}

}  // namespace detail

inline check_result(check)(const scope& window, const allocation_budget& budget) {
    return detail::check_budget(window, detail::checked_limits(budget), detail::after_stats::go_on);
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_ALLOCATION_BUDGET_HPP
