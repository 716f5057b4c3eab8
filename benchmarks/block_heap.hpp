// block_heap.hpp - heaps of several shapes, for questions about memory beside the heap.
//
//     block_heap<hooked> heap{1000000};     // room for the list of so many blocks
//     heap.build(64);                       // allocates and touches them

#ifndef ALLOCSCOPE_BENCHMARKS_BLOCK_HEAP_HPP
#define ALLOCSCOPE_BENCHMARKS_BLOCK_HEAP_HPP

#include "allocation_policies.hpp"
#include "call_chain.hpp"
#include "child_process.hpp"
#include "churn_loop.hpp"
#include "interleaved_ratio.hpp"
#include "window_modes.hpp"

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <cstdio>   // fflush, printf
#include <cstdlib>  // _Exit
#include <cstring>  // memset
#include <memory>   // make_unique
#include <string>   // string, to_string
#include <vector>   // vector

namespace benchmarks {

struct heap_shape {
    const char* name;
    std::uint64_t blocks;
    std::uint64_t size;  // 0: random, 16 .. 527
};

constexpr heap_shape heap_shapes[] = {
    {"nothing", 0, 16},
    {"1000 blocks of 64 bytes", 1000, 64},
    {"100000 blocks of 16 bytes", 100000, 16},
    {"4000000 blocks of 16 bytes", 4000000, 16},
    {"2000000 blocks of 64 bytes", 2000000, 64},
    {"500000 blocks of 16 to 527 bytes", 500000, 0},
    {"50000 blocks of 4096 bytes", 50000, 4096},
    {"2000 blocks of 100000 bytes", 2000, 100000},
    {"100 blocks of 2000000 bytes", 100, 2000000},
};

// The list of the blocks is not part of the heap: its pages are touched before anything is read.
template <class Policy>
class block_heap {
public:
    explicit block_heap(std::uint64_t blocks) : blocks_(static_cast<std::size_t>(blocks)) {
        if (blocks_.empty()) return;  // data() may be null then, which memset does not take
        std::memset(static_cast<void*>(blocks_.data()), 1, blocks_.size() * sizeof(void*));
    }

    void build(std::uint64_t size) {
        size_ = size;
        call_chain<standard_chain>::descend(&fill, this, 0);
    }

private:
    ALLOCSCOPE_BENCHMARK_FRAME static std::uint64_t fill(void* object) {
        block_heap& self = *static_cast<block_heap*>(object);
        std::uint64_t random = random_seed(1);
        for (void*& block : self.blocks_) {
            const std::uint64_t size =
                self.size_ != 0 ? self.size_ : 16 + next_random(random) % 512;
            block = allocate_here<Policy, 0>(size);
            std::memset(block, 1, size);
        }
        return random;
    }

    std::vector<void*> blocks_;
    std::uint64_t size_ = 0;
};

// Runs in a child process: builds a heap under a window, prints by how many KiB the resident memory
// grew, and ends the process.
template <class Policy>
void build_and_print(std::uint64_t blocks, std::uint64_t size, const window_mode& mode) {
    auto heap = std::make_unique<block_heap<Policy>>(blocks);
    const double before = status_kib("VmRSS:");
    const optional_window window{mode};
    heap->build(size);
    std::printf("%.0f\n", status_kib("VmRSS:") - before);
    std::fflush(stdout);
    std::_Exit(0);
}

// What such a child prints, the median of three.
inline double grown_kib(const std::string& mode, const heap_shape& shape, std::uint64_t divisor) {
    std::vector<double> seen;
    for (int run = 0; run < 3; ++run) {
        seen.push_back(run_this_program("--child=" + mode +
                                            " --blocks=" + std::to_string(shape.blocks / divisor) +
                                            " --size=" + std::to_string(shape.size),
                                        1)[0]);
    }
    return median(seen);
}

}  // namespace benchmarks

#endif  // ALLOCSCOPE_BENCHMARKS_BLOCK_HEAP_HPP
