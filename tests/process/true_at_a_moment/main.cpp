// Danger: births and deaths are read one after the other. A reader that loses the processor in
// between counts every birth of that time and none of the deaths, and reports a million objects
// where there were never more than eight. So every number is compared with the least and the most
// that can have been so at any moment.
//
// Each worker frees what it allocated, at many places in turn, and always holds between one and
// `most_held` objects. Then objects go from hand to hand; how often is counted, and only so many
// may be too many. Windows that open and close meanwhile give each worker many epochs, so that
// reading it takes longer than it rests. All of it on every processor, then on one.

#include "../../model/model_sites.hpp"
#include "../../support/dice.hpp"
#include "../../support/own_threads.hpp"
#include "../../support/process_test.hpp"
#include "../../support/stack_tree.hpp"

#include <allocscope/allocscope.hpp>

#include <sched.h>  // sched_setaffinity

#include <atomic>
#include <optional>
#include <utility>

using namespace allocscope_test;

namespace {

constexpr int worker_count = 8;
constexpr std::uint64_t most_held = 4;
constexpr std::uint64_t object_bytes = 48;
constexpr std::uint64_t most_alive = worker_count * most_held;
// A thread tells the others of what it holds when that is 64 KiB more or less: docs/limits.md.
constexpr std::uint64_t peak_tolerance = worker_count * 64 * 1024;

struct alignas(64) hand {
    std::atomic<void*> object{nullptr};
    std::atomic<const allocscope::scope*> own_window{nullptr};  // of the worker's thread alone
};

std::atomic<bool> is_over{false};
std::atomic<bool> is_handing{false};
bool are_samples_drawn = false;  // not while a window wants every event
std::atomic<int> ready{0};
std::atomic<std::uint64_t> handed{0};
hand hands[worker_count];  // what worker i frees for worker i - 1

// Takes what lies in the worker's hand and frees it.
void empty_hand(int self) {
    void* taken = hands[self].object.exchange(nullptr);
    if (taken == nullptr) return;
    handed.fetch_add(1);
    release_site(0, taken, object_bytes);
}

void* made_at(int step, int self) {
    return site_at_depth(step % site_count, object_bytes, (step / site_count + self) % 6);
}

void work(void* argument) {
    const int self = static_cast<int>(static_cast<hand*>(argument) - hands);
    allocscope::options of_thread;
    of_thread.from = allocscope::threads::current;
    std::optional<allocscope::scope> own;
    if (!are_samples_drawn) hands[self].own_window = &own.emplace("own", of_thread);
    struct {
        void* address;
        int site;
    } held[most_held] = {};
    held[0] = {made_at(0, self), 0};
    ready.fetch_add(1);
    dice roll(static_cast<std::uint64_t>(self) + 11);
    for (int step = 0; !is_over.load(std::memory_order_relaxed); ++step) {
        // Never without an object: a new one is made before the last is freed.
        const auto filled = 1 + roll.below(most_held - 1);
        held[filled] = {made_at(step, self), step % site_count};
        release_site(held[0].site, held[0].address, object_bytes);
        held[0] = held[filled];
        held[filled] = {nullptr, 0};
        if (is_handing.load(std::memory_order_relaxed)) {
            hand& next = hands[(self + 1) % worker_count];
            if (next.object.load() == nullptr) {
                void* given = site_at_depth(0, object_bytes, 0);
                void* expected = nullptr;
                if (!next.object.compare_exchange_strong(expected, given)) {
                    release_site(0, given, object_bytes);
                }
            }
            empty_hand(self);
        }
    }
    ready.fetch_sub(1);
    while (ready.load() != 0) sched_yield();
    empty_hand(self);
    release_site(held[0].site, held[0].address, object_bytes);
}

struct truth {
    std::uint64_t least;
    std::uint64_t most;
};

void expect_true(const allocscope::allocation_counts& seen, const truth& is) {
    ALLOCSCOPE_EXPECT(seen.frees <= seen.allocations);
    ALLOCSCOPE_EXPECT(seen.bytes_freed <= seen.bytes_allocated);
    ALLOCSCOPE_EXPECT_AT_MOST(seen.live_objects(), is.most);
    ALLOCSCOPE_EXPECT_AT_MOST(seen.live_bytes(), is.most * object_bytes);
    ALLOCSCOPE_EXPECT_AT_MOST(is.least, seen.live_objects());
    ALLOCSCOPE_EXPECT_AT_MOST(is.least * object_bytes,
                              seen.live_bytes() + most_alive * object_bytes);
    ALLOCSCOPE_EXPECT_AT_MOST(seen.peak_bytes, is.most * object_bytes + peak_tolerance);
}

void expect_true_rows(const allocscope::snapshot& seen, const truth& is) {
    expect_true(seen.info().totals, is);
    ALLOCSCOPE_EXPECT_EQUAL(seen.live_objects(), seen.info().totals.live_objects());
    ALLOCSCOPE_EXPECT_EQUAL(seen.live_bytes(), seen.info().totals.live_bytes());
    const bool is_certain = seen.info().uncertain_objects == 0;
    for (const allocscope::snapshot::row& row : seen) {
        ALLOCSCOPE_EXPECT_AT_MOST(row.objects, is.most);
        ALLOCSCOPE_EXPECT_AT_MOST(row.bytes, is.most * object_bytes);
        if (is_certain) ALLOCSCOPE_EXPECT_EQUAL(row.bytes, row.objects * object_bytes);
    }
    if (!is_certain) return;
    const allocscope::allocation_counts& totals = seen.info().totals;
    ALLOCSCOPE_EXPECT_EQUAL(totals.bytes_allocated, totals.allocations * object_bytes);
    ALLOCSCOPE_EXPECT_EQUAL(totals.bytes_freed, totals.frees * object_bytes);
}

void open_and_close(void*) {
    while (!is_over.load()) {
        const allocscope::scope passing{"passing"};
        sched_yield();
    }
}

void watch(const allocscope::scope& exact, const allocscope::scope& counters,
           const allocscope::scope& every_sample, allocscope::leak_check& check, long rounds) {
    for (long i = 0; i < rounds; ++i) {
        const bool is_free_of_hands = !is_handing.load();
        const auto bounded = [&](const auto& look) {
            const std::uint64_t handed_before = handed.load();
            const auto seen = look();
            const std::uint64_t passed = handed.load() - handed_before;
            // One more object for each worker's hand, and one that lies in it.
            const std::uint64_t more = is_free_of_hands ? 0 : 2 * worker_count + passed;
            return std::pair<decltype(look()), truth>{seen, {worker_count, most_alive + more}};
        };
        const auto numbers = bounded([&] { return counters.counts(); });
        expect_true(numbers.first, numbers.second);
        const auto exact_numbers = bounded([&] { return exact.counts(); });
        expect_true(exact_numbers.first, exact_numbers.second);
        const auto& worker = hands[i % worker_count];
        for (int again = 0; again < 50; ++again) {  // the fewer may be alive, the more is seen
            const auto own = bounded([&] { return worker.own_window.load()->counts(); });
            const std::uint64_t more = is_free_of_hands ? 0 : own.second.most;
            ALLOCSCOPE_EXPECT_AT_MOST(own.first.live_objects(), most_held + more);
            ALLOCSCOPE_EXPECT_AT_MOST(1, own.first.live_objects());
        }
        if (i % 8 != 0) continue;
        const auto rows = bounded([&] { return exact.stats(); });
        expect_true_rows(rows.first, rows.second);
        const auto samples = bounded([&] { return every_sample.stats(); });
        expect_true_rows(samples.first, samples.second);
        if (is_free_of_hands) {
            ALLOCSCOPE_EXPECT_EQUAL(rows.first.info().uncertain_objects, 0);
            ALLOCSCOPE_EXPECT(check.check().passed());
        }
    }
}

// Threads that are started afterwards run where this one does.
void run_on(const cpu_set_t& processors) {
    sched_setaffinity(0, sizeof processors, &processors);
}

void try_all(long rounds) {
    is_over = false;
    is_handing = false;
    are_samples_drawn = false;
    allocscope::options wanted;
    const allocscope::scope exact{"exact"};
    wanted.record = allocscope::recording::counters;
    const allocscope::scope counters{"counters", wanted};
    wanted.record = allocscope::recording::sampled;
    wanted.sample_bytes = 1;
    const allocscope::scope every_sample{"every sample", wanted};
    allocscope::leak_options limits;
    limits.objects = most_alive;
    allocscope::leak_check check{"in use", limits};

    own_thread workers[worker_count];
    own_thread opening;
    for (int i = 0; i < worker_count; ++i) workers[i].start(work, &hands[i]);
    while (ready.load() != worker_count) sched_yield();
    opening.start(open_and_close, nullptr);
    watch(exact, counters, every_sample, check, rounds);
    is_handing = true;
    watch(exact, counters, every_sample, check, rounds);
    is_over = true;
    for (own_thread& worker : workers) worker.join();
    opening.join();
    ALLOCSCOPE_EXPECT_EQUAL(exact.counts().live_objects(), 0);
    ALLOCSCOPE_EXPECT_EQUAL(counters.counts().live_objects(), 0);
    ALLOCSCOPE_EXPECT_EQUAL(every_sample.stats().live_objects(), 0);
}

// With no other window open, so that samples are drawn. As many are alive as objects at most.
void try_samples(long rounds) {
    is_over = false;
    is_handing = false;
    are_samples_drawn = true;
    allocscope::options wanted;
    wanted.record = allocscope::recording::sampled;
    wanted.sample_bytes = 16;
    const allocscope::scope samples{"samples", wanted};
    own_thread workers[worker_count];
    for (int i = 0; i < worker_count; ++i) workers[i].start(work, &hands[i]);
    while (ready.load() != worker_count) sched_yield();
    for (long i = 0; i < rounds; ++i) {
        std::uint64_t alive = 0;
        const allocscope::snapshot seen = samples.stats();
        for (const allocscope::snapshot::row& row : seen) alive += row.samples;
        ALLOCSCOPE_EXPECT_AT_MOST(alive, most_alive + seen.info().uncertain_objects);
    }
    is_over = true;
    for (own_thread& worker : workers) worker.join();
    ALLOCSCOPE_EXPECT_EQUAL(samples.counts().live_objects(), 0);
}

// One object, or two while the next one is made before the last is freed, at a thousand places in
// turn. Who adds up the places while the object moves on finds none, or many.
void wander(void*) {
    constexpr int depth = 10;
    void* last = allocate_on_path(0, depth, object_bytes);
    ready.fetch_add(1);
    for (unsigned path = 1; !is_over.load(std::memory_order_relaxed); ++path) {
        void* const next = allocate_on_path(path, depth, object_bytes);
        ::operator delete(last);
        last = next;
    }
    ::operator delete(last);
}

void try_one_object(long rounds) {
    is_over = false;
    const allocscope::scope window{"one object"};
    own_thread wanderer;
    ready = 0;
    wanderer.start(wander, nullptr);
    while (ready.load() != 1) sched_yield();
    for (long i = 0; i < rounds; ++i) {
        const allocscope::snapshot seen = window.stats();
        if (seen.info().uncertain_objects == 0) expect_true_rows(seen, {1, 2});
    }
    is_over = true;
    wanderer.join();
    ready = 0;
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), 0);
}

}  // namespace

int main() {
    watchdog();
    const long rounds = scaled(100);
    cpu_set_t every;
    sched_getaffinity(0, sizeof every, &every);
    try_all(rounds);
    try_samples(rounds);
    try_one_object(rounds * 3);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int i = 0; CPU_COUNT(&one) == 0; ++i) {
        if (CPU_ISSET(i, &every)) CPU_SET(i, &one);
    }
    run_on(one);
    try_all(rounds / 10 + 1);
    try_samples(rounds / 2 + 1);
    return verdict();
}
