// Which arguments of a template are those of its pack, in the source text of `new`.

#include <doctest/doctest.h>

#include "unit/types/type_at_mark.hpp"

using allocscope_test::type_at_mark;

TEST_CASE("packs_in_source: a pack is all of its arguments") {
    const char* all = "template <class A, class... T> void f() { @new b<A, T...>; }";
    CHECK(type_at_mark(all, "void f<int, char, long>()") == "b<int, char, long>");
    CHECK(type_at_mark(all, "void f<int>()") == "?");
    const char* one = "template <class... T> void f() { @new b<T*...>; }";
    CHECK(type_at_mark(one, "void f<int, char>()") == "b<int*, char*>");
    const char* first = "template <class... T, class U> void f(U) { @new b<T..., U>; }";
    CHECK(type_at_mark(first, "void f<int, char, long>(long)") == "b<int, char, long>");
    const char* last = "template <class... T, class U> void f(U) { @new U; }";
    CHECK(type_at_mark(last, "void f<int, char, long>(long)") == "long");
    CHECK(type_at_mark(last, "void f<long>(long)") == "long");
    const char* two = "template <class... A, class U, class... B> void f(U, B...) { @new U; }";
    CHECK(type_at_mark(two, "void f<int, char, long, int>(long, int)") == "?");
}

TEST_CASE("packs_in_source: a parameter `auto` is an argument behind those of the template") {
    const char* one = "template <entity T> T* f(const auto& x, auto y) { return @new T(x, y); }";
    CHECK(type_at_mark(one, "w* f<w, int, char>(int const&, char)") == "w");
    CHECK(type_at_mark(one, "w* f<w, int>(int const&)") == "?");
    const char* all = "template <class... T> decltype(auto) f(auto x) { return @new b<T...>(x); }";
    CHECK(type_at_mark(all, "f<int, char, long>(long)") == "b<int, char>");
    const char* none = "template <class T> auto f(T x, h<auto(int)> y) { return @new T(x); }";
    CHECK(type_at_mark(none, "auto f<int>(int, h<auto(int)>)") == "?");
}

TEST_CASE(
    "packs_in_source: one argument of a pack is any of them, as the size of the block tells") {
    using allocscope_test::candidate_at_mark;
    const char* one = "template <class... T> void f() { (keep(@new T()), ...); }";
    CHECK(candidate_at_mark(one, "void f<int, long>()") == "<int, long>");
    const char* inner = "template <class A, class... T> void f() { (keep(@new b<T, A>()), ...); }";
    CHECK(candidate_at_mark(inner, "void f<char, int, long>()") == "<b<int,char>, b<long,char>>");
    const char* other = "template <class A, class... T> void f() { (keep(@new b<A, T>()), ...); }";
    CHECK(candidate_at_mark(other, "void f<char, int, long>()") == "<b<char,int>, b<char,long>>");
    const char* with =
        "template <class... T> struct l {\n"
        "template <template <class> class B> static void f() { (keep(@new B<T>()), ...); } };";
    CHECK(candidate_at_mark(with, "void l<int, long>::f<app::b>()") ==
          "<app::b<int>, app::b<long>>");
    const char* array = "template <class... T> void f() { (keep(@new b<T>[3]()), ...); }";
    CHECK(candidate_at_mark(array, "void f<int, long>()") == "");
}
