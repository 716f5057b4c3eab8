#include <allocscope/binary/eh_frame.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "eh_frame_builder.hpp"

namespace {

using allocscope::detail::eh_record;
using allocscope::detail::frame_description;
using allocscope::detail::mapped_bytes;
using eh_frame_test::common_parts;
using eh_frame_test::eh_frame_builder;

constexpr std::uint64_t code = eh_frame_builder::address - 0x400;

eh_record read(const eh_frame_builder& tables, std::uint64_t at, frame_description& out) {
    std::uint64_t next = 0;
    return allocscope::detail::read_frame_description(tables.view(), at, 0, out, next);
}

eh_record read_with(const common_parts& parts, frame_description& out) {
    eh_frame_builder tables;
    tables.add_common(parts);
    return read(tables, tables.add_function(code, 0x20, {0x0e, 16}), out);
}

}  // namespace

TEST_CASE("eh_frame: a function's record says where its code is, whatever the version") {
    for (const int version : {1, 3, 4}) {
        for (const char* augmentation : {"zR", "zPLR", "zRS", "zRB", "zLR"}) {
            CAPTURE(version);
            CAPTURE(augmentation);
            common_parts parts;
            parts.version = version;
            parts.augmentation = augmentation;
            frame_description about;
            REQUIRE(read_with(parts, about) == eh_record::description);
            CHECK(about.begin == code);
            CHECK(about.end == code + 0x20);
            CHECK(about.code_factor == 1);
            CHECK(about.data_factor == -8);
            CHECK(about.is_signal_frame == (std::string{augmentation} == "zRS"));
        }
    }
}

TEST_CASE("eh_frame: pointers in every form") {
    for (const int form : {0x00, 0x04, 0x0c, 0x01, 0x09}) {
        for (const int base : {0x00, 0x10}) {
            CAPTURE(form);
            CAPTURE(base);
            common_parts parts;
            parts.encoding = form | base;
            frame_description about;
            REQUIRE(read_with(parts, about) == eh_record::description);
            CHECK(about.begin == code);
            CHECK(about.end == code + 0x20);
        }
    }
    for (const int encoding : {0x1b, 0x1a}) {  // relative and signed
        common_parts parts;
        parts.encoding = encoding;
        frame_description about;
        REQUIRE(read_with(parts, about) == eh_record::description);
        CHECK(about.begin == code);
    }
}

TEST_CASE("eh_frame: without augmentation pointers are absolute") {
    common_parts parts;
    parts.augmentation = "";
    parts.encoding = 0;
    frame_description about;
    REQUIRE(read_with(parts, about) == eh_record::description);
    CHECK(about.begin == code);
}

TEST_CASE("eh_frame: what is not known is refused") {
    const auto is_odd = [](const common_parts& parts) {
        frame_description about;
        return read_with(parts, about) == eh_record::odd;
    };
    common_parts parts;
    parts.version = 2;
    CHECK(is_odd(parts));
    parts = {};
    parts.augmentation = "zRX";
    CHECK(is_odd(parts));
    parts = {};
    parts.augmentation = "eh";
    CHECK(is_odd(parts));
    parts = {};
    parts.augmentation = "z" + std::string(20, 'S') + "R";
    CHECK(is_odd(parts));
    parts = {};
    parts.return_address = 15;
    CHECK(is_odd(parts));
    for (const int encoding : {0x05, 0x0f, 0x20, 0x40, 0x50, 0x9b, 0xff}) {
        CAPTURE(encoding);
        parts = {};
        parts.encoding = encoding;
        CHECK(is_odd(parts));
    }
}

TEST_CASE("eh_frame: a record ends with its length, and a length with the bytes") {
    eh_frame_builder tables;
    tables.add_common();
    const std::uint64_t at = tables.add_function(code, 0x20, {});
    const std::size_t offset = at - eh_frame_builder::address;
    const std::vector<std::uint8_t> good = tables.bytes();
    frame_description about;
    REQUIRE(read(tables, at, about) == eh_record::description);
    // From 0 (the end) over too short for its fields to longer than the bytes.
    const std::uint8_t length = good[offset];
    for (unsigned shorter = 0; shorter < length; ++shorter) {
        tables.bytes()[offset] = static_cast<std::uint8_t>(shorter);
        const eh_record kind = read(tables, at, about);
        CHECK((kind == eh_record::end) == (shorter == 0));
        if (shorter < 13) CHECK(kind != eh_record::description);
    }
    tables.bytes()[offset] = static_cast<std::uint8_t>(length + 1);
    CHECK(read(tables, at, about) == eh_record::odd);
    for (unsigned i = 0; i < 4; ++i) tables.bytes()[offset + i] = 0xff;
    CHECK(read(tables, at, about) == eh_record::odd);
    // Cut off anywhere.
    for (std::size_t size = offset; size < good.size(); ++size) {
        const std::vector<std::uint8_t> part(good.begin(),
                                             good.begin() + static_cast<std::ptrdiff_t>(size));
        std::uint64_t next = 0;
        const mapped_bytes view{{part.data(), part.size()}, eh_frame_builder::address};
        CHECK(allocscope::detail::read_frame_description(view, at, 0, about, next) ==
              eh_record::odd);
    }
}

TEST_CASE("eh_frame: a function refers to one common record and to nothing else") {
    eh_frame_builder tables;
    const std::uint64_t common = tables.add_common();
    const std::uint64_t first = tables.add_function(code, 0x20, {});
    const std::uint64_t second = tables.add_function(code + 0x20, 0x20, {});
    frame_description about;
    CHECK(read(tables, common, about) == eh_record::common);
    const std::size_t field = second - eh_frame_builder::address + 4;
    const auto refer_to = [&](std::uint64_t place) {
        const std::uint64_t distance = second + 4 - place;
        for (unsigned i = 0; i < 4; ++i) {
            tables.bytes()[field + i] = static_cast<std::uint8_t>(distance >> (8 * i));
        }
        return read(tables, second, about);
    };
    CHECK(refer_to(common) == eh_record::description);
    CHECK(refer_to(first) == eh_record::odd);
    CHECK(refer_to(second) == eh_record::odd);
    CHECK(refer_to(common - 4) == eh_record::odd);
    CHECK(refer_to(common + 1) == eh_record::odd);
    CHECK(refer_to(second + 8) == eh_record::odd);
}

TEST_CASE("eh_frame: an address outside of the bytes is odd") {
    eh_frame_builder tables;
    tables.add_common();
    frame_description about;
    for (const std::uint64_t at :
         {std::uint64_t{0}, eh_frame_builder::address - 1,
          eh_frame_builder::address + tables.bytes().size(), ~std::uint64_t{0}}) {
        CHECK(read(tables, at, about) == eh_record::odd);
    }
}
