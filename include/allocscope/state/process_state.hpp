// process_state.hpp - the one global: every table, every thread, every window.
//
// Room:     state (floor 4), malloc-safe
// Called:   by record/, windows/ and all code that reads their tables
// Threads:  see the members; `control` is taken when windows open, close and are read
// Memory:   about 148 KiB of zeroed static storage, touched as needed
//
// The variable is constant-initialised and never destroyed: it is ready before the first
// constructor of the program runs, and still there after the last destructor. It lives in the
// module that replaced operator new. Other modules reach it through engine.hpp.

#ifndef ALLOCSCOPE_STATE_PROCESS_STATE_HPP
#define ALLOCSCOPE_STATE_PROCESS_STATE_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/child_mark.hpp>
#include <allocscope/platform/open_mutex.hpp>
#include <allocscope/platform/page_arena.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/state/followed_peak.hpp>
#include <allocscope/state/gate.hpp>
#include <allocscope/state/thread_state.hpp>
#include <allocscope/state/window_table.hpp>
#include <allocscope/tables/allocation_tags.hpp>
#include <allocscope/tables/cohort_table.hpp>
#include <allocscope/tables/foreign_deaths.hpp>
#include <allocscope/tables/live_object_map.hpp>
#include <allocscope/tables/pool_object_map.hpp>
#include <allocscope/tables/site_table.hpp>

#include <cstdint>  // uint32_t, uint64_t

#include <pthread.h>  // pthread_mutex_t, pthread_key_t

ALLOCSCOPE_MILD_BEGIN

namespace detail {

struct process_state {
    // On pages of its own: see gate::is_wiped().
    alignas(page_bytes) gate entry;
    alignas(page_bytes) live_object_map objects;
    sampled_object_map samples;
    pool_object_map pools;
    allocation_tags tags;
    cohort_table cohorts;
    site_table sites;
    page_arena arena;
    foreign_death_lists foreign;

    followed_peaks followed;

    atomic<thread_state*> threads{nullptr};  // list of all states; it only grows
    atomic<std::uint32_t> last_state_number{0};
    atomic<std::uint64_t> last_instance{0};
    atomic<std::uint32_t> last_epoch_serial{0};

    // Counts boundaries: it goes up whenever any window opens, closes, forgets or gets an age mark.
    // Never 0.
    atomic<std::uint64_t> clock{1};

    // Held while a snapshot is named. Taken before the two locks below, never while one is held.
    pthread_mutex_t naming = open_mutex;
    // Held while tables are read: meanwhile nothing in them is reused or given back. Taken after
    // `naming` and before `control`. `control` is not held all that time, so windows can open.
    pthread_mutex_t walking = open_mutex;
    pthread_mutex_t control = open_mutex;
    // For windows/after_fork.hpp: the thread (&current_entry) that is in fork() and holds all
    // locks; the mark of a child which has not mended its locks yet; and the function that mends
    // them.
    atomic<const void*> forking{nullptr};
    child_mark mark;
    void (*mend_child)() noexcept = nullptr;
    atomic<bool> are_sums_moving{false};  // under the control lock
    atomic<bool> is_releasing{false};     // likewise: tables are being given back
    bool are_names_torn = false;          // under the naming lock: the book is half written
    // --- control lock ---
    std::uint64_t window_being_read = 0;  // it must not close meanwhile; 0: none
    bool is_reclaim_put_off = false;      // until the reader is done
    window_table windows;
    std::uint32_t session = 1;
    std::uint32_t tables = 1;
    std::uint64_t session_began_at = 0;        // boundary clock
    bool sees_every_event = false;             // see gate.hpp
    std::uint32_t windows_of_every_event = 0;  // open ones that are not sampled
    std::uint64_t births_since_wipe = 0;       // of ended sessions, since the map was last wiped
    std::uint64_t cohorts_at_last_reclaim = 0;
    // Read under the walking lock, changed under both.
    retired_family_list retired_families;
    std::uint64_t cohorts_kept = 0;  // how many the last reclaim left

    // The seed of sampling; 0: each process chooses another one. A test sets it.
    atomic<std::uint64_t> sampling_seed{0};
    // See bytes_of_sample(). Threads write it at the same time: the next free repairs that.
    atomic<std::uint64_t> longest_freed_sample{0};

    atomic<std::uint64_t> events_without_state{0};  // for lack of memory
    atomic<bool> is_prepared{false};
    atomic<bool> has_thread_key{false};
    // True: threads end without a call of ours, because no key was free. Ended threads are searched
    // for when last_instance is at least collect_at_instance.
    atomic<bool> has_untold_ends{false};
    atomic<std::uint64_t> collect_at_instance{0};
    pthread_key_t thread_key{};
    // The state that threads use after their last destructor, one thread at a time. When several
    // need one at the same time, the others use its nested states. Made before the first window
    // opens.
    atomic<thread_state*> latecomer{nullptr};

    // Control lock. Gives back what ended windows left behind, when enough has gathered. Set before
    // the first window opens. It is a pointer because an ending thread calls it from a floor below
    // windows/.
    void (*reclaim)() noexcept = nullptr;

    // Looks for modules that were loaded since attach_hooks(). attach_hooks() sets it; null: not
    // attached.
    atomic<void (*)() noexcept> look_for_modules{nullptr};
};

ALLOCSCOPE_HIDDEN ALLOCSCOPE_CONSTANT_INITIALISED inline process_state process{};

// Every state that was ever made, for any thread, the newest first. Threads may begin, end and take
// a state meanwhile. States that are made meanwhile are not visited.
//
//     for (const thread_state& each : all_threads()) ...
class all_threads {
public:
    struct no_position {};
    struct position {
        thread_state* at;

        ALLOCSCOPE_INLINE thread_state& operator*() const noexcept { return *at; }
        ALLOCSCOPE_INLINE bool operator!=(no_position) const noexcept { return at != nullptr; }
        ALLOCSCOPE_INLINE void operator++() noexcept { at = at->next_state; }
    };

    ALLOCSCOPE_INLINE position begin() const noexcept {
        return {process.threads.load(memory_order::acquire)};
    }
    ALLOCSCOPE_INLINE no_position end() const noexcept { return {}; }
};

// Stand in for the state of a thread before its first event and after its last destructor. They are
// always busy, so that every hook of such a thread takes the slow path.
ALLOCSCOPE_HIDDEN ALLOCSCOPE_CONSTANT_INITIALISED inline thread_entry unattached{{1}, no_view};
ALLOCSCOPE_HIDDEN ALLOCSCOPE_CONSTANT_INITIALISED inline thread_entry departed{{1}, no_view};

// Opens a window, or shuts the gate. Defined where ALLOCSCOPE_CONFIG_BEGINS_WITH_FIRST_EVENT is 1.
#if ALLOCSCOPE_CONFIG_BEGINS_WITH_FIRST_EVENT
ALLOCSCOPE_HIDDEN void begin_recording(const void* caller, const char* called) noexcept;
// Makes an age mark if the command asks for one: see recording_head::age_mark_asked.
ALLOCSCOPE_HIDDEN void make_asked_age_mark() noexcept;
#else
inline void begin_recording(const void*, const char*) noexcept {}
inline void make_asked_age_mark() noexcept {}
#endif

// The state of this thread, &unattached or &departed. Code that can only be part of an executable
// reads it with one instruction, without looking up its place in the loader's table.
#if defined(__PIC__) && !defined(__PIE__)
    #define ALLOCSCOPE_PRIVATE_TLS_MODEL "initial-exec"
#else
    #define ALLOCSCOPE_PRIVATE_TLS_MODEL "local-exec"
#endif
ALLOCSCOPE_HIDDEN inline thread_local thread_entry* current_entry
    __attribute__((__tls_model__(ALLOCSCOPE_PRIVATE_TLS_MODEL))) = &unattached;

// What a thread does with the locks in process_state.
struct use_of_locks {
    std::uint32_t count;                        // how many it holds or waits for
    std::uint32_t forks;                        // calls of fork(): a signal handler may add one
    bool has_naming, has_walking, has_control;  // which it took in fork()
};
ALLOCSCOPE_HIDDEN inline thread_local use_of_locks own_locks
    __attribute__((__tls_model__(ALLOCSCOPE_PRIVATE_TLS_MODEL))) = {0, 0, false, false, false};

// The number of the family that the objects of a site belong to.
ALLOCSCOPE_INLINE std::uint32_t family_of_site(std::uint32_t id) noexcept {
    const site* const known = process.sites.by_id(id);
    return known == nullptr ? allocation_tags::operator_new
                            : process.tags.family_number_of(known->tag);
}

// Returns null when this thread has no state of its own.
inline thread_state* current_state() noexcept {
    thread_entry* entry = current_entry;
    if (entry == &unattached || entry == &departed) return nullptr;
    return static_cast<thread_state*>(entry);
}

// Whether the calling thread is in fork(), between our handlers: then it holds all locks.
inline bool is_forking() noexcept {
    return process.forking.load(memory_order::relaxed) == &current_entry;
}

// One of the locks above. In a forked child, taking the first lock mends them all.
class process_lock {
public:
    process_lock(const process_lock&) = delete;
    process_lock& operator=(const process_lock&) = delete;

protected:
    explicit process_lock(pthread_mutex_t& mutex) noexcept {
        if (ALLOCSCOPE_UNLIKELY(process.mark.is_unsettled()) && process.mark.claim()) {
            process.mend_child();
            process.mark.settle();
        }
        if (is_forking()) return;
        mutex_ = &mutex;
        ++own_locks.count;
        compiler_barrier();
        ::pthread_mutex_lock(mutex_);
    }
    ~process_lock() {
        if (mutex_ == nullptr) return;
        ::pthread_mutex_unlock(mutex_);
        compiler_barrier();
        --own_locks.count;
    }

private:
    pthread_mutex_t* mutex_ = nullptr;
};

class control_lock : process_lock {
public:
    control_lock() noexcept : process_lock(process.control) {}
};

class walking_lock : process_lock {
public:
    ALLOCSCOPE_INLINE walking_lock() noexcept : process_lock(process.walking) {}
};

}  // namespace detail

ALLOCSCOPE_MILD_END

#endif  // ALLOCSCOPE_STATE_PROCESS_STATE_HPP
