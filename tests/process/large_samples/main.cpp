// Danger: blocks larger than the interval are all samples and begin at a page. Unless the size that
// is requested is chosen with care, glibc maps each of them afresh, with a fault for each page, as
// long as the window is open, and the program runs at half its speed or less. How many blocks were
// mapped is read from the allocator itself, so no time is measured.
//
// not with: asan, tsan (an allocator of their own)

#include "../../support/escape.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/record/sampler.hpp>

#include <malloc.h>  // mallinfo2

#include <cstddef>
#include <cstdint>
#include <initializer_list>

using namespace allocscope_test;
using allocscope::detail::bytes_of_sample;

namespace {

std::size_t mapped_blocks() {
    return mallinfo2().hblks;
}

// Two may be mapped: the first one, and the one whose free shows its size to the allocator.
std::size_t times_mapped(std::size_t bytes) {
    std::size_t times = 0;
    for (int i = 0; i < 20; ++i) {
        const std::size_t before = mapped_blocks();
        void* block = allocate(bytes);
        if (mapped_blocks() > before) ++times;
        ALLOCSCOPE_EXPECT(reinterpret_cast<std::uintptr_t>(block) % 4096 == 0);
        release(block);
    }
    return times;
}

void check_sizes() {
    for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{131071}}) {
        ALLOCSCOPE_EXPECT_EQUAL(bytes_of_sample(bytes), bytes);
    }
    for (const std::uint64_t bytes : {std::uint64_t{131072}, std::uint64_t{40000000}}) {
        ALLOCSCOPE_EXPECT_EQUAL(bytes_of_sample(bytes), bytes + 8192);
    }
    // A size that no allocator grants is not changed: it must not wrap into one that is granted.
    for (const std::uint64_t less : {0U, 1U, 8191U, 8192U}) {
        const std::uint64_t huge = ~std::uint64_t{0} - less;
        ALLOCSCOPE_EXPECT(bytes_of_sample(huge) >= huge);
    }
}

}  // namespace

int main() {
    watchdog();
    check_sizes();
    allocscope::options wanted;
    wanted.record = allocscope::recording::sampled;
    wanted.sample_bytes = 4096;
    allocscope::scope window{"large blocks", wanted};
    // glibc maps these in any case, and learns nothing.
    for (int i = 0; i < 3; ++i) release(allocate(std::size_t{40} << 20U));
    // From small to large: each is larger than all that the allocator has seen so far.
    for (std::size_t bytes = 200000; bytes < 30000000; bytes = bytes * 3 / 2 + 1001) {
        void* const kept = allocate(bytes);  // what is not freed teaches the allocator nothing
        ALLOCSCOPE_EXPECT_AT_MOST(times_mapped(bytes), 2);
        ALLOCSCOPE_EXPECT_EQUAL(bytes_of_sample(bytes), bytes);
        release(kept);
    }
    for (const std::size_t pages : {std::size_t{8000}, std::size_t{1024}, std::size_t{64}}) {
        ALLOCSCOPE_EXPECT_AT_MOST(times_mapped(pages * 4096), 2);
    }
    const allocscope::snapshot rows = window.stop();
    ALLOCSCOPE_EXPECT(rows.empty());
    ALLOCSCOPE_EXPECT(rows.info().estimates.allocations.value >= 20 * 15);
    return verdict();
}
