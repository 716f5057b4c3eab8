// walks_and_forks.hpp - prevents a fork while a thread walks through the modules.
//
// Room:     hooks (floor 6), not for use inside a hook: may wait
// Called:   by hooks/attached_hooks.hpp and hooks/attach_hooks.hpp; by the C library around fork()
// Threads:  any
// Memory:   none
//
// dl_iterate_phdr holds a lock of the loader that glibc does not release in a forked child. If
// another thread held that lock, the first walk of the child would wait for ever. So fork() waits
// for walks that are under way, and no walk begins until fork() is done. A lock would not work
// here: a thread may walk in a callback of dl_iterate_phdr, while another thread walks and waits
// for the loader.

#ifndef ALLOCSCOPE_HOOKS_WALKS_AND_FORKS_HPP
#define ALLOCSCOPE_HOOKS_WALKS_AND_FORKS_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/clocks.hpp>
#include <allocscope/state/process_state.hpp>

#include <cstdint>  // uint32_t

#include <pthread.h>  // pthread_atfork
#include <sched.h>    // sched_yield

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct walks_and_forks {
    atomic<std::uint32_t> walks{0};
    atomic<const void*> forking{nullptr};  // address of the forking thread's `current_entry`
    atomic<bool> is_prepared{false};
};

ALLOCSCOPE_HIDDEN inline walks_and_forks walks_now;

// How many walks this thread is in.
ALLOCSCOPE_HIDDEN inline thread_local std::uint32_t own_walks
    __attribute__((tls_model(ALLOCSCOPE_PRIVATE_TLS_MODEL))) = 0;

inline void before_fork_of_walker() noexcept {
    const void* nobody = nullptr;
    while (!walks_now.forking.compare_exchange_weak(nobody, &current_entry)) {
        if (nobody == &current_entry) return;
        nobody = nullptr;
        ::sched_yield();
    }
    // A walk takes far less, but its thread may have to wait for a processor. If fork() is called
    // in a signal handler, this thread itself may be in a walk, which does not end meanwhile.
    const std::uint64_t patience = own_walks == 0 ? 10'000'000'000 : 100'000'000;
    const std::uint64_t begin = monotonic_ns();
    while (walks_now.walks.load() != 0 && monotonic_ns() - begin < patience) {
        ::sched_yield();
    }
}

inline void after_fork_in_parent_of_walker() noexcept {
    walks_now.forking.store(nullptr);
}

inline void after_fork_in_child_of_walker() noexcept {
    walks_now.walks.store(own_walks);
    walks_now.forking.store(nullptr);
}

// While an object of this class lives, its thread may walk.
class walk_permit {
public:
    walk_permit() noexcept {
        for (;;) {
            ++own_walks;
            walks_now.walks.fetch_add(1);
            const void* const forking = walks_now.forking.load();
            if (forking == nullptr || forking == &current_entry) return;
            leave();
            ::sched_yield();
        }
    }
    ~walk_permit() { leave(); }
    walk_permit(const walk_permit&) = delete;
    walk_permit& operator=(const walk_permit&) = delete;

private:
    static void leave() noexcept {
        walks_now.walks.fetch_sub(1);
        --own_walks;
    }
};

// Called before the first walk. Registering may allocate.
inline void prepare_walks_for_forks() noexcept {
    if (walks_now.is_prepared.exchange(true)) return;
    ::pthread_atfork(&before_fork_of_walker, &after_fork_in_parent_of_walker,
                     &after_fork_in_child_of_walker);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_HOOKS_WALKS_AND_FORKS_HPP
