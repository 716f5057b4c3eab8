#include <doctest/doctest.h>
#include <allocscope/platform/page_arena.hpp>
#include <allocscope/tables/pool_object_map.hpp>

#include "../../support/dice.hpp"
#include "../../support/scale.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

using allocscope::detail::live_object;
using allocscope::detail::page_arena;
using allocscope::detail::pool_object_map;
using allocscope_test::dice;
using allocscope_test::scaled;

namespace {

constexpr std::uintptr_t heap = 0x7f1234500000U;

bool any(std::uint32_t) {
    return true;
}

struct object {
    std::uint32_t cohort;
    std::uint32_t tag;
    std::uint64_t bytes;
};

}  // namespace

TEST_CASE("pool_object_map: a million operations on objects one byte apart, against a model") {
    pool_object_map map;
    page_arena arena;
    dice roll{1};
    std::unordered_map<std::uintptr_t, object> model;
    const long operations = scaled(3'000'000, 10'000'000);
    for (long i = 0; i < operations; ++i) {
        // A dense stretch, and addresses that share its buckets.
        const std::uintptr_t address =
            heap + roll.below(5000) + (roll.one_in(4) ? std::uintptr_t{1} << 32U : 0);
        pool_object_map::cell* const seen = map.newest(address, 7, any);
        const auto known = model.find(address);
        REQUIRE((seen != nullptr) == (known != model.end()));
        if (seen != nullptr) {
            REQUIRE(seen->cohort() == known->second.cohort);
            REQUIRE(seen->tag() == known->second.tag);
            REQUIRE(seen->bytes.load() == known->second.bytes);
            REQUIRE(seen->forget(address, 7));
            model.erase(known);
        } else {
            const object born{static_cast<std::uint32_t>(1 + roll.below(0x1fffffe)),
                              static_cast<std::uint32_t>(roll.below(65536)), roll.next()};
            REQUIRE(map.put(arena, address, 7, born.cohort, born.tag, 0, born.bytes));
            model[address] = born;
        }
    }
    std::uint64_t visited = 0;
    map.for_each(7, [&](const live_object& each) {
        ++visited;
        REQUIRE(model.at(each.address).cohort == each.cohort);
        REQUIRE(model.at(each.address).bytes == each.bytes);
        return true;
    });
    CHECK(visited == model.size());
    // Cells are used again: the memory follows what was alive at one time, not what ever was.
    CHECK(arena.used_bytes() < 10000 * 64 + page_arena::block_bytes);
    map.release();
    arena.release();
}

TEST_CASE(
    "pool_object_map: a cell that another thread uses again meanwhile is not what was found") {
    pool_object_map map;
    page_arena arena;
    REQUIRE(map.put(arena, heap, 7, 1, 20, 0, 8));
    pool_object_map::cell* const cell = map.newest(heap, 7, any);
    REQUIRE(cell != nullptr);
    // Here the other thread is a function that is called in the middle of the search.
    const auto use_again = [&](std::uint32_t) {
        CHECK(cell->forget(heap, 7));
        CHECK(map.put(arena, heap + 1, 7, 2, 30, 0, 8));
        return true;
    };
    CHECK(map.newest(heap, 7, use_again) == nullptr);
    CHECK(map.newest(heap + 1, 7, any) == cell);
    map.release();
    arena.release();
}

TEST_CASE(
    "pool_object_map: of two records at one address the newest is found, or the one asked for") {
    pool_object_map map;
    page_arena arena;
    REQUIRE(map.put(arena, heap, 1, 100, 3, 0, 4096));  // a chunk
    REQUIRE(map.put(arena, heap, 1, 200, 4, 1, 16));    // the first object in it
    CHECK(map.newest(heap, 1, any)->cohort() == 200);
    const auto is_chunk = [](std::uint32_t tag) { return tag == 3; };
    CHECK(map.newest(heap, 1, is_chunk)->cohort() == 100);
    CHECK(map.newest(heap, 1, any)->forget(heap, 1));
    CHECK(map.newest(heap, 1, any)->cohort() == 100);
    // The cell that is free comes before the chunk's or behind it: the depth decides.
    REQUIRE(map.put(arena, heap, 1, 300, 4, 1, 16));
    CHECK(map.newest(heap, 1, is_chunk)->forget(heap, 1));
    REQUIRE(map.put(arena, heap, 1, 400, 5, 2, 8));
    CHECK(map.newest(heap, 1, any)->cohort() == 400);
    map.release();
    arena.release();
}

TEST_CASE("pool_object_map: records of an ended session are no records, and their cells are used") {
    pool_object_map map;
    page_arena arena;
    for (std::uint32_t session = 1; session < 200; ++session) {
        for (std::uintptr_t i = 0; i < 100; ++i) {
            REQUIRE(map.newest(heap + i, session, any) == nullptr);
            REQUIRE(map.put(arena, heap + i, session, session, 3, 0, i));
        }
        std::uint64_t visited = 0;
        map.for_each(session, [&](const live_object& each) {
            CHECK(each.cohort == session);
            ++visited;
            return true;
        });
        CHECK(visited == 100);
    }
    CHECK(arena.used_bytes() < 16 * 1024);
    map.release();
    arena.release();
}

// A thread is stopped in the middle of an event while the last window closes and another one opens.
TEST_CASE("pool_object_map: an event of an ended session takes no record of the next one") {
    pool_object_map map;
    page_arena arena;
    REQUIRE(map.put(arena, heap, 1, 100, 3, 0, 8));
    REQUIRE(map.put(arena, heap + 1, 1, 101, 3, 0, 8));  // the knot is full
    pool_object_map::cell* const late = map.newest(heap, 1, any);
    SUBCASE("it was about to forget an object") {
        REQUIRE(map.put(arena, heap + 2, 2, 200, 3, 0, 16));
        REQUIRE(map.newest(heap + 2, 2, any) == late);  // in the same cell
        CHECK_FALSE(late->forget(heap, 1));
        REQUIRE(map.newest(heap + 2, 2, any) != nullptr);
        CHECK(map.newest(heap + 2, 2, any)->cohort() == 200);
    }
    SUBCASE("it was about to complete a record") {
        const std::uint64_t complete = late->key.load();
        late->key.store(std::uint64_t{1} << 63U | complete);
        for (std::uint32_t i = 2; i < 5; ++i) {
            REQUIRE(map.put(arena, heap + i, 2, 200 + i, 3, 0, 16));
        }
        late->record.store(1);
        late->key.store(complete);
        for (std::uint32_t i = 2; i < 5; ++i) {
            REQUIRE(map.newest(heap + i, 2, any) != nullptr);
            CHECK(map.newest(heap + i, 2, any)->cohort() == 200 + i);
        }
    }
    map.release();
    arena.release();
}

TEST_CASE(
    "pool_object_map: threads that share every bucket lose no record and take none of another") {
    pool_object_map map;
    page_arena arena;
    constexpr int thread_count = 4;
    std::vector<std::thread> threads;
    std::vector<long> failures(thread_count);
    for (int t = 0; t < thread_count; ++t) {
        threads.emplace_back([&map, &arena, &failures, t] {
            const auto self = static_cast<std::uint32_t>(t);
            dice roll{self + 1};
            std::map<std::uintptr_t, std::uint64_t> own;
            const long operations = scaled(400'000);
            for (long i = 0; i < operations; ++i) {
                const std::uintptr_t address = heap + roll.below(500) * thread_count + self;
                pool_object_map::cell* const seen = map.newest(address, 1, any);
                const auto known = own.find(address);
                const bool is_right = (seen != nullptr) == (known != own.end()) &&
                                      (seen == nullptr || (seen->cohort() == self + 1 &&
                                                           seen->bytes.load() == known->second));
                if (!is_right) ++failures[self];
                if (seen != nullptr) {
                    if (!seen->forget(address, 1)) ++failures[self];
                    own.erase(address);
                } else {
                    const std::uint64_t bytes = roll.next();
                    if (!map.put(arena, address, 1, self + 1, 3, 0, bytes)) ++failures[self];
                    own[address] = bytes;
                }
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const long failed : failures) CHECK(failed == 0);
    map.release();
    arena.release();
}

TEST_CASE("pool_object_map: an address that is none of this machine gets no record") {
    pool_object_map map;
    page_arena arena;
    CHECK_FALSE(map.put(arena, std::uintptr_t{1} << 47U, 1, 1, 3, 0, 8));
    CHECK(map.newest(std::uintptr_t{1} << 47U, 1, any) == nullptr);
    map.release();
    arena.release();
}
