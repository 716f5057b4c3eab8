#include <allocscope/spelling/name_brackets.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/show_text.hpp"

namespace symbolize = allocscope::symbolize;

namespace {

std::vector<std::string> split(const char* bracketed) {
    allocscope::plain::arena memory;
    std::vector<std::string> parts;
    for (const symbolize::text part : symbolize::split_arguments(memory, bracketed)) {
        parts.emplace_back(part.data(), part.size());
    }
    return parts;
}

}  // namespace

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

TEST_CASE("name_brackets: brackets within brackets are followed to a depth of 512") {
    const auto nested = [](std::size_t depth) {
        const std::string brackets = std::string(depth, '(') + std::string(depth, ')');
        return symbolize::skip_brackets({brackets.data(), brackets.size()}, 0);
    };
    CHECK(nested(512) == 1024);
    CHECK(nested(513) == symbolize::no_position);
}

TEST_CASE("name_brackets: a word is one of a list only as a whole") {
    CHECK(symbolize::is_listed("map", "set map list"));
    CHECK(symbolize::is_listed("list", "set map list"));
    CHECK_FALSE(symbolize::is_listed("ma", "set map list"));
    CHECK_FALSE(symbolize::is_listed("ap", "set map list"));
    CHECK(symbolize::is_listed("map", "mapped unmap map"));
    CHECK_FALSE(symbolize::is_listed("", "set map list"));
    CHECK(symbolize::listed_start("mapped", "set map list") == "map");
    CHECK(symbolize::listed_start("listen", "set map list") == "list");
    CHECK(symbolize::listed_start("ma", "set map list").empty());
    CHECK(symbolize::listed_start("", "set map list").empty());
}

TEST_CASE("name_brackets: arguments are cut at the commas between them only") {
    using parts = std::vector<std::string>;
    CHECK(split("<int, std::pair<a, b> >") == parts{"int", "std::pair<a, b>"});
    CHECK(split("<void (int, char), &X::operator,>") == parts{"void (int, char)", "&X::operator,"});
    CHECK(split("<main::{lambda()#3}, , void>") == parts{"main::{lambda()#3}", "", "void"});
    CHECK(split("<>").empty());
    CHECK(split("").empty());
}
