#include <allocscope/types/name_brackets.hpp>

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

namespace symbolize = allocscope::symbolize;

TEST_CASE("name_brackets: an operator's name is no bracket") {
    CHECK(symbolize::skip_brackets("f<&X::operator> >(int)", 1) == 17);
    CHECK(symbolize::skip_brackets("<&a::operator<< <char> >x", 0) == 24);
    CHECK(symbolize::skip_brackets("<decltype (a->b)>", 0) == 17);
    CHECK(symbolize::skip_brackets("((1<2))", 0) == 7);
}

TEST_CASE("name_brackets: what is never closed has no end") {
    CHECK(symbolize::skip_brackets("<a", 0) == symbolize::no_position);
    CHECK(symbolize::skip_brackets("(a]", 0) == symbolize::no_position);
    CHECK(symbolize::skip_brackets("<<<<<<", 2) == symbolize::no_position);
}

TEST_CASE("name_brackets: arguments are cut at the commas between them only") {
    using views = std::vector<std::string_view>;
    CHECK(symbolize::split_arguments("<int, std::pair<a, b> >") == views{"int", "std::pair<a, b>"});
    CHECK(symbolize::split_arguments("<void (int, char), &X::operator,>") ==
          views{"void (int, char)", "&X::operator,"});
    CHECK(symbolize::split_arguments("<main::{lambda()#3}, , void>") ==
          views{"main::{lambda()#3}", "", "void"});
    CHECK(symbolize::split_arguments("<>").empty());
    CHECK(symbolize::split_arguments("").empty());
}
