#include "window_checks.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/sampling/random_source.hpp>
#include <allocscope/sampling/sample_gap.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/state/thread_state.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

using allocscope::options;
using allocscope::scope;
using allocscope::snapshot;
using namespace sampling_test;

namespace {

constexpr std::uint64_t never = std::uint64_t{1} << 60U;

// So that nothing here is left to chance.
const bool is_seeded = [] {
    allocscope::detail::process.sampling_seed.store(4711);
    return true;
}();

// Allocates nothing but the blocks themselves while it grows.
struct block_list {
    explicit block_list(std::size_t most) { blocks.reserve(most); }
    ~block_list() { clear(); }
    block_list(const block_list&) = delete;
    block_list& operator=(const block_list&) = delete;

    void add(std::size_t count, std::size_t bytes) {
        for (std::size_t i = 0; i < count; ++i) blocks.push_back(::operator new(bytes));
    }
    void drop(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            ::operator delete(blocks.back());
            blocks.pop_back();
        }
    }
    void clear() { drop(blocks.size()); }

    std::vector<void*> blocks;
};

}  // namespace

TEST_CASE("sampled_windows: an interval of one gives the exact counts") {
    block_list blocks{1000};
    scope sampled{"all", sampled_every(1)};
    scope exact{"exact"};
    blocks.add(300, 24);
    blocks.add(10, 0);
    blocks.drop(110);
    const snapshot with_exact = sampled.stats();
    const snapshot exactly = exact.stop();
    CHECK(with_exact.live_objects() == exactly.live_objects());
    CHECK(with_exact.live_bytes() == exactly.live_bytes());
    blocks.add(50, 100);  // now the sampled window alone
    blocks.drop(20);
    const snapshot rows = sampled.stop();
    const auto& said = rows.info().estimates;
    check_is_exactly(said.allocations, 360);
    check_is_exactly(said.frees, 130);
    check_is_exactly(said.live_objects, 230);
    check_is_exactly(said.live_bytes, 200 * 24 + 30 * 100);
    CHECK(rows.info().samples == 360);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].samples == 230);
    CHECK(rows[0].objects == 230);
    CHECK(rows[0].objects_low == 230);
    CHECK(rows[0].bytes_high == 200 * 24 + 30 * 100);
}

TEST_CASE("sampled_windows: what is recorded for an exact window is exact in a sampled one too") {
    block_list blocks{1000};
    scope sampled{"sampled", sampled_every(never)};
    blocks.add(100, 64);  // not met by any sample
    {
        scope exact{"exact"};
        blocks.add(200, 32);
        CHECK(exact.counts().allocations == 200);
        CHECK(exact.stop().live_objects() == 200);
    }
    blocks.add(100, 64);
    CHECK(sampled.stats().live_objects() == 200);
    CHECK(sampled.stats().live_bytes() == 200 * 32);
    blocks.drop(150);  // the last 100, and 50 of those the exact window had recorded
    const snapshot rows = sampled.stop();
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].objects == 150);
    CHECK(rows[0].objects_low == 150);
    CHECK(rows[0].objects_high == 150);
    CHECK(rows.info().estimates.frees.value == 50);
}

TEST_CASE("sampled_windows: an exact window is exact inside a sampled one") {
    block_list blocks{5000};
    scope sampled{"sampled", sampled_every(200)};
    blocks.add(1000, 64);  // about 300 samples, in blocks at pages
    scope exact{"exact"};
    blocks.add(1000, 64);
    blocks.drop(1500);  // 500 that were born before it
    const allocscope::allocation_counts counts = exact.counts();
    CHECK(counts.allocations == 1000);
    CHECK(counts.frees == 1000);
    CHECK(exact.stop().empty());
    const snapshot rows = sampled.stop();
    CHECK(is_near(500, rows.info().estimates.live_objects));
    CHECK(is_near(2000, rows.info().estimates.allocations));
}

TEST_CASE("sampled_windows: windows with different intervals are right beside each other") {
    constexpr int runs = 300;
    constexpr double coarse_mean = 8000;
    constexpr double fine_mean = 700;
    const auto z_of = [](const snapshot& rows, double mean, double count) {
        const double p = -std::expm1(-(64.0 + 16.0) / mean);
        const double deviation = std::sqrt(count * (1 - p) / p);
        return (static_cast<double>(rows.live_objects()) - count) / deviation;
    };
    double coarse_z = 0;
    double fine_z = 0;
    double coarse_squares = 0;
    block_list blocks{2000};
    for (int i = 0; i < runs; ++i) {
        scope coarse{"coarse", sampled_every(static_cast<std::uint64_t>(coarse_mean))};
        blocks.add(500, 64);
        {
            scope fine{"fine", sampled_every(static_cast<std::uint64_t>(fine_mean))};
            blocks.add(500, 64);
            fine_z += z_of(fine.stop(), fine_mean, 500) / runs;
        }
        const double z = z_of(coarse.stop(), coarse_mean, 1000);
        coarse_z += z / runs;
        coarse_squares += z * z / runs;
        blocks.clear();
    }
    CHECK(std::fabs(fine_z) < 0.3);
    CHECK(std::fabs(coarse_z) < 0.3);
    // Half of the coarse window was sampled as the fine one wanted it, and so is better known.
    CHECK(coarse_squares > 0.3);
    CHECK(coarse_squares < 0.9);
}

TEST_CASE("sampled_windows: the finest interval rules, whoever wants it") {
    const auto samples_beside = [](const options& coarse, const options& fine) {
        scope first{"coarse", coarse};
        scope second{"fine", fine};
        block_list blocks{1000};
        blocks.add(1000, 100);
        return second.stop().info().samples;
    };
    options of_this_thread = sampled_every(64);
    of_this_thread.from = allocscope::threads::current;
    options coarse_of_this_thread = sampled_every(never);
    coarse_of_this_thread.from = allocscope::threads::current;
    CHECK(samples_beside(sampled_every(never), sampled_every(64)) > 500);
    CHECK(samples_beside(sampled_every(never), of_this_thread) > 500);
    CHECK(samples_beside(coarse_of_this_thread, sampled_every(64)) > 500);
    CHECK(samples_beside(coarse_of_this_thread, of_this_thread) > 500);
}

TEST_CASE("sampled_windows: the object that has the drawn byte is the sample") {
    const scope window{"bytes", sampled_every(64)};
    ::operator delete(::operator new(1));  // the thread has its dice now
    auto& thread =
        static_cast<allocscope::detail::thread_state&>(*allocscope::detail::current_entry);
    allocscope::detail::random_source dice = thread.dice;
    std::uint64_t bytes_before = thread.bytes_left.load();
    int last_bytes = 0;
    for (std::uint64_t i = 0; i < 2000; ++i) {
        const std::uint64_t counted = i % 50 + 16;
        ::operator delete(::operator new(i % 50));
        if (counted > bytes_before) {
            if (counted == bytes_before + 1) ++last_bytes;
            bytes_before = allocscope::detail::draw_gap(dice, 64) - 1;
        } else {
            bytes_before -= counted;
        }
        CHECK(thread.bytes_left.load() == bytes_before);
    }
    CHECK(last_bytes > 0);  // or the test tests less
}

TEST_CASE("sampled_windows: a huge block is met for certain, and counts as itself") {
    constexpr std::size_t huge = std::size_t{64} << 20U;
    scope sampled{"huge", sampled_every(512 * 1024)};
    void* block = ::operator new(huge);
    const snapshot rows = sampled.stats();
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].objects == 1);
    CHECK(rows[0].samples == 1);
    CHECK(rows[0].bytes == huge);
    CHECK(rows[0].bytes_low == huge);
    CHECK(rows[0].bytes_high == huge);
    ::operator delete(block);
    CHECK(sampled.stop().empty());
}

TEST_CASE("sampled_windows: sizes that overflow a count do not disturb it") {
    scope sampled{"refused", sampled_every(4096)};
    for (const std::size_t bytes : {~std::size_t{0}, ~std::size_t{0} / 2, std::size_t{1} << 62U}) {
        CHECK(::operator new(bytes, std::nothrow) == nullptr);
        CHECK(::operator new (bytes, std::align_val_t{64}, std::nothrow) == nullptr);
    }
    CHECK(sampled.counts().allocations == 0);
    void* block = ::operator new(1U << 20U);
    CHECK(sampled.stats().live_objects() == 1);
    ::operator delete(block);
}

TEST_CASE("sampled_windows: every operator keeps its alignment and is freed where it was counted") {
    for (const std::uint64_t every : {std::uint64_t{1}, std::uint64_t{100}, std::uint64_t{3000}}) {
        scope sampled{"aligned", sampled_every(every)};
        for (int i = 0; i < 200; ++i) {
            for (const std::size_t alignment : {8U, 64U, 4096U, 65536U}) {
                const std::align_val_t wanted{alignment};
                void* one = ::operator new(100, wanted);
                void* many = ::operator new[](40, wanted, std::nothrow);
                void* plain = ::operator new[](72);
                void* quiet = ::operator new(every == 1 ? 0 : 56, std::nothrow);
                CHECK(reinterpret_cast<std::uintptr_t>(one) % alignment == 0);
                CHECK(reinterpret_cast<std::uintptr_t>(many) % alignment == 0);
#if defined(__cpp_sized_deallocation)
                ::operator delete (one, std::size_t{100}, wanted);
                ::operator delete[](plain, std::size_t{72});
#else
                ::operator delete(one, wanted);
                ::operator delete[](plain);
#endif
                ::operator delete[](many, wanted);
                ::operator delete(quiet, std::nothrow);
            }
        }
        CHECK(sampled.counts().live_objects() == 0);
        const snapshot rows = sampled.stop();
        CHECK(rows.empty());
        CHECK(is_near(3200, rows.info().estimates.allocations));
        CHECK(is_near(3200, rows.info().estimates.frees));
        CHECK(rows.info().loss_count == 0);
    }
}

TEST_CASE("sampled_windows: blocks die on other threads than they were born on") {
    block_list blocks{4000};
    scope sampled{"handed over", sampled_every(100)};
    blocks.add(2000, 50);
    std::uint64_t before = sampled.counts().live_objects();
    std::thread{[&blocks] { blocks.drop(1500); }}.join();
    CHECK(sampled.counts().live_objects() < before);
    CHECK(is_near(500, sampled.stats().info().estimates.live_objects));
    std::thread{[&blocks] { blocks.clear(); }}.join();
    CHECK(sampled.stats().live_objects() == 0);
}

TEST_CASE("sampled_windows: a window of one thread is charged with no other") {
    options wanted = sampled_every(64);
    wanted.from = allocscope::threads::current;
    block_list mine{1000};
    block_list theirs{1000};
    std::thread other;
    snapshot rows;
    {
        scope sampled{"mine", wanted};
        mine.add(400, 64);
        other = std::thread{[&theirs] { theirs.add(1000, 64); }};
        other.join();
        rows = sampled.stop();
    }
    CHECK(is_near(400, rows.info().estimates.live_objects));
    CHECK(rows.live_objects() < 700);
}

TEST_CASE("sampled_windows: what was reported and forgotten is not reported again") {
    block_list blocks{2000};
    scope sampled{"parts", sampled_every(200)};
    blocks.add(1000, 64);
    CHECK(is_near(1000, sampled.stats_and_forget().info().estimates.live_objects));
    CHECK(sampled.stats().empty());
    blocks.drop(500);
    blocks.add(500, 64);
    const snapshot rows = sampled.stop();
    CHECK(is_near(500, rows.info().estimates.live_objects));
    CHECK(is_near(500, rows.info().estimates.allocations));
}

TEST_CASE("sampled_windows: without a sample the printed answer is not nothing") {
    block_list blocks{10};
    scope sampled{"empty", sampled_every(512 * 1024)};
    std::ostringstream out;
    const snapshot rows = sampled.stop();
    out << rows;
    CHECK(out.str() == "allocscope: no sample is alive: up to 2014031 bytes may be alive (95%)\n");
}

TEST_CASE("sampled_windows: a forked child goes on sampling, and its parent too") {
    block_list blocks{4000};
    scope sampled{"family", sampled_every(200)};
    blocks.add(1000, 64);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        blocks.drop(500);  // born in the parent
        blocks.add(1500, 64);
        const snapshot rows = sampled.stats();
        const bool is_right = is_near(2000, rows.info().estimates.live_objects) &&
                              is_near(2500, rows.info().estimates.allocations);
        ::_exit(is_right ? 0 : 1);
    }
    blocks.add(500, 64);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(is_near(1500, sampled.stop().info().estimates.live_objects));
}
