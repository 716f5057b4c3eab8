// google_benchmark_scope.hpp - shows the allocations of a benchmark's loop beside its time.
//
// Room:     integrations (floor 11), not malloc-safe
// Called:   by the user, in the function that is measured, just before the loop
// Threads:  each thread of a benchmark has its own scope, which counts only what this thread
//           allocates
// Memory:   a window while the loop runs; nothing is allocated while it is open
//
//     static void parse(benchmark::State& state) {
//         allocscope::benchmark_scope memory{state};
//         for (auto _ : state) work();
//     }

#ifndef ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_SCOPE_HPP
#define ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_SCOPE_HPP

#include <allocscope/config.hpp>
#include <allocscope/integrations/google_benchmark_rules.hpp>
#include <allocscope/integrations/google_benchmark_versions.hpp>
#include <allocscope/measure/allocation_budget.hpp>
#include <allocscope/measure/scope.hpp>

#include <benchmark/benchmark.h>  // State, Counter
#include <algorithm>              // max
#include <atomic>                 // atomic
#include <cstddef>                // size_t
#include <cstdint>                // uint64_t
#include <mutex>                  // mutex, lock_guard
#include <stdexcept>              // invalid_argument
#include <string>                 // string
#include <utility>                // pair

ALLOCSCOPE_NAMESPACE_BEGIN

// Counts from its declaration to stop(), or to its end, and adds four counters to the benchmark:
//
//     allocs/op   allocations for each iteration
//     bytes/op    bytes for each iteration, as requested
//     peak        most bytes alive at one time; with several threads the sum of their peaks
//     live        bytes still alive at the end
//
// Live objects at the end and broken limits are errors of the benchmark. With a benchmark_gate
// (ALLOCSCOPE_BENCHMARK_MAIN has one) the reported run decides. Without a gate every run is judged,
// also the first run of one iteration, which fills caches.
//
// A benchmark has one scope in each thread; a second one is an error. What a thread says about its
// limits holds for all threads together. If only aggregates are reported
// (--benchmark_report_aggregates_only), the mean of the repetitions is judged.
//
// What state.counters, SetItemsProcessed() and SetLabel() keep after the loop is not counted. If
// the peak of the loop was below the bytes that they keep, `peak` shows the least that it can have
// been. A label of more than 15 characters is known only from a run that kept stacks and had one
// thread: with several threads, or a fixed number of iterations, call stop() before SetLabel(). An
// object counts as alive if another thread frees it after the loop of the thread that allocated it
// has ended.
//
// Cost: about 8 ns for each allocation and its free, which the shown times include. Runs of one
// iteration keep the stacks, too (16 ns), so that a leak can be named; the first run of almost
// every benchmark is one.
class benchmark_scope {
public:
    // If the process has no hooks, the benchmark gets an error that says what to add.
    explicit benchmark_scope(benchmark::State& state, const char* file = __builtin_FILE(),
                             int line = __builtin_LINE());
    // `wanted` says what each run records: with `exact` a leak is always named, `counters` costs
    // least. `sampled` is an error of the benchmark, because it would give estimates.
    benchmark_scope(benchmark::State& state, recording wanted, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE());
    // Also calls keep_within(budget).
    benchmark_scope(benchmark::State& state, const allocation_budget& budget,
                    const char* file = __builtin_FILE(), int line = __builtin_LINE())
        : benchmark_scope(state, file, line) {
        keep_within(budget);
    }
    ~benchmark_scope();
    benchmark_scope(const benchmark_scope&) = delete;
    benchmark_scope& operator=(const benchmark_scope&) = delete;

    // A broken budget is an error of the benchmark; so is using less than the least of the budget.
    // `allocations` and `bytes` are for each iteration, as the mean of the run; `peak_bytes`,
    // `live_objects` and `live_bytes` are for the run. All are for the threads together. Unless
    // live_objects or live_bytes are limited, nothing may be alive at the end; if may_keep() is
    // called as well, the later call counts. A budget that cannot be kept (a negative limit, a
    // least above its most) is an error of the benchmark, too; with -fno-exceptions it aborts.
    void keep_within(const allocation_budget& budget);

    // The same for fractions of an allocation or a byte: using more than `most` is an error. A
    // negative limit, or NaN, is an error, too.
    void at_most(const benchmark_limits& most);

    // So many objects may be alive at the end, for all threads together.
    void may_keep(std::uint64_t objects) noexcept {
        rule_.least[detail::quantity::live_objects] = 0;
        rule_.most[detail::quantity::live_objects] = static_cast<double>(objects);
        rule_.limits_living = true;
    }

    // Stops counting. What the function does afterwards is not charged.
    void stop();

    // The numbers of this thread so far. Allocates nothing.
    allocation_counts counts() const noexcept { return window_.counts(); }

private:
    void refuse(const std::string& reason) {
        state_.SkipWithError(("allocscope: " + reason).c_str());
    }
    // `own`: what Google Benchmark keeps for the new counters.
    void report(const allocation_counts& own);
    double iterations() const noexcept { return static_cast<double>(state_.iterations()); }

    benchmark::State& state_;
    detail::benchmark_rule rule_;
    bool keeps_stacks_;
    allocation_counts counters_before_;  // what Google Benchmark keeps for the counters so far
    snapshot allocated_;
    snapshot alive_;
    bool is_stopped_ = false;
    scope window_;  // last: it opens when the other members are ready
};

namespace detail {

// The number of gates that exist. If there is one, scopes leave the verdict to it.
inline std::atomic<int> benchmark_gates{0};

// The extra pass of a benchmark_memory_manager, and the numbers of the scopes in that pass.
struct benchmark_memory_pass {
    bool is_open = false;
    bool had_scope = false;
    allocation_counts totals;

    // The scopes of one function run one after the other, so their numbers are added.
    void add(const allocation_counts& more) noexcept {
        had_scope = true;
        totals.allocations += more.allocations;
        totals.frees += more.frees;
        totals.bytes_allocated += more.bytes_allocated;
        totals.bytes_freed += more.bytes_freed;
        if (more.peak_bytes > totals.peak_bytes) totals.peak_bytes = more.peak_bytes;
    }
};
inline benchmark_memory_pass memory_pass;

// The first scope of a run forgets those of the run before.
inline void begin_scope() {
    const std::lock_guard<std::mutex> lock{remembered.mutex};
    if (remembered.open++ == 0) remembered.ended.clear();
}
struct closing_scope {
    closing_scope() = default;
    ~closing_scope() {
        const std::lock_guard<std::mutex> lock{remembered.mutex};
        --remembered.open;
    }
    closing_scope(const closing_scope&) = delete;
    closing_scope& operator=(const closing_scope&) = delete;
};

inline options options_of_benchmark(recording wanted) noexcept {
    options made;
    made.record = wanted;
    made.from = threads::current;
    return made;
}

// What Google Benchmark allocates for these counters: as much as a copy of them allocates.
inline allocation_counts counts_of_copy(const benchmark::UserCounters& counters) {
    const scope window{"benchmark counters", options_of_benchmark(recording::counters)};
    const benchmark::UserCounters copy = counters;
    return window.counts();
}

inline recording usual_recording(const benchmark::State& state) noexcept {
    return state.max_iterations == 1 ? recording::exact : recording::counters;
}

inline benchmark_usage usage_of(const allocation_counts& totals, double iterations) noexcept {
    const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
    return {number(totals.live_objects()), number(totals.live_bytes()),
            number(totals.allocations) / iterations, number(totals.bytes_allocated) / iterations,
            number(totals.peak_bytes)};
}

// The totals without the objects that Google Benchmark keeps, which are still alive.
inline allocation_counts without_own(allocation_counts totals,
                                     const allocation_counts& own) noexcept {
    if (own.allocations == 0 || own.allocations > totals.live_objects()) return totals;
    const bool were_in_the_peak = totals.peak_bytes <= totals.live_bytes();
    totals.allocations -= own.allocations;
    totals.bytes_allocated -= own.bytes_allocated;
    if (!were_in_the_peak) return totals;
    // The peak without them was lower and is not known. It was at least this.
    const std::uint64_t objects = (std::max)(totals.allocations, std::uint64_t{1});
    const std::uint64_t mean = (totals.bytes_allocated + objects - 1) / objects;
    totals.peak_bytes = (std::max)(totals.live_bytes(), mean);
    return totals;
}

}  // namespace detail

// definitions

inline benchmark_scope::benchmark_scope(benchmark::State& state, const char* file, int line)
    : benchmark_scope(state, detail::usual_recording(state), file, line) {}

inline benchmark_scope::benchmark_scope(benchmark::State& state, recording wanted, const char* file,
                                        int line)
    : state_(state),
      rule_{file, line},
      keeps_stacks_(wanted == recording::exact),
      counters_before_(detail::counts_of_copy(state.counters)),
      window_("benchmark", detail::options_of_benchmark(wanted)) {
    const pause_recording not_of_the_benchmark;
    detail::begin_scope();
    const char* refusal = detail::engine_refusal(detail::find_engine());
    if (refusal[0] != '\0') refuse(refusal);
    if (wanted == recording::sampled) {
        refuse(
            "recording is sampled, which gives estimates; a benchmark_scope counts: take exact"
            " or counters");
    }
}

inline void benchmark_scope::stop() {
    if (is_stopped_) return;
    is_stopped_ = true;
    const detail::benchmark_usage used = detail::usage_of(window_.counts(), iterations());
    if (keeps_stacks_ && rule_.first_broken(used, detail::quantity::allocations) != used.size()) {
        const pause_recording not_of_the_benchmark;
        allocated_ = detail::allocated_in(window_);
    }
    alive_ = window_.stop();
}

inline benchmark_scope::~benchmark_scope() {
    stop();
    allocation_counts own = detail::counts_of_copy(state_.counters);
    own.allocations -= counters_before_.allocations;
    own.bytes_allocated -= counters_before_.bytes_allocated;
    const pause_recording not_of_the_benchmark;
    const detail::closing_scope closing;
    if (detail::is_skipped(state_)) return;
    const snapshot::window_info& info = alive_.info();
    if (info.not_recording[0] != '\0') {
        refuse(info.not_recording);
    } else if (info.loss_count != 0) {
        const std::uint64_t times = info.losses[0].count;
        refuse("the counts are not complete: " + std::to_string(times) +
               (times == 1 ? " time: " : " times: ") + info.losses[0].reason);
    } else {
        report(own);
    }
}

inline void benchmark_scope::report(const allocation_counts& own) {
    const std::lock_guard<std::mutex> lock{detail::remembered.mutex};
    auto& ended = *detail::remembered.places.try_emplace(rule_).first;
    detail::benchmark_places& places = ended.second;
    allocation_counts totals = detail::without_own(alive_.info().totals, own);
    // With several threads it is unknown which of them allocated the text that they share.
    if (state_.threads() == 1) {
        if (keeps_stacks_) places.label = detail::label_in(alive_);
        totals = detail::without_own(totals, places.label);
    }
    if (detail::memory_pass.is_open && state_.thread_index() == 0) {
        return detail::memory_pass.add(totals);
    }
    const bool has_alive = keeps_stacks_ && !detail::places_of(alive_).empty();
    if (has_alive) places.alive = alive_;
    if (!allocated_.empty()) places.allocated = allocated_;
    if (has_alive || !allocated_.empty()) {
        places.heading = "after " + std::to_string(state_.iterations()) +
                         (state_.iterations() == 1 ? " iteration: " : " iterations: ");
    }
    // Google Benchmark adds up the counters of the threads, and then divides as the flags say.
    using benchmark::Counter;
    const bool is_judged_later = detail::benchmark_gates != 0;
    if (is_judged_later && state_.counters.count(detail::objects_counter) != 0) {
        return refuse(
            "this is the second benchmark_scope in one run, whose counters are for one: make a"
            " benchmark for each");
    }
    const detail::benchmark_usage values = detail::usage_of(totals, 1);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const detail::benchmark_quantity& shown = detail::benchmark_quantities[i];
        if (i == detail::quantity::live_objects && !is_judged_later) continue;
        state_.counters[shown.counter] =
            Counter(values[i], shown.is_of_iteration ? Counter::kAvgIterations : Counter::kDefaults,
                    shown.is_bytes ? Counter::kIs1024 : Counter::kIs1000);
    }
    detail::remembered.ended.push_back(&ended);
    if (is_judged_later) return;
    // Each thread is judged by itself, because the sums are not known here.
    const std::string file = rule_.file;
    const std::string place = file.substr(file.rfind('/') + 1) + ':' + std::to_string(rule_.line);
    const std::string message =
        detail::judge(ended.first, places, detail::usage_of(totals, iterations()), place);
    if (!message.empty()) state_.SkipWithError(message.c_str());
}

inline void benchmark_scope::at_most(const benchmark_limits& most) {
    const pause_recording not_of_the_benchmark;
    const std::pair<const char*, double> limits[] = {
        {"allocations", most.allocations}, {"bytes", most.bytes}, {"peak_bytes", most.peak_bytes}};
    std::size_t limited = detail::quantity::allocations;
    for (const auto& [name, limit] : limits) {
        rule_.least[limited] = 0;
        rule_.most[limited++] = limit;
        if (limit >= 0) continue;
        refuse("benchmark_limits::" + std::string{name} + " is " + detail::number_text(limit) +
               "; it must be 0 or more");
    }
}

inline void benchmark_scope::keep_within(const allocation_budget& budget) {
    const pause_recording not_of_the_benchmark;
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    rule_.take(detail::checked_limits(budget));
#else
    try {
        rule_.take(detail::checked_limits(budget));
    } catch (const std::invalid_argument& refusal) {
        state_.SkipWithError(refusal.what());
    }
#endif
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_SCOPE_HPP
