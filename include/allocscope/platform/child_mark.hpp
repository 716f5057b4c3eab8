// child_mark.hpp - tells a process that it was forked, by any means, without a system call.
//
// Room:     platform (floor 1), malloc-safe
// Called:   asked whenever a lock of state/process_state.hpp is taken
// Threads:  any
// Memory:   a page
//
// The mark is a page that the kernel wipes in each forked child (MADV_WIPEONFORK). fork() also runs
// handlers, but _Fork() does not, and threads of the parent may have held locks. A child that
// shares its parent's memory (vfork) does not count as forked. Kernels before 4.14 have no such
// pages; then no fork is noticed.

#ifndef ALLOCSCOPE_PLATFORM_CHILD_MARK_HPP
#define ALLOCSCOPE_PLATFORM_CHILD_MARK_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/platform/thread_wait.hpp>

#include <cerrno>   // errno
#include <cstdint>  // uint32_t

#include <sys/mman.h>  // madvise

ALLOCSCOPE_COLD_BEGIN

namespace detail {

class child_mark {
public:
    // Called once, before several threads use the mark.
    void prepare() noexcept {
        void* page = map_pages(page_bytes);
        if (page == nullptr) return;
        const int saved_errno = errno;
        const bool is_wiped_by_fork = ::madvise(page, page_bytes, MADV_WIPEONFORK) == 0;
        errno = saved_errno;
        if (!is_wiped_by_fork) return;
        auto* state = static_cast<atomic<std::uint32_t>*>(page);
        state->store(settled, memory_order::relaxed);
        state_.store(state, memory_order::release);
    }

    // True in a child that has not mended what its parent's threads left behind.
    ALLOCSCOPE_INLINE bool is_unsettled() const noexcept {
        const atomic<std::uint32_t>* state = state_.load(memory_order::acquire);
        return state != nullptr && state->load(memory_order::acquire) != settled;
    }

    // Returns true in one thread of such a child, which then has to call settle(). The others wait
    // for it.
    bool claim() noexcept {
        atomic<std::uint32_t>* state = state_.load(memory_order::acquire);
        if (state == nullptr) return false;
        std::uint32_t seen = wiped;
        if (state->compare_exchange_strong(seen, claimed)) return true;
        thread_wait waiting;
        while (state->load(memory_order::acquire) == claimed) waiting.once();
        return false;
    }
    void settle() noexcept {
        atomic<std::uint32_t>* state = state_.load(memory_order::acquire);
        if (state != nullptr) state->store(settled, memory_order::release);
    }

private:
    static constexpr std::uint32_t wiped = 0;
    static constexpr std::uint32_t settled = 1;
    static constexpr std::uint32_t claimed = 2;

    atomic<atomic<std::uint32_t>*> state_{nullptr};
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_PLATFORM_CHILD_MARK_HPP
