// What a table of changed words keeps when it grows, and what it forgets.

#include <allocscope/hooks/changed_slots.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace {

using allocscope::detail::changed_slots;

constexpr std::size_t many = 2000;

struct words {
    std::vector<std::uintptr_t> all = std::vector<std::uintptr_t>(many);

    std::uintptr_t* at(std::size_t i) { return &all[i]; }
};

void meet(changed_slots& table, std::uintptr_t* word, std::uint64_t walk, std::uint64_t oldest) {
    changed_slots::entry* const entry = table.find_or_add(word, oldest);
    REQUIRE(entry != nullptr);
    entry->original = reinterpret_cast<std::uintptr_t>(word) + 1;
    entry->walk = walk;
}

}  // namespace

TEST_CASE("a table that grows keeps the words of this walk and of the one before") {
    changed_slots table;
    words earlier, later;
    CHECK(table.find(earlier.at(0)) == nullptr);
    for (std::size_t i = 0; i < many; ++i) meet(table, earlier.at(i), 1, 0);
    for (std::size_t i = 0; i < many; ++i) meet(table, later.at(i), 2, 1);
    std::size_t seen = 0;
    table.for_each([&seen](const changed_slots::entry&) { ++seen; });
    CHECK(seen == 2 * many);
    for (words* each : {&earlier, &later}) {
        for (std::size_t i = 0; i < many; ++i) {
            const changed_slots::entry* const entry = table.find(each->at(i));
            REQUIRE(entry != nullptr);
            CHECK(entry->original == reinterpret_cast<std::uintptr_t>(each->at(i)) + 1);
        }
    }
    table.clear();
    CHECK(table.find(earlier.at(0)) == nullptr);
}

TEST_CASE("a table that grows forgets the words of older walks, and needs no more room for them") {
    changed_slots table;
    std::vector<words> libraries(12);  // each was unloaded before the next one came
    std::uint64_t walk = 0;
    for (words& library : libraries) {
        ++walk;
        for (std::size_t i = 0; i < many; ++i) meet(table, library.at(i), walk, walk);
    }
    std::size_t seen = 0;
    table.for_each([&seen](const changed_slots::entry&) { ++seen; });
    CHECK(seen < 4 * many);
    CHECK(table.find(libraries.front().at(0)) == nullptr);
    CHECK(table.find(libraries.back().at(0)) != nullptr);
    table.clear();
}
