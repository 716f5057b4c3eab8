// Numbers of a saved file: of every length, also where the record ends in the middle of one.
#include <allocscope/binary/byte_cursor.hpp>
#include <allocscope/saved/saved_records.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using allocscope::detail::byte_cursor;
using allocscope::detail::saved_fields;
using allocscope::plain::text;

namespace {

// Reads the bytes as numbers, with a byte_cursor beside it, up to the first that is damaged.
void check_numbers(const std::string& record) {
    const std::string file = record + std::string(saved_fields::ahead, '\xff');
    saved_fields fields{text{file.data(), record.size()}};
    byte_cursor expected{{reinterpret_cast<const std::uint8_t*>(file.data()), record.size()}};
    while (!expected.at_end()) {
        const std::uint64_t number = expected.uleb();
        CHECK(fields.number() == number);
        CHECK(fields.is_damaged() == !expected.ok());
        CHECK(fields.left() == expected.remaining());
    }
    CHECK(fields.is_at_end());
    CHECK(fields.number() == 0);  // a missing field
}

std::string written(std::uint64_t number) {
    std::string bytes;
    for (; number >= 0x80U; number >>= 7U) bytes += static_cast<char>(number | 0x80U);
    return bytes + static_cast<char>(number);
}

}  // namespace

TEST_CASE("saved fields: a number of every length, with anything behind it, and cut off anywhere") {
    for (unsigned bit = 0; bit < 64; ++bit) {
        for (const std::uint64_t number : {std::uint64_t{1} << bit, (std::uint64_t{1} << bit) - 1,
                                           ~std::uint64_t{0} << bit, 0x5a5a5a5a5a5a5a5aU >> bit}) {
            const std::string bytes = written(number);
            for (std::size_t more = 0; more < 12; ++more) {
                check_numbers(bytes + std::string(more, '\x7f'));
                check_numbers(bytes + std::string(more, '\xff'));
            }
            for (std::size_t left = 0; left < bytes.size(); ++left) {
                check_numbers(bytes.substr(0, left));
            }
        }
    }
}

TEST_CASE("saved fields: indices up to the end, or up to the first that is too large") {
    const std::vector<std::size_t> good = {0, 127, 128, 16383, 16384, 2097152, 268435456, 7};
    std::string bytes;
    for (const std::size_t each : good) bytes += written(each);
    const auto read = [](const std::string& record, std::size_t count, bool& is_damaged) {
        const std::string file = record + std::string(saved_fields::ahead, '\x01');
        saved_fields fields{text{file.data(), record.size()}};
        std::vector<std::size_t> found;
        const std::size_t many =
            fields.for_each_index(count, [&found](std::size_t index) { found.push_back(index); });
        CHECK(many == found.size());
        CHECK(fields.is_at_end());
        is_damaged = fields.is_damaged();
        return found;
    };
    bool is_damaged = true;
    CHECK(read(bytes, 268435457, is_damaged) == good);
    CHECK(!is_damaged);
    CHECK(read(bytes, 16384, is_damaged) == std::vector<std::size_t>{0, 127, 128, 16383, 0});
    CHECK(is_damaged);
    CHECK(read("", 1, is_damaged).empty());
    CHECK(!is_damaged);
    read(bytes + '\x80', 268435457, is_damaged);
    CHECK(is_damaged);
}

TEST_CASE("saved fields: a number with more bytes than it needs") {
    for (std::size_t length = 1; length < 20; ++length) {
        for (const char last : {'\x00', '\x01', '\x7f'}) {
            check_numbers(std::string(length, '\x80') + last + std::string(12, '\x01'));
            check_numbers(std::string(length, '\xff') + last);
        }
    }
}
