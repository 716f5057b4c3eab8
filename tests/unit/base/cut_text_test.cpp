#include <allocscope/base/cut_text.hpp>

#include <doctest/doctest.h>

#include <string>

using allocscope::detail::copy_cut;
using allocscope::detail::length_of_cut;

TEST_CASE("cut_text: a text is cut between two characters, or not at all") {
    CHECK(length_of_cut("", 3) == 0);
    CHECK(length_of_cut("abc", 3) == 3);
    CHECK(length_of_cut("abcd", 3) == 3);
    CHECK(length_of_cut("abcd", 0) == 0);
    for (const std::string character : {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
        const std::string whole = "ab" + character + "c";
        for (std::size_t most = 0; most <= whole.size(); ++most) {
            const bool is_inside = most > 2 && most < 2 + character.size();
            CHECK(length_of_cut(whole.c_str(), most) == (is_inside ? 2 : most));
        }
    }
}

TEST_CASE("cut_text: bytes that are no UTF-8 are cut where the room ends") {
    const std::string inside(9, '\x80');
    CHECK(length_of_cut(inside.c_str(), 3) == 3);
    CHECK(length_of_cut(inside.c_str(), 7) == 7);
}

TEST_CASE("cut_text: a copy ends with a zero byte, and no name is an empty one") {
    char name[4] = "xyz";
    copy_cut(name, sizeof name, nullptr);
    CHECK(std::string{name}.empty());
    copy_cut(name, sizeof name, "ab\xc3\xa9");
    CHECK(std::string{name} == "ab");
    copy_cut(name, sizeof name, "a\xc3\xa9z");
    CHECK(std::string{name} == "a\xc3\xa9");
}
