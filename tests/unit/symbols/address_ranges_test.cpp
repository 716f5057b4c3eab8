// Ranges that nest, overlap and repeat, against a search that looks at all of them.

#include <allocscope/plain/arena.hpp>
#include <allocscope/symbols/address_ranges.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

using allocscope::plain::arena;
using allocscope::symbolize::address_range;
using allocscope::symbolize::address_ranges;

TEST_CASE("address_ranges: of two units with the same code the first is taken") {
    arena memory;
    address_ranges units{memory};
    units.add(0x2000, 0x2100, 7);
    units.add(0x1000, 0x1040, 1);  // the copy that the linker kept
    units.add(0x1000, 0x1040, 2);  // discarded, and given the address of the first
    units.add(0x1000, 0x1040, 3);
    units.finish();
    REQUIRE(units.find(0x1020) != nullptr);
    CHECK(units.find(0x1020)->value == 1);
    CHECK(units.find(0x2000)->value == 7);
    CHECK(units.find(0x1040) == nullptr);
    CHECK(units.find(0xfff) == nullptr);
}

TEST_CASE("address_ranges: empty and reversed ranges hold nothing") {
    arena memory;
    address_ranges ranges{memory};
    CHECK(ranges.find(5) == nullptr);
    ranges.add(5, 5, 1);
    ranges.add(6, 4, 2);
    CHECK(ranges.empty());
    ranges.finish();
    CHECK(ranges.find(5) == nullptr);
    CHECK(address_ranges{}.find(5) == nullptr);
}

TEST_CASE("address_ranges: gathered in borrowed memory, they are found where they have moved") {
    arena kept;
    arena borrowed;
    address_ranges ranges{borrowed};
    for (std::uint64_t i = 500; i > 0; --i) ranges.add(i * 16, i * 16 + 8, i);
    ranges.finish_in(kept);
    borrowed.release();
    for (std::uint64_t i = 1; i <= 500; ++i) {
        REQUIRE(ranges.find(i * 16 + 7) != nullptr);
        REQUIRE(ranges.find(i * 16 + 7)->value == i);
        REQUIRE(ranges.find(i * 16 + 8) == nullptr);
    }
}

TEST_CASE("address_ranges: thousands of ranges do not hide the one around them") {
    constexpr std::uint64_t count = 20000;
    arena memory;
    address_ranges ranges{memory};
    ranges.add(0, count * 16, 1);
    for (std::uint64_t i = 0; i < count; ++i) ranges.add(i * 16, i * 16 + 8, 2);
    ranges.finish();
    for (std::uint64_t i = 0; i < count; i += 777) {
        REQUIRE(ranges.find(i * 16 + 4) != nullptr);
        CHECK(ranges.find(i * 16 + 4)->value == 2);
        REQUIRE(ranges.find(i * 16 + 12) != nullptr);
        CHECK(ranges.find(i * 16 + 12)->value == 1);
    }
}

TEST_CASE("address_ranges: the narrowest is found, and the walk visits all that hold an address") {
    std::mt19937 random{3};
    for (int round = 0; round < 300; ++round) {
        arena memory;
        address_ranges ranges{memory};
        std::vector<address_range> all;
        for (std::uint64_t i = 0; i < 40; ++i) {
            const std::uint64_t low = random() % 60;
            const std::uint64_t high = low + 1 + random() % (i % 4 == 0 ? 40 : 6);
            ranges.add(low, high, i);
            all.push_back({low, high, i, 0});
        }
        ranges.finish();
        for (std::uint64_t address = 0; address < 100; ++address) {
            const address_range* best = nullptr;
            std::size_t holders = 0;
            for (const address_range& each : all) {
                if (address < each.low || address >= each.high) continue;
                ++holders;
                if (best == nullptr || each.width() < best->width()) best = &each;
            }
            const address_range* found = ranges.find(address);
            REQUIRE((found == nullptr) == (best == nullptr));
            if (best != nullptr) CHECK(found->width() == best->width());
            address_ranges::walk at = ranges.walk_to(address);
            std::size_t visited = 0;
            while (const address_range* each = ranges.next(at)) {
                CHECK((each->low <= address && address < each->high));
                ++visited;
            }
            CHECK(visited == holders);
        }
    }
}
