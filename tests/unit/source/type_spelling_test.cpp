#include <allocscope/source/type_spelling.hpp>

#include <doctest/doctest.h>

#include <string>

#include "unit/types/type_at_mark.hpp"

using allocscope::plain::arena;
using allocscope_test::type_at_mark;

TEST_CASE("type_spelling: a class of a function has the function before it") {
    const auto made = allocscope_test::type_at_mark;
    CHECK(made("void run() { struct part {}; keep(@new part); }", "app::run(int)") ==
          "app::run::part");
    CHECK(made("void run() { struct part {}; if (a) { keep(@new std::list<part>); } }", "run()") ==
          "std::list<run::part>");
    CHECK(made("void run() { class part { int* p = new int; }; keep(@new part[2]); }",
               "worker::run(int) const") == "worker::run::part");
    CHECK(made("template <class T> void run() { struct part {}; keep(@new part); }",
               "void run<int>(int)") == "run<int>::part");
    // Which function's class it is cannot be told from these names.
    CHECK(made("void run() { struct part {}; auto f = [] { keep(@new part); }; }",
               "run()::{lambda()#1}::operator()() const") == "part");
    CHECK(made("void run() { struct part {}; struct whole { void f() { keep(@new part); } }; }",
               "run()::whole::f()") == "part");
    CHECK(made("struct part {}; void run() { keep(@new part); }", "app::run()") == "part");
}

TEST_CASE("type_spelling: a class of a function template that the debug information lacks") {
    allocscope::symbolize::type_knowledge knowledge;
    knowledge.are_classes = [](void*, const allocscope::plain::text&) { return false; };
    const auto made = [&](const char* source) {
        const allocscope_test::marked_source marked{source};
        return allocscope_test::type_at(marked.path(), marked.line(), marked.column(),
                                        "void run<int>()", knowledge);
    };
    CHECK(made("template <class T> void run() { struct part {}; keep(@new part()); }") ==
          "run<int>::part");
    CHECK(made("template <class T> void run() { struct part {}; keep(@new box<T>::part()); }") ==
          "?");
}

TEST_CASE("type_spelling: a template in a class makes no template of the class") {
    allocscope::symbolize::type_knowledge knowledge;
    knowledge.kind = [](void*, const allocscope::plain::text&) {
        return allocscope::symbolize::name_kind::undescribed;  // with -g1
    };
    const auto made = [&](const std::string& declared) {
        const allocscope_test::marked_source marked{declared + "void f() { keep(@new part(3)); }"};
        return allocscope_test::type_at(marked.path(), marked.line(), marked.column(), "f()",
                                        knowledge);
    };
    CHECK(made("template <class T> class part::walker { T* top; };\n") == "part");
    CHECK(made("template <class T> class part { T* top; };\n") == "?");
    CHECK(made("template <class T> class shop::part { T* top; };\n") == "?");
}

TEST_CASE("type_spelling: in a lambda, the copy of a variable is constant, but its type is not") {
    allocscope::symbolize::type_knowledge knowledge;
    knowledge.meaning = [](void*, const allocscope::plain::text& name,
                           allocscope::symbolize::asked_name, arena&) {
        return allocscope::plain::text{name == "n" ? "const int" : name == "p" ? "const int*" : ""};
    };
    const auto made = [&](const char* expression, const char* function) {
        const allocscope_test::marked_source marked{std::string{"void run() { keep("} + expression +
                                                    "); }"};
        return allocscope_test::type_at(marked.path(), marked.line(), marked.column(), function,
                                        knowledge);
    };
    const char* lambda = "run()::{lambda()#1}::operator()() const";
    CHECK(made("@new std::list<decltype(n)>", "run()") == "std::list<const int>");
    CHECK(made("@new std::list<decltype(n)>", lambda) == "?");
    CHECK(made("@new decltype(n)(n)", lambda) == "int");
    CHECK(made("@new std::list<decltype(p)>", lambda) == "std::list<const int*>");
}

TEST_CASE("type_spelling: what a namespace around the function has comes before std's") {
    allocscope::symbolize::type_knowledge knowledge;
    knowledge.qualified = [](void*, const allocscope::plain::text& name,
                             const allocscope::plain::text&) {
        return allocscope::plain::text{name == "vector" ? "math::vector" : ""};
    };
    const auto made = [&](const char* expression) {
        const allocscope_test::marked_source marked{
            std::string{"using namespace std; void run() { keep("} + expression + "); }"};
        return allocscope_test::type_at(marked.path(), marked.line(), marked.column(),
                                        "math::run()", knowledge);
    };
    CHECK(made("@new vector<float>") == "math::vector<float>");
    CHECK(made("@new deque<float>") == "std::deque<float>");
}

TEST_CASE("type_spelling: with -g1, in a template, a number of the C library") {
    allocscope::symbolize::type_knowledge knowledge;
    knowledge.kind = [](void*, const allocscope::plain::text&) {
        return allocscope::symbolize::name_kind::undescribed;
    };
    const auto made = [&](const char* expression) {
        const allocscope_test::marked_source marked{
            std::string{"template <class T> struct box { void run() { keep("} + expression +
            "); } };"};
        return allocscope_test::type_at(marked.path(), marked.line(), marked.column(),
                                        "box<int>::run()", knowledge);
    };
    CHECK(made("@new size_t(3)") == "size_t");
    CHECK(made("@new std::uint32_t[3]") == "std::uint32_t");
    CHECK(made("@new off_t(3)") == "?");
    CHECK(made("@new part(3)") == "?");
}

TEST_CASE("type_spelling: a member template of a parameter") {
    allocscope::symbolize::type_knowledge knowledge;
    knowledge.only = [](void*, const allocscope::plain::text& name,
                        const allocscope::plain::text&) {
        return allocscope::plain::text{name == "part" ? "app::own::part" : ""};
    };
    const auto made = [&](const char* function, const char* name) {
        const allocscope_test::marked_source marked{
            std::string{"template <class D> struct base { template <class T> "} + function +
            " { keep(@new typename D::template part<T>()); } };"};
        return allocscope_test::type_at(marked.path(), marked.line(), marked.column(), name,
                                        knowledge);
    };
    CHECK(made("void run()", "base<app::own>::run<int>()") == "app::own::part<int>");
    CHECK(made("operator box<T>() const", "base<app::own>::operator box<int><int>() const") ==
          "app::own::part<int>");
}

TEST_CASE("type_spelling: names of inlined functions without what is around them") {
    const auto made = allocscope_test::type_at_mark;
    const std::string member = "template <class K> struct box { template <class T> T* make() {\n";
    CHECK(made(member + "return @new T(); } };", "make<part>") == "part");
    CHECK(made(member + "return @new K(); } };", "make<part>") == "?");
    CHECK(made(member + "return @new T(); } };", "app::make<part>") == "?");
    const std::string lambda = "template <class F> void* run(F f) { auto g = [](auto x) {\n";
    CHECK(made(lambda + "return @new F(); }; return g(3L); }", "operator()<long>") == "?");
    CHECK(made(lambda + "return @new decltype(x)(x); }; return g(3L); }", "operator()<long>") ==
          "long");
}

TEST_CASE("type_spelling: an alias whose meaning is not certain is no type") {
    const auto made = allocscope_test::type_at_mark;
    CHECK(made("void run() { using T = part; keep(@new T); }", "run()") == "part");
    CHECK(made("void run() { using part = decltype(f()); using T = part; keep(@new T); }",
               "run()") == "?");
}

TEST_CASE("type_spelling: a class may inherit a type that has the name of another one") {
    const auto made = allocscope_test::type_at_mark;
    const std::string own = "struct own : base { void go() { keep(@new part()); } };";
    CHECK(made("struct part {}; struct base { using part = int; }; " + own, "own::go()") ==
          "base::part");
    CHECK(made("struct part {}; struct base { using part = int; }; " + own, "go") == "base::part");
    // The list of initialisers hides whose member the function is.
    CHECK(made("struct part {}; struct base { using part = int; }; struct own : base { own(); "
               "int x; }; own::own() : x(1) { keep(@new part()); }",
               "own::own()") == "?");
    CHECK(made("struct part {}; struct base {}; " + own, "own::go()") == "part");
    CHECK(made("struct part {}; struct base { using part = int; }; "
               "struct own { void go() { keep(@new part()); } };",
               "own::go()") == "part");
    CHECK(made("struct part {}; struct base { using part = int; }; void own::go() { "
               "keep(@new part()); }",
               "own::go()") == "part");
}

TEST_CASE("type_spelling: what the bases declare is read if they all are in the file") {
    const auto made = [](const std::string& bases, const std::string& list) {
        return type_at_mark("namespace app { struct part; struct part {}; " + bases +
                                " struct own" + list + " { void go() { keep(@new part()); } }; }",
                            "app::own::go()");
    };
    CHECK(made("struct base {};", " final : base") == "app::part");
    CHECK(made("struct base {}; class far : base {};", ": private far, public virtual base") ==
          "app::part");
    const std::string base = "struct base { class part {}; };";
    CHECK(made(base, ": base") == "app::base::part");
    CHECK(made(base + " class far : base {};", ": far") == "app::base::part");
    CHECK(made("struct first {}; struct base { using part = int; };", ": first, base") ==
          "app::base::part");
    CHECK(made("template <class T> " + base, ": base<int>") == "?");
    CHECK(made(base, ": lib::base") == "?");
    CHECK(made("namespace other { " + base + " }", ": base") == "?");
    // Bases that the file does not show, or that may be other ones.
    CHECK(made("", ": base") == "?");
    CHECK(made("", ": own") == "?");  // no valid program
    CHECK(made("struct base {};", ": lib::base") == "?");
    CHECK(made("struct base {};", ": base, std::list<part>") == "?");
    CHECK(made("template <class T> struct base {};", ": base<part>") == "?");
    CHECK(made("namespace lib { struct base {}; } using namespace other;", ": base") == "?");
}

TEST_CASE("type_spelling: a member that is defined outside of its class template") {
    const std::string in_class = "template <class T> struct ring { struct slot {}; void grow(); };";
    const std::string in_other = "struct slot {}; template <class T> struct ring { void grow(); };";
    const std::string grow = "\ntemplate <class T> void ring<T>::grow() { keep(@new slot); }";
    CHECK(type_at_mark(in_class + grow, "app::ring<int>::grow()") == "app::ring<int>::slot");
    CHECK(type_at_mark(in_other + grow, "app::ring<int>::grow()") == "slot");
    CHECK(type_at_mark(in_class + grow, "grow") == "?");  // an inlined call with -g1
    CHECK(type_at_mark(in_other + grow, "grow") == "slot");
    const std::string make = "struct slot {};\ntemplate <class U> void make() { keep(@new slot); }";
    CHECK(type_at_mark(in_class + make, "make<int>()") == "slot");
    CHECK(type_at_mark("enum slot { a };" + in_class + grow, "app::ring<int>::grow()") ==
          "app::ring<int>::slot");
}

TEST_CASE("type_spelling: a class template may be an argument of another one") {
    const std::string classes =
        "template <class T> struct pool {}; struct part {};\n"
        "template <class T, template <class> class P> struct host {};\n";
    CHECK(type_at_mark(classes + "auto* p = @new host<part, pool>();") == "host<part, pool>");
    CHECK(type_at_mark(classes + "auto* p = @new host<pool>(pool(3));") == "host<pool>");
    CHECK(type_at_mark(classes + "auto* p = @new pool(3);") == "?");
}
