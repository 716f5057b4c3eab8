#include <allocscope/base/fixed_text.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>

using allocscope::detail::fixed_text;

namespace {

struct long_line {
    char space[128];
    fixed_text text{space, sizeof space};
    std::string str() const { return {text.data(), text.size()}; }
};

std::string decimal(std::uint64_t value, std::size_t width = 0, char mark = '\0') {
    long_line line;
    line.text.append_decimal(value, width, mark);
    return line.str();
}

std::string with_sign(std::int64_t value, std::size_t width = 0, char mark = '\0') {
    long_line line;
    line.text.append_signed(value, width, mark);
    return line.str();
}

}  // namespace

TEST_CASE("fixed_text: numbers are those of the C library") {
    std::mt19937_64 random{7};
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t value = random() >> (i % 64);
        CHECK(decimal(value) == std::to_string(value));
        const auto bits = static_cast<std::int64_t>(value << (i % 3));
        CHECK(with_sign(bits) == std::to_string(bits));
    }
    CHECK(decimal(0) == "0");
    CHECK(decimal(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
    CHECK(with_sign(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
}

TEST_CASE("fixed_text: a number is right-aligned and never cut by its width") {
    CHECK(decimal(5, 7) == "      5");
    CHECK(decimal(1234567, 7) == "1234567");
    CHECK(decimal(12345678, 7) == "12345678");
    CHECK(with_sign(-3, 7) == "     -3");
    CHECK(with_sign(-1234567, 7) == "-1234567");
}

TEST_CASE("fixed_text: a mark stands before the number and inside the width") {
    CHECK(decimal(1000, 7, '~') == "  ~1000");
    CHECK(decimal(1234567, 7, '~') == "~1234567");
    CHECK(with_sign(-20, 7, '~') == "   ~-20");
    CHECK(with_sign(std::numeric_limits<std::int64_t>::min(), 0, '~') == "~-9223372036854775808");
}

TEST_CASE("fixed_text: hexadecimal digits are lower case without a prefix") {
    long_line line;
    line.text.append_hexadecimal(0xdeadbeef);
    CHECK(line.str() == "deadbeef");
}

TEST_CASE("fixed_text: what does not fit is left out") {
    char space[4];
    fixed_text text{space, sizeof space};
    text.append("ab");
    text.append_decimal(123);  // three digits, room for two
    CHECK(std::string(text.data(), text.size()) == "ab");
    text.append("cdef");
    CHECK(std::string(text.data(), text.size()) == "abcd");
    CHECK(text.room() == 0);
    text.clear();
    CHECK(text.size() == 0);
}

TEST_CASE("fixed_text: a name is taken character by character, escaped where it must be") {
    long_line line;
    const char* name = "a\x1b\xc3\xa9";
    std::size_t taken[4];
    for (std::size_t& each : taken) name += each = line.text.append_printable(name);
    CHECK(taken[0] == 1);
    CHECK(taken[1] == 1);
    CHECK(taken[2] == 2);
    CHECK(taken[3] == 0);
    CHECK(line.str() == "a\\x1b\xc3\xa9");
}

TEST_CASE("fixed_text: neither an escape nor a character is split") {
    char space[3];
    fixed_text text{space, sizeof space};
    CHECK(text.append_printable("\x1b") == 0);
    CHECK(text.append_printable("\xf0\x9f\x98\x80") == 0);
    CHECK(text.size() == 0);
    CHECK(text.append_printable("\xe2\x82\xac") == 3);
}
