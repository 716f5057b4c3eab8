// window_demand.hpp - what many windows want together, without looking at each of them.
//
// Room:     state (floor 4), malloc-safe
// Called:   when a window opens or closes, under the control lock
// Threads:  under the control lock
// Memory:   576 bytes for all process-wide windows, and as many in the state of each thread
//
// Opening or closing a window changes a few counters, however many windows are open. Only the least
// sampling interval has to be searched for again, when the last window that wanted it closes.

#ifndef ALLOCSCOPE_STATE_WINDOW_DEMAND_HPP
#define ALLOCSCOPE_STATE_WINDOW_DEMAND_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/state/gate.hpp>

#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_MILD_BEGIN

namespace detail {

// What one window wants. It stays the same while the window is open.
struct window_wish {
    charge mode = charge::nothing;
    std::uint32_t frames = 0;
    unwinding_set methods = 0;
    std::uint64_t sample_bytes = 0;
};

class window_demand {
public:
    std::uint32_t windows() const noexcept { return windows_; }

    // `change` is +1 or -1.
    void change(const window_wish& wish, int change) noexcept {
        const auto by = static_cast<std::uint32_t>(change);
        windows_ += by;
        modes_[static_cast<std::uint32_t>(wish.mode)] += by;
        if (wish.mode == charge::samples) change_interval(wish.sample_bytes, by);
        if (wish.mode == charge::numbers) return;
        const std::uint32_t depth =
            wish.frames <= max_stack_frames ? wish.frames : max_stack_frames;
        frames_[depth] += by;
        if (depth > most_frames_) most_frames_ = depth;
        while (most_frames_ != 0 && frames_[most_frames_] == 0) --most_frames_;
        for (std::uint32_t i = 0; i < method_count; ++i) {
            if ((wish.methods & (1U << i)) != 0) methods_[i] += by;
        }
    }

    // True: sampled windows are left, and the least of their intervals is not known. Then
    // add_interval() has to be called for each of them.
    bool lacks_interval() const noexcept {
        return interval_users_ == 0 && modes_[static_cast<std::uint32_t>(charge::samples)] != 0;
    }
    void add_interval(std::uint64_t sample_bytes) noexcept { change_interval(sample_bytes, 1); }

    // What serves all windows.
    window_wish together() const noexcept {
        window_wish all;
        for (std::uint32_t i = 0; i < mode_count; ++i) {
            if (modes_[i] != 0) all.mode = static_cast<charge>(i);
        }
        all.frames = most_frames_;
        for (std::uint32_t i = 0; i < method_count; ++i) {
            if (methods_[i] != 0) all.methods |= 1U << i;
        }
        if (interval_users_ != 0) all.sample_bytes = interval_;
        return all;
    }

private:
    static constexpr std::uint32_t mode_count = static_cast<std::uint32_t>(charge::details) + 1;
    static constexpr std::uint32_t method_count = 3;

    void change_interval(std::uint64_t sample_bytes, std::uint32_t by) noexcept {
        const bool is_less = interval_users_ == 0 || sample_bytes < interval_;
        if (is_less && by == 1) {
            interval_ = sample_bytes;
            interval_users_ = 1;
        } else if (interval_users_ != 0 && sample_bytes == interval_) {
            interval_users_ += by;
        }
    }

    std::uint32_t windows_ = 0;
    std::uint32_t modes_[mode_count] = {};
    std::uint32_t methods_[method_count] = {};
    std::uint32_t frames_[max_stack_frames + 1] = {};
    std::uint32_t most_frames_ = 0;
    std::uint32_t interval_users_ = 0;  // 0: the interval is not known, or there is none
    std::uint64_t interval_ = 0;
};

}  // namespace detail

ALLOCSCOPE_MILD_END

#endif  // ALLOCSCOPE_STATE_WINDOW_DEMAND_HPP
