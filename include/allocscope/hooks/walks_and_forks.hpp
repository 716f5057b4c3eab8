// walks_and_forks.hpp - prevents a fork while a thread walks through the modules.
//
// Room:     hooks (floor 6), not for use inside a hook: may wait
// Called:   before main; by hooks/attached_hooks.hpp and hooks/attach_hooks.hpp; by the C library
//           around fork()
// Threads:  any
// Memory:   none
//
// dl_iterate_phdr holds a lock of the loader that glibc does not release in a forked child. If
// another thread held that lock, the first walk of the child would wait for ever. So fork() waits
// for walks that are under way, and no walk begins until fork() is done. A lock would not work
// here: a thread may walk in a callback of dl_iterate_phdr, while another thread walks and waits
// for the loader.
//
// Our handlers are registered before main. If the first walk registered them, a fork() that has
// begun in another thread would not call them. A child of _Fork() or clone() sees that a thread of
// its parent was in a walk, and does not walk. If a thread of the parent was in dlopen(), the child
// does not walk either: platform/loader_lock.hpp.

#ifndef ALLOCSCOPE_HOOKS_WALKS_AND_FORKS_HPP
#define ALLOCSCOPE_HOOKS_WALKS_AND_FORKS_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/clocks.hpp>
#include <allocscope/platform/loader_lock.hpp>
#include <allocscope/platform/thread_identity.hpp>
#include <allocscope/platform/thread_wait.hpp>
#include <allocscope/state/process_state.hpp>

#include <cstdint>  // uint32_t, uint64_t

#include <pthread.h>  // pthread_atfork
#include <unistd.h>   // getpid

ALLOCSCOPE_HOT_BEGIN

namespace detail {

// Both words have the number of the process above 32 bits.
struct walks_and_forks {
    atomic<std::uint64_t> walks{0};    // how many
    atomic<std::uint64_t> forking{0};  // the number of the thread that is in fork()
    atomic<bool> is_prepared{false};
};

ALLOCSCOPE_HIDDEN inline walks_and_forks walks_now;

struct walks_and_forks_of_thread {
    std::uint32_t walks;  // how many walks it is in
    std::uint32_t forks;  // how many calls of fork(): a signal handler may add one
    bool is_alone;        // in fork(): no other thread is in a walk, and none will begin one
};
ALLOCSCOPE_HIDDEN inline thread_local walks_and_forks_of_thread own_walks
    __attribute__((__tls_model__(ALLOCSCOPE_PRIVATE_TLS_MODEL))) = {0, 0, false};

inline std::uint32_t count_of_walks(std::uint64_t walks) noexcept {
    return static_cast<std::uint32_t>(walks);
}

inline std::uint64_t own_process() noexcept {
    return static_cast<std::uint64_t>(::getpid()) << 32U;
}

inline std::uint64_t own_thread_in(std::uint64_t here) noexcept {
    return here | static_cast<std::uint32_t>(own_thread_id());
}

inline bool is_another_forking(std::uint64_t forking, std::uint64_t here) noexcept {
    // A child of _Fork() inherits what another thread of its parent was doing.
    const bool is_here = forking != 0 && (forking ^ here) >> 32U == 0;
    return is_here && forking != own_thread_in(here);
}

inline void before_fork_of_walker() noexcept {
    if (++own_walks.forks > 1) return;
    own_walks.is_alone = false;
    const std::uint64_t here = own_process();
    std::uint64_t forking = walks_now.forking.load();
    thread_wait waiting;
    while (is_another_forking(forking, here) ||
           !walks_now.forking.compare_exchange_weak(forking, own_thread_in(here))) {
        waiting.once();
        forking = walks_now.forking.load();
    }
    // A walk takes far less, but its thread may have to wait for a processor. If fork() is called
    // in a signal handler, this thread itself may be in a walk, which does not end meanwhile.
    const std::uint64_t patience = own_walks.walks == 0 ? 10'000'000'000 : 100'000'000;
    const std::uint64_t begin = monotonic_ns();
    while (count_of_walks(walks_now.walks.load()) > own_walks.walks) {
        if (monotonic_ns() - begin >= patience) return;
        waiting.once();
    }
    own_walks.is_alone = true;
}

inline void after_fork_in_parent_of_walker() noexcept {
    if (own_walks.forks <= 1) walks_now.forking.store(0);
    if (own_walks.forks != 0) --own_walks.forks;
}

// A thread of the parent may have been counted although it was only about to see that it must wait.
inline void after_fork_in_child_of_walker() noexcept {
    if (own_walks.is_alone) walks_now.walks.store(own_process() | own_walks.walks);
    after_fork_in_parent_of_walker();
}

// While an object of this class lives, its thread may walk if is_granted().
class walk_permit {
public:
    walk_permit() noexcept {
        const std::uint64_t here = own_process();
        thread_wait waiting;
        while (enter(here)) {
            const bool is_lost = is_loader_lock_lost();
            is_granted_ = !is_lost && !is_another_forking(walks_now.forking.load(), here);
            if (is_granted_) return;
            leave();
            if (is_lost) return;
            waiting.once();
        }
    }
    ~walk_permit() {
        if (is_granted_) leave();
    }
    walk_permit(const walk_permit&) = delete;
    walk_permit& operator=(const walk_permit&) = delete;

    // False in a child in which the loader's lock belongs to a thread of its parent.
    bool is_granted() const noexcept { return is_granted_; }

private:
    static bool enter(std::uint64_t here) noexcept {
        const std::uint32_t own = own_walks.walks++;
        std::uint64_t walks = walks_now.walks.load();
        do {
            const bool is_inherited = (walks ^ here) >> 32U != 0;
            if (is_inherited && count_of_walks(walks) != own) {
                --own_walks.walks;
                return false;
            }
        } while (!walks_now.walks.compare_exchange_weak(walks, here | (count_of_walks(walks) + 1)));
        return true;
    }
    static void leave() noexcept {
        walks_now.walks.fetch_sub(1);
        --own_walks.walks;
    }

    bool is_granted_ = false;
};

// Registering may allocate.
inline bool prepare_walks_for_forks() noexcept {
    if (walks_now.is_prepared.exchange(true)) return true;
    ::pthread_atfork(&before_fork_of_walker, &after_fork_in_parent_of_walker,
                     &after_fork_in_child_of_walker);
    return true;
}

// Before main. Code that attaches hooks even earlier registers the handlers itself.
ALLOCSCOPE_HIDDEN inline const bool are_walks_prepared = prepare_walks_for_forks();

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_HOOKS_WALKS_AND_FORKS_HPP
