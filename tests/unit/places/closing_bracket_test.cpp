#include <allocscope/places/closing_bracket.hpp>

#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/source_cache.hpp>
#include <allocscope/symbols/code_location.hpp>

#include <doctest/doctest.h>

#include <string>

#include "support/marked_source.hpp"

using allocscope::plain::arena;
using allocscope::plain::text;
using allocscope::symbolize::code_frame;
using allocscope::symbolize::leave_closing_brace;
using allocscope::symbolize::lines_near_call;
using allocscope::symbolize::source_cache;

namespace {

// The line of a call that is placed at the mark, a brace, between code of two lines.
int line_for(const std::string& source, int before, int behind) {
    const allocscope_test::marked_source marked{source};
    arena memory;
    source_cache sources;
    code_frame frame;
    frame.function = text{"make()"};
    frame.file = marked.path().c_str();
    frame.line = marked.line();
    frame.column = marked.column();
    lines_near_call nearest;
    nearest.before = before;
    nearest.behind = behind;
    leave_closing_brace(memory, frame, nearest, sources);
    return frame.line;
}

}  // namespace

TEST_CASE("closing_bracket: only a statement with braces or a lambda makes parts") {
    const char* const source = R"(void make() {
    part all[2]{{"a"}, {"b"}};
    std::vector<part*> order;
    for (part& each : all) {
        order.push_back(&each);
    }
    keep(part{3, "c"});
    count(all);
    run([text] {
        count(text);
    });
@})";
    CHECK(line_for(source, 2, 2) == 2);
    CHECK(line_for(source, 2, 3) == 2);
    CHECK(line_for(source, 2, 4) == 2);
    CHECK(line_for(source, 4, 5) == 2);
    CHECK(line_for(source, 1, 3) == 2);
    CHECK(line_for(source, 3, 7) == 7);
    // The file ends in the middle of a statement.
    CHECK(line_for("void make() {\n    first();\n    if\n@}", 2, 3) == 3);
    CHECK(line_for(source, 7, 8) == 7);
    CHECK(line_for(source, 8, 9) == 9);
    CHECK(line_for(source, 8, 11) == 11);  // of the statement that begins on line 9
}

TEST_CASE("closing_bracket: where code was moved, both lines must tell the same") {
    const char* const source = R"(void make() {
    count(1);
    keep(part{3, "c"});
    count(2);
    keep(part{4, "d"});
@})";
    CHECK(line_for(source, 3, 2) == 3);
    CHECK(line_for(source, 4, 2) == 3);
    CHECK(line_for(source, 5, 3) == 6);
}

TEST_CASE("closing_bracket: a macro may write braces, and a coroutine waits") {
    CHECK(line_for("#define ADD(n) add({n, 1})\nvoid make() {\n    part one{1};\n    ADD(3);\n"
                   "    count(1);\n@}",
                   3, 4) == 4);
    CHECK(line_for("void make() {\n    part one{1};\n    OF_HEADER(3);\n    count(1);\n@}", 2, 3) ==
          3);
    CHECK(line_for("task make() {\n    part one{1};\n    co_yield \"a\";\n    count(1);\n@}", 2,
                   3) == 3);
    CHECK(line_for("void make() {\n    count(1);\n    count(2);\n@}", 2, 3) == 3);
}

TEST_CASE("closing_bracket: what a loop without braces makes is made in its body") {
    const char* const source = R"(void make() {
    for (part& each : all)
        if (each.n)
            order.push_back({each, 3});
    for (part& each : {all, one})
        count(each);
    run(3);
@})";
    CHECK(line_for(source, 2, 2) == 4);
    CHECK(line_for(source, 2, 4) == 4);
    CHECK(line_for(source, 5, 5) == 5);
    CHECK(line_for(source, 5, 6) == 6);
    const char* const counted = R"(void make() {
    part* one = &all[0];
    for (int i = 0; i < 3; i++)
        order.push_back({all[i], 3});
    run(one);
@})";
    CHECK(line_for(counted, 3, 3) == 4);
    CHECK(line_for(counted, 2, 5) == 4);
    CHECK(line_for("void make() {\n    auto run = [&] { go(); };\n    one = all[1];\n@}", 3, 3) ==
          2);
}
