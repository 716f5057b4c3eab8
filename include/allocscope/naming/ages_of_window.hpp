// ages_of_window.hpp - how old the objects of a window are, by the age marks around their birth.
//
// Room:     naming (floor 10), not malloc-safe
// Called:   by naming/live_window.hpp, under the walking lock, while hooks continue
// Threads:  any
// Memory:   1.5 KiB of the stack
//
//     ages_of_window ages;
//     ages.read(window, now_ns);          // under the control lock
//     ages.add_to(list);                  // the bounds of each age
//     ages.number_of(id);                 // of the objects of a cohort: index into that list

#ifndef ALLOCSCOPE_NAMING_AGES_OF_WINDOW_HPP
#define ALLOCSCOPE_NAMING_AGES_OF_WINDOW_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/state/age_marks.hpp>
#include <allocscope/state/process_state.hpp>

#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

class ages_of_window {
public:
    // Control lock. `now_ns` is the moment of the snapshot.
    void read(const open_window& window, std::uint64_t now_ns) noexcept {
        now_ns_ = now_ns;
        started_ns_ = window.started_ns;
        has_ages_ = window.wanted.age_step != 0;
        count_ = window.ages != nullptr ? window.ages->copy_to(marks_) : 0;
    }

    // The oldest comes first. Adds nothing if the window has no marks and wants none.
    void add_to(list<snapshot::age>& ages) const {
        if (count_ == 0 && !has_ages_) return;
        std::uint64_t most_ns = age_at(started_ns_);
        for (std::uint32_t i = 0; i < count_; ++i) {
            ages.push_back({age_at(marks_[i].after_ns), most_ns});
            most_ns = age_at(marks_[i].before_ns);
        }
        ages.push_back({0, most_ns});
    }

    // How many marks were made before the objects of a cohort were born. A cohort is of one epoch,
    // and each mark begins a new one, so this holds for all its objects.
    std::uint32_t number_of(std::uint32_t cohort) const noexcept {
        const std::uint64_t born_at =
            process.cohorts.by_id(cohort)->facts().born_at.load(memory_order::relaxed);
        std::uint32_t number = count_;
        while (number != 0 && marks_[number - 1].clock > born_at) --number;
        return number;
    }

private:
    // A mark may be made while the snapshot is taken.
    std::uint64_t age_at(std::uint64_t ns) const noexcept {
        return ns < now_ns_ ? now_ns_ - ns : 0;
    }

    std::uint64_t now_ns_ = 0;
    std::uint64_t started_ns_ = 0;
    bool has_ages_ = false;
    std::uint32_t count_ = 0;
    age_mark marks_[age_marks::most];
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_AGES_OF_WINDOW_HPP
