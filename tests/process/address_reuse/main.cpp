// Danger: an address is given to another thread between the real free and the removal of its
// record; then the new object's record is removed instead. One arena and no thread cache, so that
// addresses change hands at once; every object is freed by whichever thread comes across it.

#include "../../model/model_sites.hpp"
#include "../../support/accounting.hpp"
#include "../../support/dice.hpp"
#include "../../support/own_threads.hpp"

#include <allocscope/allocscope.hpp>

#include <unistd.h>
#include <atomic>
#include <cstdlib>

using namespace allocscope_test;

namespace {

constexpr int thread_count = 4;
constexpr int slot_count = 32;  // few live objects: the same addresses again and again

struct object_head {
    std::uint32_t site;
    std::uint32_t size;
};

struct tally {
    std::uint64_t born[first_pool_site];
    std::uint64_t died[first_pool_site];
    std::uint64_t bytes_born;
};

std::atomic<object_head*> slots[slot_count];
tally tallies[thread_count];
long rounds = 0;

void bury(object_head* object, tally& mine) {
    if (object == nullptr) return;
    const object_head head = *object;
    mine.died[head.site] += 1;
    release_site(static_cast<int>(head.site), object, head.size);
}

void churn(void* number) {
    tally& mine = *static_cast<tally*>(number);
    dice roll(static_cast<std::uint64_t>(&mine - tallies) + 1);
    for (long i = 0; i < rounds; ++i) {
        const auto site = static_cast<std::uint32_t>(roll.below(3));  // plain, array, nothrow
        const auto size = static_cast<std::uint32_t>(25 + 16 * roll.below(2));
        auto* object = static_cast<object_head*>(site_table_of_the_model[site].allocate(size));
        *object = {site, size};
        mine.born[site] += 1;
        mine.bytes_born += size;
        bury(slots[roll.below(slot_count)].exchange(object), mine);
    }
}

void expect_no_wrong_record(const allocscope::snapshot& seen, std::uint64_t& births) {
    std::uint64_t rows[first_pool_site] = {};
    for (const allocscope::snapshot::row& row : seen) {
        const int site = site_of_line(row.line);
        if (ALLOCSCOPE_EXPECT(site >= 0)) rows[site] += row.objects;
    }
    for (int site = 0; site < first_pool_site; ++site) {
        std::uint64_t alive = 0;
        for (const tally& each : tallies) {
            alive += each.born[site] - each.died[site];
            births += each.born[site];
        }
        ALLOCSCOPE_EXPECT_EQUAL(rows[site], alive);
    }
}

}  // namespace

int main(int, char** arguments) {
    watchdog();
    if (std::getenv("GLIBC_TUNABLES") == nullptr) {
        setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1", 1);
        execv("/proc/self/exe", arguments);
        return 2;
    }
    rounds = scaled(1500000, 25000000);
    allocscope::scope window{"reuse"};
    own_thread threads[thread_count];
    for (int i = 0; i < thread_count; ++i) threads[i].start(churn, &tallies[i]);
    for (own_thread& thread : threads) thread.join();

    std::uint64_t births = 0;
    expect_no_wrong_record(window.stats(), births);
    for (auto& slot : slots) bury(slot.exchange(nullptr), tallies[0]);
    const allocscope::allocation_counts seen = window.counts();
    ALLOCSCOPE_EXPECT_EQUAL(seen.allocations, births);
    ALLOCSCOPE_EXPECT_EQUAL(seen.frees, births);
    ALLOCSCOPE_EXPECT_EQUAL(seen.live_bytes(), 0);
    std::uint64_t bytes = 0;
    for (const tally& each : tallies) bytes += each.bytes_born;
    ALLOCSCOPE_EXPECT_EQUAL(seen.bytes_freed, bytes);
    expect_accounted(window.stats(), {births, births});
    return verdict();
}
