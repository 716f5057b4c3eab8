// A `new` in a default argument: type_from_source.hpp.
#include <doctest/doctest.h>

#include "unit/types/type_at_mark.hpp"

using allocscope_test::type_at_mark;

TEST_CASE("type_from_source: a class with a new in a default argument shares its place with it") {
    const char* shared = "struct w { w(int* p = new int); };\nauto* p = @new w;";
    CHECK(type_at_mark(shared, "main") == "w");  // clang: the place is not shared
    CHECK(type_at_mark(shared, "void load<int>()") == "?");
    const char* last = "struct w { w(int* p = new int); };\nauto* p = new @w;";
    CHECK(type_at_mark(last, "main") == "?");
    const char* behind = "struct w { w(int* p, int n = f(3), int* q = new int(4)); };\nnew w(p@);";
    CHECK(type_at_mark(behind, "main") == "?");
    const char* other =
        "struct w { w(int); int* p = new int; }; void f(int* p = new int);\n@new w(1);";
    CHECK(type_at_mark(other, "main") == "w");
    const char* own = "struct w { w(int* p = @new int); };";  // the caller makes it
    CHECK(type_at_mark(own, "w::w(int*)") == "?");
    CHECK(type_at_mark(own, "main") == "int");
    const char* array = "struct w { w(int* p = new int); };\nauto* p = @new w[2];";
    CHECK(type_at_mark(array, "main") == "?");
}
