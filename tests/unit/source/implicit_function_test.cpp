#include <allocscope/source/implicit_function.hpp>

#include <doctest/doctest.h>

#include <string>

#include "support/marked_source.hpp"

using allocscope::symbolize::code_frame;
using allocscope::symbolize::is_implicit_function;
using allocscope::symbolize::source_cache;

namespace {

code_frame frame_at(const allocscope_test::marked_source& marked) {
    code_frame frame;
    frame.function = "person::person(person const&)";
    frame.file = marked.path().c_str();
    frame.line = marked.line();
    frame.column = marked.column();
    frame.may_be_implicit = true;
    return frame;
}

bool is_implicit_at_mark(const std::string& source) {
    const allocscope_test::marked_source marked{source};
    source_cache sources;
    return is_implicit_function(frame_at(marked), sources);
}

}  // namespace

TEST_CASE("implicit_function: the line of a class, and of a function that is defaulted") {
    CHECK(is_implicit_at_mark("struct @person {\n    std::string name;\n};\n"));
    CHECK(is_implicit_at_mark("template <class T> class @box { T value; };\n"));
    CHECK(is_implicit_at_mark("class door { struct lock; };\nstruct door::@lock { int key; };\n"));
    CHECK(is_implicit_at_mark("struct s {\n    @s(const s&) = default;\n};\n"));
    CHECK(is_implicit_at_mark("struct s {\n    s& @operator=(const s&) noexcept = default;\n};\n"));
    CHECK(is_implicit_at_mark("struct s {\n    s& operator=(const s&) = defaul@t;\n};\n"));
}

TEST_CASE("implicit_function: the line that inherits constructors") {
    CHECK(is_implicit_at_mark("struct s : base {\n    using base::@base;\n};\n"));
    CHECK(is_implicit_at_mark("struct s : base {\npublic:\n    using @base::base;\n};\n"));
    CHECK_FALSE(is_implicit_at_mark("struct s : base { using base::base; @s(int n) : t(n) {} };"));
    CHECK_FALSE(is_implicit_at_mark("using part = int; part* p = @make();"));
}

TEST_CASE("implicit_function: the copy of a lambda") {
    const auto is_implicit = [](const std::string& source, const char* function, bool may_be) {
        const allocscope_test::marked_source marked{source};
        source_cache sources;
        code_frame frame = frame_at(marked);
        frame.function = function;
        frame.may_be_implicit = may_be;
        return is_implicit_function(frame, sources);
    };
    const char* made = "auto f(std::string s) { return @[s] { return s.size(); }; }\n";
    CHECK(is_implicit(made, "", false));
    CHECK(is_implicit(made, "(lambda at /home/f.cpp:1:31)", false));  // clang -g1
    CHECK(is_implicit(made, "f(std::string)::{lambda()#1}::f({lambda()#1} const&)", false));
    CHECK_FALSE(is_implicit(made, "f(std::string)::{lambda()#1}::operator()() const", false));
    CHECK_FALSE(is_implicit(made, "f(std::string)", false));
    CHECK_FALSE(is_implicit("struct s { std::function<void()> f = @[] {}; };\n", "s::s()", true));
    CHECK_FALSE(is_implicit("struct @s { std::string text; };\n", "", false));
}

TEST_CASE("implicit_function: a function with a body is not implicit") {
    CHECK_FALSE(is_implicit_at_mark("struct s {\n    @s(int n) : text(n, 'x') {}\n};\n"));
    CHECK_FALSE(is_implicit_at_mark("struct s { s() = default; @s(int n) : text{n} {} };\n"));
    CHECK_FALSE(
        is_implicit_at_mark("s::s(int n) {\n    text.@assign(n, 'x');\n}\ns::s() = default;\n"));
    CHECK_FALSE(is_implicit_at_mark(
        "s::s(int n) {\n    switch (n) {\n        @default: grow();\n    }\n}\n"));
    CHECK_FALSE(is_implicit_at_mark("s::s(int n)\n    @="));
}

TEST_CASE("implicit_function: the initialiser of a member on the line of the class") {
    const auto is_implicit = [](const std::string& source) {
        const allocscope_test::marked_source marked{source};
        source_cache sources;
        code_frame frame = frame_at(marked);
        frame.is_implicit = true;
        return is_implicit_function(frame, sources);
    };
    CHECK_FALSE(is_implicit("struct person { std::string name = @\"nobody at all\"; };"));
    CHECK_FALSE(is_implicit("struct person { std::string name@{\"nobody at all\"}; };"));
    CHECK(is_implicit("struct @person { std::string name = \"nobody at all\"; };"));
    CHECK(is_implicit("auto f = @[text] { return text.size(); };"));
}

TEST_CASE("implicit_function: what the debug information says comes first") {
    const allocscope_test::marked_source marked{"struct @person { std::string name; };\n"};
    source_cache sources;
    code_frame frame = frame_at(marked);
    CHECK(is_implicit_function(frame, sources));
    frame.may_be_implicit = false;  // a function of another name
    CHECK_FALSE(is_implicit_function(frame, sources));
    frame.may_be_implicit = true;
    frame.is_nearby = true;
    CHECK_FALSE(is_implicit_function(frame, sources));
    frame.is_implicit = true;
    CHECK(is_implicit_function(frame, sources));
}
