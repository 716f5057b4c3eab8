// allocations_of.hpp - what a piece of code allocates each time it runs.
//
// Room:     measure (floor 8), not malloc-safe
// Called:   by the user
// Threads:  counts the calling thread only, whatever others do meanwhile
// Memory:   none; a window of counters while it runs
//
//     assert(allocscope::allocations_of([&] { parse(text); }).allocations <= 3);
//
// The counts are exact: an empty callable has none. A first run that is not counted fills caches.
// With more than one counted run the numbers are averages, and `least` is the best run.

#ifndef ALLOCSCOPE_MEASURE_ALLOCATIONS_OF_HPP
#define ALLOCSCOPE_MEASURE_ALLOCATIONS_OF_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/config.hpp>
#include <allocscope/measure/allocation_budget.hpp>
#include <allocscope/measure/check_options.hpp>
#include <allocscope/measure/scope.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

// The averages over all runs, rounded down; exact when there was one run. `lost_events` is the sum.
struct run_counts : allocation_counts {
    std::uint64_t runs = 0;
    double average_allocations = 0;
    double average_bytes = 0;
    allocation_counts least;  // of the run with the fewest allocations
};

// Runs the work once to warm up, then `runs` times, and counts what this thread allocates in those
// runs. Exceptions of the work pass through. Throws std::invalid_argument when `runs` is less than
// 1, and when nothing is being recorded, because that must not look like "allocates nothing"
// (-fno-exceptions: prints the message and aborts).
// Cost: about 150 ns for each run, and what a window of counters adds to each allocation.
template <class Work>
ALLOCSCOPE_EXCEPTIONS_TAG run_counts allocations_of(Work&& work, detail::typed_number runs = 1);

// definitions

namespace detail {

inline options counting_this_thread() noexcept {
    options wanted;
    wanted.record = recording::counters;
    wanted.from = threads::current;
    return wanted;
}

class run_tally {
public:
    void add(const allocation_counts& run) noexcept {
        if (total_.runs == 0 || run.allocations < total_.least.allocations) total_.least = run;
        ++total_.runs;
        total_.allocations += run.allocations;
        total_.frees += run.frees;
        total_.bytes_allocated += run.bytes_allocated;
        total_.bytes_freed += run.bytes_freed;
        total_.peak_bytes += run.peak_bytes;
        total_.lost_events += run.lost_events;
    }
    run_counts average() const noexcept {
        run_counts made = total_;
        made.average_allocations =
            static_cast<double>(total_.allocations) / static_cast<double>(total_.runs);
        made.average_bytes =
            static_cast<double>(total_.bytes_allocated) / static_cast<double>(total_.runs);
        made.allocations /= total_.runs;
        made.frees /= total_.runs;
        made.bytes_allocated /= total_.runs;
        made.bytes_freed /= total_.runs;
        made.peak_bytes /= total_.runs;
        return made;
    }

private:
    run_counts total_;
};

ALLOCSCOPE_EXCEPTIONS_TAG inline const engine& require_engine() {
    const engine* const found = usable_engine();
    if (found != nullptr) return *found;
    char space[320] = {};
    fixed_text text{space, sizeof space - 1};
    text.append("allocscope: ");
    text.append(engine_refusal(find_engine()));
    refuse_options(space);
}

}  // namespace detail

template <class Work>
run_counts allocations_of(Work&& work, detail::typed_number runs) {
    if (runs.is_negative || runs.bits == 0) {
        detail::refuse_limit("allocations_of", "runs", " is ", runs, "; give 1 or more");
    }
    detail::require_engine();
    work();
    detail::run_tally tally;
    for (std::uint64_t i = 0; i < runs.bits; ++i) {
        const scope window{"allocations_of", detail::counting_this_thread()};
        work();
        tally.add(window.counts());
    }
    return tally.average();
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_ALLOCATIONS_OF_HPP
