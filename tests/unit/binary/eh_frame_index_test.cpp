#include <allocscope/binary/eh_frame_index.hpp>

#include <doctest/doctest.h>

#include <cstdint>

#include "eh_frame_builder.hpp"

namespace {

using allocscope::detail::eh_frame_image;
using allocscope::detail::fde_search;
using allocscope::detail::find_frame_description;
using allocscope::detail::frame_description;
using eh_frame_test::eh_frame_builder;

constexpr std::uint64_t low_code = eh_frame_builder::address - 0x8000;
constexpr std::uint64_t stride = 0x100;
constexpr std::uint64_t length = 0xc0;  // and a gap up to the next function

void add_functions(eh_frame_builder& tables, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
        if (i % 16 == 0) tables.add_common();
        tables.add_function(low_code + i * stride, length, {});
    }
    tables.add_end();
}

// Every function is found at its ends, and nothing is found beside them.
void check_all(const eh_frame_image& image, unsigned count) {
    frame_description about;
    for (unsigned i = 0; i < count; ++i) {
        const std::uint64_t begin = low_code + i * stride;
        REQUIRE(find_frame_description(image, begin, about) == fde_search::found);
        CHECK(about.begin == begin);
        REQUIRE(find_frame_description(image, begin + length - 1, about) == fde_search::found);
        CHECK(about.begin == begin);
        CHECK(find_frame_description(image, begin + length, about) == fde_search::none);
        CHECK(find_frame_description(image, begin - 1, about) == fde_search::none);
    }
    CHECK(find_frame_description(image, 0, about) == fde_search::none);
    CHECK(find_frame_description(image, ~std::uint64_t{0}, about) == fde_search::none);
}

}  // namespace

TEST_CASE("eh_frame_index: finds what is there with a table of any length") {
    for (const unsigned count : {1U, 2U, 3U, 64U, 100U, 200U}) {  // on both sides of the table
        CAPTURE(count);
        eh_frame_builder tables;
        add_functions(tables, count);
        check_all(tables.finish(), count);
    }
}

TEST_CASE("eh_frame_index: reads from the start when there is no table, or an unknown one") {
    eh_frame_builder tables;
    add_functions(tables, 100);
    check_all(tables.finish(false), 100);
    eh_frame_builder odd;
    add_functions(odd, 100);
    check_all(odd.finish(true, 0x1b), 100);
}

TEST_CASE("eh_frame_index: reading from the start gives up after many records") {
    eh_frame_builder tables;
    tables.add_common();
    for (unsigned i = 0; i < 10100; ++i) tables.add_function(low_code + i * 4, 4, {});
    tables.add_end();
    const eh_frame_image image = tables.finish(false);
    frame_description about;
    CHECK(find_frame_description(image, low_code + 9000 * 4, about) == fde_search::found);
    CHECK(find_frame_description(image, low_code + 10050 * 4, about) == fde_search::unreadable);
}

TEST_CASE("eh_frame_index: a table longer than the segment is not used") {
    eh_frame_builder tables;
    add_functions(tables, 10);
    eh_frame_image image = tables.finish();
    image.index.bytes.size -= 8;
    check_all(image, 10);  // from the start instead
}

TEST_CASE("eh_frame_index: an unknown header is unreadable") {
    frame_description about;
    for (const unsigned at : {0U, 1U}) {
        eh_frame_builder tables;
        add_functions(tables, 1);
        const eh_frame_image image = tables.finish();
        REQUIRE(find_frame_description(image, low_code, about) == fde_search::found);
        tables.bytes()[image.index_address - eh_frame_builder::address + at] = 0xff;
        CHECK(find_frame_description(image, low_code, about) == fde_search::unreadable);
    }
    CHECK(find_frame_description(eh_frame_image{}, low_code, about) == fde_search::unreadable);
}

TEST_CASE("eh_frame_index: a table that leads to something else is unreadable") {
    eh_frame_builder tables;
    const std::uint64_t common = tables.add_common();
    tables.add_function(low_code, length, {});
    const eh_frame_image image = tables.finish();
    const std::uint64_t entry = image.index_address + 12 - eh_frame_builder::address;
    frame_description about;
    REQUIRE(find_frame_description(image, low_code, about) == fde_search::found);
    for (const std::uint64_t place : {common, common + 2, std::uint64_t{0}}) {
        const std::uint64_t offset = place - image.index_address;
        for (unsigned i = 0; i < 4; ++i) {
            tables.bytes()[entry + 4 + i] = static_cast<std::uint8_t>(offset >> (8 * i));
        }
        CHECK(find_frame_description(image, low_code, about) == fde_search::unreadable);
    }
}
