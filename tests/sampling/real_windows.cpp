// Real windows with recording::sampled tell the truth within their intervals, and without a bias.
//
// The mixes of mixes.hpp are allocated through operator new in windows that are opened and closed
// again and again, on 1 thread and on 4 that free each other's objects; the random numbers are
// fixed. Each size class is allocated on a line of its own, so that it is a row. Exit code 1 when
//
//     the mean z of objects or bytes, allocated, freed or alive, is 0.3 or more for any mix
//     less than 93% or more than 97% of the printed intervals hold the truth
//
// ALLOCSCOPE_TEST_SCALE multiplies the number of windows.
//
// not with: clang, asan, tsan (24,000 windows there take several times as long)

#include <allocscope/allocscope.hpp>
#include <allocscope/sampling/counted_bytes.hpp>
#include <allocscope/state/process_state.hpp>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "sampling/mixes.hpp"
#include "sampling/tally.hpp"

using allocscope::estimate;
using allocscope::snapshot;
using namespace allocscope_tests;

namespace {

constexpr std::size_t object_count = 1200;
constexpr double expected_samples = 150;
constexpr std::uint64_t windows_at_least = 250;
constexpr std::size_t most_threads = 4;

int failures = 0;
double largest_mean_z = 0;

// One function on one line for each size class: rows are places. The number keeps the compiler from
// making one function of all, and from ending in a jump.
#define ALLOCSCOPE_PLACE(number)                                           \
    __attribute__((noinline)) void* allocate_##number(std::size_t bytes) { \
        void* block = ::operator new(bytes);                               \
        __asm__ volatile("# place " #number : "+r"(block));                \
        return block;                                                      \
    }
// clang-format off
constexpr int first_line = __LINE__ + 1;
ALLOCSCOPE_PLACE(0)
ALLOCSCOPE_PLACE(1)
ALLOCSCOPE_PLACE(2)
ALLOCSCOPE_PLACE(3)
ALLOCSCOPE_PLACE(4)
ALLOCSCOPE_PLACE(5)
ALLOCSCOPE_PLACE(6)
ALLOCSCOPE_PLACE(7)
ALLOCSCOPE_PLACE(8)
ALLOCSCOPE_PLACE(9)
ALLOCSCOPE_PLACE(10)
ALLOCSCOPE_PLACE(11)
ALLOCSCOPE_PLACE(12)
ALLOCSCOPE_PLACE(13)
ALLOCSCOPE_PLACE(14)
ALLOCSCOPE_PLACE(15)
ALLOCSCOPE_PLACE(16)
ALLOCSCOPE_PLACE(17)
ALLOCSCOPE_PLACE(18)
ALLOCSCOPE_PLACE(19)
ALLOCSCOPE_PLACE(20)
ALLOCSCOPE_PLACE(21)
ALLOCSCOPE_PLACE(22)
ALLOCSCOPE_PLACE(23)
ALLOCSCOPE_PLACE(24)
ALLOCSCOPE_PLACE(25)
ALLOCSCOPE_PLACE(26)
ALLOCSCOPE_PLACE(27)
constexpr int end_line = __LINE__;
// clang-format on

constexpr std::size_t place_count = 28;
static_assert(end_line == first_line + 28, "one line for each");

using allocate_function = void* (*)(std::size_t);
constexpr allocate_function allocate_at[place_count] = {
    allocate_0,  allocate_1,  allocate_2,  allocate_3,  allocate_4,  allocate_5,  allocate_6,
    allocate_7,  allocate_8,  allocate_9,  allocate_10, allocate_11, allocate_12, allocate_13,
    allocate_14, allocate_15, allocate_16, allocate_17, allocate_18, allocate_19, allocate_20,
    allocate_21, allocate_22, allocate_23, allocate_24, allocate_25, allocate_26, allocate_27};

std::size_t place_of(const planned_object& object) {
    return std::min(size_class_of(object.bytes), place_count - 1);
}

// Four threads that stay, so that the random numbers of each go on; they take turns to begin, so
// that each has the same number in every run.
class workers {
public:
    explicit workers(std::size_t count) : count_(count) {
        for (std::size_t i = 1; i < count; ++i) {
            threads_[i] = std::thread([this, i] { serve(i); });
            std::unique_lock<std::mutex> lock{mutex_};
            changed_.wait(lock, [this, i] { return ready_ == i; });
        }
    }
    ~workers() {
        run(nullptr);
        for (std::size_t i = 1; i < count_; ++i) threads_[i].join();
    }
    workers(const workers&) = delete;
    workers& operator=(const workers&) = delete;

    // task(thread) on each thread, the caller's being number 0. Allocates nothing.
    template <class Task>
    void in_parallel(Task& task) {
        task_ = &task;
        run([](void* wanted, std::size_t i) { (*static_cast<Task*>(wanted))(i); });
    }

private:
    using function = void (*)(void*, std::size_t);

    void run(function wanted) {
        {
            const std::lock_guard<std::mutex> lock{mutex_};
            function_ = wanted;
            done_ = 1;
            ++round_;
        }
        changed_.notify_all();
        if (wanted != nullptr) wanted(task_, 0);
        std::unique_lock<std::mutex> lock{mutex_};
        finished_.wait(lock, [this] { return done_ == count_; });
    }

    void serve(std::size_t number) {
        ::operator delete(::operator new(1));  // the first event numbers the thread
        std::unique_lock<std::mutex> lock{mutex_};
        ready_ = number;
        changed_.notify_all();
        for (std::uint64_t seen = 0;;) {
            changed_.wait(lock, [this, seen] { return round_ != seen; });
            ++seen;
            const function wanted = function_;
            lock.unlock();
            if (wanted != nullptr) wanted(task_, number);
            lock.lock();
            if (++done_ == count_) finished_.notify_one();
            if (wanted == nullptr) return;
        }
    }

    std::size_t count_;
    std::thread threads_[most_threads];
    std::mutex mutex_;  // guards what follows; a wait here does not spin
    std::condition_variable changed_;
    std::condition_variable finished_;
    function function_ = nullptr;
    void* task_ = nullptr;
    std::size_t ready_ = 0;
    std::size_t done_ = 0;
    std::uint64_t round_ = 0;
};

struct quantities {
    truth objects;
    truth bytes;

    void add(const planned_object& object, double p) {
        objects.add(1, p);
        bytes.add(object.bytes, p);
    }
};

struct result {
    tallies totals;
    tallies rows;
};

class experiment {
public:
    experiment(const size_mix& sizes, lifetimes lives)
        : sizes_(sizes),
          lives_(lives),
          objects_(plan_objects(sizes, lives, object_count)),
          blocks_(objects_.size()) {
        double bytes = 0;
        for (const planned_object& object : objects_) bytes += drawn(object);
        options_.record = allocscope::recording::sampled;
        options_.sample_bytes = static_cast<std::uint64_t>(bytes / expected_samples) + 1;
        const double mean = static_cast<double>(options_.sample_bytes);
        for (const planned_object& object : objects_) {
            const double p = options_.sample_bytes == 1 ? 1 : -std::expm1(-drawn(object) / mean);
            known_[0].add(object, p);
            known_[object.is_freed ? 1 : 2].add(object, p);
            if (!object.is_freed) places_[place_of(object)].add(object, p);
        }
    }

    void run(workers& threads, std::size_t count) {
        auto allocate = [this, count](std::size_t t) {
            for (std::size_t i = t; i < objects_.size(); i += count) {
                blocks_[i] = allocate_at[place_of(objects_[i])](objects_[i].bytes);
            }
        };
        auto free_as_planned = [this, count](std::size_t t) {
            for (std::size_t i = (t + 1) % count; i < objects_.size(); i += count) {
                if (!objects_[i].is_freed) continue;
                ::operator delete(blocks_[i]);
                blocks_[i] = nullptr;
            }
        };
        auto free_the_rest = [this, count](std::size_t t) {
            for (std::size_t i = (t + 1) % count; i < objects_.size(); i += count) {
                ::operator delete(blocks_[i]);
            }
        };
        {
            allocscope::scope window{"sampled", options_};
            threads.in_parallel(allocate);
            threads.in_parallel(free_as_planned);
            judge(window.stop());
        }
        threads.in_parallel(free_the_rest);
    }

    void finish(result& sum) const {
        std::printf("| %-21s | %-18s |", sizes_.name, name_of(lives_));
        tallies totals;
        for (const tallies& each : totals_) {
            totals.add(each);
            std::printf(" %+.2f %+.2f |", each.objects.mean_z(), each.bytes.mean_z());
        }
        std::printf(" %5.1f %5.1f | %5.1f %5.1f |\n", 100 * totals.objects.coverage(),
                    100 * totals.bytes.coverage(), 100 * rows_.objects.coverage(),
                    100 * rows_.bytes.coverage());
        for (const tallies& each : totals_) {
            expect_unbiased(each.objects.mean_z());
            expect_unbiased(each.bytes.mean_z());
        }
        sum.totals.add(totals);
        sum.rows.add(rows_);
    }

private:
    static double drawn(const planned_object& object) {
        return static_cast<double>(allocscope::detail::bytes_to_count(object.bytes));
    }

    void expect_unbiased(double mean_z) const {
        largest_mean_z = std::max(largest_mean_z, std::fabs(mean_z));
        if (std::fabs(mean_z) < 0.3) return;
        ++failures;
        std::printf("FAILED: mean z %.3f (%s, %s)\n", mean_z, sizes_.name, name_of(lives_));
    }

    static void add(tally& to, const estimate& said, const truth& real, std::uint64_t samples) {
        if (real.value != 0) to.add(said, static_cast<double>(said.value), real, samples);
    }

    void judge(const snapshot& rows) {
        const snapshot::window_info& info = rows.info();
        const snapshot::window_estimates& said = info.estimates;
        add(totals_[0].objects, said.allocations, known_[0].objects, info.samples);
        add(totals_[0].bytes, said.bytes_allocated, known_[0].bytes, info.samples);
        add(totals_[1].objects, said.frees, known_[1].objects, info.samples);
        add(totals_[1].bytes, said.bytes_freed, known_[1].bytes, info.samples);
        add(totals_[2].objects, said.live_objects, known_[2].objects, info.samples);
        add(totals_[2].bytes, said.live_bytes, known_[2].bytes, info.samples);
        for (const snapshot::row& row : rows) judge(row);
        if (info.loss_count == 0) return;
        ++failures;
        std::printf("FAILED: lost: %s\n", info.losses[0].reason);
    }

    void judge(const snapshot::row& row) {
        const int place = row.line - first_line;
        if (place < 0 || place >= static_cast<int>(place_count) || row.samples == 0) {
            ++failures;
            std::printf("FAILED: a row at %s:%d\n", row.file, row.line);
            return;
        }
        const quantities& real = places_[place];
        add(rows_.objects, {row.objects, row.objects_low, row.objects_high}, real.objects,
            row.samples);
        add(rows_.bytes, {row.bytes, row.bytes_low, row.bytes_high}, real.bytes, row.samples);
    }

    const size_mix& sizes_;
    lifetimes lives_;
    std::vector<planned_object> objects_;
    std::vector<void*> blocks_;
    allocscope::options options_;
    quantities known_[3];  // allocated, freed, alive
    quantities places_[place_count];
    tallies totals_[3];
    tallies rows_;
};

void expect_coverage(const char* what, const tally& of) {
    std::printf("%-18s %5.2f%% of %llu intervals hold the truth\n", what, 100 * of.coverage(),
                static_cast<unsigned long long>(of.runs));
    if (of.coverage() > 0.93 && of.coverage() < 0.97) return;
    ++failures;
    std::printf("FAILED: %s\n", what);
}

void run_all(std::size_t threads, std::uint64_t windows) {
    std::printf("\n%zu thread%s, %llu windows for each mix\n", threads, threads == 1 ? "" : "s",
                static_cast<unsigned long long>(windows));
    std::printf(
        "| sizes | lifetimes | mean z: allocated, objects and bytes | freed | alive |"
        " %% of totals inside | %% of rows inside |\n|---|---|--:|--:|--:|--:|--:|\n");
    workers pool{threads};
    result sum;
    for (const size_mix& sizes : size_mixes) {
        for (const lifetimes lives : all_lifetimes) {
            experiment each{sizes, lives};
            for (std::uint64_t i = 0; i < windows; ++i) each.run(pool, threads);
            each.finish(sum);
        }
    }
    expect_coverage("objects in total", sum.totals.objects);
    expect_coverage("bytes in total", sum.totals.bytes);
    expect_coverage("objects of rows", sum.rows.objects);
    expect_coverage("bytes of rows", sum.rows.bytes);
    tally all = sum.totals.objects;
    all.add(sum.totals.bytes);
    all.add(sum.rows.objects);
    all.add(sum.rows.bytes);
    expect_coverage("all intervals", all);
}

}  // namespace

int main() {
    allocscope::detail::process.sampling_seed.store(1);
    const char* scale = std::getenv("ALLOCSCOPE_TEST_SCALE");
    const std::uint64_t factor =
        scale != nullptr ? std::max<std::uint64_t>(std::strtoull(scale, nullptr, 10), 1) : 1;
    for (const std::size_t threads : {std::size_t{1}, most_threads}) {
        run_all(threads, windows_at_least * factor);
    }
    std::printf("\nthe largest mean z is %.3f\n", largest_mean_z);
    return failures == 0 ? 0 : 1;
}
