// handover_queue.hpp - one thread allocates, another one frees.
//
//     slots:  [ block | block | - | - | block ]      4096 of them, used round and round
//                         ^ consumer     ^ producer
//
// A slot is empty or holds one block; each side waits on its own next slot only. Waiting yields the
// processor after a while, so that the pair also gets on with one processor.

#ifndef ALLOCSCOPE_BENCHMARKS_HANDOVER_QUEUE_HPP
#define ALLOCSCOPE_BENCHMARKS_HANDOVER_QUEUE_HPP

#include <sched.h>  // sched_yield

#include <array>    // array
#include <atomic>   // atomic
#include <cstddef>  // size_t

namespace benchmarks {

class handover_queue {
public:
    // Producer only. The release pairs with the acquire in take(): what was written to the block
    // is seen by the thread that frees it.
    void give(void* block) {
        std::atomic<void*>& slot = slots_[give_next_++ % slot_count];
        for (int tries = 0; slot.load(std::memory_order_acquire) != nullptr; ++tries) rest(tries);
        slot.store(block, std::memory_order_release);
    }

    // Consumer only.
    void* take() {
        std::atomic<void*>& slot = slots_[take_next_++ % slot_count];
        void* block = nullptr;
        for (int tries = 0; (block = slot.load(std::memory_order_acquire)) == nullptr; ++tries) {
            rest(tries);
        }
        slot.store(nullptr, std::memory_order_release);
        return block;
    }

private:
    static constexpr std::size_t slot_count = 4096;

    static void rest(int tries) {
        if (tries % 256 == 255) sched_yield();
    }

    std::array<std::atomic<void*>, slot_count> slots_{};
    alignas(64) std::size_t give_next_ = 0;
    alignas(64) std::size_t take_next_ = 0;
};

}  // namespace benchmarks

#endif  // ALLOCSCOPE_BENCHMARKS_HANDOVER_QUEUE_HPP
