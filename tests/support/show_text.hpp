// show_text.hpp - a failed CHECK prints the characters of a text.

#ifndef ALLOCSCOPE_TESTS_SUPPORT_SHOW_TEXT_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_SHOW_TEXT_HPP

#include <allocscope/plain/text.hpp>

#include <doctest/doctest.h>

namespace doctest {

template <>
struct StringMaker<allocscope::plain::text> {
    static String convert(allocscope::plain::text shown) {
        return String(shown.data(), static_cast<unsigned>(shown.size()));
    }
};

}  // namespace doctest

#endif  // ALLOCSCOPE_TESTS_SUPPORT_SHOW_TEXT_HPP
