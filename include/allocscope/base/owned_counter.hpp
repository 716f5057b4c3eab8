// owned_counter.hpp - a number that one thread changes and every thread may read.
//
// Room:     base (floor 0), malloc-safe
// Called:   on every allocation and free
// Threads:  exactly one writer, any number of readers
// Memory:   8 bytes
//
// A shared fetch_add costs a locked instruction on each allocation. If only the owning thread ever
// writes, an addition without the lock prefix is enough: a reader on another thread sees a whole
// value, never a torn one. The store releases and the read acquires (x86_64 keeps stores and loads
// in order). So a reader that sees a death counted also sees the birth counted that came before it.
//
//     owned_counter bytes;       // lives in one thread's state
//     bytes.add(64);             // owner only
//     auto seen = bytes.read();  // anyone; may trail the owner by a moment

#ifndef ALLOCSCOPE_BASE_OWNED_COUNTER_HPP
#define ALLOCSCOPE_BASE_OWNED_COUNTER_HPP

#include <allocscope/base/compiler.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_HOT_BEGIN

namespace detail {

class owned_counter {
public:
    ALLOCSCOPE_FAST_PATH void add(std::uint64_t amount) noexcept {
#if ALLOCSCOPE_ON(THREAD_SANITIZER)
        __atomic_store_n(&value_, value_ + amount, __ATOMIC_RELEASE);  // the sanitizer sees it
#else
        // One instruction. Compilers make three of an atomic load, an addition and a store. An
        // event takes eight instructions less, and a signal handler finds the addition either done
        // or not begun.
        __asm__ volatile("addq %1, %0" : "+m"(value_) : "er"(amount) : "cc", "memory");
#endif
    }
    // Any thread may call this. No thread may then call add() on the same counter. Costs a locked
    // instruction.
    ALLOCSCOPE_FAST_PATH void add_shared(std::uint64_t amount) noexcept {
        __atomic_fetch_add(&value_, amount, __ATOMIC_ACQ_REL);
    }
    // For the owner only, or while no thread can write.
    void set(std::uint64_t value) noexcept {
        __atomic_store_n(&value_, value, __ATOMIC_RELEASE);
    }
    ALLOCSCOPE_FAST_PATH std::uint64_t read() const noexcept {
        return __atomic_load_n(&value_, __ATOMIC_ACQUIRE);
    }

private:
    alignas(8) std::uint64_t value_ = 0;
};

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_BASE_OWNED_COUNTER_HPP
