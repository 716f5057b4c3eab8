// Danger: a snapshot or counts() taken while threads allocate and free shows an object that died
// before it was born: a negative, that is a huge, number. Everything seen must lie between what was
// certainly done before the look and what was at most done after it.

#include "../../model/model_sites.hpp"
#include "../../support/accounting.hpp"
#include "../../support/dice.hpp"
#include "../../support/own_threads.hpp"

#include <allocscope/allocscope.hpp>

#include <atomic>

using namespace allocscope_test;

namespace {

constexpr int worker_count = 4;
constexpr int reader_count = 2;
constexpr std::size_t size_of_site(std::uint32_t site) {
    return 16 + 16 * site;
}

// Written by one worker: how many births and deaths it has begun and finished.
struct alignas(64) progress {
    std::atomic<std::uint64_t> births_begun{0}, births_done{0};
    std::atomic<std::uint64_t> deaths_begun{0}, deaths_done{0};
};

progress workers[worker_count];
std::atomic<bool> is_over{false};
allocscope::scope* window = nullptr;

struct bounds {
    std::uint64_t births_begun = 0, births_done = 0, deaths_begun = 0, deaths_done = 0;
};

bounds now() {
    bounds sum;
    for (const progress& each : workers) {
        sum.births_begun += each.births_begun.load();
        sum.births_done += each.births_done.load();
        sum.deaths_begun += each.deaths_begun.load();
        sum.deaths_done += each.deaths_done.load();
    }
    return sum;
}

void churn(void* self) {
    auto& mine = *static_cast<progress*>(self);
    dice roll(static_cast<std::uint64_t>(&mine - workers) + 5);
    struct {
        void* address;
        std::uint32_t site;
    } ring[200] = {};
    while (!is_over.load(std::memory_order_relaxed)) {
        auto& slot = ring[roll.below(200)];
        if (slot.address != nullptr) {
            mine.deaths_begun.fetch_add(1);
            release_site(static_cast<int>(slot.site), slot.address, size_of_site(slot.site));
            mine.deaths_done.fetch_add(1);
        }
        slot.site = static_cast<std::uint32_t>(roll.below(site_count));
        mine.births_begun.fetch_add(1);
        slot.address = site_at_depth(static_cast<int>(slot.site), size_of_site(slot.site),
                                     static_cast<int>(roll.below(6)));
        mine.births_done.fetch_add(1);
    }
    for (auto& slot : ring) {
        if (slot.address == nullptr) continue;
        mine.deaths_begun.fetch_add(1);
        release_site(static_cast<int>(slot.site), slot.address, size_of_site(slot.site));
        mine.deaths_done.fetch_add(1);
    }
}

void expect_between(const allocscope::allocation_counts& seen, const bounds& before,
                    const bounds& after) {
    ALLOCSCOPE_EXPECT(seen.allocations >= before.births_done);
    ALLOCSCOPE_EXPECT(seen.allocations <= after.births_begun);
    ALLOCSCOPE_EXPECT(seen.frees >= before.deaths_done);
    ALLOCSCOPE_EXPECT(seen.frees <= after.deaths_begun);
    ALLOCSCOPE_EXPECT(seen.frees <= seen.allocations);
    ALLOCSCOPE_EXPECT(seen.bytes_freed <= seen.bytes_allocated);
}

void expect_rows_between(const allocscope::snapshot& seen, const bounds& before,
                         const bounds& after) {
    std::uint64_t objects = 0;
    const std::uint64_t in_motion =
        after.births_begun - before.births_done + after.deaths_begun - before.deaths_done;
    for (const allocscope::snapshot::row& row : seen) {
        const int site = site_of_line(row.line);
        if (!ALLOCSCOPE_EXPECT(site >= 0)) continue;
        objects += row.objects;
        const std::uint64_t size = size_of_site(static_cast<std::uint32_t>(site));
        ALLOCSCOPE_EXPECT(row.objects < 1U << 20);
        ALLOCSCOPE_EXPECT(row.bytes <= (row.objects + in_motion) * size);
        ALLOCSCOPE_EXPECT(row.bytes + in_motion * size >= row.objects * size);
    }
    ALLOCSCOPE_EXPECT(objects + after.deaths_begun >= before.births_done);
    ALLOCSCOPE_EXPECT(objects + before.deaths_done <= after.births_begun);
}

void look(void* rounds) {
    for (long i = *static_cast<long*>(rounds); i > 0; --i) {
        const bounds before = now();
        if (i % 16 == 0) {
            const allocscope::snapshot seen = window->stats();
            const bounds after = now();
            expect_between(seen.info().totals, before, after);
            expect_rows_between(seen, before, after);
        } else {
            const allocscope::allocation_counts seen = window->counts();
            expect_between(seen, before, now());
        }
    }
}

void open_and_close(void*) {
    while (!is_over.load()) {
        allocscope::scope passing{"passing"};
        const allocscope::allocation_counts seen = passing.counts();
        ALLOCSCOPE_EXPECT(seen.frees <= seen.allocations);
        ALLOCSCOPE_EXPECT(seen.bytes_freed <= seen.bytes_allocated);
    }
}

}  // namespace

int main() {
    watchdog();
    allocscope::scope outer{"changing"};
    window = &outer;
    long rounds = scaled(8000);
    own_thread churning[worker_count];
    own_thread looking[reader_count];
    own_thread opening;
    for (int i = 0; i < worker_count; ++i) churning[i].start(churn, &workers[i]);
    for (own_thread& thread : looking) thread.start(look, &rounds);
    opening.start(open_and_close, nullptr);
    for (own_thread& thread : looking) thread.join();
    is_over = true;
    for (own_thread& thread : churning) thread.join();
    opening.join();
    ALLOCSCOPE_EXPECT_EQUAL(outer.counts().allocations, now().births_done);
    ALLOCSCOPE_EXPECT_EQUAL(outer.counts().live_objects(), 0);
    expect_accounted(outer.stats(), {now().births_done, now().deaths_done});
    return verdict();
}
