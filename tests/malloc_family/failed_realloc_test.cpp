// A realloc that is refused leaves the object as it was: the same record with the same stack, and
// nothing is counted. realloc to no bytes is a free.
// hooks: malloc
// not with: asan, tsan (they define malloc themselves)
#include "../support/escape.hpp"
#include "next_malloc.hpp"
#include "windows_of_all_kinds.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

using namespace allocscope_test;

namespace {

volatile std::size_t too_much = PTRDIFF_MAX;

// True: it was refused as it ought to be.
bool is_refused(void* block) {
    errno = 0;
    void* moved = opaque(std::realloc(opaque(block), too_much));
    // Not every allocator says so.
    return moved == nullptr && (errno == ENOMEM || !next_malloc::is_glibc());
}

void check_window(const allocscope::options& wanted, std::size_t bytes) {
    allocscope::scope window{"refused", wanted};
    char* block = static_cast<char*>(opaque(std::malloc(bytes)));
    const int line = __LINE__ - 1;
    block[0] = 'a';
    block[bytes - 1] = 'z';
    const bool was_refused = is_refused(block);
    const bool is_kept = block[0] == 'a' && block[bytes - 1] == 'z';
    const allocscope::allocation_counts counts = window.counts();
    const allocscope::snapshot alive = window.stats();
    std::free(block);
    const allocscope::allocation_counts end = window.counts();

    CHECK(was_refused);
    CHECK(is_kept);
    CHECK(counts.allocations == 1);
    CHECK(counts.frees == 0);
    CHECK(counts.peak_bytes == bytes);
    CHECK(end.live_objects() == 0);
    CHECK(end.live_bytes() == 0);
    if (wanted.record == allocscope::recording::exact) {
        CHECK(alive.live_objects() == 1);
        CHECK(alive.live_bytes() == bytes);
        REQUIRE(alive.size() == 1);
        CHECK(alive[0].line == line);
        CHECK(alive.info().loss_count == 0);
    }
}

}  // namespace

TEST_CASE("realloc: an object whose realloc was refused keeps its record and its stack") {
    for (const std::size_t bytes : {24U, 5000U, 70'000'000U}) {
        check_window(recording_as(allocscope::recording::exact), bytes);
        check_window(recording_as(allocscope::recording::counters), bytes);
        check_window(sampling_with(1), bytes);
    }
}

TEST_CASE("realloc: a sample whose realloc was refused stays a sample") {
    allocscope::scope window{"refused", sampling_with(16)};
    static void* blocks[1000];
    for (void*& block : blocks) block = opaque(std::malloc(4000));
    const allocscope::allocation_counts before = window.counts();
    const std::uint64_t samples = window.stats().info().samples;
    int refused = 0;
    for (void* block : blocks) refused += is_refused(block) ? 1 : 0;
    const allocscope::allocation_counts after = window.counts();
    for (void* block : blocks) std::free(block);
    const allocscope::allocation_counts end = window.counts();
    CHECK(refused == 1000);
    CHECK(samples >= 990);
    CHECK(after.live_objects() == before.live_objects());
    CHECK(after.live_bytes() == before.live_bytes());
    CHECK(after.frees == before.frees);
    CHECK(end.live_objects() == 0);
    CHECK(end.live_bytes() == 0);
}

TEST_CASE("realloc: to no bytes is a free, sampled or not") {
    constexpr int many = 100'000;
    volatile std::size_t none = 0;
    for (const auto& wanted :
         {recording_as(allocscope::recording::exact), recording_as(allocscope::recording::counters),
          sampling_with(1), sampling_with(64), sampling_with(5000)}) {
        allocscope::scope window{"freed", wanted};
        int kept = 0;
        for (int i = 0; i < many; ++i) {
            void* block = opaque(std::malloc(40));
            block = opaque(std::realloc(block, none));
            if (block == nullptr) continue;
            ++kept;  // other allocators than glibc hand out an empty block
            std::free(block);
        }
        const allocscope::allocation_counts seen = window.counts();
        const bool is_sampled = wanted.record == allocscope::recording::sampled;
        if (!is_sampled) CHECK(seen.allocations == static_cast<std::uint64_t>(many + kept));
        CHECK(seen.live_objects() == 0);
        CHECK(seen.live_bytes() == 0);
    }
}

TEST_CASE("realloc: to no bytes is a free for faults and guards, too") {
    if (!next_malloc::is_glibc()) return;
    volatile std::size_t none = 0;
    void* blocks[3];
    for (void*& block : blocks) block = opaque(std::malloc(40));
    allocscope::scope window{"freed", recording_as(allocscope::recording::exact)};
    void* const recorded = opaque(std::malloc(40));
    bool is_null = false;
    std::uint64_t seen = 0;
    {
        const allocscope::fail_allocation each{1, 1000};
        is_null = std::realloc(recorded, none) == nullptr;
        is_null = ::reallocarray(blocks[0], none, 8) == nullptr && is_null;
        seen = each.seen();
    }
    const allocscope::allocation_counts counts = window.counts();
    CHECK(is_null);
    CHECK(seen == 0);
    CHECK(counts.allocations == 1);
    CHECK(counts.frees == 1);

    allocscope::no_allocation_guard allocations{"allocations",
                                                allocscope::on_violation::throw_error()};
    is_null = std::realloc(blocks[1], none) == nullptr;
    CHECK(is_null);
    CHECK(allocations.finish().passed());

    allocscope::no_allocation_guard frees{"frees", allocscope::on_violation::throw_error(),
                                          allocscope::forbidden::allocations_and_frees};
    is_null = std::realloc(blocks[2], none) == nullptr;
    CHECK(is_null);
    const allocscope::check_result broken = frees.check();
    CHECK_FALSE(broken.passed());
    CHECK(std::strstr(broken.message(), "memory was freed") != nullptr);
    CHECK_THROWS_AS(frees.finish(), allocscope::violation_error);
}
