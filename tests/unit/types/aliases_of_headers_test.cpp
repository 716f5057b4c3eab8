#include <allocscope/types/type_from_source.hpp>

#include <doctest/doctest.h>

#include <string>

#include "support/marked_source.hpp"
#include "unit/types/type_at_mark.hpp"

using allocscope::symbolize::name_kind;
using allocscope_test::header_beside;

TEST_CASE("aliases_of_headers: with -g1 nobody knows what an argument stands for") {
    const header_beside header{
        "namespace app {\nusing text = basic_text<char>;\ntypedef basic_text<wchar_t> wide;\n"
        "enum mode { fast };\nstruct part;\ntypedef struct { int n; } plain;\n}\n"};
    allocscope::symbolize::type_knowledge knowledge;
    knowledge.kind = [](void*, const allocscope::plain::text&) { return name_kind::undescribed; };
    const auto type_of = [&](const std::string& made) { return header.type_of(made, knowledge); };
    CHECK(type_of("std::set<text>") == "?");
    CHECK(type_of("std::map<int, app::wide>") == "?");
    CHECK(type_of("std::set<app::mode>") == "std::set<app::mode>");
    CHECK(type_of("std::set<app::part*>") == "std::set<app::part*>");
    CHECK(type_of("std::set<app::plain>") == "std::set<app::plain>");
    CHECK(type_of("text") == "text");
    CHECK(type_of("std::set<own>; using own = std::string") == "std::set<own>");
    knowledge.kind = [](void*, const allocscope::plain::text&) { return name_kind::type; };
    CHECK(type_of("std::set<text>") == "std::set<text>");
}

// g++ describes no alias that is a template.
TEST_CASE("aliases_of_headers: in a template, an alias of a header stands for what is not known") {
    const header_beside header{
        "namespace app {\ntemplate <class T> using bare = std::remove_reference_t<T>;\n"
        "template <class T> struct box {};\nusing text = basic_text<char>;\n}\n"};
    allocscope::symbolize::type_knowledge knowledge;
    knowledge.kind = [](void*, const allocscope::plain::text& asked) {
        return asked == "bare" ? name_kind::unknown : name_kind::type;
    };
    const auto type_of = [&](const std::string& body, const char* function = "make<part&>") {
        return header.type_at_mark(body, function, knowledge);
    };
    CHECK(type_of("template <class T> auto* make() { return @new bare<T>; }") == "?");
    CHECK(type_of("template <class T> auto* make() { return @new app::bare<T>; }") == "?");
    CHECK(type_of("template <class T> auto* make() { using to = bare<T>; return @new to; }") ==
          "?");
    CHECK(type_of("template <class T> auto* make() { return @new box<bare<T>>; }") == "?");
    CHECK(type_of("template <class T> auto* make() { return @new box<T>; }") == "box<part&>");
    CHECK(type_of("template <class T> auto* make() { return @new box<text>; }") == "box<text>");
    CHECK(type_of("auto* made = @new bare<part>;", "main") == "bare<part>");
}
