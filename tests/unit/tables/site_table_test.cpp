#include <doctest/doctest.h>
#include <allocscope/tables/site_table.hpp>

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

using allocscope::detail::page_arena;
using allocscope::detail::site;
using allocscope::detail::site_table;

namespace {

using stack = std::vector<std::uintptr_t>;

const site* intern(site_table& table, page_arena& arena, const stack& frames, std::uint64_t hash) {
    return table.intern(arena, hash, frames.data(), static_cast<std::uint32_t>(frames.size()));
}

stack numbered(std::uintptr_t number) {
    return {0x1000 + number, 0x2000, number * 7 + 1};
}

}  // namespace

TEST_CASE("site_table: the same stack twice is one site, another stack is another") {
    static site_table table;
    page_arena arena;
    std::map<std::uintptr_t, const site*> seen;
    std::mt19937 dice{3};
    for (int i = 0; i < 20000; ++i) {
        const std::uintptr_t number = dice() % 3000;
        const site* found = intern(table, arena, numbered(number), number % 50);  // many collide
        REQUIRE(found != nullptr);
        const auto [at, is_new] = seen.emplace(number, found);
        CHECK(at->second == found);
        CHECK(table.by_id(found->id) == found);
        CHECK(found->frames()[0] == 0x1000 + number);
    }
    std::set<std::uint32_t> ids;
    for (const auto& [number, found] : seen) ids.insert(found->id);
    CHECK(ids.size() == seen.size());
    CHECK(ids.count(0) == 0);
    table.release();
    arena.release();
}

TEST_CASE("site_table: stacks with one hash and other frames or lengths stay apart") {
    static site_table table;
    page_arena arena;
    const site* longer = intern(table, arena, {1, 2, 3}, 42);
    const site* shorter = intern(table, arena, {1, 2}, 42);
    const site* other = intern(table, arena, {1, 2, 4}, 42);
    CHECK(longer != shorter);
    CHECK(longer != other);
    CHECK(intern(table, arena, {1, 2, 3}, 42) == longer);
    table.release();
    arena.release();
}

TEST_CASE("site_table: threads that bring the same stacks at once agree on the sites") {
    static site_table table;
    page_arena arena;
    constexpr std::uintptr_t stacks = 2000;
    std::vector<std::vector<const site*>> found(4, std::vector<const site*>(stacks));
    std::vector<std::thread> threads;
    for (auto& mine : found) {
        threads.emplace_back([&mine, &arena] {
            for (std::uintptr_t i = 0; i < stacks; ++i) {
                mine[i] = intern(table, arena, numbered(i), i * 0x9e3779b97f4a7c15U);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    for (std::uintptr_t i = 0; i < stacks; ++i) {
        for (const auto& theirs : found) CHECK(theirs[i] == found[0][i]);
    }
    table.release();
    arena.release();
}

TEST_CASE(
    "site_table: a site that a thread finds has its number, also while another one makes it") {
    static site_table table;
    page_arena arena;
    constexpr std::uintptr_t stacks = 200000;
    std::uint32_t unknown[2] = {};
    std::vector<std::thread> threads;
    for (std::uint32_t& mine : unknown) {
        threads.emplace_back([&mine, &arena] {
            for (std::uintptr_t i = 0; i < stacks; ++i) {
                const site* const found =
                    intern(table, arena, numbered(i), i * 0x9e3779b97f4a7c15U);
                if (table.by_id(found->id) != found) ++mine;
            }
        });
    }
    for (auto& thread : threads) thread.join();
    CHECK(unknown[0] + unknown[1] == 0);
    table.release();
    arena.release();
}

TEST_CASE("site_table: when it is full it says so and keeps what it has") {
    static site_table table;
    page_arena arena;
    table.limit.store(10);
    for (std::uintptr_t i = 0; i < 10; ++i) CHECK(intern(table, arena, numbered(i), i) != nullptr);
    CHECK(intern(table, arena, numbered(10), 10) == nullptr);
    CHECK(intern(table, arena, numbered(3), 3) != nullptr);
    table.release();
    arena.release();
}
