#include <allocscope/places/shorten_paths.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/show_text.hpp"

namespace symbolize = allocscope::symbolize;
using paths = std::vector<std::string>;

namespace {

paths shorten_paths(const paths& files) {
    allocscope::plain::arena memory;
    symbolize::list<symbolize::text> shortened{memory};
    for (const std::string& file : files) shortened.push_back({file.data(), file.size()});
    symbolize::shorten_paths(memory, shortened);
    paths names;
    for (const symbolize::text name : shortened) names.emplace_back(name.data(), name.size());
    return names;
}

}  // namespace

TEST_CASE("shorten_paths: what is left after the common directory") {
    CHECK(shorten_paths({"/home/me/p/src/a.cpp", "/home/me/p/test/b.cpp"}) ==
          paths{"src/a.cpp", "test/b.cpp"});
    CHECK(shorten_paths({"/p/a.cpp", "/p/b.cpp"}) == paths{"a.cpp", "b.cpp"});
    CHECK(shorten_paths({"/p/abc.cpp", "/p/abd.cpp"}) == paths{"abc.cpp", "abd.cpp"});
    CHECK(shorten_paths({"/p/src/a.cpp", "/p/a.cpp"}) == paths{"src/a.cpp", "a.cpp"});
}

TEST_CASE("shorten_paths: paths that share nothing but the root stay paths") {
    CHECK(shorten_paths({"/usr/include/x.h", "/home/me/a.cpp"}) ==
          paths{"/usr/include/x.h", "/home/me/a.cpp"});
    CHECK(shorten_paths({"/usr/include/x.h", "src/a.cpp"}) == paths{"x.h", "a.cpp"});
}

TEST_CASE("shorten_paths: a single file keeps its own name only") {
    CHECK(shorten_paths({"/home/me/p/a.cpp"}) == paths{"a.cpp"});
    CHECK(shorten_paths({"/home/me/p/a.cpp", "/home/me/p/a.cpp"}) == paths{"a.cpp", "a.cpp"});
    CHECK(shorten_paths({"src/a.cpp"}) == paths{"a.cpp"});
    CHECK(shorten_paths({"a.cpp"}) == paths{"a.cpp"});
}

TEST_CASE("shorten_paths: absolute and relative paths are shortened each among themselves") {
    CHECK(shorten_paths({"src/a.cpp", "/home/me/b.cpp"}) == paths{"a.cpp", "b.cpp"});
    CHECK(shorten_paths({"src/a.cpp", "src/x/b.cpp", "/home/me/c.cpp"}) ==
          paths{"a.cpp", "x/b.cpp", "c.cpp"});
}

TEST_CASE("shorten_paths: two files never get one name") {
    CHECK(shorten_paths({"src/a.cpp", "/home/me/a.cpp"}) == paths{"src/a.cpp", "/home/me/a.cpp"});
}

TEST_CASE("shorten_paths: one file under two spellings is one file") {
    CHECK(shorten_paths({"/p/src/../a.cpp", "/p/a.cpp", "/p//x/./b.cpp"}) ==
          paths{"a.cpp", "a.cpp", "x/b.cpp"});
    allocscope::plain::arena memory;
    CHECK(symbolize::tidy_path(memory, "../../a/../b.cpp") == "../../b.cpp");
    CHECK(symbolize::tidy_path(memory, "/../a.cpp") == "/a.cpp");
}

TEST_CASE("shorten_paths: unknown files stay empty") {
    CHECK(shorten_paths({"", "/p/a.cpp"}) == paths{"", "a.cpp"});
    CHECK(shorten_paths({"", "src/a.cpp"}) == paths{"", "a.cpp"});
    CHECK(shorten_paths({}).empty());
}
