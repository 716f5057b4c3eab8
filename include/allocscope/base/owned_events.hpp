// owned_events.hpp - a number of events and the sum of their bytes, which change together.
//
// Room:     base (floor 0), malloc-safe
// Called:   on every allocation and free
// Threads:  exactly one writer, any number of readers
// Memory:   16 bytes
//
// A thread may lose the processor between two additions, and then a reader finds bytes without
// their event for as long as the thread waits. So both numbers are stored by one instruction, and
// read by one. Every processor with AVX does each of them at once, and no processor is interrupted
// in the middle of an instruction.
//
// add_in_two_steps() takes two instructions less. It is for code in which a reader can see from
// something else that it came between the steps: see record/peak_tracking.hpp.
//
// As in owned_counter.hpp, the stores release and the read acquires.

#ifndef ALLOCSCOPE_BASE_OWNED_EVENTS_HPP
#define ALLOCSCOPE_BASE_OWNED_EVENTS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/two_words.hpp>

#include <cstdint>  // uint64_t

#if ALLOCSCOPE_ON(THREAD_SANITIZER)
// What the sanitizer has to be told, as it does not see accesses of 16 bytes.
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

ALLOCSCOPE_HOT_BEGIN

namespace detail {

struct event_sum {
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;

    ALLOCSCOPE_FAST_PATH void add(event_sum more) noexcept {
        events += more.events;
        bytes += more.bytes;
    }
};

class alignas(16) owned_events {
public:
    // One event more.
    ALLOCSCOPE_FAST_PATH void add(std::uint64_t bytes) noexcept {
        const two_words event = two_words{bytes, 0} + two_words{0, 1};
        store(own_value() + event);
    }
    // Does the same. The event is counted last.
    ALLOCSCOPE_FAST_PATH void add_in_two_steps(std::uint64_t bytes) noexcept {
#if ALLOCSCOPE_ON(THREAD_SANITIZER)
        add(bytes);  // the sanitizer does not see what tells the reader
#else
        __asm__ volatile(
            "addq %1, %0\n\t"
            "addq $1, %H0"  // the place 8 bytes behind
            : "+m"(*this)
            : "er"(bytes)
            : "cc", "memory");
#endif
    }
    // Any thread may call this. No thread may then call add() for the same events. Costs a locked
    // instruction.
    ALLOCSCOPE_FAST_PATH void add_shared(std::uint64_t bytes) noexcept {
#if ALLOCSCOPE_ON(THREAD_SANITIZER)
        __tsan_release(this);
#endif
        std::uint64_t seen_bytes = bytes_;
        std::uint64_t seen_events = events_;
        for (;;) {
            bool is_stored;
            __asm__ volatile("lock cmpxchg16b %0"
                             : "+m"(*this), "+a"(seen_bytes), "+d"(seen_events), "=@ccz"(is_stored)
                             : "b"(seen_bytes + bytes), "c"(seen_events + 1)
                             : "memory");
            if (is_stored) return;
        }
    }
    // For the owner only, or while no thread can write.
    void add_sum(const event_sum& more) noexcept {
        store(own_value() + two_words{more.bytes, more.events});
    }
    void clear() noexcept {
        store(two_words{0, 0});
    }

    ALLOCSCOPE_FAST_PATH event_sum read() const noexcept {
        two_words both;
        __asm__ volatile("movdqa %1, %0" : "=x"(both) : "m"(*this) : "memory");
#if ALLOCSCOPE_ON(THREAD_SANITIZER)
        __tsan_acquire(const_cast<owned_events*>(this));
#endif
        return {both[1], both[0]};
    }
    ALLOCSCOPE_FAST_PATH std::uint64_t events() const noexcept {
        return __atomic_load_n(&events_, __ATOMIC_ACQUIRE);
    }

private:
    ALLOCSCOPE_FAST_PATH two_words own_value() const noexcept {
        return *reinterpret_cast<const aligned_words*>(this);
    }
    ALLOCSCOPE_FAST_PATH void store(two_words both) noexcept {
#if ALLOCSCOPE_ON(THREAD_SANITIZER)
        __tsan_release(this);
#endif
        __asm__ volatile("movdqa %1, %0" : "=m"(*this) : "x"(both) : "memory");
    }

    std::uint64_t bytes_ = 0;
    std::uint64_t events_ = 0;
};
static_assert(sizeof(owned_events) == 16, "one access of the processor");

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_BASE_OWNED_EVENTS_HPP
