#include <allocscope/types/type_from_source.hpp>

#include <doctest/doctest.h>

#include <string>

#include "unit/types/type_at_mark.hpp"

using allocscope_test::marked_source;
using allocscope_test::source_file;
using allocscope_test::type_at;

TEST_CASE("path_in_files: a class of a header has the scopes that the header shows") {
    const source_file header{
        "namespace app {\nstruct page { int n; };\ntemplate <class T> struct grid {};\n"
        "class store { struct entry { int n; }; struct pool; void add(); };\n"
        "struct twice { int n; };\nstruct line { int n; char text[]; };\n}\nusing twice = long;\n"
        "typedef struct { int x; } POINT;\nstruct COLOUR {};\n#define COLOUR other\n"};
    const std::string name = header.path().substr(header.path().rfind('/') + 1);
    auto kind = allocscope::symbolize::name_kind::undescribed;
    const auto type_of = [&](const std::string& source, const char* function = "app::store::add()",
                             const char* before = "") {
        const marked_source marked{"#include \"" + name + "\"\n" + before +
                                   "void app::store::add() { " + source + "; }"};
        allocscope::symbolize::type_knowledge knowledge;
        knowledge.context = &kind;
        knowledge.kind = [](void* known, const allocscope::plain::text&) {
            return *static_cast<allocscope::symbolize::name_kind*>(known);
        };
        return type_at(marked.path(), marked.line(), marked.column(), function, knowledge);
    };
    CHECK(type_of("sink = @new page") == "app::page");
    CHECK(type_of("sink = @new page[3]") == "app::page");
    CHECK(type_of("sink = @new page*") == "app::page*");
    CHECK(type_of("sink = @new grid<int>") == "app::grid<int>");
    CHECK(type_of("sink = @new entry") == "app::store::entry");
    CHECK(type_of("sink = @new app::page") == "app::page");
    CHECK(type_of("sink = @new store::entry") == "app::store::entry");
    CHECK(type_of("sink = @new other::page") == "other::page");
    CHECK(type_of("page* p = (page*)@malloc(3 * sizeof *p)") == "app::page");
    CHECK(type_of("line* p = (line*)@malloc(sizeof(line) + 3)") == "app::line");
    CHECK(type_of("page* p = (page*)@malloc(sizeof(page) + 3)") == "?");
    CHECK(type_of("sink = @new pool", "app::store::add()", "struct app::store::pool {};\n") ==
          "app::store::pool");
    CHECK(type_of("sink = @new page", "main") == "page");
    CHECK(type_of("sink = @new unseen") == "unseen");
    // A base class may have another type of that name, unless the files show it.
    const char* in_order = "app::order::add()";
    CHECK(type_of("sink = @new page", in_order, "struct order : app::store {};\n") == "app::page");
    CHECK(type_of("sink = @new page", in_order, "struct order : public other {};\n") == "page");
    CHECK(type_of("sink = @new page", in_order,
                  "struct base : other {}; struct order : base {};\n") == "page");
    CHECK(type_of("sink = @new page", in_order, "struct order : order {};\n") == "page");
    // Also one with arguments.
    CHECK(type_of("sink = @new page", in_order,
                  "template <class T> struct base {}; struct order : base<int> {};\n") ==
          "app::page");
    CHECK(type_of("sink = @new page", in_order,
                  "template <class T> struct base : other {}; struct order : base<int> {};\n") ==
          "page");
    // So have the arguments of a template.
    CHECK(type_of("sink = @new grid<page>") == "app::grid<app::page>");
    CHECK(type_of("sink = @new std::pair<page, page*>") == "std::pair<app::page, app::page*>");
    CHECK(type_of("sink = @new grid<other::page>") == "app::grid<other::page>");
    CHECK(type_of("sink = @new grid<store::entry>") == "app::grid<app::store::entry>");
    CHECK(type_of("sink = @new grid<app::page>") == "app::grid<app::page>");
    CHECK(type_of("sink = @new grid<page>", "main") == "grid<page>");
    // Of several declarations that of the innermost scope around the function is meant.
    CHECK(type_of("sink = @new twice") == "app::twice");
    CHECK(type_of("sink = @new page", "app::store::add()", "using page = int;\n") == "app::page");
    CHECK(type_of("sink = @new page", "app::store::add()",
                  "namespace app { using page = int; }\n") == "app::page");
    CHECK(type_of("sink = @new page", "app::store::add()",
                  "namespace app { using other::page; }\n") == "page");
    CHECK(type_of("sink = @new page", "app::store::add()",
                  "namespace app { class store { using other::page; }; }\n") == "page");
    CHECK(type_of("sink = @new page", "app::store::add()", "namespace b { struct page {}; }\n") ==
          "app::page");
    CHECK(type_of("sink = @new page", "app::store::add()",
                  "namespace app { inline namespace two { struct page {}; } }\n") ==
          "app::two::page");
    CHECK(type_of("sink = @new page", "app::store::add()",
                  "namespace apart { struct page {}; }\n") == "app::page");
    CHECK(type_of("sink = @new page", "app::store::add()",
                  "using namespace apart; namespace apart { struct page {}; }\n") == "page");
    CHECK(type_of("sink = @new page", "app::store::add()",
                  "namespace app { class store { friend class page; }; }\n") == "app::page");
    CHECK(type_of("sink = @new page", "add", "using namespace app;\n") == "app::page");
    CHECK(type_of("sink = @new page", "add",
                  "using namespace app; struct other { struct page {}; };\n") == "page");
    CHECK(type_of("sink = @new page", "b::add()", "namespace c { struct page {}; }\n") == "page");
    kind = allocscope::symbolize::name_kind::type;
    CHECK(type_of("sink = @new page") == "page");
    // The debug information does not have it, and a name that the header lacks may be a macro's.
    kind = allocscope::symbolize::name_kind::unknown;
    CHECK(type_of("sink = @new page") == "app::page");
    CHECK(type_of("sink = @new page", "main") == "page");
    CHECK(type_of("sink = @new POINT", "main") == "POINT");
    CHECK(type_of("sink = @new unseen") == "?");
    CHECK(type_of("sink = @new page", "main", "#define page other\n") == "?");
    CHECK(type_of("sink = @new COLOUR", "main") == "?");
}

TEST_CASE("path_in_files: an alias stands for a class with the scopes around that") {
    allocscope::symbolize::type_knowledge knowledge;
    knowledge.kind = [](void*, const allocscope::plain::text&) {
        return allocscope::symbolize::name_kind::undescribed;
    };
    const auto type_of = [&](const std::string& declared, const std::string& made) {
        const marked_source marked{
            "namespace crow { namespace json { struct value { long n; }; }\n"
            "namespace page { using context = json::value; typedef context other;\n"
            "struct maker { " +
            declared + " void* make() { return @new " + made + "; } }; } }\n"};
        return type_at(marked.path(), marked.line(), marked.column(), "crow::page::maker::make()",
                       knowledge);
    };
    CHECK(type_of("", "std::vector<context>") == "std::vector<crow::json::value>");
    CHECK(type_of("", "std::vector<const context*>") == "std::vector<const crow::json::value*>");
    CHECK(type_of("", "std::vector<other>") == "std::vector<crow::json::value>");
    CHECK(type_of("using own = json::value;", "std::vector<own>") ==
          "std::vector<crow::json::value>");
    CHECK(type_of("using own = own;", "std::vector<own>") != "");  // no valid program
}

TEST_CASE("path_in_files: a class that a typedef names has the scopes of the typedef") {
    const source_file header{
        "namespace deep {\ntypedef struct { int n; } thing;\n"
        "typedef struct named { int n; } other;\ntypedef struct same { int n; } same;\n"
        "typedef union { int n; } bits;\ntypedef struct { int n; } *pointer;\n"
        "struct plain { int n; };\ntypedef plain alias;\n}\n"
        "namespace b {\ntypedef struct { int n; } page;\nnamespace c { struct page { int n; }; "
        "}\n}\n"};
    const std::string name = header.path().substr(header.path().rfind('/') + 1);
    const auto type_of = [&](const std::string& before, const std::string& made,
                             const char* function) {
        const marked_source marked{"typedef union { int n; void f() { } } first;\n#include \"" +
                                   name + "\"\n" + before + " void f() { sink = @new " + made +
                                   "; }"};
        allocscope::symbolize::type_knowledge knowledge;
        knowledge.kind = [](void*, const allocscope::plain::text&) {
            return allocscope::symbolize::name_kind::undescribed;
        };
        return type_at(marked.path(), marked.line(), marked.column(), function, knowledge);
    };
    CHECK(type_of("", "thing", "deep::f()") == "deep::thing");
    CHECK(type_of("", "other", "deep::f()") == "deep::other");
    CHECK(type_of("", "same", "deep::f()") == "deep::same");
    CHECK(type_of("", "bits", "deep::f()") == "deep::bits");
    CHECK(type_of("", "pointer", "deep::f()") == "deep::pointer");
    CHECK(type_of("", "alias", "deep::f()") == "deep::alias");
    CHECK(type_of("", "page", "b::c::f()") == "b::c::page");
    // A member of a union
    CHECK(type_of("", "thing", "first::f()") == "thing");
    // In the same file
    CHECK(type_of("namespace own { typedef struct { int n; } part; }", "part", "own::f()") ==
          "own::part");
    CHECK(type_of("namespace own { typedef long part; }", "part", "own::f()") == "own::part");
    // In an inline namespace
    CHECK(type_of("namespace own { inline namespace one { struct part {}; } }", "part",
                  "own::f()") == "own::one::part");
    // Made visible
    CHECK(type_of("using namespace deep;", "plain", "f()") == "deep::plain");
    CHECK(type_of("using namespace deep;", "thing", "f()") == "deep::thing");
    CHECK(type_of("namespace n { using namespace deep; }", "thing", "f()") == "thing");
    CHECK(type_of("using namespace other;", "thing", "f()") == "thing");
}

TEST_CASE("path_in_files: a base that depends on a template has no names for the class") {
    const source_file header{
        "namespace app {\nstruct page { int n; };\n"
        "template <class T> struct ring { struct slot { T t; }; };\n}\n"};
    const std::string name = header.path().substr(header.path().rfind('/') + 1);
    const auto type_of = [&](const std::string& bases) {
        const marked_source marked{"#include \"" + name +
                                   "\"\nnamespace app { template <class T> struct order : " +
                                   bases + " { void add() { sink = @new page; } }; }"};
        allocscope::symbolize::type_knowledge knowledge;
        knowledge.kind = [](void*, const allocscope::plain::text&) {
            return allocscope::symbolize::name_kind::undescribed;
        };
        return type_at(marked.path(), marked.line(), marked.column(), "app::order<int>::add()",
                       knowledge);
    };
    CHECK(type_of("T") == "app::page");
    CHECK(type_of("public virtual T, private lib::other<std::pair<T, T>>") == "app::page");
    CHECK(type_of("other") == "page");
    CHECK(type_of("T, other") == "page");
    // A class in a template is another one in each instance.
    const marked_source outside{"#include \"" + name +
                                "\"\ntemplate <class T> void app::ring<T>::add() "
                                "{ sink = @new slot; }"};
    allocscope::symbolize::type_knowledge knowledge;
    knowledge.kind = [](void*, const allocscope::plain::text&) {
        return allocscope::symbolize::name_kind::undescribed;
    };
    CHECK(type_at(outside.path(), outside.line(), outside.column(), "app::ring<int>::add()",
                  knowledge) == "app::ring<int>::slot");
}
