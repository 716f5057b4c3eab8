#include <allocscope/places/initialised_member.hpp>

#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/source_cache.hpp>
#include <allocscope/symbols/code_location.hpp>

#include <doctest/doctest.h>

#include <string>

#include "support/marked_source.hpp"

using allocscope::plain::arena;
using allocscope::plain::list;
using allocscope::plain::text;
using allocscope::symbolize::code_frame;
using allocscope::symbolize::find_initialiser;
using allocscope::symbolize::source_cache;

namespace {

// The line for a call of `callee` at the mark, in the constructor of `part`.
int line_for(const std::string& source, const char* callee, const char* function = "part::part()") {
    const allocscope_test::marked_source marked{source};
    arena memory;
    source_cache sources;
    list<code_frame> frames{memory};
    code_frame inner;
    inner.function = text{callee};
    inner.file = text{"/usr/include/c++/12/bits/stl_vector.h"};
    inner.line = 3;
    frames.push_back(inner);
    code_frame frame;
    frame.function = text{function};
    frame.file = marked.path().c_str();
    frame.line = marked.line();
    frame.column = marked.column();
    frames.push_back(frame);
    const allocscope::symbolize::found_token found = find_initialiser(memory, frames, 1, sources);
    return found.at != 0 ? static_cast<int>(found.file->tokens()[found.at].line) : 0;
}

const char* const vector = "std::vector<int, std::allocator<int> >::vector(int)";

}  // namespace

TEST_CASE("initialised_member: the member whose type or initialiser calls the library") {
    CHECK(line_for("struct @part {\n    int n = 3;\n    std::vector<int> v{1};\n};\n", vector) ==
          3);
    CHECK(line_for("struct @part {\n    auto p = std::make_unique<int>(3);\n};\n",
                   "std::make_unique<int, int>(int&&)") == 2);
    CHECK(line_for("struct @part {\n    std::vector<int> v =\n        {1};\n};\n", vector) == 2);
    CHECK(
        line_for("struct @part {\n    std::unique_ptr<int> p =\n        std::make_unique<int>(3);\n"
                 "};\n",
                 "std::make_unique<int, int>(int&&)") == 3);
    CHECK(line_for("struct @part {\npublic:\n    std::vector<int> v{1};\n};\n", vector) == 3);
    CHECK(line_for("struct @part {\n    std::vector<int (*)(int)> empty;\n"
                   "    std::vector<std::function<int()>> v{[] { return 1; }, [n = 1]() mutable { "
                   "++n; return n; }};\n"
                   "};\n",
                   vector) == 3);
    CHECK(line_for("struct @part {\n    std::any a = both([] { return 1; },\n"
                   "                      std::vector<int>{1});\n};\n",
                   vector) == 2);
    CHECK(line_for("struct @part {\n    std::string s{\"text\"};\n};\n",
                   "std::__cxx11::basic_string<char>::basic_string(char const*)") == 2);
    CHECK(line_for("struct @part {\n    int n;\n    std::string s{\"text\"};\n};\n",
                   "void std::__cxx11::basic_string<char>::_M_construct<char const*>(char const*, "
                   "char const*, std::forward_iterator_tag)") == 3);
    CHECK(line_for("struct part {\n    std::vector<int> v{1};\n    part() @{}\n};\n", vector) == 2);
    CHECK(line_for("struct part {\n    std::vector<int> v{1};\n    int n;\n    part();\n};\n"
                   "part::part() : n{3@} {\n}\n",
                   vector) == 2);
}

TEST_CASE("initialised_member: g++ -g1 names an inlined constructor without its class") {
    const char* const body = "struct part {\n    std::vector<int> v{1};\n    part() @{}\n};\n";
    CHECK(line_for(body, vector, "part") == 2);
    const char* const function = "struct other {\n    std::vector<int> v{1};\n};\nvoid part() @{}";
    CHECK(line_for(function, vector, "part") == 0);
}

TEST_CASE("initialised_member: functions, other classes and empty members do not count") {
    CHECK(line_for("struct @part {\n    std::vector<int> v{1};\n    std::vector<int> empty;\n"
                   "    std::vector<int> f() { std::vector<int> w{2}; return w; }\n"
                   "    struct inner { std::vector<int> w{3}; };\n"
                   "    static inline std::vector<int> all{4};\n};\n",
                   vector) == 2);
    CHECK(line_for("struct @part {\n    std::vector<int> empty{};\n    std::vector<int> v{1};\n"
                   "    std::vector<int> none = {};\n};\n",
                   vector) == 3);
    CHECK(line_for("struct @part {\n    std::vector<int> v{};\n};\n", vector) == 0);
    CHECK(line_for("struct @part {\n    std::deque<int> d{};\n};\n",
                   "std::deque<int, std::allocator<int> >::deque()") == 2);
    CHECK(line_for("struct @part {\n    part() = default;\n    std::vector<int> v{1};\n};\n",
                   vector) == 3);
}

TEST_CASE("initialised_member: a copy of an object has what the object had") {
    const char* const source = "struct @part {\n    std::vector<int> v{1};\n};\n";
    CHECK(line_for(source, vector, "part::part(part const&)") == 0);
    CHECK(line_for(source, vector, "part::part(part&&)") == 0);
    CHECK(line_for("struct part {\n    std::vector<int> v{1};\n    part(const part&@) {}\n};\n",
                   vector, "part::part(part const&)") == 2);
}

TEST_CASE("initialised_member: what is not certain has no line") {
    CHECK(
        line_for("struct @part {\n    std::vector<int> v{1}, w;\n    std::vector<int> x{2};\n};\n",
                 vector) == 0);
    CHECK(line_for("struct @part {\n    std::deque<int> v{1};\n    std::deque<int> w;\n};\n",
                   "std::deque<int>::deque(int)") == 0);
    CHECK(line_for("struct part {\n    std::vector<int> v{1};\n    part() : v{2@} {}\n};\n",
                   vector) == 0);
    for (const std::string head : {"for (int n : std::vector<int>(3@))", "if (f(3@))", "do @"}) {
        CAPTURE(head);
        CHECK(line_for("struct part {\n    std::vector<int> v{1};\n    part() {\n        " + head +
                           " {\n        }\n    }\n};\n",
                       vector) == 0);
    }
    CHECK(line_for("struct @part {\n    int n = 3;\n};\n", vector) == 0);
    CHECK(line_for("struct part {\n    std::vector<int> v{1};\n    part() { @run(); }\n};\n",
                   vector) == 0);
    CHECK(line_for("struct @part {\n    std::vector<int> v{1};\n};\n", vector, "part::run()") == 0);
}
