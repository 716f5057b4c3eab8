// details_of_window.hpp - sums up what cohorts with details say about the stacks of a window.
//
// Room:     naming (floor 10), not malloc-safe
// Called:   by naming/live_window.hpp, under the walking lock, while hooks continue
// Threads:  any
// Memory:   none
//
//     details_reading details{followed};
//     details.add(sum, id, counted, objects, bytes);  // for each cohort of a stack
//     details.finish(sum);

#ifndef ALLOCSCOPE_NAMING_DETAILS_OF_WINDOW_HPP
#define ALLOCSCOPE_NAMING_DETAILS_OF_WINDOW_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/size_classes.hpp>
#include <allocscope/naming/moment_of_reading.hpp>
#include <allocscope/platform/clocks.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/windows/window_reading.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

class details_reading {
public:
    // `followed` is the number of the window's peak; 0 if the peak was not followed.
    ALLOCSCOPE_INLINE explicit details_reading(std::uint64_t followed) noexcept
        : followed_(followed), now_(time_in_units()), ns_(monotonic_ns()) {
        if (end_of_program_ns != 0) go_back(ns_ - end_of_program_ns);
    }

    ALLOCSCOPE_INLINE bool has_peak() const noexcept {
        return process.followed.find(followed_) != nullptr;
    }

    // Adds a cohort of which so many allocations were counted, and of these `objects` and `bytes`
    // are alive. They were counted before, and its thread may have gone on.
    void add(snapshot::stack_details& to, std::uint32_t id, std::uint64_t counted,
             std::uint64_t objects, std::uint64_t bytes) const noexcept {
        const cohort& known = *process.cohorts.by_id(id);
        if (!is_detailed(known)) return;
        const detailed_part& part = *process.cohorts.detailed_part_of(id);
        const std::uint64_t temporary = part.temporary.read();
        to.temporary += temporary < counted ? temporary : counted;
        // In units of the processor's clock, until finish() converts them.
        to.lifetime_us += lifetime_of(part, counted);
        for (std::size_t i = 0; i < size_class_count; ++i) to.sizes[i] += part.sizes[i].read();
        add_peak(to, part, objects, bytes);
    }

    ALLOCSCOPE_INLINE void finish(snapshot::stack_details& read) const noexcept {
        read.lifetime_us = static_cast<std::uint64_t>(
            static_cast<double>(read.lifetime_us) * ns_per_unit() / 1000.0 + 0.5);
    }

private:
    // Deaths are read first, because every object that died was born before. The result stands for
    // as many allocations as were counted.
    std::uint64_t lifetime_of(const detailed_part& part, std::uint64_t counted) const noexcept {
        const event_sum deaths = part.death_times.read();
        const event_sum births = part.birth_times.read();
        const std::uint64_t now = end_of_program_ns != 0 ? now_ : time_in_units();
        const auto sum = static_cast<std::int64_t>(deaths.bytes - births.bytes +
                                                   (births.events - deaths.events) * now);
        if (sum <= 0) return 0;  // processors' clocks may differ a little
        if (births.events == counted) return static_cast<std::uint64_t>(sum);
        return static_cast<std::uint64_t>(static_cast<double>(sum) * static_cast<double>(counted) /
                                          static_cast<double>(births.events));
    }

    void add_peak(snapshot::stack_details& to, const detailed_part& part, std::uint64_t objects,
                  std::uint64_t bytes) const noexcept {
        if (part.followed.load(memory_order::relaxed) != followed_) return;
        const followed_peak* const peak = process.followed.find(followed_);
        if (peak == nullptr) return;
        const auto number =
            static_cast<std::uint64_t>(peak->peak_bytes.load(memory_order::acquire));
        const kept_at_peak kept = part.kept.read();
        const bool has_changed = kept.is_of(number);
        to.peak_objects += has_changed ? kept.objects() : objects;
        to.peak_bytes += has_changed ? kept.bytes() : bytes;
    }

    void go_back(std::uint64_t by_ns) noexcept {
        const double unit_ns = ns_per_unit();
        if (unit_ns > 0) now_ -= static_cast<std::uint64_t>(static_cast<double>(by_ns) / unit_ns);
        ns_ -= by_ns;
    }

    // The longer ago the first moment was, the more precise the result is.
    double ns_per_unit() const noexcept {
        const std::uint64_t first = process.followed.first_ticks / ticks_per_unit;
        if (now_ <= first || ns_ <= process.followed.first_ns) return 0.0;
        return static_cast<double>(ns_ - process.followed.first_ns) /
               static_cast<double>(now_ - first);
    }

    std::uint64_t followed_;
    std::uint64_t now_;
    std::uint64_t ns_;
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_DETAILS_OF_WINDOW_HPP
