// Danger: what a window with details says of the peak, of lives and of temporary objects is wrong.
// A generator allocates and frees by chance and keeps the true numbers; with one thread they are
// equal, with several they are where nobody allocates at the moment of the peak.
// compiled: above the line

#include <allocscope/allocscope.hpp>
#include <allocscope/base/size_classes.hpp>
#include <allocscope/report.hpp>

#include "../../support/accounting.hpp"
#include "../../support/dice.hpp"
#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"
#include "../../support/scale.hpp"

#include <time.h>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

using namespace allocscope_test;
using allocscope::snapshot;
using details_text = snapshot::stack_details;

namespace {

constexpr std::size_t site_count = 6;

template <std::size_t Number>
__attribute__((noinline)) char* site(std::size_t bytes) {
    return opaque(new char[bytes]);
}
using allocator = char* (*)(std::size_t);
const allocator sites[site_count] = {site<0>, site<1>, site<2>, site<3>, site<4>, site<5>};

std::uint64_t now_ns() {
    timespec now;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1000000000U +
           static_cast<std::uint64_t>(now.tv_nsec);
}

allocscope::options with_details() {
    allocscope::options wanted;
    wanted.details = true;
    return wanted;
}

// What the stacks of a site say together.
details_text details_of(const snapshot& rows, const std::string& function) {
    allocscope::stack_filter wanted;
    wanted.frame = function.c_str();
    details_text sum{};
    const snapshot filtered = rows.filter(wanted);
    for (const snapshot::stack& stack : filtered.stacks()) {
        ALLOCSCOPE_EXPECT(stack.details != nullptr);
        sum.add(*stack.details);
    }
    return sum;
}
details_text details_of(const snapshot& rows, std::size_t number) {
    return details_of(rows, "site<" + std::to_string(number));  // "site<0ul>"
}

struct site_truth {
    std::uint64_t objects = 0, bytes = 0;
    details_text details{};
    std::uint64_t least_ns = 0, most_ns = 0;  // bounds of the sum of all lives
    std::uint64_t births = 0;
};

struct object {
    char* block;
    std::size_t site, bytes;
    std::uint64_t before_ns, after_ns;  // around its birth
};

class generator {
public:
    explicit generator(std::uint64_t seed) : roll_(seed) { objects_.reserve(10000); }

    void run(int steps) {
        for (int i = 0; i < steps; ++i) {
            // The heap grows and shrinks again and again.
            const bool grows = i / 700 % 2 == 0;
            if (objects_.empty() || roll_.below(10) < (grows ? 6U : 4U)) {
                allocate();
                if (roll_.one_in(5)) free_object(objects_.size() - 1);
            } else {
                free_object(roll_.below(objects_.size()));
            }
        }
    }
    void free_all() {
        while (!objects_.empty()) free_object(objects_.size() - 1);
    }

    void check(const snapshot& rows) {
        const std::uint64_t now = now_ns();
        std::uint64_t peak = 0;
        for (std::size_t i = 0; i < site_count; ++i) {
            const details_text seen = details_of(rows, i);
            const site_truth& truth = truths_[i];
            peak += seen.peak_bytes;
            ALLOCSCOPE_EXPECT_EQUAL(seen.peak_objects, truth.details.peak_objects);
            ALLOCSCOPE_EXPECT_EQUAL(seen.peak_bytes, truth.details.peak_bytes);
            ALLOCSCOPE_EXPECT_EQUAL(seen.temporary, truth.details.temporary);
            for (std::size_t k = 0; k < allocscope::size_class_count; ++k) {
                ALLOCSCOPE_EXPECT_EQUAL(seen.sizes[k], truth.details.sizes[k]);
            }
            check_lives(seen.lifetime_us, i, now);
        }
        ALLOCSCOPE_EXPECT_EQUAL(peak, rows.info().totals.peak_bytes);
        ALLOCSCOPE_EXPECT_EQUAL(peak, peak_);
    }

private:
    // Those that are alive count until the snapshot was taken, which is before now.
    void check_lives(std::uint64_t lifetime_us, std::size_t number, std::uint64_t now) {
        const site_truth& truth = truths_[number];
        std::uint64_t least = truth.least_ns;
        std::uint64_t most = truth.most_ns;
        for (const object& each : objects_) {
            if (each.site != number) continue;
            least += read_at_ns > each.after_ns ? read_at_ns - each.after_ns : 0;
            most += now - each.before_ns;
        }
        // The clock of the processor is read in units of 0.1 us, and known to one part in 500.
        const std::uint64_t doubt = truth.births * 300 + most / 500 + 2000;
        ALLOCSCOPE_EXPECT_AT_MOST(least, lifetime_us * 1000 + doubt);
        ALLOCSCOPE_EXPECT_AT_MOST(lifetime_us * 1000, most + doubt);
    }

    void allocate() {
        object made{};
        made.site = roll_.below(site_count);
        made.bytes = roll_.one_in(50) ? 100000 + roll_.below(100000) : 1 + roll_.below(600);
        made.before_ns = now_ns();
        made.block = sites[made.site](made.bytes);
        made.after_ns = now_ns();
        objects_.push_back(made);
        newest_ = made.block;
        site_truth& truth = truths_[made.site];
        ++truth.objects;
        ++truth.births;
        truth.bytes += made.bytes;
        ++truth.details.sizes[allocscope::size_class_of(made.bytes)];
        live_ += made.bytes;
        if (live_ <= peak_) return;
        peak_ = live_;
        for (site_truth& each : truths_) {
            each.details.peak_objects = each.objects;
            each.details.peak_bytes = each.bytes;
        }
    }

    void free_object(std::size_t index) {
        const object dying = objects_[index];
        objects_[index] = objects_.back();
        objects_.pop_back();
        site_truth& truth = truths_[dying.site];
        const std::uint64_t before = now_ns();
        delete[] dying.block;
        const std::uint64_t after = now_ns();
        truth.least_ns += before > dying.after_ns ? before - dying.after_ns : 0;
        truth.most_ns += after - dying.before_ns;
        if (newest_ == dying.block) {  // other frees in between do not matter
            ++truth.details.temporary;
            newest_ = nullptr;
        }
        --truth.objects;
        truth.bytes -= dying.bytes;
        live_ -= dying.bytes;
    }

    dice roll_;
    std::vector<object> objects_;
    const char* newest_ = nullptr;
    site_truth truths_[site_count];
    std::uint64_t live_ = 0, peak_ = 0;

public:
    std::uint64_t read_at_ns = 0;  // before the snapshot was taken
};

// --- one thread ---

void one_thread() {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        generator truth{seed};
        allocscope::scope window{"one thread", with_details()};
        for (int i = 0; i < 4; ++i) {
            truth.run(static_cast<int>(scaled(3000, 30000)));
            truth.read_at_ns = now_ns();
            truth.check(window.stats());
        }
        truth.free_all();
        truth.read_at_ns = now_ns();
        const snapshot rows = window.stop();
        truth.check(rows);
        std::string error;
        snapshot again;
        const std::string bytes = allocscope::to_saved_snapshot(rows);
        ALLOCSCOPE_EXPECT(allocscope::load_snapshot_from(bytes.data(), bytes.size(), again, error));
        truth.check(again);
        ALLOCSCOPE_EXPECT(allocscope::to_saved_snapshot(again) == bytes);
        ALLOCSCOPE_EXPECT(allocscope::to_json(again) == allocscope::to_json(rows));
    }
}

// --- windows beside each other ---

// The peak of the window that began first is followed; all else is known of both. A window without
// details has none, and its numbers are as always.
void several_windows() {
    allocscope::scope plain{"plain"};
    allocscope::scope outer{"outer", with_details()};
    char* kept = site<0>(1000);
    allocscope::scope inner{"inner", with_details()};
    for (int i = 0; i < 10; ++i) delete[] site<1>(300);
    char* other = site<2>(5000);
    delete[] other;
    const snapshot within = inner.stop();
    const snapshot all = outer.stats();
    ALLOCSCOPE_EXPECT(all.info().has_peak_details);
    ALLOCSCOPE_EXPECT(within.info().has_details);
    ALLOCSCOPE_EXPECT(!within.info().has_peak_details);
    ALLOCSCOPE_EXPECT_EQUAL(details_of(within, 1).temporary, std::uint64_t{10});
    ALLOCSCOPE_EXPECT_EQUAL(details_of(within, 2).temporary, std::uint64_t{1});
    ALLOCSCOPE_EXPECT_EQUAL(details_of(all, 0).peak_bytes, std::uint64_t{1000});
    ALLOCSCOPE_EXPECT_EQUAL(details_of(all, 1).peak_bytes, std::uint64_t{0});
    ALLOCSCOPE_EXPECT_EQUAL(details_of(all, 2).peak_bytes, std::uint64_t{5000});
    ALLOCSCOPE_EXPECT_EQUAL(all.info().totals.peak_bytes, std::uint64_t{6000});
    // From here on another peak: what was reported is forgotten.
    ALLOCSCOPE_EXPECT_EQUAL(outer.stats_and_forget().info().totals.peak_bytes, std::uint64_t{6000});
    char* small = site<3>(70);
    delete[] kept;  // it was forgotten
    ALLOCSCOPE_EXPECT_EQUAL(outer.stats().info().totals.peak_bytes, std::uint64_t{70});
    ALLOCSCOPE_EXPECT_EQUAL(details_of(outer.stats(), 3).peak_objects, std::uint64_t{1});
    delete[] small;
    ALLOCSCOPE_EXPECT_EQUAL(details_of(outer.stop(), 3).peak_bytes, std::uint64_t{70});
    const snapshot bare = plain.stop();
    ALLOCSCOPE_EXPECT(!bare.info().has_details);
    for (const snapshot::stack& stack : bare.stacks()) {
        ALLOCSCOPE_EXPECT(stack.details == nullptr);
    }
    ALLOCSCOPE_EXPECT_EQUAL(bare.info().totals.allocations, std::uint64_t{13});
    ALLOCSCOPE_EXPECT_EQUAL(bare.info().totals.frees, std::uint64_t{13});
}

// --- several threads ---

constexpr std::size_t thread_count = 4;

struct meeting {
    std::atomic<std::uint32_t> there{0};
    void wait_for(std::uint32_t all) {
        there.fetch_add(1);
        while (there.load() < all) std::this_thread::yield();
    }
};

// One thread frees another one's object, and the place of its record gets an object of its own. The
// first thread, whose newest object lay there, frees that one.
void handed_over() {
    static char* block = nullptr;
    allocscope::scope window{"handed over", with_details()};
    block = site<0>(100);
    const char* const place = block;
    own_thread other;
    other.start(
        [](void*) {
            delete[] block;
            block = site<1>(100);
        },
        nullptr);
    other.join();
    // Or the test tests nothing. A sanitizer does not give out an address again so soon.
    if (!is_sanitized) ALLOCSCOPE_EXPECT(block == place);
    delete[] block;
    const snapshot rows = window.stop();
    ALLOCSCOPE_EXPECT_EQUAL(rows.info().totals.frees, std::uint64_t{2});
    ALLOCSCOPE_EXPECT_EQUAL(details_of(rows, 0).temporary, std::uint64_t{0});
    ALLOCSCOPE_EXPECT_EQUAL(details_of(rows, 1).temporary, std::uint64_t{0});
}

// Each thread keeps objects, and then all free what another one has made; the peak lies between.
void threads_with_a_known_peak() {
    meeting full, done;
    std::vector<char*> kept[thread_count];
    for (auto& each : kept) each.reserve(200);
    std::vector<std::thread> threads;
    threads.reserve(thread_count);
    allocscope::scope window{"known peak", with_details()};
    const auto work = [&](std::size_t number) {
        for (int round = 0; round < 20; ++round) {
            for (std::size_t i = 0; i <= number; ++i) delete[] site<5>(40);
            for (int i = 0; i < 10; ++i) kept[number].push_back(sites[number](100 * (number + 1)));
        }
        full.wait_for(thread_count);
        for (const char* each : kept[(number + 1) % thread_count]) delete[] each;
        done.wait_for(thread_count);
    };
    for (std::size_t i = 0; i < thread_count; ++i) threads.emplace_back(work, i);
    for (std::thread& each : threads) each.join();
    const snapshot rows = window.stop();
    for (std::size_t i = 0; i < thread_count; ++i) {
        const details_text seen = details_of(rows, i);
        ALLOCSCOPE_EXPECT_EQUAL(seen.peak_objects, std::uint64_t{200});
        ALLOCSCOPE_EXPECT_EQUAL(seen.peak_bytes, 200 * 100 * (i + 1));
        ALLOCSCOPE_EXPECT_EQUAL(seen.temporary, std::uint64_t{0});
    }
    ALLOCSCOPE_EXPECT_EQUAL(details_of(rows, 5).temporary, std::uint64_t{20 * (1 + 2 + 3 + 4)});
    // By thread: each has its own part of the shared place.
    for (const allocscope::group& each : rows.group_by(allocscope::group_key::thread)) {
        ALLOCSCOPE_EXPECT(each.temporary % 20 == 0);
    }
}

// The details of a stack are the sums of what they are for each of its threads.
void check_parts(const snapshot& rows) {
    for (const snapshot::stack& stack : rows.stacks()) {
        if (stack.thread_count < 2) continue;
        details_text sum{};
        for (std::size_t i = 0; i < stack.thread_count; ++i) sum.add(*stack.by_thread[i].details);
        ALLOCSCOPE_EXPECT_EQUAL(stack.details->peak_objects, sum.peak_objects);
        ALLOCSCOPE_EXPECT_EQUAL(stack.details->peak_bytes, sum.peak_bytes);
        ALLOCSCOPE_EXPECT_EQUAL(stack.details->temporary, sum.temporary);
        ALLOCSCOPE_EXPECT_EQUAL(stack.details->lifetime_us, sum.lifetime_us);
        for (std::size_t i = 0; i < allocscope::size_class_count; ++i) {
            ALLOCSCOPE_EXPECT_EQUAL(stack.details->sizes[i], sum.sizes[i]);
        }
    }
}

// Threads that never stop: the sums agree but for what was on its way at the peak.
void threads_at_work() {
    constexpr std::size_t largest = 500;
    std::atomic<std::uint32_t> running{thread_count};
    std::vector<std::thread> threads;
    threads.reserve(thread_count);
    std::vector<std::vector<char*>> kept(thread_count);
    for (auto& each : kept) each.resize(300);
    std::atomic<char*> handed[64] = {};
    std::uint64_t temporary[thread_count] = {};
    allocscope::scope window{"at work", with_details()};
    const auto work = [&](std::size_t number) {
        dice roll{number + 1};
        const auto steps = static_cast<std::uint64_t>(scaled(20000, 300000));
        for (std::uint64_t i = 0; i < steps; ++i) {
            char* made = sites[roll.below(4)](1 + roll.below(largest));
            char*& place = kept[number][roll.below(300)];
            if (roll.one_in(4)) {
                delete[] made;
                ++temporary[number];
            } else if (roll.one_in(3)) {
                delete[] handed[roll.below(64)].exchange(made);
            } else {
                delete[] place;
                place = made;
            }
        }
        for (const char* each : kept[number]) delete[] each;
        running.fetch_sub(1);
    };
    for (std::size_t i = 0; i < thread_count; ++i) threads.emplace_back(work, i);
    while (running.load() != 0) check_parts(window.stats());
    for (std::thread& each : threads) each.join();
    for (auto& each : handed) delete[] each.load();
    const snapshot rows = window.stop();
    check_parts(rows);
    std::uint64_t seen = 0;
    std::uint64_t at_peak = 0;
    std::uint64_t lives = 0;
    for (const snapshot::stack& stack : rows.stacks()) {
        at_peak += stack.details->peak_bytes;
        if (std::string{stack.function}.find("site<") == std::string::npos) continue;
        seen += stack.details->temporary;
        lives += stack.details->lifetime_us;
    }
    std::uint64_t temporaries = 0;
    for (const std::uint64_t each : temporary) temporaries += each;
    // A thread may meet its own newest object among those that were handed over.
    ALLOCSCOPE_EXPECT_AT_MOST(temporaries, seen);
    ALLOCSCOPE_EXPECT_AT_MOST(seen, temporaries + temporaries / 10);
    const std::uint64_t peak = rows.info().totals.peak_bytes;
    const std::uint64_t apart = at_peak > peak ? at_peak - peak : peak - at_peak;
    std::printf("%llu bytes at the peak, %llu apart\n", static_cast<unsigned long long>(peak),
                static_cast<unsigned long long>(apart));
    ALLOCSCOPE_EXPECT_AT_MOST(apart, thread_count * largest);  // an object each
    ALLOCSCOPE_EXPECT_EQUAL(rows.info().totals.live_objects(), std::uint64_t{0});
    ALLOCSCOPE_EXPECT_AT_MOST(lives,
                              rows.info().totals.allocations * rows.info().duration_ns / 1000);
}

// What is read while a thread goes on: no object has lived longer than the window, lives that were
// read do not vanish, and of the allocations that a stack counts not more than all were temporary.
// The lives may become fewer: they are those of the counted allocations, but the mean is taken
// later, and a thread that had to wait for a processor has seen objects that lived for long.
void read_at_work() {
    std::atomic<bool> is_over{false};
    const allocscope::scope window{"read at work", with_details()};
    std::thread worker{[&is_over] {
        dice roll{1};
        char* kept = nullptr;
        while (!is_over.load(std::memory_order_relaxed)) {
            delete[] sites[roll.below(4)](100);
            delete[] sites[4](100);
            delete[] kept;
            kept = sites[roll.below(4)](100);
        }
        delete[] kept;
    }};
    std::uint64_t lives_before[4] = {};
    for (int i = 0; i < 100; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
        const snapshot rows = window.stats();
        const std::uint64_t open_us = rows.info().duration_ns / 1000;
        for (const snapshot::stack& stack : rows.stacks()) {
            ALLOCSCOPE_EXPECT_AT_MOST(stack.details->lifetime_us,
                                      stack.allocations * (open_us + open_us / 10 + 1000));
            ALLOCSCOPE_EXPECT_AT_MOST(stack.details->temporary, stack.allocations);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            const std::string function = "site<" + std::to_string(k);
            const std::uint64_t lives = details_of(rows, function).lifetime_us;
            ALLOCSCOPE_EXPECT(lives_before[k] < 10000 || lives != 0);
            lives_before[k] = lives;
        }
    }
    is_over.store(true);
    worker.join();
}

}  // namespace

int main() {
    one_thread();
    several_windows();
    handed_over();
    threads_with_a_known_peak();
    threads_at_work();
    read_at_work();
    return verdict();
}
