#include <allocscope/types/called_name.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/marked_source.hpp"
#include "unit/types/library_frames.hpp"

using namespace allocscope_test;

TEST_CASE("called_name: a container's variable, where g++ and clang place its functions") {
    CHECK(of_vector("void load() { std::vector<part> @v(3); }") == "part");
    CHECK(of_vector("void load() { std::vector<part> v(3@); }") == "part");
    CHECK(of_vector("void load() { std::vector<part> v{3@}; }") == "part");
    CHECK(of_vector("void load() { keep(std::vector<part*>(3@)); }") == "part*");
    CHECK(of_vector("void load(std::vector<part>& v) { v.@reserve(3); }", "reserve") == "part");
    CHECK(of_vector("void load(std::vector<part>& v) { v.reserve@(3); }", "reserve") == "part");
    CHECK(of_vector("void load(std::vector<part>& v) { v.@reserve(3); }", "resize") == "?");
    CHECK(of_vector("void load(std::list<part>& v) { v.@resize(3); }", "resize") == "?");
    CHECK(of_vector("void load(mine::vector<part>& v) { v.@resize(3); }", "resize") == "?");
    CHECK(of_vector("struct s { std::vector<part> v; void f() { v.@resize(3); } };", "resize") ==
          "part");
    CHECK(of_vector("void load() { static const std::pmr::vector<app::part> @v(3); }") ==
          "app::part");
    CHECK(of_vector("namespace app { static std::vector<part> @v(3); }") == "part");
    const auto later = [](const std::string& members, const std::string& before = "") {
        return of_vector(before + "struct s { void f() { v.@resize(3); } " + members + " };",
                         "resize");
    };
    CHECK(later("std::vector<part> v;") == "part");
    CHECK(later("struct t { std::vector<int> v; }; std::vector<part> v;") == "part");
    CHECK(later("std::vector<int> v(); std::vector<part> v;") == "part");
    CHECK(later("auto v = f(); std::vector<part> w;") == "?");
    CHECK(later("int n;", "std::vector<part> v;") == "?");
}

TEST_CASE("called_name: an object without a name, a pointer, a list in braces, an alias") {
    CHECK(of_vector("void load() { keep(@std::vector<part>(3)); }") == "part");
    CHECK(of_vector("void load() { return @std::vector<part>{a, b}; }") == "part");
    CHECK(of_vector("void load() { keep(@mine::vector<part>(3)); }") == "?");
    CHECK(of_vector("void load() { keep(@std::vector<part>::make(3)); }") == "?");
    CHECK(of_vector("void load() { std::vector<part> v = @{a, b}; }") == "part");
    CHECK(of_vector("void load() { std::vector<part> v = {a, b@}; }") == "part");
    const auto resized = [](const char* source) { return of_vector(source, "resize"); };
    CHECK(resized("void load(std::vector<part>* v) { v->@resize(3); }") == "part");
    CHECK(resized("void load(std::vector<part>* v) { keep(&v); v->resize@(3); }") == "part");
    CHECK(resized("void load(std::vector<part> v) { keep(&v.a); v.@resize(3); }") == "part");
    CHECK(resized("void load(std::vector<part>& v) { v->@resize(3); }") == "?");
    CHECK(resized("using parts = std::vector<part>;\nvoid load(parts& v) { v.@resize(3); }") ==
          "part");
    CHECK(resized("namespace a { using parts = std::vector<part>; }\nvoid load(parts& v) { "
                  "v.@resize(3); }") == "?");
    CHECK(resized("namespace a { typedef std::vector<part> parts; void load(parts& v) { "
                  "v.@resize(3); } }") == "part");
    CHECK(resized("using parts = std::vector<part>;\nstruct a { using parts = rest; };\n"
                  "void load(parts& v) { v.@resize(3); }") == "?");
    const std::string alias = "using parts = std::vector<part>; ";
    CHECK(of_vector(alias + "void load() { keep(@parts(3)); }") == "part");
    CHECK(of_vector(alias + "void load() { keep(parts{a, b@}); }") == "part");
    CHECK(of_vector(alias + "void load() { keep(@rest(3)); }") == "?");
    CHECK(of_vector(alias + "void load() { keep(@a::parts(3)); }") == "?");
    CHECK(of_vector(alias + "void load(parts parts) { keep(@parts(3)); }") == "part");
    CHECK(of_vector(alias + "void load() { int parts = 3; keep(@parts(3)); }") == "?");
}

TEST_CASE("called_name: what an arrow leads to") {
    const auto resized = [](const std::string& body) {
        return of_vector("struct crate { std::vector<part>* w; };\nvoid load() { " + body + " }",
                         "resize");
    };
    CHECK(resized("std::unique_ptr<std::vector<part>> v; v->@resize(3);") == "part");
    CHECK(resized("std::shared_ptr<std::vector<part>> v; v.@resize(3);") == "?");
    CHECK(resized("optional<std::vector<std::pair<int, part>>> v; v->@resize(3);") ==
          "std::pair<int, part>");
    CHECK(resized("std::unique_ptr<std::vector<part>, ender<int>> v; v->@resize(3);") == "part");
    CHECK(resized("other<std::vector<part>> v; v->@resize(3);") == "?");
    CHECK(resized("auto v = std::make_unique<std::vector<part>>(); v->@resize(3);") == "part");
    CHECK(resized("auto v = make<std::vector<part>>(); v->@resize(3);") == "?");
    CHECK(resized("auto* v = new std::vector<part>(3); v->@resize(3);") == "part");
    CHECK(resized("auto v = new std::vector<part>; v->@resize(3);") == "part");
    CHECK(resized("crate c; c.w->@resize(3);") == "part");
    CHECK(resized("crate c; c.w.@resize(3);") == "?");
    CHECK(resized("auto c = std::make_shared<crate>(); c->w->@resize(3);") == "part");
}

TEST_CASE("called_name: what auto stands for") {
    const auto resized = [](const std::string& body) {
        return of_vector("void load(std::vector<std::list<part>> all) { " + body + " }", "resize");
    };
    CHECK(resized("auto v = std::vector<part>{}; v.@resize(3);") == "part");
    CHECK(resized("auto v = std::vector<part>(3); v.@resize(3);") == "part");
    CHECK(resized("auto v = std::vector<part>::make(3); v.@resize(3);") == "?");
    CHECK(resized("auto& v = all; v.@resize(3);") == "?");
    CHECK(resized("std::set<std::vector<part>> s; for (auto& v : s) v.@resize(3);") == "part");
    CHECK(resized("std::deque<std::vector<part>> s; for (auto v : s) { v.@resize(3); }") == "part");
    CHECK(resized("my::set<std::vector<part>> s; for (auto& v : s) v.@resize(3);") == "?");
    CHECK(resized("std::map<std::vector<part>, int> s; for (auto& v : s) v.@resize(3);") == "?");
    CHECK(resized("for (auto& v : all.at(1)) v.@resize(3);") == "?");
    CHECK(resized("for (auto& v : all) v.@resize(3);") == "?");  // a list
}

TEST_CASE("called_name: several variables in one declaration") {
    const auto resized = [](const std::string& body) {
        return of_vector("void load() { " + body + " }", "resize");
    };
    CHECK(resized("std::vector<part> u, v; v.@resize(3);") == "part");
    CHECK(resized("std::vector<part> t, u, v; v.@resize(3);") == "part");
    CHECK(resized("std::vector<part> *u, v; v->@resize(3);") == "?");
    CHECK(resized("std::vector<part> &u = w, v; v.@resize(3);") == "?");
    CHECK(resized("[[maybe_unused]] static std::vector<part> v; v.@resize(3);") == "part");
}

TEST_CASE("called_name: a variable of a namespace") {
    const auto resized = [](const std::string& function) {
        return of_vector("namespace a {\nstatic std::vector<part> v;\n" + function + "\n}",
                         "resize");
    };
    CHECK(resized("void load() { v.@resize(3); }") == "part");
    CHECK(resized("namespace b { int n; void load() { if (n) { v.@resize(3); } } }") == "part");
    CHECK(resized("__attribute__((noinline)) void load() { v.@resize(3); }") == "part");
    CHECK(resized("void load() { keep([&] { v.@resize(3); }); }") == "part");
    CHECK(resized("void load(std::list<part> v) { v.@resize(3); }") == "?");
    CHECK(of_vector("int n;\nstatic std::vector<part> v;\nvoid load() { v.@resize(3); }",
                    "resize") == "part");
    // A base class may have a variable of that name.
    CHECK(resized("void crate::load() { v.@resize(3); }") == "?");
    CHECK(resized("crate::crate() { v.@resize(3); }") == "?");
    CHECK(resized("struct crate : base { void load() { v.@resize(3); } };") == "?");
    CHECK(resized("TEST_F(crate, loads) { v.@resize(3); }") == "?");
}

TEST_CASE("called_name: a member of a variable whose class the file defines") {
    const auto reserved = [](const std::string& body) {
        return of_vector(
            "struct crate { using item = part*; std::vector<part> v; std::vector<item> w; };\n"
            "template <class T> struct any { std::vector<T> v; };\nvoid load(crate& r) { " +
                body + " }",
            "reserve");
    };
    CHECK(reserved("crate c; c.v.@reserve(3);") == "part");
    CHECK(reserved("crate* c = get(); keep(c->v.@reserve(3));") == "part");
    CHECK(reserved("crate c; c.w.@reserve(3);") == "part*");
    CHECK(reserved("crate c; c.x.@reserve(3);") == "?");
    CHECK(reserved("any<int> c; c.v.@reserve(3);") == "?");
    CHECK(reserved("auto c = get(); c.v.@reserve(3);") == "?");
    CHECK(reserved("crate c[3]; c[0].v.@reserve(3);") == "?");
    CHECK(reserved("crate c; b.c.v.@reserve(3);") == "?");
    CHECK(reserved("crate** c; (*c)->v.@reserve(3);") == "?");
}

TEST_CASE("called_name: a member in a function that is defined outside of the class") {
    const auto reserved = [](const std::string& before, const std::string& function) {
        return of_vector("namespace shop { " + before + " }\n" + function, "reserve");
    };
    const std::string crate = "struct crate { std::vector<part> v; crate(); void load(int); };";
    CHECK(reserved(crate, "void shop::crate::load(int n) { if (n) v.@reserve(3); }") == "part");
    CHECK(reserved(crate, "shop::crate::crate() : n(3) { v.@reserve(3); }") == "part");
    CHECK(reserved(crate, "void shop::crate::load(int v) { v.@reserve(3); }") == "?");
    const auto made = [&](const std::string& list) {
        return of_vector("namespace shop { " + crate + " }\nshop::crate::crate(int v) : " + list);
    };
    CHECK(made("n(v), @v(v, 3) {}") == "part");
    CHECK(made("@v(v, 3), n(v) {}") == "part");
    CHECK(made("n(v ? v : @v(3)) {}") == "?");
    CHECK(reserved(crate, "void shop::other::load(int n) { v.@reserve(3); }") == "?");
    CHECK(reserved(crate, "struct s : base { s() : crate::base(3) { v.@reserve(3); } };") == "?");
    const std::string any = "template <class T> struct any { std::vector<T> v; void load(); };";
    const auto of_any = [&](const std::string& function) {
        return of_vector(any + function, "reserve", "any<part>::load()");
    };
    CHECK(of_any("template <class T> void any<T>::load() { v.@reserve(3); }") == "part");
    CHECK(of_any("template <class U> void any<U>::load() { v.@reserve(3); }") == "?");
}

TEST_CASE("called_name: a member of a class that an included header defines") {
    const auto reserved = [](const std::string& header, const std::string& source,
                             const char* function = "shop::crate::load()") {
        const source_file included{header};
        const std::string name = included.path().substr(included.path().rfind('/') + 1);
        return of_vector("#include \"" + name + "\"\n" + source, "reserve", function);
    };
    const std::string crate =
        "namespace shop { struct item { std::vector<char> u; };\nstruct crate { using row = "
        "std::vector<int>; std::vector<row> v; std::vector<item>* w; item x; void load(); }; }\n";
    const std::string load = "void shop::crate::load() ";
    CHECK(reserved(crate, load + "{ v.@reserve(3); }") == "std::vector<int>");
    CHECK(reserved(crate, load + "{ this->v.@reserve(3); }") == "std::vector<int>");
    CHECK(reserved(crate, load + "{ w->@reserve(3); }") == "shop::item");
    CHECK(reserved(crate, load + "{ w.@reserve(3); }") == "?");
    CHECK(reserved(crate, load + "{ other.v.@reserve(3); }") == "?");
    CHECK(reserved(crate, load + "{ a.this->v.@reserve(3); }") == "?");
    CHECK(reserved(crate, load + "{ auto [v, n] = f(); v.@reserve(3); }") == "?");
    CHECK(reserved(crate, load + "{ auto [n, v] = f(); v.@reserve(3); }") == "?");
    CHECK(reserved(crate, "void f(shop::crate& c) { c.v.@reserve(3); }", "f()") ==
          "std::vector<int>");
    CHECK(reserved(crate, "void f(shop::crate* c) { c->w->@reserve(3); }", "f()") == "shop::item");
    CHECK(reserved(crate, "void f(shop::crate* c) { a.c->w->@reserve(3); }", "f()") == "?");
    CHECK(reserved(crate, load + "{ v.@reserve(3); }", "shop::other::load()") == "?");
    CHECK(reserved(crate, load + "{ v.@reserve(3); }\nstruct crate { int n; };") == "?");
    const std::string generic = "template <class T> struct crate { std::vector<T> v; };\n";
    CHECK(reserved(generic, "void f(crate<int>& c) { c.v.@reserve(3); }", "f()") == "?");
    const std::string own = "template <class T> void crate<T>::load() { v.@reserve(3); }";
    CHECK(reserved(generic, own, "crate<int>::load()") == "int");
    CHECK(reserved(generic, own, "load") == "?");
    CHECK(reserved(generic,
                   "template <class T> void crate<T>::load(crate<T*>& c) { c.v.@reserve(3); }",
                   "crate<int>::load()") == "?");
}

TEST_CASE("called_name: what only a header has stands for another type") {
    const auto reserved = [](const std::string& header, const std::string& source) {
        const source_file included{header};
        const std::string name = included.path().substr(included.path().rfind('/') + 1);
        type_knowledge knowledge;
        knowledge.kind = [](void*, const allocscope::plain::text&) {
            return allocscope::symbolize::name_kind::undescribed;
        };
        return of_vector("#include \"" + name + "\"\n" + source + "& v) { v.@reserve(3); }",
                         "reserve", "f()", knowledge);
    };
    const std::string aliases = "using item = std::vector<int>; struct part {};\n";
    CHECK(reserved(aliases, "void f(std::vector<item>") == "?");
    CHECK(reserved(aliases, "void f(std::vector<item*>") == "?");
    CHECK(reserved(aliases, "void f(std::vector<part>") == "part");
    CHECK(reserved("using list = std::list<int>;\n", "void f(std::vector<std::list<int>>") ==
          "std::list<int>");
    const std::string traits = "template <class T> struct traits { ";
    CHECK(reserved(traits + "using part = T; };\n", "void f(std::vector<traits<int>::part>") ==
          "?");
    CHECK(reserved(traits + "struct part { T t; }; };\n",
                   "void f(std::vector<traits<int>::part>") == "traits<int>::part");
    CHECK(reserved("", traits + "struct part {}; };\nvoid f(std::vector<traits<int>::part>") ==
          "traits<int>::part");
    CHECK(reserved("", "void f(std::vector<unseen<int>::part>") == "?");
}

TEST_CASE("called_name: an alias of the element type") {
    const auto of = [](const std::string& before, const char* element) {
        return of_vector(before + " void load(std::vector<" + element + ">& v) { v.@resize(3); }",
                         "resize");
    };
    CHECK(of("typedef long long number;", "number") == "long long");
    CHECK(of("using part_pointer = part*;", "part_pointer") == "part*");
    CHECK(of("using row = std::vector<part>; using table = std::vector<row>;", "table") ==
          "std::vector<std::vector<part>>");
    CHECK(of("using row = std::vector<part>;", "std::pair<int, row>") ==
          "std::pair<int, std::vector<part>>");
    CHECK(of("using shop::item;", "item") == "shop::item");
    CHECK(of("typedef struct part part;", "part") == "part");
    CHECK(of("", "std::uint8_t") == "unsigned char");
    CHECK(of("", "size_t") == "unsigned long");
    CHECK(of("", "std::pair<std::int64_t, shop::size_t>") == "std::pair<long, shop::size_t>");
    CHECK(of("", "std::int32_t*") == "int*");
    CHECK(of("", "box<std::size_t>") == "box<unsigned long>");
    CHECK(of("typedef struct { int n; } part;", "part") == "part");
    CHECK(of("namespace a { using number = long; }", "number") == "number");
    CHECK(of("using number = long;\n#else\nusing number = int;", "number") == "number");
    CHECK(of("typedef int row[3];", "row") == "int[3]");
}

TEST_CASE("called_name: the members that a constructor initialises") {
    const auto made = [](const std::string& list) {
        return of_vector("struct s { int n; std::vector<part> v; s(int i) : " + list + " {} };");
    };
    CHECK(made("@v(3)") == "part");
    CHECK(made("n(i), @v(3)") == "part");
    CHECK(made("n{i}, v(3@)") == "part");
    CHECK(made("n(i + f(2)), m{{}}, @v{3, 4}") == "part");
    CHECK(of_vector("struct s { using item = part*; std::vector<item> v; s() : @v(3) {} };") ==
          "part*");
    CHECK(made("n(i) {} void f() { int n(3), @v(4); }") == "?");
}

TEST_CASE("called_name: a variable that is not certain") {
    const auto resized = [](const char* source) { return of_vector(source, "resize"); };
    CHECK(resized("std::vector<part> v;\nvoid load() { v.@resize(3); }") == "?");
    CHECK(resized("namespace a { std::vector<part> v; } void load() { v.@resize(3); }") == "?");
    CHECK(resized("void f(std::vector<part>& v) { } void load() { v.@resize(3); }") == "?");
    CHECK(resized("void f() { std::vector<int> v; } struct s { std::vector<part> v; void load() { "
                  "v.@resize(3); } };") == "part");
    CHECK(resized("void f(std::vector<int>& v) { auto [v, w] = g(); v.@resize(3); }") == "?");
    CHECK(resized("void f(std::vector<int>& v) { auto& v = g(); v.@resize(3); }") == "?");
    CHECK(resized("void f(std::vector<int>& v) { [v = g()] { v.@resize(3); }; }") == "?");
    CHECK(resized("void f(std::vector<int>& v) { for (std::vector<part>& v : g()) { v.@resize(3); "
                  "} }") == "part");
    CHECK(resized("void f(std::vector<int>& v) { a.v.@resize(3); }") == "?");
    CHECK(resized("#define v w\nvoid f(std::vector<int>& v) { v.@resize(3); }") == "?");
    const char* generic = "template <class T> void f(std::vector<T>& v) { v.@resize(3); }";
    CHECK(of_vector(generic, "resize", "void f<part>(int)") == "part");
    CHECK(of_vector(generic, "resize", "f") == "?");
}

TEST_CASE("called_name: the arguments of a class are where its function is called") {
    const auto type_at_call = [](const std::string& source, const char* function = "load()",
                                 const char* own = "make") {
        const std::string maker =
            "template <class T> struct maker { static T* " + std::string{own} +
            "() { return @new T; } };\ntemplate <class T> struct derived : maker<T*> {};\n";
        const allocscope_test::marked_source called{maker};
        const allocscope_test::marked_source caller{source};
        arena memory;
        list<code_frame> frames{memory};
        for (const auto* each : {&called, &caller}) {
            frames.push_back(frame_at(*each, each == &called ? own : function));
            frames.back().is_inlined = each == &called;
        }
        return type_of_frames(memory, frames);
    };
    CHECK(type_at_call("void load() { @maker<app::part>::make(); }") == "app::part");
    CHECK(type_at_call("void load() { keep@(maker<part>::make()); }") == "part");
    CHECK(type_at_call("void load() { maker<part>::make(@); }") == "part");
    CHECK(type_at_call("void load() { keep@(maker<part>::make(), maker<int>::make()); }") == "?");
    CHECK(type_at_call("void load() { @derived<part>::make(); }") == "?");
    CHECK(type_at_call("void load() { @maker::make(); }") == "?");
    CHECK(type_at_call("template <class U> void load() { @maker<U>::make(); }",
                       "void load<part>()") == "part");
    CHECK(type_at_call("template <class U> void load() { @maker<U>::make(); }", "load") == "?");
    CHECK(type_at_call("void load(maker<part>& m) { m.@make(); }") == "part");
    CHECK(type_at_call("void load(const maker<part>* m) { keep(m->@make()); }") == "part");
    CHECK(type_at_call("void load(derived<part>& m) { m.@make(); }") == "?");
    CHECK(type_at_call("void load(a& m) { m.m.@make(); }") == "?");
    CHECK(type_at_call("void load() { keep(@maker<part>(3)); }", "load()", "maker") == "part");
    CHECK(type_at_call("void load() { maker<part> @m(3); }", "load()", "maker") == "part");
}

TEST_CASE("called_name: the call of a function template is not that of a constructor") {
    const auto type_at_call = [](const std::string& source, const std::string& call) {
        const allocscope_test::marked_source called{source};
        const allocscope_test::marked_source caller{call};
        arena memory;
        list<code_frame> frames{memory};
        frames.push_back(frame_at(called, "make<app::part>"));
        frames.back().is_inlined = true;
        frames.push_back(frame_at(caller, "load()"));
        return type_of_frames(memory, frames);
    };
    const char* function = "template <class T> T* make(int n) { return @new T(n); }";
    CHECK(type_at_call(function, "void load() { keep(@make<app::part>(3)); }") == "app::part");
    const char* member = "struct shop { template <class T> T* make(int n) { return @new T(n); } };";
    CHECK(type_at_call(member, "void load(shop& s) { s.@make<app::part>(3); }") == "app::part");
    const char* constructor =
        "template <class T> struct make { template <class U> make(U) { keep(@new T()); } };";
    CHECK(type_at_call(constructor, "void load() { keep(@make<part>(x)); }") == "part");
}

TEST_CASE("called_name: the arguments of a class are where its object is made") {
    // The frames of `library`, then an inlined constructor, then its caller.
    const auto type_at_call = [](const std::vector<library_frame>& library,
                                 const std::string& constructor, const std::string& source) {
        const allocscope_test::marked_source called{constructor};
        const allocscope_test::marked_source caller{source};
        arena memory;
        list<code_frame> frames{memory};
        for (const library_frame& each : library) {
            frames.push_back(inlined_frame(each.function, each.header));
        }
        frames.push_back(frame_at(called, "grid"));
        frames.back().is_inlined = true;
        frames.push_back(frame_at(caller, "load()"));
        return type_of_frames(memory, frames);
    };
    const std::vector<library_frame> vector = {
        {"allocate", "/usr/include/c++/12/bits/new_allocator.h"},
        {"_M_allocate", "/usr/include/c++/12/bits/stl_vector.h"},
        {"vector", "/usr/include/c++/12/bits/stl_vector.h"}};
    const std::string member =
        "template <class T> struct grid { std::vector<T> all; grid(int n) : @all(n) {} };";
    CHECK(type_at_call(vector, member, "void load() { keep(@grid<part>(3)); }") == "part");
    CHECK(type_at_call(vector, member, "void load() { grid<part> @g(3); }") == "part");
    CHECK(type_at_call(vector, member, "void load() { keep(@make(3)); }") == "?");
    const std::string outside =
        "template <class T> struct grid { T* all; grid(int n); };\n"
        "template <class T> grid<T>::grid(int n) : all(@new T[n]) {}";
    CHECK(type_at_call({}, outside, "void load() { keep(@grid<part>(3)); }") == "part");
    CHECK(type_at_call({}, outside, "void load() { keep(@make(3)); }") == "?");
}

TEST_CASE("called_name: a member that calls another one is of the same class") {
    const std::string grid =
        "template <class T> struct grid { T* all; void grow(int n) { all = new T[n]; } ";
    // grow() is called by add(), which load() calls
    const auto type_at_call = [&](const std::string& add, const std::string& source,
                                  const char* adding = "add") {
        const std::string whole = grid + add + " };";
        std::string asking = whole;
        asking.insert(asking.find("new T"), "@");
        std::string calling = whole;
        calling.insert(calling.find("grow(n)"), "@");
        const allocscope_test::marked_source called{asking};
        const allocscope_test::marked_source between{calling};
        const allocscope_test::marked_source caller{source};
        arena memory;
        list<code_frame> frames{memory};
        frames.push_back(frame_at(called, "grow"));
        frames.push_back(frame_at(between, adding));
        frames.push_back(frame_at(caller, "load()"));
        frames[0].is_inlined = true;
        frames[1].is_inlined = std::string{adding} == "add";
        return type_of_frames(memory, frames);
    };
    const char* load = "void load(grid<part>& g) { g.@add(3); }";
    CHECK(type_at_call("void add(int n) { grow(n); }", load) == "part");
    CHECK(type_at_call("void add(int n) { grow(n); }", "@f();", "app::grid<int>::add(int)") ==
          "int");
    CHECK(type_at_call("void add(int n) { other.grow(n); }", load) == "?");
    CHECK(type_at_call("void add(int n) { grid<T*>::grow(n); }", load) == "?");
    CHECK(type_at_call("}; template <class T> struct two { void add(int n) { grow(n); }",
                       "void load(two<part>& g) { g.@add(3); }") == "?");
}

TEST_CASE("called_name: clang places a copy, and [], at the beginning of the expression") {
    const std::string order = "struct order { std::vector<part> lines; std::map<int, part> all; };";
    CHECK(of_vector(order + "void load(order& o) { keep(@o.lines); }") == "part");
    CHECK(of_vector(order + "void load(order& o) { keep(@o.lines[3]); }") == "?");
    CHECK(of_vector(order + "void load(order& o) { keep(@o.lines.front()); }") == "?");
    const std::string load = "void load(std::vector<std::vector<int>>& v) ";
    CHECK(of_vector(load + "{ keep(@v); }") == "std::vector<int>");
    CHECK(of_vector(load + "{ keep(@v[0]); }") == "?");
    CHECK(of_vector(load + "{ keep(@v.front()); }") == "?");
    const auto of_node = [&](const std::string& body) {
        return type_of({{"allocate", "bits/new_allocator.h"},
                        {"_M_get_node", "bits/stl_tree.h"},
                        {"operator[]", "bits/stl_map.h"}},
                       order + "void load(order& o, std::map<int, order>& m) { " + body + " }");
    };
    CHECK(of_node("@o.all[3] = p;") == "std::pair<const int, part>");
    CHECK(of_node("@m[3].lines.push_back(p);") == "std::pair<const int, order>");
    CHECK(of_node("@m[3].all[4] = p;") == "?");
    CHECK(of_node("@m[3][4] = p;") == "?");
    CHECK(of_node("@o.all.at(3) = p;") == "?");
}
