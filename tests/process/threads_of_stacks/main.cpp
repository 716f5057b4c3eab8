// Danger: a stack that several threads share is told to be of one, or of the thread that frees.
// Each thread allocates its own number of objects, all at the same places.
// compiled: above the line

#include <allocscope/allocscope.hpp>
#include <allocscope/report.hpp>

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"

#include <pthread.h>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

using namespace allocscope_test;
using allocscope::group_key;
using allocscope::snapshot;
using allocscope::stack_filter;

namespace {

constexpr std::size_t thread_count = 4;
constexpr std::uint64_t shared_bytes = 48;

struct worker_heap {
    std::vector<char*> kept;
    std::vector<char*> handed_over;  // the main thread frees them
};

__attribute__((noinline)) char* shared_place() {
    return opaque(new char[shared_bytes]);
}
__attribute__((noinline)) char* freed_place(std::size_t bytes) {
    return opaque(new char[bytes]);
}

// Thread n: 100 * (n + 1) objects that stay, of which 10 are handed over; and n + 1 that are freed.
// All threads have the same stacks.
void work(std::size_t number, worker_heap& heap, std::atomic<std::uint32_t>& done,
          const std::atomic<bool>& may_end) {
    const std::string name = "worker " + std::to_string(number);
    ::pthread_setname_np(::pthread_self(), name.c_str());
    for (std::size_t i = 0; i < 100 * (number + 1); ++i) {
        (i < 10 ? heap.handed_over : heap.kept).push_back(shared_place());
    }
    for (std::size_t i = 0; i < number + 1; ++i) delete[] freed_place(100 + number);
    done.fetch_add(1);
    while (!may_end.load()) std::this_thread::yield();
}

struct workers {
    std::atomic<std::uint32_t> done{0};
    std::atomic<bool> may_end{false};
    worker_heap heaps[thread_count];
    std::vector<std::thread> threads;

    workers() {
        threads.reserve(thread_count);
        for (worker_heap& heap : heaps) {
            heap.kept.reserve(1000);
            heap.handed_over.reserve(10);
        }
    }
    void start() {
        for (std::size_t i = 0; i < thread_count; ++i) {
            threads.emplace_back([this, i] { work(i, heaps[i], done, may_end); });
        }
        while (done.load() != thread_count) std::this_thread::yield();
        for (worker_heap& heap : heaps) {
            for (const char* each : heap.handed_over) delete[] each;
        }
    }
    void end() {
        may_end = true;
        for (std::thread& each : threads) each.join();
    }
    void free_all() {
        for (worker_heap& heap : heaps) {
            for (const char* each : heap.kept) delete[] each;
        }
    }
};

const allocscope::group* named(const allocscope::snapshot_groups& groups, const std::string& name) {
    for (const allocscope::group& each : groups) {
        if (each.name.compare(0, name.size(), name) == 0) return &each;
    }
    return nullptr;
}

// Without those whose objects have only lived on.
std::size_t count_of_changed(const allocscope::snapshot_groups& groups) {
    std::size_t count = 0;
    for (const allocscope::group& each : groups) {
        if (each.objects != 0 || each.allocations != 0) ++count;
    }
    return count;
}

// The sums of a thread at its two places.
void check_workers(const snapshot& rows) {
    stack_filter of_work;
    of_work.frame = "_place";
    const auto groups = rows.filter(of_work).group_by(group_key::thread);
    ALLOCSCOPE_EXPECT_EQUAL(count_of_changed(groups), thread_count);
    for (std::size_t i = 0; i < thread_count; ++i) {
        const auto* worker = named(groups, "worker " + std::to_string(i) + " (thread ");
        ALLOCSCOPE_EXPECT(worker != nullptr);
        const std::uint64_t shared = 100 * (i + 1);
        ALLOCSCOPE_EXPECT_EQUAL(worker->objects, shared - 10);
        ALLOCSCOPE_EXPECT_EQUAL(worker->bytes, (shared - 10) * shared_bytes);
        ALLOCSCOPE_EXPECT_EQUAL(worker->allocations, shared + i + 1);
        ALLOCSCOPE_EXPECT_EQUAL(worker->bytes_allocated,
                                shared * shared_bytes + (i + 1) * (100 + i));
    }
}

// What a thread has is what the filter leaves of the stacks, of the rows and of their totals.
void check_filter(const snapshot& rows) {
    stack_filter wanted;
    wanted.thread = "worker 2";
    wanted.frame = "_place";
    const snapshot own = rows.filter(wanted);
    ALLOCSCOPE_EXPECT_EQUAL(own.size(), std::size_t{1});
    ALLOCSCOPE_EXPECT_EQUAL(own[0].objects, std::uint64_t{290});
    std::uint64_t allocations = 0;
    std::uint64_t number = 0;
    for (const snapshot::stack& stack : own.stacks()) {
        ALLOCSCOPE_EXPECT_EQUAL(stack.thread_count, std::size_t{1});
        const snapshot::thread& thread = own.allocating_threads()[stack.thread];
        ALLOCSCOPE_EXPECT(std::string{thread.name} == "worker 2");
        number = thread.number;
        allocations += stack.allocations;
    }
    ALLOCSCOPE_EXPECT_EQUAL(allocations, std::uint64_t{303});
    const std::string digits = std::to_string(number);
    stack_filter by_number;
    by_number.thread = digits.c_str();
    by_number.frame = "_place";
    ALLOCSCOPE_EXPECT(rows.filter(by_number).live_bytes() == own.live_bytes());
    wanted.thread = "nobody";
    ALLOCSCOPE_EXPECT(rows.filter(wanted).stacks().empty());
}

// The parts of each stack are the stack.
void check_parts(const snapshot& rows) {
    bool is_one_shared = false;
    for (const snapshot::stack& stack : rows.stacks()) {
        ALLOCSCOPE_EXPECT(stack.thread_count != 0);
        if (stack.thread_count == 1) continue;
        is_one_shared = is_one_shared || stack.thread_count == thread_count;
        std::uint64_t objects = 0;
        std::uint64_t bytes_allocated = 0;
        for (std::size_t i = 0; i < stack.thread_count; ++i) {
            objects += stack.by_thread[i].objects;
            bytes_allocated += stack.by_thread[i].bytes_allocated;
        }
        ALLOCSCOPE_EXPECT_EQUAL(objects, stack.objects);
        ALLOCSCOPE_EXPECT_EQUAL(bytes_allocated, stack.bytes_allocated);
    }
    ALLOCSCOPE_EXPECT(is_one_shared);
}

void exact_window() {
    workers all;
    allocscope::scope window{"exact"};
    all.start();
    const snapshot rows = window.stats();
    check_workers(rows);
    check_filter(rows);
    check_parts(rows);
    std::string error;
    snapshot again;
    const std::string bytes = allocscope::to_saved_snapshot(rows);
    ALLOCSCOPE_EXPECT(allocscope::load_snapshot_from(bytes.data(), bytes.size(), again, error));
    check_workers(again);
    check_filter(again);
    ALLOCSCOPE_EXPECT(allocscope::to_saved_snapshot(again) == bytes);
    ALLOCSCOPE_EXPECT(allocscope::to_json(again) == allocscope::to_json(rows));
    all.end();
    // Threads that have ended are known by their numbers only.
    const auto ended = window.stats().group_by(group_key::thread);
    ALLOCSCOPE_EXPECT(named(ended, "worker") == nullptr);
    ALLOCSCOPE_EXPECT(named(ended, "thread ") != nullptr);
    // The difference that every program can make does not know them.
    ALLOCSCOPE_EXPECT(window.stats().difference_from(rows).allocating_threads().empty());
    all.free_all();
}

// What threads have done between two snapshots of a window that had seen others before.
void differences() {
    workers some;
    workers all;
    allocscope::options wanted;
    wanted.details = true;
    allocscope::scope window{"differences", wanted};
    some.start();
    some.end();
    const snapshot before = window.stats();
    all.start();
    const snapshot between = window.stats();
    const snapshot change = allocscope::difference(between, before);
    check_workers(change);
    check_filter(change);
    ALLOCSCOPE_EXPECT(change.info().has_details);
    std::uint64_t small_objects = 0;
    std::uint64_t peak_bytes = 0;
    for (const snapshot::stack& stack : change.stacks()) {
        small_objects += stack.details->sizes[allocscope::size_class_of(shared_bytes)];
        peak_bytes += stack.details->peak_bytes;
    }
    ALLOCSCOPE_EXPECT_EQUAL(small_objects, std::uint64_t{100 + 200 + 300 + 400});
    ALLOCSCOPE_EXPECT(change.info().totals.peak_bytes != 0);
    ALLOCSCOPE_EXPECT(peak_bytes != 0);
    all.end();
    all.free_all();
    // The main thread has freed them; they were of the workers, which have ended since.
    stack_filter of_work;
    of_work.frame = "shared_place";
    const snapshot gone = allocscope::difference(window.stats(), between).filter(of_work);
    const auto groups = gone.group_by(group_key::thread);
    ALLOCSCOPE_EXPECT_EQUAL(count_of_changed(groups), thread_count);
    for (std::size_t i = 0; i < thread_count; ++i) {
        const auto* worker = named(groups, "worker " + std::to_string(i) + " (thread ");
        ALLOCSCOPE_EXPECT(worker != nullptr);
        ALLOCSCOPE_EXPECT_EQUAL(worker->objects, 0 - (100 * std::uint64_t{i + 1} - 10));
        ALLOCSCOPE_EXPECT_EQUAL(worker->allocations, std::uint64_t{0});
    }
    some.free_all();
}

// Every object is a sample.
void sampled_window() {
    workers all;
    allocscope::options wanted;
    wanted.record = allocscope::recording::sampled;
    wanted.sample_bytes = 2;
    allocscope::scope window{"sampled", wanted};
    all.start();
    const snapshot rows = window.stats();
    check_workers(rows);
    check_filter(rows);
    check_parts(rows);
    all.end();
    all.free_all();
}

// Windows of one thread each, open at the same time, have nothing in common.
void windows_of_threads() {
    snapshot parts[2];
    std::vector<char*> kept[2];
    std::atomic<std::uint32_t> open{0};
    const auto measure = [&](std::size_t number) {
        kept[number].reserve(20);
        allocscope::options own;
        own.from = allocscope::threads::current;
        const allocscope::scope window{"own", own};
        open.fetch_add(1);
        while (open.load() < 2) std::this_thread::yield();
        for (std::size_t i = 0; i < 5 * (number + 1); ++i) kept[number].push_back(shared_place());
        parts[number] = window.stats();
        open.fetch_add(1);
        while (open.load() < 4) std::this_thread::yield();
    };
    std::thread other{[&] { measure(1); }};
    measure(0);
    other.join();
    const snapshot all = allocscope::merge({parts[0], parts[1]});
    ALLOCSCOPE_EXPECT_EQUAL(all.info().totals.allocations, std::uint64_t{15});
    ALLOCSCOPE_EXPECT_EQUAL(all.allocating_threads().size(), std::size_t{2});
    const auto groups = all.group_by(group_key::thread);
    ALLOCSCOPE_EXPECT_EQUAL(groups.size(), std::size_t{2});
    ALLOCSCOPE_EXPECT_EQUAL(groups[0].objects, std::uint64_t{10});
    ALLOCSCOPE_EXPECT_EQUAL(groups[1].objects, std::uint64_t{5});
    for (const auto& part : kept) {
        for (const char* each : part) delete[] each;
    }
    std::string error;
    snapshot none;
    ALLOCSCOPE_EXPECT(!allocscope::merge({parts[0], parts[0]}, none, error));
}

}  // namespace

int main() {
    exact_window();
    differences();
    sampled_window();
    windows_of_threads();
    return verdict();
}
