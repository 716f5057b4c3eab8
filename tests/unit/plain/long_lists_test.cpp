// A long list has a block of its own: it grows by moving the pages, and nothing else moves.
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <new>

using allocscope::plain::arena;
using allocscope::plain::borrowed_memory;
using allocscope::plain::list;
using allocscope::plain::sort;

namespace {

void fill(list<std::uint64_t>& values, std::size_t count, std::uint64_t step) {
    for (std::uint64_t i = values.size(); i < count; ++i) values.push_back(i * step);
}

void check(const list<std::uint64_t>& values, std::size_t count, std::uint64_t step) {
    REQUIRE(values.size() == count);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) wrong += values[i] != i * step ? 1U : 0U;
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("long lists: two that grow in turns keep their values, and their arena is no larger") {
    arena memory;
    list<std::uint64_t> one{memory};
    list<std::uint64_t> other{memory};
    char* const piece = static_cast<char*>(memory.allocate(16));
    *piece = 'x';
    constexpr std::size_t count = std::size_t{1} << 20;  // 8 MiB each
    for (std::size_t size = 1000; size <= count; size *= 2) {
        fill(one, size, 3);
        fill(other, size, 5);
    }
    fill(one, count, 3);
    fill(other, count, 5);
    check(one, count, 3);
    check(other, count, 5);
    CHECK(*piece == 'x');
    // Without it each would leave as much again behind.
    CHECK(memory.mapped_bytes() <
          2 * count * sizeof(std::uint64_t) * 5 / 4 + (std::size_t{4} << 20));
}

TEST_CASE("long lists: a large value of its own is added, also when all of them move") {
    struct six {
        std::uint64_t numbers[6];
    };
    arena memory;
    list<six> values{memory};
    list<six> in_between{memory};
    values.push_back({{1, 2, 3, 4, 5, 6}});
    std::size_t wrong = 0;
    for (std::uint64_t i = 1; i < 50000; ++i) {
        if (i % 1000 == 0) in_between.push_back(values.back());
        six& added = values.push_back(values[i / 2]);
        wrong += added.numbers[0] != i / 2 + 1 || added.numbers[5] != 6 ? 1U : 0U;
        added.numbers[0] = i + 1;
    }
    CHECK(wrong == 0);
    CHECK(in_between.back().numbers[0] == 49000);
}

TEST_CASE("long lists: where the kernel refuses, the list stays as it was") {
    arena memory;
    list<std::uint64_t> values{memory};
    constexpr std::size_t count = std::size_t{1} << 18;
    values.reserve(count);
    fill(values, count, 7);
    allocscope::detail::mappings_until_refusal = 0;
    CHECK_THROWS_AS(values.push_back(0), const std::bad_alloc&);
    allocscope::detail::mappings_until_refusal = -1;
    check(values, count, 7);
    fill(values, count + 1, 7);
    check(values, count + 1, 7);
}

TEST_CASE("long lists: one in borrowed memory goes with it") {
    arena memory;
    memory.allocate(100);
    const std::size_t before = memory.mapped_bytes();
    {
        const borrowed_memory meanwhile{memory};
        list<std::uint64_t> values{memory};
        fill(values, std::size_t{1} << 19, 1);
        CHECK(memory.mapped_bytes() > before);
    }
    CHECK(memory.mapped_bytes() == before);
}

TEST_CASE("sort: what is in order stays, and neighbours that are in order are not compared again") {
    arena memory;
    list<std::uint64_t> values{memory};
    fill(values, 1000, 1);
    static std::size_t compared = 0;
    compared = 0;
    const auto less = [](std::uint64_t a, std::uint64_t b) {
        ++compared;
        return a < b;
    };
    sort(values, less);
    CHECK(compared == 999);
    check(values, 1000, 1);
    values[999] = 0;
    sort(values, less);
    CHECK(values[0] == 0);
    CHECK(values[1] == 0);
    CHECK(values[999] == 998);
}
