// What a parameter of a template stands for where the source has it in another form than usual.

#include <doctest/doctest.h>

#include <string>

#include "unit/types/type_at_mark.hpp"

using allocscope_test::type_at_mark;

TEST_CASE("specialised_in_source: a parameter that is an argument, or a pointer to one") {
    const char* second = "template <class T, class U> struct pool<row<T, 2>, U, true, T&> {";
    const auto in_second = [&](const char* made) {
        return type_at_mark(std::string(second) + " void f() { @new " + made + "; } };",
                            "pool<row<int, 2>, char, true, int&>::f()");
    };
    CHECK(in_second("U") == "char");
    CHECK(in_second("box<U>") == "box<char>");
    CHECK(in_second("T") == "?");
    const char* packed = "template <class... A> struct pool<int, A...> { void f() { @new A; } };";
    CHECK(type_at_mark(packed, "pool<int, char>::f()") == "?");
}

TEST_CASE("specialised_in_source: which parameters are around a function") {
    // One of two forms of a function is compiled.
    const char* other =
        "struct a { template <class Y> a(Y* p) : b(p)\n#else\n"
        "template <class P> a(P* p) : b(p)\n{ @new P; } };";
    CHECK(type_at_mark(other, "a::a<int>(int*)") == "int");
    const char* local = "template <class P> void f() {\n#if 1\ntypedef Y* P;\n#endif\n @new P; }";
    CHECK(type_at_mark(local, "void f<int>()") == "int");
    const char* limited =
        "template <class T> requires (is<T>) template <class U>\n"
        "void a<T>::f() { @new std::pair<T, U>; }";
    CHECK(type_at_mark(limited, "void a<int>::f<char>()") == "std::pair<int, char>");
}

TEST_CASE("specialised_in_source: an argument that is a member of a template may be an alias") {
    const auto made = [](const std::string& before, const std::string& type) {
        return type_at_mark(before + "void f() { @new " + type + "; }", "f()");
    };
    CHECK(made("", "box<typename std::iterator_traits<part*>::value_type>") == "?");
    CHECK(made("", "box<traits<int>::part>") == "?");
    CHECK(made("struct part {}; ", "box<traits<int>::part>") == "?");
    CHECK(made("using of_int = traits<int>; using value = of_int::part; ", "box<value>") == "?");
    CHECK(made("template <class T> struct traits { struct part {}; };", "box<traits<int>::part>") ==
          "box<traits<int>::part>");
    CHECK(made("", "std::map<int, std::list<int>::iterator>") ==
          "std::map<int, std::list<int>::iterator>");
    CHECK(made("using value = std::iterator_traits<part*>::value_type; ", "box<value>") == "?");
}
