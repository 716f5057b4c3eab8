// What `auto` and `const` make of the type of a value or of a template parameter.

#include <doctest/doctest.h>

#include "unit/types/type_at_mark.hpp"

using allocscope_test::type_at_mark;

TEST_CASE("values_in_source: a value that is an array or a function makes a pointer") {
    const char* value = "template <class T> auto* copy(const T& v) { return @new auto(v); }";
    CHECK(type_at_mark(value, "auto* copy<int>(int const&)") == "int");
    CHECK(type_at_mark(value, "auto* copy<char*>(char* const&)") == "char*");
    CHECK(type_at_mark(value, "auto* copy<char [7]>(char const (&) [7])") == "?");
    CHECK(type_at_mark(value, "auto* copy<char const* [2]>(int)") == "?");
    CHECK(type_at_mark(value, "auto* copy<void ()>(void (&)())") == "?");
    const char* last = "template <class T> auto* copy(T const& v) { return @new auto(v); }";
    CHECK(type_at_mark(last, "auto* copy<char [7]>(char const (&) [7])") == "?");
    const char* list = "template <class T> auto* copy(box<T> const& v) { return @new auto(v); }";
    CHECK(type_at_mark(list, "auto* copy<int>(box<int> const&)") == "box<int>");
    const char* any = "template <class T> auto* copy(T&& v) { return @new auto(v); }";
    CHECK(type_at_mark(any, "auto* copy<char const (&) [4]>(char const (&) [4])") == "?");
    CHECK(type_at_mark(any, "auto* copy<int (&) [2][3]>(int (&) [2][3])") == "?");
    CHECK(type_at_mark(any, "auto* copy<void (&)(int)>(void (&)(int))") == "?");
    CHECK(type_at_mark(any, "auto* copy<void (*)(int)>(void (*&&)(int))") == "void (*)(int)");
    CHECK(type_at_mark(any, "auto* copy<int const (*) [3]>(int)") == "const int (*)[3]");
    CHECK(type_at_mark(any, "auto* copy<std::array<int, 3> >(int)") == "std::array<int, 3>");
}

TEST_CASE("values_in_source: const before a parameter that is a pointer is that of the pointer") {
    const char* constant = "template <class T> base* make() { return @new impl<const T&>; }";
    CHECK(type_at_mark(constant, "base* make<char*>()") == "impl<char* const&>");
    CHECK(type_at_mark(constant, "base* make<char const*>()") == "impl<const char* const&>");
    CHECK(type_at_mark(constant, "base* make<int[3]>()") == "?");
    CHECK(type_at_mark(constant, "base* make<int*[3]>()") == "?");
    const char* const_first = "template <class T> const T* make() { return @new const T(); }";
    CHECK(type_at_mark(const_first, "char* const* make<char*>()") == "char*");
    CHECK(type_at_mark(const_first, "char const* const* make<char const*>()") == "const char*");
    const char* const_last = "template <class T> const T* make() { return @new T const(); }";
    CHECK(type_at_mark(const_last, "char* const* make<char*>()") == "char*");
}
