// The index of a package file: what is found in it, and that a broken one ends every search.

#include <allocscope/base/byte_view.hpp>
#include <allocscope/binary/package_index.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace {

using allocscope::detail::package_index;

// Of 32-bit words, as it is in the file.
struct built_index {
    std::vector<std::uint32_t> words;

    built_index(std::uint32_t version, std::uint32_t columns, std::uint32_t units,
                std::uint32_t slots)
        : words{version, columns, units, slots} {
        words.resize(4 + slots * 3 + columns + units * columns * 2);
    }
    std::uint32_t& operator[](std::size_t word) { return words[word]; }
    void put(std::uint32_t slot, std::uint64_t unit, std::uint32_t row) {
        std::memcpy(&words[4 + slot * 2], &unit, 8);
        words[4 + words[3] * 2 + slot] = row;
    }
    package_index read() const {
        return package_index{
            {reinterpret_cast<const std::uint8_t*>(words.data()), words.size() * 4}};
    }
};

built_index two_units(std::uint32_t version) {
    built_index made{version, 2, 2, 4};
    made.put(1, 0x500000001, 2);  // the slot that its lower bits say
    made.put(0, 0x300000001, 1);  // that is taken: by its upper bits three further on, of four
    const std::uint32_t pieces[] = {1, 3, 10, 20, 30, 40, 11, 21, 31, 41};
    std::memcpy(&made[4 + 12], pieces, sizeof pieces);
    return made;
}

}  // namespace

TEST_CASE("the pieces of a unit are found by its number") {
    for (const std::uint32_t version : {2U, 5U}) {
        package_index::piece pieces[package_index::most_columns];
        const built_index built = two_units(version);
        const package_index index = built.read();
        REQUIRE(index.find(0x500000001, pieces) == 2);
        CHECK(pieces[0].section == 1);
        CHECK(pieces[0].offset == 30);
        CHECK(pieces[0].size == 31);
        CHECK(pieces[1].section == 3);
        CHECK(pieces[1].offset == 40);
        CHECK(pieces[1].size == 41);
        CHECK(index.find(0x700000002, pieces) == 0);
    }
}

TEST_CASE("a unit whose slot was taken stands its own step further on") {
    const built_index built = two_units(5);
    package_index::piece pieces[package_index::most_columns];
    REQUIRE(built.read().find(0x300000001, pieces) == 2);
    CHECK(pieces[0].offset == 10);
    CHECK(pieces[0].size == 11);
}

TEST_CASE("a search ends where no slot is free") {
    built_index built = two_units(5);
    for (std::uint32_t slot = 0; slot < 4; ++slot) built.put(slot, 0x100 + slot, 1);
    package_index::piece pieces[package_index::most_columns];
    CHECK(built.read().find(0x200, pieces) == 0);
}

TEST_CASE("an index that cannot be believed is of no unit") {
    const auto is_believed = [](std::size_t word, std::uint32_t value) {
        built_index built = two_units(5);
        built[word] = value;
        package_index::piece pieces[package_index::most_columns];
        return built.read().find(0x500000001, pieces) != 0;
    };
    CHECK(is_believed(0, 5));
    CHECK_FALSE(is_believed(0, 3));   // a version that nobody knows
    CHECK_FALSE(is_believed(1, 17));  // more columns than there are sections
    CHECK_FALSE(is_believed(1, 0xffffffff));
    CHECK_FALSE(is_believed(2, 3));  // more units than it has room for
    CHECK_FALSE(is_believed(2, 0xffffffff));
    CHECK_FALSE(is_believed(2, 1));  // the row lies behind them
    CHECK_FALSE(is_believed(3, 3));  // no power of two
    CHECK_FALSE(is_believed(3, 0x80000000));
    CHECK_FALSE(is_believed(3, 0));
    for (std::size_t words = 0; words < two_units(5).words.size(); ++words) {
        built_index built = two_units(5);
        built.words.resize(words);
        package_index::piece pieces[package_index::most_columns];
        CHECK(built.read().find(0x500000001, pieces) == 0);
    }
}
