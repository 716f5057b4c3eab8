// followed_children.hpp - a forked child records for itself.
//
// Called:   by the C library in a child of fork(), when children are followed
// Threads:  the child has one
// Memory:   a segment of its own, with the child's first event
//
// The child shares the recording of its parent. Its gate is wiped, so it has recorded nothing yet.
// It leaves the parent's memory alone and begins like a program without an event. Objects that it
// inherited belong to no window of its own. A child that is made by other means (_Fork, clone) is
// recorded only if it runs another program.
#ifndef ALLOCSCOPE_TOOLS_PRELOAD_FOLLOWED_CHILDREN_HPP
#define ALLOCSCOPE_TOOLS_PRELOAD_FOLLOWED_CHILDREN_HPP

#include "begin_recording.hpp"

#include <new>

#include <pthread.h>
#include <sys/mman.h>

namespace allocscope {
namespace detail {

inline bool put_fresh_pages(void* variable, std::size_t bytes) noexcept {
    return ::mmap(variable, whole_pages(bytes), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

inline void begin_anew_in_child() noexcept {
    if (!process.entry.is_wiped() || own_recording == nullptr) return;
    const int saved_errno = errno;
    void* const first = own_recording;
    own_recording = nullptr;
    if (process.has_thread_key.load(memory_order::relaxed)) {
        ::pthread_key_delete(process.thread_key);  // its value is a thread state of the parent
    }
    if (put_fresh_pages(&process, sizeof process) &&
        put_fresh_pages(&modules_met, sizeof modules_met) &&
        put_fresh_pages(&modules_at_start, sizeof modules_at_start)) {
        ::new (static_cast<void*>(&modules_met)) met_modules;
        ::new (static_cast<void*>(&modules_at_start)) met_modules;
        lasting.give_up(first);
        current_entry = &unattached;
        ::new (static_cast<void*>(&process)) process_state;
        process.tags.note_malloc_family();  // the allocator was chosen in the parent
    } else {
        count_refused_child();
    }
    errno = saved_errno;
}

// What the C library allocates for the fork handler does not belong to the program.
inline void follow_children() noexcept {
    if (followed_request == nullptr) return;
    pause_now(+1);
    ::pthread_atfork(nullptr, nullptr, &begin_anew_in_child);
    pause_now(-1);
}

}  // namespace detail
}  // namespace allocscope

#endif  // ALLOCSCOPE_TOOLS_PRELOAD_FOLLOWED_CHILDREN_HPP
