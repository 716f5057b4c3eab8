#include <allocscope/base/printable_text.hpp>

#include <doctest/doctest.h>

#include <cstring>

using allocscope::detail::printable_length;

TEST_CASE("printable_text: what draws a character is shown, whatever its length") {
    CHECK(printable_length("a") == 1);
    CHECK(printable_length(" ") == 1);
    CHECK(printable_length("~") == 1);
    CHECK(printable_length("\xc3\xa9") == 2);          // e with an accent
    CHECK(printable_length("\xe2\x82\xac") == 3);      // euro sign
    CHECK(printable_length("\xf0\x9f\x98\x80") == 4);  // a smiling face
    CHECK(printable_length("\xf4\x8f\xbf\xbd") == 4);  // one of the last code points
}

TEST_CASE("printable_text: no byte below a blank, no delete, no C1 control") {
    for (int byte = 0; byte < 0x20; ++byte) {
        const char text[] = {static_cast<char>(byte), '\0'};
        CHECK(printable_length(text) == 0);
    }
    CHECK(printable_length("\x7f") == 0);
    CHECK(printable_length("\xc2\x9b") == 0);  // the one-byte form of ESC [
    CHECK(printable_length("\x9b") == 0);
    CHECK(printable_length("\xc2\xa0") == 2);  // the first one after the controls
}

TEST_CASE("printable_text: no mark that turns the direction of a line or draws nothing") {
    CHECK(printable_length("\xe2\x80\xae") == 0);  // right to left from here on
    CHECK(printable_length("\xe2\x81\xa6") == 0);
    CHECK(printable_length("\xe2\x80\xa8") == 0);  // line separator
    CHECK(printable_length("\xe2\x80\x8b") == 0);  // no width
    CHECK(printable_length("\xef\xbb\xbf") == 0);
}

TEST_CASE("printable_text: no malformed sequence, and nothing behind the zero byte is read") {
    CHECK(printable_length("") == 0);
    CHECK(printable_length("\x80") == 0);
    CHECK(printable_length("\xc3") == 0);
    CHECK(printable_length("\xe2\x82") == 0);
    CHECK(printable_length("\xf0\x9f\x98") == 0);
    CHECK(printable_length("\xc0\x80") == 0);  // zero in two bytes
    CHECK(printable_length("\xc1\xbf") == 0);
    CHECK(printable_length("\xe0\x9f\xbf") == 0);      // overlong
    CHECK(printable_length("\xf0\x8f\xbf\xbf") == 0);  // overlong
    CHECK(printable_length("\xed\xa0\x80") == 0);      // half of a UTF-16 pair
    CHECK(printable_length("\xf4\x90\x80\x80") == 0);  // beyond Unicode
    CHECK(printable_length("\xff") == 0);
    CHECK(printable_length("\xc3"
                           "a") == 0);
}

TEST_CASE("printable_text: an escaped byte is a backslash, an x and two digits") {
    char out[allocscope::detail::escaped_byte_length];
    allocscope::detail::write_escaped_byte('\x1b', out);
    CHECK(std::memcmp(out, "\\x1b", 4) == 0);
    allocscope::detail::write_escaped_byte('\xff', out);
    CHECK(std::memcmp(out, "\\xff", 4) == 0);
    allocscope::detail::write_escaped_byte('\0', out);
    CHECK(std::memcmp(out, "\\x00", 4) == 0);
}
