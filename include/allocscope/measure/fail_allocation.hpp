// fail_allocation.hpp - makes allocations fail on purpose, to see how the program copes with it.
//
// Room:     measure (floor 8), not malloc-safe
// Called:   by the user, in tests
// Threads:  each object says whose allocations fail; any thread may destroy it
// Memory:   16 bytes and a window of counters for each. Up to 16 may live at the same time
//
//     {
//         allocscope::fail_allocation third{3};          // the third from here on, on this thread
//         CHECK_THROWS_AS(parse(text), std::bad_alloc);
//     }                                                  // from here on nothing fails
//
// A failing allocation behaves as if there were no memory and no new_handler: operator new throws
// std::bad_alloc (-fno-exceptions: aborts, as it does without memory), and the nothrow forms return
// null. A new_handler is not called, because it could only ask again. What allocscope itself
// allocates never fails, and neither does what is allocated under a pause_recording. See also
// measure/for_each_allocation_failing.hpp, which makes each allocation of a piece of code fail
// once.

#ifndef ALLOCSCOPE_MEASURE_FAIL_ALLOCATION_HPP
#define ALLOCSCOPE_MEASURE_FAIL_ALLOCATION_HPP

#include <allocscope/base/fixed_text.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/config.hpp>
#include <allocscope/link/engine.hpp>
#include <allocscope/link/watch_requests.hpp>
#include <allocscope/measure/allocation_budget.hpp>
#include <allocscope/measure/allocations_of.hpp>
#include <allocscope/measure/check_options.hpp>
#include <allocscope/measure/scope.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int64_t, uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {
struct fault_reader;
}  // namespace detail

// The common part of the classes below. Their constructors throw std::invalid_argument when a
// number makes no sense, when 16 such objects are alive already, and when operator new is not
// replaced, because then nothing could fail (-fno-exceptions: prints the message and aborts).
class injected_fault {
public:
    std::uint64_t seen() const noexcept { return engine_->state_of_plan(plan_).seen; }
    std::uint64_t failed() const noexcept { return engine_->state_of_plan(plan_).failed; }

    injected_fault(const injected_fault&) = delete;
    injected_fault& operator=(const injected_fault&) = delete;

protected:
    ALLOCSCOPE_EXCEPTIONS_TAG explicit injected_fault(const detail::fault_plan& plan);
    ~injected_fault() { engine_->disarm_plan(plan_); }

private:
    friend struct detail::fault_reader;

    const detail::engine* engine_;
    detail::plan_id plan_;
};

// Makes the nth allocation from now on fail, counted from 1, and the `times - 1` after it.
class fail_allocation : public injected_fault {
public:
    [[nodiscard]] ALLOCSCOPE_EXCEPTIONS_TAG explicit fail_allocation(
        detail::typed_number nth, detail::typed_number times = 1, threads from = threads::current);
};

// Makes each allocation fail that would bring the sum of all requests above so many bytes. Frees
// are not subtracted.
class fail_after_bytes : public injected_fault {
public:
    [[nodiscard]] ALLOCSCOPE_EXCEPTIONS_TAG explicit fail_after_bytes(
        detail::typed_number bytes, threads from = threads::current);
};

// Makes each allocation fail with this probability (0 to 1). The same seed makes the same
// allocations fail again, if one thread makes them in the same order.
class fail_randomly : public injected_fault {
public:
    [[nodiscard]] ALLOCSCOPE_EXCEPTIONS_TAG fail_randomly(double probability, std::uint64_t seed,
                                                          threads from = threads::current);
};

// definitions

namespace detail {

struct fault_reader {
    static plan_id plan_of(const injected_fault& fault) noexcept { return fault.plan_; }
};

ALLOCSCOPE_EXCEPTIONS_TAG inline std::uint64_t at_least_one(const char* owner, const char* field,
                                                            typed_number value) {
    if (value.is_negative || value.bits == 0) {
        refuse_limit(owner, field, " is ", value, "; it counts from 1");
    }
    return value.bits;
}

// The probability times 2^64; for 1, the greatest number.
ALLOCSCOPE_EXCEPTIONS_TAG inline std::uint64_t checked_probability(double probability) {
    if (!(probability >= 0 && probability <= 1)) {
        char space[160] = {};
        fixed_text text{space, sizeof space - 1};
        text.append("allocscope: fail_randomly::probability is ");
        const bool is_number = probability < 0 || probability > 0;
        const bool is_small = probability > -1e15 && probability < 1e15;
        const auto thousandths = is_small ? static_cast<std::int64_t>(probability * 1000) : 0;
        if (!is_small) {
            text.append(is_number ? "far out of range" : "not a number");
        } else if (thousandths == 0 || thousandths == 1000) {
            text.append(probability < 0 ? "a little below 0" : "a little above 1");
        } else {
            if (probability < 0) text.append('-');
            const auto digits =
                static_cast<std::uint64_t>(thousandths < 0 ? -thousandths : thousandths);
            text.append_decimal(digits / 1000);
            text.append('.');
            text.append_decimal(digits / 100 % 10);
            text.append_decimal(digits / 10 % 10);
            text.append_decimal(digits % 10);
        }
        text.append("; it must be in 0..1");
        refuse_options(space);
    }
    constexpr double all = 18446744073709551616.0;
    return probability >= 1 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(probability * all);
}

inline fault_plan plan_for(fault_kind kind, std::uint64_t number, threads from) noexcept {
    fault_plan plan;
    plan.kind = kind;
    plan.number = number;
    plan.from = from;
    return plan;
}

ALLOCSCOPE_EXCEPTIONS_TAG inline fault_plan nth_plan(typed_number nth, typed_number times,
                                                     threads from) {
    fault_plan plan = plan_for(fault_kind::nth, at_least_one("fail_allocation", "nth", nth), from);
    plan.times = at_least_one("fail_allocation", "times", times);
    return plan;
}

ALLOCSCOPE_EXCEPTIONS_TAG inline fault_plan random_plan(double probability, std::uint64_t seed,
                                                        threads from) {
    fault_plan plan = plan_for(fault_kind::random, checked_probability(probability), from);
    plan.seed = seed;
    return plan;
}

}  // namespace detail

inline injected_fault::injected_fault(const detail::fault_plan& plan) {
    engine_ = &detail::require_engine();
    plan_ = engine_->arm_plan(plan);
    if (plan_ == 0) {
        detail::refuse_options(
            "allocscope: no more faults can be injected: 16 are alive already, or there is no"
            " memory; destroy some first");
    }
}

inline fail_allocation::fail_allocation(detail::typed_number nth, detail::typed_number times,
                                        threads from)
    : injected_fault(detail::nth_plan(nth, times, from)) {}

inline fail_after_bytes::fail_after_bytes(detail::typed_number bytes, threads from)
    : injected_fault(detail::plan_for(detail::fault_kind::after_bytes,
                                      detail::checked_count("fail_after_bytes", "bytes", bytes),
                                      from)) {}

inline fail_randomly::fail_randomly(double probability, std::uint64_t seed, threads from)
    : injected_fault(detail::random_plan(probability, seed, from)) {}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_FAIL_ALLOCATION_HPP
