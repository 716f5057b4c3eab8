#include "families.hpp"

#include "../support/escape.hpp"
#include "../support/own_threads.hpp"
#include "../support/rows_by_type.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/hooks.hpp>
#include <allocscope/report.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>

using namespace allocscope_test;
using allocscope::report_allocation;
using allocscope::report_free;
using allocscope::report_resize;

namespace {

alignas(64) char memory[4096];

struct order {
    int number;
};

struct shape {
    virtual ~shape() = default;
    int corners = 4;
};

std::uint64_t lost(const allocscope::snapshot& seen, const char* part) {
    for (std::size_t i = 0; i < seen.info().loss_count; ++i) {
        if (std::strstr(seen.info().losses[i].reason, part) != nullptr) {
            return seen.info().losses[i].count;
        }
    }
    return 0;
}

// The address is too high: the event is in no number.
void lose_one() {
    report_allocation(reinterpret_cast<void*>(std::uintptr_t{1} << 47U), 8, "device");
}

}  // namespace

TEST_CASE("a pool: an address that is too high for the tables is a loss that says so") {
    const auto handle = reinterpret_cast<void*>(std::uintptr_t{1} << 47U);
    SUBCASE("exact") {
        const allocscope::scope window{"pool"};
        report_allocation(handle, 8, "device");
        report_resize(handle, 16, "device");
        report_free(handle, "device");
        const allocscope::snapshot seen = window.stats();
        CHECK(lost(seen, "2^47") == 2);
        CHECK(lost(seen, "refused") == 0);
        CHECK(seen.info().totals.allocations == 0);
    }
    SUBCASE("a size that reaches that far") {
        const allocscope::scope window{"pool"};
        report_allocation(memory, SIZE_MAX, "device");
        report_allocation(memory, std::uint64_t{1} << 47U, "device");
        report_allocation(memory, 100, "device");
        report_resize(memory, SIZE_MAX - 7, "device");
        CHECK(lost(window.stats(), "2^47") == 3);
        CHECK(window.counts().allocations == 1);
        CHECK(window.counts().frees == 1);
        CHECK(window.counts().peak_bytes == 100);
    }
    SUBCASE("sampled") {
        allocscope::options each;
        each.record = allocscope::recording::sampled;
        each.sample_bytes = 1;
        const allocscope::scope window{"pool", each};
        report_allocation(handle, 4096, "device");
        const allocscope::snapshot seen = window.stats();
        CHECK(lost(seen, "2^47") == 1);
        CHECK(lost(seen, "refused") == 0);
    }
}

TEST_CASE("losses: a window says what was lost since it began, or began anew") {
    allocscope::scope outer{"outer"};
    lose_one();
    {
        allocscope::scope inner{"inner"};
        CHECK(inner.stats().info().loss_count == 0);
        lose_one();
        lose_one();
        CHECK(lost(inner.stats(), "2^47") == 2);
        CHECK(lost(inner.stats_and_forget(), "2^47") == 2);
        CHECK(inner.stats_and_forget().info().loss_count == 0);
        lose_one();
        CHECK(lost(inner.stop(), "2^47") == 1);
    }
    CHECK(lost(outer.stop(), "2^47") == 4);
}

TEST_CASE("losses: a check is refused for those of its own window, open or stopped") {
    allocscope::allocation_budget any;
    allocscope::scope outer{"outer"};
    lose_one();
    CHECK(!(allocscope::check)(outer, any));
    {
        allocscope::leak_check leaks{"later"};
        CHECK(leaks.finish());
        allocscope::scope later{"later"};
        CHECK((allocscope::check)(later, any));
        later.stop();
        CHECK((allocscope::check)(later, any));
    }
    {
        allocscope::leak_check leaks{"with a loss"};
        lose_one();
        const allocscope::check_result result = leaks.finish();
        CHECK(!result);
        CHECK(std::strstr(result.message(), "1 event was not recorded") != nullptr);
    }
    outer.stop();
    const allocscope::scope next{"of another session"};
    const allocscope::check_result result = (allocscope::check)(outer, any);
    CHECK(!result);
    CHECK(std::strstr(result.message(), "2 events were not recorded") != nullptr);
}

TEST_CASE("a pool: what is reported is counted in its family, each object once") {
    const allocscope::scope window{"pool"};
    for (int i = 0; i < 10; ++i) report_allocation(memory + i, 1, "dense");
    for (int i = 0; i < 4; ++i) report_free(memory + 2 * i);
    const allocscope::snapshot::family seen = family_of(window.stats(), "dense");
    CHECK(seen.allocations == 10);
    CHECK(seen.frees == 4);
    CHECK(seen.bytes_allocated == 10);
    CHECK(seen.live_bytes() == 6);
    for (int i = 0; i < 10; ++i) report_free(memory + i);
}

TEST_CASE(
    "a pool: the first object of a chunk lies where the chunk does, and neither ends the other") {
    const allocscope::scope window{"pool"};
    void* const chunk = allocate(256);
    report_allocation(chunk, 256, "chunks");
    report_allocation<order>(chunk, sizeof(order), "orders");
    allocscope::snapshot seen = window.stats();
    CHECK(family_of(seen, "chunks").live_bytes() == 256);
    CHECK(family_of(seen, "orders").live_bytes() == sizeof(order));
    CHECK(objects_of_type(seen, "order") == 1);
    SUBCASE("the newest is freed where no pool is named") {
        report_free(chunk);
        CHECK(family_of(window.stats(), "orders").live_objects() == 0);
        CHECK(family_of(window.stats(), "chunks").live_objects() == 1);
        report_free(chunk);
        CHECK(family_of(window.stats(), "chunks").live_objects() == 0);
    }
    SUBCASE("the named one is freed, whichever is newer") {
        report_free(chunk, "chunks");
        CHECK(family_of(window.stats(), "orders").live_objects() == 1);
        CHECK(family_of(window.stats(), "chunks").live_objects() == 0);
        report_free(chunk, "orders");
    }
    release(chunk);
    CHECK(family_of(window.stats(), "operator new").bytes_freed >= 256);
}

TEST_CASE("a pool: one line may report for many pools and types, and each keeps its own") {
    const allocscope::scope window{"pool"};
    const char* const names[] = {"red", "green", "blue"};
    for (int i = 0; i < 300; ++i) report_allocation(memory + i, 2, names[i % 3]);
    for (int i = 0; i < 300; i += 3) report_free(memory + i);
    allocscope::snapshot seen = window.stats();
    CHECK(family_of(seen, "red").allocations == 100);
    CHECK(family_of(seen, "red").live_objects() == 0);
    CHECK(family_of(seen, "green").live_objects() == 100);
    CHECK(family_of(seen, "blue").live_bytes() == 200);
    for (int i = 0; i < 300; ++i) report_free(memory + i);
}

TEST_CASE("a pool: the text report has a line for each family, the stream has rows alone") {
    const allocscope::scope window{"pool"};
    report_allocation(memory, 2, "a\nb");
    const allocscope::snapshot seen = window.stats();
    std::ostringstream report;
    std::ostringstream rows;
    allocscope::write_text(seen, report);
    rows << seen;
    CHECK(report.str().find("b: 1 object with 2 B allocated, 1 with 2 B alive\n") !=
          std::string::npos);
    CHECK(rows.str().find("allocated") == std::string::npos);
    report_free(memory);
}

TEST_CASE("a pool: another size is a death and a birth at the same address") {
    const allocscope::scope window{"pool"};
    report_allocation<order>(memory, 100, "growing");
    report_resize(memory, 300);
    const allocscope::snapshot seen = window.stats();
    CHECK(family_of(seen, "growing").allocations == 2);
    CHECK(family_of(seen, "growing").frees == 1);
    CHECK(family_of(seen, "growing").bytes_allocated == 400);
    CHECK(family_of(seen, "growing").live_bytes() == 300);
    CHECK(std::string{seen[0].type}.find("order") != std::string::npos);
    report_free(memory);
    CHECK(family_of(window.stats(), "growing").live_bytes() == 0);
}

TEST_CASE("a pool: an empty name finds the objects that were reported with one") {
    const allocscope::scope window{"pool"};
    report_allocation(memory, 8, "");
    report_resize(memory, 16, "");
    report_free(memory, "");
    const allocscope::snapshot seen = window.stats();
    CHECK(family_of(seen, "other pools").allocations == 2);
    CHECK(family_of(seen, "other pools").frees == 2);
    CHECK(seen.info().loss_count == 0);
}

TEST_CASE("a pool: an object of before the window that grows in it is born there") {
    report_allocation(memory, 8, "early");
    const allocscope::scope window{"pool"};
    report_resize(memory, 16, "early");
    report_resize(memory + 8, 24);
    const allocscope::snapshot seen = window.stats();
    CHECK(family_of(seen, "early").allocations == 1);
    CHECK(family_of(seen, "early").frees == 0);
    CHECK(family_of(seen, "other pools").live_bytes() == 24);
    report_free(memory);
    report_free(memory + 8);
}

TEST_CASE("a pool: an object of before the window that is freed in it changes nothing") {
    report_allocation(memory, 8, "early");
    const allocscope::scope window{"pool"};
    report_free(memory);
    report_free(memory + 1);
    report_free(nullptr);
    report_allocation(nullptr, 8, "early");
    const allocscope::snapshot seen = window.stats();
    CHECK(family_of(seen, "early").allocations == 0);
    CHECK(seen.info().family_count == 0);
}

TEST_CASE("a pool: an address that is given out again without a report of its free is told") {
    const allocscope::scope window{"pool"};
    report_allocation(memory, 8, "forgetful");
    report_allocation(memory, 16, "forgetful");
    const allocscope::snapshot seen = window.stats();
    CHECK(family_of(seen, "forgetful").allocations == 2);
    CHECK(family_of(seen, "forgetful").frees == 1);
    CHECK(family_of(seen, "forgetful").live_bytes() == 16);
    CHECK(lost(seen, "by a pool without a report") == 1);
    report_free(memory);
}

TEST_CASE("a pool: pauses and the choice of threads hold for it") {
    allocscope::options own;
    own.from = allocscope::threads::current;
    const allocscope::scope everyone{"everyone"};
    const allocscope::scope one_thread{"one thread", own};
    report_allocation(memory, 1, "mine");
    {
        const allocscope::pause_recording pause;
        report_allocation(memory + 1, 1, "mine");
        report_free(memory);  // is still seen
    }
    own_thread other;
    other.start([](void*) { report_allocation(memory + 2, 1, "others"); }, nullptr);
    other.join();
    CHECK(family_of(everyone.stats(), "mine").allocations == 1);
    CHECK(family_of(everyone.stats(), "mine").frees == 1);
    CHECK(family_of(everyone.stats(), "others").allocations == 1);
    CHECK(family_of(one_thread.stats(), "mine").allocations == 1);
    CHECK(family_of(one_thread.stats(), "others").allocations == 0);
    report_free(memory + 1);
    report_free(memory + 2);
}

TEST_CASE("a pool: a window of numbers has its families too, and the peak counts its objects") {
    allocscope::options numbers;
    numbers.record = allocscope::recording::counters;
    const allocscope::scope window{"numbers", numbers};
    report_allocation(memory, 1000, "pool");
    report_free(memory);
    report_allocation(memory, 10, "pool");
    const allocscope::snapshot seen = window.stats();
    CHECK(family_of(seen, "pool").allocations == 2);
    CHECK(family_of(seen, "pool").live_bytes() == 10);
    CHECK(seen.info().totals.peak_bytes >= 1000);
    CHECK(seen.empty());
    report_free(memory);
}

TEST_CASE("a pool: without a type of its own an object tells its class by its vtable") {
    const allocscope::scope window{"pool"};
    void* const place = memory + 64;
    report_allocation(place, sizeof(shape), "shapes");
    auto* made = ::new (place) shape;
    const allocscope::snapshot seen = window.stats();
    CHECK(std::string{seen[0].type}.find("shape") != std::string::npos);
    opaque(made)->~shape();
    report_free(place);
}

TEST_CASE("a pool: families are kept when cohorts are reclaimed under nested windows") {
    const allocscope::scope outer{"outer"};
    constexpr std::uint64_t rounds = 6000;  // more cohorts than a reclaim waits for
    for (std::uint64_t i = 0; i < rounds; ++i) {
        const allocscope::scope inner{"inner"};
        report_allocation(memory, 3, "one");
        report_allocation(memory + 1, 5, "two");
        report_free(memory);
        report_free(memory + 1);
    }
    const allocscope::snapshot seen = outer.stats();
    CHECK(family_of(seen, "one").allocations == rounds);
    CHECK(family_of(seen, "one").frees == rounds);
    CHECK(family_of(seen, "two").bytes_allocated == 5 * rounds);
    CHECK(family_of(seen, "two").live_bytes() == 0);
}
