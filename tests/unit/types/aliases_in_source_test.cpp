// What the aliases of functions, classes and namespaces stand for, where the source has `new`.

#include <doctest/doctest.h>

#include <string>

#include "support/marked_source.hpp"
#include "unit/types/type_at_mark.hpp"

using allocscope::plain::text;
using allocscope::symbolize::name_kind;
using allocscope_test::marked_source;
using allocscope_test::type_at;
using allocscope_test::type_at_mark;

TEST_CASE("aliases_in_source: what a typedef of a function stands for, or nothing") {
    allocscope::symbolize::type_knowledge knowledge;
    knowledge.kind = [](void*, const text& name) {
        return name == "pick" || name == "PICK" ? name_kind::unknown : name_kind::type;
    };
    const auto seen = [&](const std::string& declared, const std::string& made) {
        const marked_source marked{"void f() { " + declared + " @new " + made + "; }"};
        return type_at(marked.path(), marked.line(), marked.column(), "f()", knowledge);
    };
    for (const char* macro :
         {"typedef PICK(int) made;", "typedef typename pick(int) made;", "using made = PICK(int);",
          "typedef pick(int)* made;", "typedef int n, made;", "typedef struct { int n; } *made;",
          "typedef struct { int n; } made[3];"}) {
        CAPTURE(macro);
        CHECK(seen(macro, "made") == "?");
        CHECK(seen(macro, "box<made>") == "?");
    }
    CHECK(seen("struct made;", "made") == "f::made");
    CHECK(seen("auto* p = new struct made;", "made") == "made");  // it declares nothing
    CHECK(seen("auto* p = new (struct made);", "made") == "made");
    CHECK(seen("typedef struct { int n; } made;", "box<made>") == "box<f::made>");
    CHECK(seen("typedef struct { int n; } made, *other;", "box<made>") == "box<f::made>");
    CHECK(seen("typedef struct { int n; } made, *other;", "other") == "?");
    CHECK(seen("typedef std::map<int, long> made;", "made") == "std::map<int, long>");
    CHECK(seen("typedef std::function<void(int)> made;", "made") == "std::function<void(int)>");
    // A name in the middle
    CHECK(seen("typedef void (*made)(int);", "made") == "void (*)(int)");
    CHECK(seen("typedef void (*made)(int);", "box<made>") == "box<void (*)(int)>");
    CHECK(seen("typedef int made(char);", "box<made>") == "box<int(char)>");
    CHECK(seen("typedef int made[3][2];", "box<made>") == "box<int[3][2]>");
    CHECK(seen("typedef int made[3][2];", "made") == "int");
    CHECK(seen("using made = int[3];", "made") == "int");
    CHECK(seen("typedef box<int[3]> made[2][4];", "made") == "box<int[3]>");
}

TEST_CASE("aliases_in_source: what is written around an alias belongs to it") {
    const auto seen = [](const char* alias, const std::string& made) {
        return type_at_mark("void f() { using a = " + std::string{alias} + "; @new " + made + "; }",
                            "f()");
    };
    CHECK(seen("int*", "box<a*>") == "box<int**>");
    CHECK(seen("int*", "box<const a>") == "box<int* const>");
    CHECK(seen("int", "box<const a>") == "box<const int>");
    CHECK(seen("void (*)(int)", "box<a, char>") == "box<void (*)(int), char>");
    CHECK(seen("void (*)(int)", "box<char, a*>") == "?");
    CHECK(seen("void (*)(int)", "box<const a>") == "?");
    CHECK(seen("int[3]", "box<a*>") == "?");
}

TEST_CASE("aliases_in_source: an alias of a class or a namespace that cannot be read") {
    allocscope::symbolize::type_knowledge knowledge;
    knowledge.kind = [](void*, const text& name) {
        return name == "PICK" ? name_kind::unknown : name_kind::type;
    };
    const auto seen = [&](const std::string& source) {
        const marked_source marked{source};
        return type_at(marked.path(), marked.line(), marked.column(), "w::f()", knowledge);
    };
    CHECK(seen("struct w { typedef PICK(int) a; void f() { @new box<a>; } };") == "?");
    CHECK(seen("typedef PICK(int) a; void w::f() { @new box<a>; }") == "?");
    CHECK(seen("typedef PICK(int) a; void w::f() { @new a; }") == "a");
    const std::string outside = "; void f(); }; void w::f() { @new box<a>; }";
    CHECK(seen("struct w { typedef PICK(int) a" + outside) == "?");
    CHECK(seen("struct w { using a = double" + outside) == "box<double>");
    CHECK(seen("struct w { typedef int a[3]" + outside) == "box<int[3]>");
    CHECK(seen("struct v { using a = double" + outside) == "box<a>");
}
