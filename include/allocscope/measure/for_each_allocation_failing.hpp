// for_each_allocation_failing.hpp - makes each allocation of some code fail, one in each run.
//
// Room:     measure (floor 8), not malloc-safe
// Called:   by the user, in tests
// Threads:  fails and watches the allocations of the calling thread, or of all
// Memory:   the engine keeps two texts for each run
//
//     auto swept = allocscope::for_each_allocation_failing([&] { parse(text); });
//     if (!swept) std::cerr << swept.message() << '\n';
//
//     fault sweep "fault sweep": 1 of 8 runs went wrong
//       allocation 3 failed at src/parser.cpp:40: 1 object with 24 bytes left alive
//         src/parser.cpp:38: 1 object of node, 24 bytes, in parse
//
// Run k makes the kth allocation fail. The first run in which none fails is the last one. A run is
// good when the code returns or throws std::bad_alloc, and leaves nothing alive. Crashes are not
// caught.
// Cost: with n allocations, n + 2 runs.

#ifndef ALLOCSCOPE_MEASURE_FOR_EACH_ALLOCATION_FAILING_HPP
#define ALLOCSCOPE_MEASURE_FOR_EACH_ALLOCATION_FAILING_HPP

#include <allocscope/base/options.hpp>
#include <allocscope/config.hpp>
#include <allocscope/link/engine.hpp>
#include <allocscope/measure/allocation_budget.hpp>
#include <allocscope/measure/check_result.hpp>
#include <allocscope/measure/fail_allocation.hpp>
#include <allocscope/measure/leak_check.hpp>
#include <allocscope/measure/scope.hpp>
#include <allocscope/snapshot/fault_run.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <new>      // bad_alloc

ALLOCSCOPE_NAMESPACE_BEGIN

struct sweep_options {
    const char* name = "fault sweep";        // appears in the message
    threads from = threads::current;         // whose allocations fail and must not leak
    detail::typed_number warm_up_runs = 1;   // run first: what is made only once is no leak
    detail::typed_number most_runs = 10000;  // more allocations than that: the sweep fails
    const char* expected = "";               // leaks that are expected, as in leak_options
};

// The result of a sweep. Copying shares it.
class fault_sweep {
public:
    // True if all runs were good and each allocation failed in one of them.
    bool passed() const noexcept { return result_.passed(); }
    explicit operator bool() const noexcept { return passed(); }
    const char* message() const noexcept { return result_.message(); }
    const check_result& result() const noexcept { return result_; }

    // The runs, in order. In the last one no allocation failed.
    std::size_t size() const noexcept { return data_ != nullptr ? data_->run_count : 0; }
    const fault_run* begin() const noexcept { return data_ != nullptr ? data_->runs : nullptr; }
    const fault_run* end() const noexcept { return begin() + size(); }
    const fault_run& operator[](std::size_t index) const noexcept { return begin()[index]; }

    fault_sweep(const fault_sweep& other) noexcept : data_(other.data_), result_(other.result_) {
        if (data_ != nullptr) __atomic_add_fetch(&data_->references, 1U, __ATOMIC_RELAXED);
    }
    fault_sweep& operator=(const fault_sweep& other) noexcept {
        fault_sweep copy{other};
        detail::sweep_data* mine = data_;
        data_ = copy.data_;
        copy.data_ = mine;
        result_ = other.result_;
        return *this;
    }
    ~fault_sweep() {
        if (data_ == nullptr) return;
        if (__atomic_sub_fetch(&data_->references, 1U, __ATOMIC_ACQ_REL) == 0) {
            data_->release(data_);
        }
    }

    // For measure/: takes over one reference of an ended sweep.
    explicit fault_sweep(detail::sweep_data* ended) noexcept;
    explicit fault_sweep(const check_result& refusal) noexcept : data_(nullptr), result_(refusal) {}

private:
    detail::sweep_data* data_;  // null: there was no sweep, and the result says why
    check_result result_;
};

// Throws std::invalid_argument when an option makes no sense (-fno-exceptions: prints the message
// and aborts). Exceptions of a warm-up run pass through; those of the other runs are part of the
// result. With -fno-exceptions, exceptions of the work are not caught.
template <class Work>
ALLOCSCOPE_EXCEPTIONS_TAG fault_sweep for_each_allocation_failing(Work&& work,
                                                                  const sweep_options& wanted = {});

// definitions

inline fault_sweep::fault_sweep(detail::sweep_data* ended) noexcept : data_(ended) {
    detail::hold_check(ended->verdict);
    result_ = check_result{ended->verdict};
}

namespace detail {

inline void copy_text(char* to, std::size_t room, const char* from) noexcept {
    std::size_t i = 0;
    for (; from[i] != '\0' && i + 1 < room; ++i) to[i] = from[i];
    to[i] = '\0';
}

template <class Work>
ALLOCSCOPE_EXCEPTIONS_TAG fault_outcome outcome_of(Work& work, char (&what)[256]) {
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    static_cast<void>(what);
    work();
    return fault_outcome::returned;
#else
    try {
        work();
        return fault_outcome::returned;
    } catch (const std::bad_alloc&) {
        return fault_outcome::threw_bad_alloc;
    } catch (const std::exception& other) {
        copy_text(what, sizeof what, other.what());
    } catch (...) {  // of an unknown type; the run is reported as bad
    }
    return fault_outcome::threw_other;
#endif
}

enum class sweep_step { go_on, was_last, gave_up };

// Makes one run. The last run is the first in which no allocation fails.
template <class Work>
ALLOCSCOPE_EXCEPTIONS_TAG sweep_step run_failing(const engine& used, sweep_data* sweep, Work& work,
                                                 std::uint64_t nth, const sweep_options& wanted) {
    options window_options = options_of_checks();
    window_options.from = wanted.from;
    const scope window{wanted.name, window_options};
    char what[256] = {};
    const fail_allocation fault{nth, 1, wanted.from};
    sweep_request asked{};
    asked.outcome = outcome_of(work, what);
    check_request about_window;
    scope_reader::describe(window, about_window);
    asked.plan = fault_reader::plan_of(fault);
    asked.window = about_window.window;
    asked.nth = nth;
    asked.detail = what;
    asked.expected = wanted.expected != nullptr ? wanted.expected : "";
    const bool has_failed = fault.failed() != 0;
    if (asked.window == 0 || !used.add_sweep_run(sweep, asked)) return sweep_step::gave_up;
    return has_failed ? sweep_step::go_on : sweep_step::was_last;
}

}  // namespace detail

template <class Work>
fault_sweep for_each_allocation_failing(Work&& work, const sweep_options& wanted) {
    const std::uint64_t warm_up =
        detail::checked_count("sweep_options", "warm_up_runs", wanted.warm_up_runs);
    const std::uint64_t most = detail::at_least_one("sweep_options", "most_runs", wanted.most_runs);
    detail::check_expected(wanted.expected);
    const detail::engine* used = detail::usable_engine();
    if (used == nullptr) {
        return fault_sweep{check_result{detail::refused_check(detail::find_engine())}};
    }
    for (std::uint64_t i = 0; i < warm_up; ++i) work();
    detail::sweep_data* sweep = used->begin_sweep(wanted.name != nullptr ? wanted.name : "");
    if (sweep == nullptr) {
        return fault_sweep{check_result{detail::shared_check(detail::check_without_memory)}};
    }
    detail::sweep_step last = detail::sweep_step::go_on;
    for (std::uint64_t nth = 1; nth <= most && last == detail::sweep_step::go_on; ++nth) {
        last = detail::run_failing(*used, sweep, work, nth, wanted);
    }
    used->end_sweep(sweep, last != detail::sweep_step::was_last);
    return fault_sweep{sweep};
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_FOR_EACH_ALLOCATION_FAILING_HPP
