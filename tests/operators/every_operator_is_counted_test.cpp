// Each way to allocate with each way to free that may follow it: counted once, bytes as requested.
#include "operator_pairs.hpp"

#include <allocscope/allocscope.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>

namespace {

constexpr std::size_t rounds = 1000;
constexpr std::align_val_t alignments[] = {std::align_val_t{32}, std::align_val_t{64},
                                           std::align_val_t{256}, std::align_val_t{4096}};

std::size_t size_of_round(std::size_t round) {
    return 1 + (round * 37) % 2500;
}

std::align_val_t alignment_of_round(std::size_t round) {
    return alignments[round % 4];
}

allocscope::options counting_with(allocscope::recording record) {
    allocscope::options wanted;
    wanted.record = record;
    return wanted;
}

void check_pair(const testing::allocating_form& make, const testing::freeing_form& unmake,
                allocscope::recording record) {
    CAPTURE(make.name);
    CAPTURE(unmake.name);
    void* blocks[rounds] = {};
    std::uint64_t bytes = 0;
    allocscope::scope window{"pair", counting_with(record)};
    for (std::size_t round = 0; round < rounds; ++round) {
        const std::size_t size = size_of_round(round);
        blocks[round] = make.allocate(size, alignment_of_round(round));
        std::memset(blocks[round], 0x5a, size);
        bytes += size;
    }
    const allocscope::allocation_counts full = window.counts();
    for (std::size_t round = 0; round < rounds; ++round) {
        unmake.free(blocks[round], size_of_round(round), alignment_of_round(round));
    }
    const allocscope::allocation_counts drained = window.counts();

    CHECK(full.allocations == rounds);
    CHECK(full.frees == 0);
    CHECK(full.bytes_allocated == bytes);
    CHECK(full.bytes_freed == 0);
    CHECK(full.peak_bytes == bytes);
    CHECK(drained.allocations == rounds);
    CHECK(drained.frees == rounds);
    CHECK(drained.bytes_allocated == bytes);
    CHECK(drained.bytes_freed == bytes);
    CHECK(drained.peak_bytes == bytes);
}

int check_all_pairs(allocscope::recording record) {
    int pairs = 0;
    for (const auto& make : testing::allocating_forms) {
        for (const auto& unmake : testing::freeing_forms) {
            if (make.kind != unmake.kind) continue;
            check_pair(make, unmake, record);
            ++pairs;
        }
    }
    return pairs;
}

}  // namespace

TEST_CASE("operators: each of the 24 pairs of new and delete is counted exactly, with stacks") {
    CHECK(check_all_pairs(allocscope::recording::exact) == 24);
}

TEST_CASE("operators: each of the 24 pairs of new and delete is counted exactly, totals only") {
    CHECK(check_all_pairs(allocscope::recording::counters) == 24);
}

TEST_CASE("operators: what is alive at the end is in the rows, with the requested bytes") {
    allocscope::scope window{"alive"};
    void* block = ::operator new(123);
    void* aligned = ::operator new (77, std::align_val_t{128});
    const allocscope::snapshot alive = window.stop();
    CHECK(alive.live_objects() == 2);
    CHECK(alive.live_bytes() == 200);
    ::operator delete(block);
    ::operator delete (aligned, std::align_val_t{128});
}

TEST_CASE("operators: deleting null is nothing, in every form") {
    allocscope::scope window;
    for (const auto& unmake : testing::freeing_forms) {
        unmake.free(nullptr, 64, std::align_val_t{64});
    }
    const allocscope::allocation_counts counts = window.counts();
    CHECK(counts.allocations == 0);
    CHECK(counts.frees == 0);
}

TEST_CASE("operators: a block born before the window changes nothing in it when it dies") {
    void* early = ::operator new(1000);
    allocscope::scope window;
    ::operator delete(early);
    CHECK(window.counts().frees == 0);
    CHECK(window.counts().allocations == 0);
}

TEST_CASE("operators: a sized delete with a wrong size is counted with the size of the new") {
    allocscope::scope window;
    void* single = ::operator new(100);
    ::operator delete (single, std::size_t{7});
    void* array = ::operator new[](50);
    ::operator delete[](array, std::size_t{5000});
    void* aligned = ::operator new (300, std::align_val_t{64});
    ::operator delete (aligned, std::size_t{1}, std::align_val_t{64});
    const allocscope::allocation_counts counts = window.counts();
    CHECK(counts.allocations == 3);
    CHECK(counts.bytes_allocated == 450);
    CHECK(counts.frees == 3);
    CHECK(counts.bytes_freed == 450);
}
