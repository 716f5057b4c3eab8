#include <allocscope/types/type_from_source.hpp>

#include <doctest/doctest.h>

#include <string>

#include "unit/types/type_at_mark.hpp"

using allocscope::symbolize::name_kind;
using allocscope_test::marked_source;
using allocscope_test::source_file;
using allocscope_test::type_at;

TEST_CASE("name_scopes: a name has the scopes that are around the function, too") {
    const auto type_of = [](const std::string& source, const char* function) {
        const source_file file{source + "\n"};
        const allocscope::symbolize::type_knowledge knowledge{
            [](void*, const allocscope::plain::text&) { return name_kind::type; }, nullptr,
            [](void*, const allocscope::plain::text& name, const allocscope::plain::text& around) {
                const bool is_inside = around.starts_with("shop::");
                const char* whole = name == "node" && is_inside     ? "shop::node"
                                    : name == "hidden" && is_inside ? "shop::(anonymous "
                                                                      "namespace)::hidden"
                                                                    : "";
                return allocscope::plain::text{whole};
            },
            [](void*, const allocscope::plain::text& name, const allocscope::plain::text&) {
                return allocscope::plain::text{name == "left" ? "other::left" : ""};
            }};
        return type_at(file.path(), 1, 0, function, knowledge);
    };
    CHECK(type_of("new node;", "shop::load()") == "shop::node");
    CHECK(type_of("new node;", "shop::detail::load(int)::{lambda()#1}::operator()() const") ==
          "shop::node");
    CHECK(type_of("new node<int>;", "shop::load()") == "shop::node<int>");
    CHECK(type_of("new node::inner;", "shop::load()") == "shop::node::inner");
    CHECK(type_of("new hidden;", "shop::load()") == "shop::(anonymous namespace)::hidden");
    CHECK(type_of("new hidden*;", "shop::load()") == "shop::(anonymous namespace)::hidden*");
    CHECK(type_of("new node;", "main") == "node");  // by a using-directive, say
    CHECK(type_of("new twice;", "shop::load()") == "twice");
    // The variable may be a member of the class that has the name.
    CHECK(type_of("part* desk::first = new box<twice>;",
                  "__static_initialization_and_destruction_0(int, int)") == "?");
    CHECK(type_of("part* desk::first = new box<twice>;", "__cxx_global_var_init.3") == "?");
    CHECK(type_of("left* first = new left;", "__cxx_global_var_init") == "other::left");
    CHECK(type_of("new shop::node;", "shop::load()") == "shop::node");
    // The only described type with the name, if the file declares none in a scope around the place
    CHECK(type_of("new left;", "shop::load()") == "other::left");
    CHECK(type_of("namespace shop { struct left {}; void load() { new left; } }", "shop::load()") ==
          "shop::left");
    CHECK(type_of("namespace sh { struct left {}; } void load() { new left; }", "load()") ==
          "other::left");
}

TEST_CASE("name_scopes: the scopes of a class that the debug information does not describe") {
    static name_kind known = name_kind::undescribed;
    const auto type_of = [](const std::string& source, const char* function) {
        const marked_source marked{source + "\n"};
        allocscope::symbolize::type_knowledge knowledge;
        knowledge.kind = [](void*, const allocscope::plain::text&) { return known; };
        knowledge.qualified = [](void*, const allocscope::plain::text& name,
                                 const allocscope::plain::text&) {
            return known == name_kind::type ? name : allocscope::plain::text{};
        };
        return type_at(marked.path(), marked.line(), marked.column(), function, knowledge);
    };
    for (const name_kind kind : {name_kind::undescribed, name_kind::unknown}) {
        known = kind;
        const std::string lake = "namespace sea { inline namespace one { struct lake {}; } }\n";
        const std::string again = "namespace sea::one { void f() { @new lake; } }";
        CHECK(type_of(lake + again, "sea::one::f()") == "sea::one::lake");
        CHECK(type_of(lake + again, "f") == "sea::one::lake");
        CHECK(type_of("namespace sea { inline namespace SEA_1 { struct lake {};\n"
                      "void f() { @new lake; } } }",
                      "sea::one::f()") == "sea::lake");
        CHECK(type_of("struct lake {}; " + lake + again, "f") == "sea::one::lake");
        CHECK(type_of("struct lake {}; " + lake + "void f() { @new lake; }", "f()") == "lake");
        CHECK(type_of("struct lake {}; " + lake + "namespace sea { void f() { @new ::lake; } }",
                      "sea::f()") == "lake");
        CHECK(type_of("namespace { enum class wind { calm }; void f() { @new wind; } }", "f()") ==
              "(anonymous namespace)::wind");
        // Another class has an inner class of the same name.
        const std::string boat = "namespace sea { struct boat { struct bow {}; void* make(); };\n";
        const std::string bow = "struct bow {}; void* boat::make() { return @new bow; } }";
        CHECK(type_of(boat + bow, "sea::boat::make()") == "sea::boat::bow");
        CHECK(type_of(boat + bow, "make") == "sea::boat::bow");
        CHECK(type_of(boat + "void* f() { return @new bow; } }", "sea::f()") == "bow");
        // A base class may have another one; an alias may be any.
        const std::string raft = "namespace sea { struct oar {}; struct raft : base {\n";
        CHECK(type_of(raft + "void f() { @new oar; } }; }", "sea::raft::f()") == "oar");
        // A using-declaration in a scope around the function hides what is further out.
        const std::string used = "namespace sea { namespace deep { struct eel {}; }\n";
        CHECK(type_of("struct eel {}; " + used + "using deep::eel; void f() { @new eel; } }",
                      "sea::f()") == "sea::deep::eel");
        CHECK(type_of(used + "using deep::eel; namespace old { struct eel {}; "
                             "void f() { @new eel; } } }",
                      "sea::old::f()") == "sea::old::eel");
        CHECK(type_of("struct eel {}; " + used + "using base::eel; void f() { @new eel; } }",
                      "sea::f()") == "base::eel");
        const std::string twice =
            "struct lake {}; namespace sea { namespace old { struct lake {}; }";
        CHECK(type_of(twice + "inline namespace one { struct lake {}; }\n"
                              "void f() { @new lake; } }",
                      "sea::f()") == "sea::one::lake");
        CHECK(type_of("inline namespace one { struct lake {}; }\n"
                      "struct pond {}; namespace sea { void f() { @new pond; } }",
                      "sea::f()") == "pond");
        const std::string friends =
            "namespace sea { struct a { friend class oar; void f(); };\nclass oar {}; ";
        CHECK(type_of(friends + "void f() { @new oar; } }", "sea::f()") == "sea::oar");
        CHECK(type_of(friends + "void f() { @new oar; } }", "f") == "sea::oar");
        CHECK(type_of(friends + "void a::f() { @new oar; } }", "sea::a::f()") == "sea::oar");
        CHECK(type_of("template <class T> struct sea { struct fish {}; };\nvoid f() { @new fish; }",
                      "f()") == "fish");
    }
    // The debug information has only the outer one of that name.
    known = name_kind::type;
    CHECK(type_of("struct lake {}; namespace sea { struct lake {}; }\n"
                  "namespace sea { void f() { @new lake; } }",
                  "sea::f()") == "sea::lake");
    const std::string alias = "struct lake {}; struct pond {}; namespace sea { ";
    CHECK(type_of(alias + "using lake = pond; void f() { @new lake; } }", "sea::f()") ==
          "sea::lake");
    CHECK(type_of(alias + "typedef pond lake; void f() { @new lake; } }", "sea::f()") ==
          "sea::lake");
    CHECK(type_of(alias + "struct a { using lake = pond; void f() { @new lake; } }; }",
                  "sea::a::f()") == "sea::a::lake");
    CHECK(type_of(alias + "struct a { using lake = pond; }; void f() { @new lake; } }",
                  "sea::f()") == "lake");
    CHECK(
        type_of(alias + "struct a { struct lake {}; }; struct b : a { void f() { @new lake; } }; }",
                "sea::b::f()") == "sea::a::lake");
    CHECK(type_of(alias + "struct a { struct lake {}; }; struct b : a { void f(); };\n"
                          "void b::f() { @new lake; } }",
                  "sea::b::f()") == "sea::a::lake");
}
