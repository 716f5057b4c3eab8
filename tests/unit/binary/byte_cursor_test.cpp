#include <allocscope/binary/byte_cursor.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <random>
#include <vector>

namespace {

using allocscope::detail::byte_cursor;
using allocscope::detail::byte_view;

struct bytes {
    std::vector<std::uint8_t> data;
    bytes(std::initializer_list<int> values) {
        for (const int value : values) data.push_back(static_cast<std::uint8_t>(value));
    }
    byte_view view() const { return byte_view{data.data(), data.size()}; }
};

}  // namespace

TEST_CASE("byte_view: a part that is not wholly inside is empty") {
    const bytes four{1, 2, 3, 4};
    CHECK(four.view().part(1, 3).size == 3);
    CHECK(four.view().part(1, 3).data[0] == 2);
    CHECK(four.view().part(4, 0).size == 0);
    CHECK(four.view().part(1, 4).size == 0);
    CHECK(four.view().part(5, 0).size == 0);
    CHECK(four.view().part(2, ~std::uint64_t{0}).size == 0);
    CHECK(four.view().from(3).size == 1);
    CHECK(four.view().from(9).size == 0);
}

TEST_CASE("byte_cursor: numbers are little-endian and of every width") {
    const bytes data{1, 2, 3, 4, 5, 6, 7, 8};
    CHECK(byte_cursor{data.view()}.u8() == 1);
    CHECK(byte_cursor{data.view()}.u16() == 0x0201);
    CHECK(byte_cursor{data.view()}.u32() == 0x04030201);
    CHECK(byte_cursor{data.view()}.u64() == 0x0807060504030201);
    byte_cursor three{data.view()};
    CHECK(three.unsigned_of(3) == 0x030201);
    CHECK(three.at() == 3);
    CHECK(three.unsigned_of(5) == 0);
    CHECK_FALSE(three.ok());
}

TEST_CASE("byte_cursor: the first read beyond the end fails and so do all after it") {
    const bytes data{1, 2, 3};
    byte_cursor in{data.view()};
    CHECK(in.u16() == 0x0201);
    CHECK(in.u16() == 0);
    CHECK_FALSE(in.ok());
    CHECK(in.u8() == 0);
    CHECK(in.remaining() == 0);
    CHECK(in.at_end());
    CHECK(in.text() == std::string(""));
    CHECK_FALSE(byte_cursor{data.view(), 4}.ok());
}

TEST_CASE("byte_cursor: LEB128 numbers, also the longest and the endless") {
    const bytes small{0x02};
    CHECK(byte_cursor{small.view()}.uleb() == 2);
    CHECK(byte_cursor{small.view()}.sleb() == 2);
    const bytes minus{0x7e};
    CHECK(byte_cursor{minus.view()}.uleb() == 126);
    CHECK(byte_cursor{minus.view()}.sleb() == -2);
    const bytes two{0x80, 0x01};
    CHECK(byte_cursor{two.view()}.uleb() == 128);
    const bytes minus_129{0xff, 0x7e};
    CHECK(byte_cursor{minus_129.view()}.sleb() == -129);
    const bytes widest{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    CHECK(byte_cursor{widest.view()}.uleb() == ~std::uint64_t{0});
    const bytes padded{0x85, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00};
    CHECK(byte_cursor{padded.view()}.uleb() == 5);
    const std::vector<std::uint8_t> endless(64, 0xff);
    byte_cursor in{byte_view{endless.data(), endless.size()}};
    CHECK(in.uleb() == 0);
    CHECK_FALSE(in.ok());
    byte_cursor again{byte_view{endless.data(), endless.size()}};
    CHECK(again.sleb() == 0);
    CHECK_FALSE(again.ok());
    const bytes cut{0x80, 0x80};
    byte_cursor unfinished{cut.view()};
    CHECK(unfinished.uleb() == 0);
    CHECK_FALSE(unfinished.ok());
}

TEST_CASE("byte_cursor: a text needs its end inside the bytes") {
    const bytes data{'a', 'b', 0, 'c'};
    byte_cursor in{data.view()};
    CHECK(std::strcmp(in.text(), "ab") == 0);
    CHECK(in.at() == 3);
    CHECK(*in.text() == '\0');
    CHECK_FALSE(in.ok());
    CHECK(std::strcmp(allocscope::detail::text_at(data.view(), 1), "b") == 0);
    CHECK(*allocscope::detail::text_at(data.view(), 77) == '\0');
    CHECK(*allocscope::detail::text_at(byte_view{}, 0) == '\0');
}

TEST_CASE("byte_cursor: random reads never leave the bytes") {
    std::mt19937 random{5};
    for (int round = 0; round < 20000; ++round) {
        // A block of its own, so that a sanitizer sees a read behind it.
        std::vector<std::uint8_t> data(random() % 24);
        for (std::uint8_t& byte : data) byte = static_cast<std::uint8_t>(random());
        byte_cursor in{byte_view{data.data(), data.size()}};
        for (int step = 0; step < 8; ++step) {
            switch (random() % 8) {
                case 0:
                    in.u8();
                    break;
                case 1:
                    in.u32();
                    break;
                case 2:
                    in.u64();
                    break;
                case 3:
                    in.uleb();
                    break;
                case 4:
                    in.sleb();
                    break;
                case 5:
                    in.text();
                    break;
                case 6:
                    in.skip(random() % 40);
                    break;
                default:
                    in.block(random() % 40);
                    break;
            }
            REQUIRE(in.at() <= data.size());
        }
    }
}
