#include <allocscope/types/type_spelling.hpp>

#include <doctest/doctest.h>

#include "unit/types/marked_source.hpp"

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
