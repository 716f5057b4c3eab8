// call_chain.hpp - as many real frames as wanted below main, with a choice of 2^n stacks.
//
// Every level is a function of its own with two places that call the next level; one bit of the
// path chooses between them. So equal paths are equal stacks, and different paths are different:
//
//     call_chain<3>::descend(leaf, &loop, 0b011)
//
//     main -> level 3 (place a) -> level 2 (place a) -> level 1 (place b) -> level 0 -> leaf(&loop)
//
// The chain knows nothing of malloc or operator new: both sides of a comparison walk down through
// the same instructions. `descend` itself costs about a nanosecond a level when the path repeats.

#ifndef ALLOCSCOPE_BENCHMARKS_CALL_CHAIN_HPP
#define ALLOCSCOPE_BENCHMARKS_CALL_CHAIN_HPP

#include "allocation_policies.hpp"

#include <array>    // array
#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t
#include <utility>  // index_sequence

namespace benchmarks {

using leaf_function = std::uint64_t (*)(void* loop);
using descend_function = std::uint64_t (*)(leaf_function leaf, void* loop, std::uint32_t path);

template <int Frames>
struct call_chain {
    ALLOCSCOPE_BENCHMARK_FRAME static std::uint64_t descend(leaf_function leaf, void* loop,
                                                            std::uint32_t path) {
        std::uint64_t result;
        if ((path & 1) != 0) {
            result = call_chain<Frames - 1>::descend(leaf, loop, path >> 1);
            __asm__ volatile("" : "+r"(result) : "i"(2 * Frames));
            result += 1;
        } else {
            result = call_chain<Frames - 1>::descend(leaf, loop, path >> 1);
            __asm__ volatile("" : "+r"(result) : "i"(2 * Frames + 1));
            result ^= 4;
        }
        return result;
    }
};

template <>
struct call_chain<0> {
    ALLOCSCOPE_BENCHMARK_FRAME static std::uint64_t descend(leaf_function leaf, void* loop,
                                                            std::uint32_t) {
        std::uint64_t result = leaf(loop);
        __asm__ volatile("" : "+r"(result));
        return result;
    }
};

// Two tables of functions, for stacks that differ in their two innermost frames only: reaching one
// of Width * Width stacks costs two indirect calls.
template <std::size_t Width>
struct call_fan {
    struct route {
        leaf_function leaf;
        void* loop;
        std::size_t inner;
    };
    using level = std::uint64_t (*)(const route& way);

    template <std::size_t Place>
    ALLOCSCOPE_BENCHMARK_FRAME static std::uint64_t inner(const route& way) {
        std::uint64_t result = way.leaf(way.loop);
        __asm__ volatile("" : "+r"(result) : "i"(Place));
        return result;
    }
    template <std::size_t Place>
    ALLOCSCOPE_BENCHMARK_FRAME static std::uint64_t outer(const route& way) {
        std::uint64_t result = inner_table(std::make_index_sequence<Width>{})[way.inner](way);
        __asm__ volatile("" : "+r"(result) : "i"(Place + Width));
        return result;
    }
    static std::uint64_t descend(leaf_function leaf, void* loop, std::size_t path) {
        const route way{leaf, loop, path % Width};
        return outer_table(std::make_index_sequence<Width>{})[path / Width % Width](way);
    }

private:
    template <std::size_t... Places>
    static const std::array<level, Width>& inner_table(std::index_sequence<Places...>) {
        static constexpr std::array<level, Width> table{{&inner<Places>...}};
        return table;
    }
    template <std::size_t... Places>
    static const std::array<level, Width>& outer_table(std::index_sequence<Places...>) {
        static constexpr std::array<level, Width> table{{&outer<Places>...}};
        return table;
    }
};

}  // namespace benchmarks

#endif  // ALLOCSCOPE_BENCHMARKS_CALL_CHAIN_HPP
