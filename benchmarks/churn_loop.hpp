// churn_loop.hpp - the loop behind most questions: free a random block, allocate another.
//
// A ring of blocks that are alive; each step picks one at random, frees it, and puts a new block of
// a random size in its place:
//
//     ring:  [ 211 B | 16 B | 480 B | ... | 37 B ]      1024 blocks unless told otherwise
//                       ^ step: free it, allocate 16 .. 527 B
//
//     churn<hooked> loop{1024};
//     loop.run(1000000);                            // here
//     loop.run_below<16>(1000000);                  // 16 frames further down
//
// The first word of a block is written when it is born and read when it dies, as a program would.

#ifndef ALLOCSCOPE_BENCHMARKS_CHURN_LOOP_HPP
#define ALLOCSCOPE_BENCHMARKS_CHURN_LOOP_HPP

#include "allocation_policies.hpp"
#include "call_chain.hpp"

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t
#include <vector>   // vector

namespace benchmarks {

// xorshift: small, and the same numbers on every machine.
inline std::uint64_t next_random(std::uint64_t& state) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

inline std::uint64_t random_seed(std::uint64_t number) {
    return 0x853c49e6748fea9bU + number * 0x9e3779b97f4a7c15U;
}

// How many frames lie above the loop in the standard arrangement: with main, the start of the
// process and the place that allocates, about 20 real frames.
constexpr int standard_chain = 14;

template <class Policy>
class churn {
public:
    // Block sizes are smallest .. smallest + size_mask; size_mask is a power of two less one.
    explicit churn(std::size_t live, std::size_t smallest = 16, std::size_t size_mask = 511,
                   std::uint64_t seed = 1)
        : ring_(live, nullptr),
          smallest_(smallest),
          size_mask_(size_mask),
          random_(random_seed(seed)) {}
    churn(const churn&) = delete;
    churn& operator=(const churn&) = delete;
    ~churn() {
        for (void* block : ring_) Policy::release(block);
    }

    // Fills every place of both rings with a block. They are filled in turns: if the two heaps were
    // made one after the other, one of them would be laid out better.
    template <class Other>
    void fill_with(churn<Other>& other) {
        for (std::size_t i = 0; i < ring_.size(); ++i) {
            fill_place(i);
            other.fill_place(i);
        }
    }
    void fill_place(std::size_t index) {
        if (ring_[index] == nullptr) ring_[index] = born(next_random(random_));
    }

    ALLOCSCOPE_BENCHMARK_FRAME std::uint64_t run(std::uint64_t steps) {
        std::uint64_t sum = 0;
        for (std::uint64_t step = 0; step < steps; ++step) sum += one_step();
        sum_ += sum;
        return sum;
    }

    template <int Frames>
    void run_below(std::uint64_t steps, std::uint32_t path = 0) {
        steps_ = steps;
        call_chain<Frames>::descend(&churn::leaf, this, path);
    }

    // One step for each call; the caller reaches it through a chain or a fan of its own.
    static std::uint64_t leaf(void* loop) {
        churn& self = *static_cast<churn*>(loop);
        return self.run(self.steps_);
    }
    ALLOCSCOPE_BENCHMARK_FRAME static std::uint64_t single_step_leaf(void* loop) {
        std::uint64_t result = static_cast<churn*>(loop)->one_step();
        __asm__ volatile("" : "+r"(result));
        return result;
    }

private:
    std::uint64_t one_step() {
        const std::uint64_t random = next_random(random_);
        // The high half picks the place without a division, the low half the size.
        void*& place = ring_[static_cast<std::size_t>(((random >> 32) * ring_.size()) >> 32)];
        std::uint64_t sum = 0;
        if (place != nullptr) {
            sum = *static_cast<std::uint64_t*>(place);
            Policy::release(place);
        }
        place = born(random);
        return sum;
    }

    void* born(std::uint64_t random) {
        const std::size_t size = smallest_ + (static_cast<std::size_t>(random) & size_mask_);
        void* block = allocate_here<Policy, 0>(size);
        *static_cast<std::uint64_t*>(block) = size;
        return block;
    }

    std::vector<void*> ring_;
    std::size_t smallest_;
    std::size_t size_mask_;
    std::uint64_t random_;
    std::uint64_t steps_ = 0;
    std::uint64_t sum_ = 0;
};

}  // namespace benchmarks

#endif  // ALLOCSCOPE_BENCHMARKS_CHURN_LOOP_HPP
