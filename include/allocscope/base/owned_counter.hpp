// owned_counter.hpp - a number that one thread changes and every thread may read.
//
// Room:     base (floor 0), malloc-safe
// Called:   on every allocation and free
// Threads:  exactly one writer, any number of readers
// Memory:   8 bytes
//
// A shared fetch_add costs a locked instruction on each allocation. When only the owning thread
// ever writes, a plain load, an addition and a plain store are enough; the atomic type is here so
// that a reader on another thread sees a whole value, never a torn one. The store releases and the
// read acquires (both plain moves on x86_64): a reader that sees a death counted also sees the
// birth counted that came before it.
//
//     owned_counter bytes;       // lives in one thread's state
//     bytes.add(64);             // owner only
//     auto seen = bytes.read();  // anyone; may trail the owner by a moment

#ifndef ALLOCSCOPE_BASE_OWNED_COUNTER_HPP
#define ALLOCSCOPE_BASE_OWNED_COUNTER_HPP

#include <allocscope/base/compiler.hpp>

#include <atomic>   // atomic
#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class owned_counter {
public:
    ALLOCSCOPE_FAST_PATH void add(std::uint64_t amount) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_release);
    }
    // Any thread, with a locked instruction; then nobody may use add() on the same counter.
    void add_shared(std::uint64_t amount) noexcept {
        value_.fetch_add(amount, std::memory_order_acq_rel);
    }
    // Owner only, or while no thread can write.
    void set(std::uint64_t value) noexcept { value_.store(value, std::memory_order_release); }
    std::uint64_t read() const noexcept { return value_.load(std::memory_order_acquire); }

private:
    std::atomic<std::uint64_t> value_{0};
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BASE_OWNED_COUNTER_HPP
