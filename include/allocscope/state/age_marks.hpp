// age_marks.hpp - moments that divide the objects of a window by their age.
//
// Room:     state (floor 4), malloc-safe
// Called:   by windows/ when a mark is made, and when a window is read
// Threads:  under the control lock; a command that records the process from outside may read it
//           meanwhile
// Memory:   one page for a window that has marks
//
//     boundary clock      start        mark         mark          now
//                           |-- cohorts --|-- cohorts --|-- cohorts --|
//
// A mark is a boundary whose time is known. It begins a new epoch in each thread of the window, so
// no cohort has objects from both sides of it. That tells the ages of all objects, and no object
// needs a time of its own.
//
// There is room for 64 marks. When they are full, every second one is forgotten, and from then on
// marks are made half as often. So a window that is open for long makes few marks: 32 each time its
// duration doubles.

#ifndef ALLOCSCOPE_STATE_AGE_MARKS_HPP
#define ALLOCSCOPE_STATE_AGE_MARKS_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/page_memory.hpp>

#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_RARE_BEGIN

namespace detail {

struct age_mark {
    std::uint64_t clock;      // of the boundary
    std::uint64_t before_ns;  // before any thread could see it: what is younger was born later
    std::uint64_t after_ns;   // when every thread could see it: what is older was born earlier
};

// Zeroed memory is a list without marks.
class age_marks {
public:
    static constexpr std::uint32_t most = 64;

    std::uint32_t count() const noexcept { return state_.load(memory_order::acquire) & count_bits; }

    // Copies the marks, the oldest first. Returns how many there are.
    std::uint32_t copy_to(age_mark (&into)[most]) const noexcept {
        const std::uint32_t state = state_.load(memory_order::acquire);
        const std::uint32_t count = state & count_bits;
        for (std::uint32_t i = 0; i < count; ++i) into[i] = lists_[state / second_list][i];
        return count;
    }

    void clear() noexcept {
        state_.store(0, memory_order::release);
        distance_ns_ = 0;
    }

    // Whether a mark is due in a window that began at `started_ns` and wants marks `step_ns` apart.
    // An eighth less will do, because those who make marks do not come at equal intervals.
    bool is_due(std::uint64_t now_ns, std::uint64_t started_ns, std::uint64_t step_ns) noexcept {
        const std::uint32_t before = count();
        if (before == most) thin_out(started_ns);
        const std::uint32_t left = count();
        const std::uint64_t last_ns = left != 0 ? present()[left - 1].after_ns : started_ns;
        const std::uint64_t distance = step_ns > distance_ns_ ? step_ns : distance_ns_;
        return now_ns - last_ns >= distance - distance / 8;
    }

    // There is room after is_due().
    void add(const age_mark& mark) noexcept {
        const std::uint32_t state = state_.load(memory_order::relaxed);
        present()[state & count_bits] = mark;
        state_.store(state + 1, memory_order::release);
    }

private:
    static constexpr std::uint32_t second_list = 1U << 16U;
    static constexpr std::uint32_t count_bits = second_list - 1;

    age_mark* present() noexcept {
        return lists_[state_.load(memory_order::relaxed) / second_list];
    }

    // Moves every second mark, and with it the last one, to the other list. Who is just reading
    // finds the old list whole.
    void thin_out(std::uint64_t started_ns) noexcept {
        const std::uint32_t state = state_.load(memory_order::relaxed);
        const age_mark* const from = present();
        const std::uint32_t other = state / second_list ^ 1U;
        for (std::uint32_t i = 0; i < most / 2; ++i) lists_[other][i] = from[2 * i + 1];
        distance_ns_ = (from[most - 1].after_ns - started_ns) / (most / 2);
        state_.store(other * second_list + most / 2, memory_order::release);
    }

    atomic<std::uint32_t> state_;  // the list in use, and how many marks it has
    std::uint64_t distance_ns_;    // at least so far apart; 0: as far as wanted
    age_mark lists_[2][most];
};
static_assert(sizeof(age_marks) <= page_bytes, "one page");

}  // namespace detail

ALLOCSCOPE_RARE_END

#endif  // ALLOCSCOPE_STATE_AGE_MARKS_HPP
