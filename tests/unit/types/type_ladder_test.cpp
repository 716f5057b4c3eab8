#include <allocscope/types/type_ladder.hpp>

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include <unistd.h>

#include <fstream>

#include "support/show_text.hpp"
#include "unit/types/type_at_mark.hpp"

using allocscope::plain::arena;
using allocscope::symbolize::code_frame;
using allocscope::symbolize::known_fits;
using allocscope::symbolize::list;
using allocscope::symbolize::size_fit;
using allocscope::symbolize::source_cache;
using allocscope::symbolize::type_answer;
using allocscope::symbolize::type_evidence;
using allocscope::symbolize::type_knowledge;
using allocscope::symbolize::with_vtable;

namespace {

// `file` must live as long as the frame.
code_frame frame(const char* function, const char* file, int line, int column) {
    code_frame made;
    made.function = function;
    made.file = file;
    made.line = line;
    made.column = column;
    return made;
}

// The answers and all they are made of live as long as the ladder.
class ladder {
public:
    type_answer name_type(const std::vector<code_frame>& stack, const char* vtable_symbol = "",
                          const type_knowledge& knowledge = {}) {
        return with_vtable(memory, found(stack, knowledge), vtable_symbol,
                           {size_fit::same, size_fit::same});
    }

    // What the size of the block can still make of it.
    allocscope::plain::text candidate_of(const std::vector<code_frame>& stack) {
        return found(stack, {}).candidate;
    }

    arena memory;

private:
    type_answer found(const std::vector<code_frame>& stack, const type_knowledge& knowledge) {
        list<code_frame> frames{memory};
        for (const code_frame& each : stack) frames.push_back(each);
        allocscope::symbolize::read_names names{memory};
        return allocscope_test::name_type(names, frames, sources, knowledge);
    }

    source_cache sources;
};

class source_of_lines {
public:
    source_of_lines(std::initializer_list<const char*> lines)
        : path_("/tmp/allocscope_ladder_" + std::to_string(::getpid())) {
        std::ofstream file{path_};
        for (const char* line : lines) file << line << '\n';
    }
    ~source_of_lines() { ::unlink(path_.c_str()); }
    source_of_lines(const source_of_lines&) = delete;
    source_of_lines& operator=(const source_of_lines&) = delete;
    const char* path() const { return path_.c_str(); }

private:
    std::string path_;
};

// The type of the object that line 2 of the source makes, at column 11.
std::string type_at_line_two(const char* source, const type_knowledge& knowledge) {
    ladder types;
    const source_of_lines file{source};
    const type_answer answer = types.name_type({frame("main", file.path(), 2, 11)}, "", knowledge);
    return std::string{answer.name.data(), answer.name.size()};
}

}  // namespace

TEST_CASE("type_ladder: the allocator's frame comes before everything else") {
    ladder types;
    const type_answer answer = types.name_type(
        {frame("std::__new_allocator<int>::allocate(unsigned long, void const*)", "", 0, 0)},
        "vtable for app::widget");
    CHECK(answer.name == "int");
    CHECK(answer.evidence == type_evidence::allocator_frame);
}

TEST_CASE("type_ladder: a vtable names what nothing else does") {
    ladder types;
    const type_answer answer =
        types.name_type({frame("app::make()", "", 0, 0)}, "vtable for app::widget");
    CHECK(answer.name == "app::widget");
    CHECK(answer.evidence == type_evidence::vtable);
}

TEST_CASE("type_ladder: a vtable gives the whole name of what the source says") {
    const source_of_lines file{"auto* w = new widget;"};
    ladder types;
    const std::vector<code_frame> frames = {frame("app::make()", file.path(), 1, 11)};
    CHECK(types.name_type(frames, "vtable for app::widget").name == "app::widget");
    CHECK(types.name_type(frames).name == "widget");
    CHECK(types.name_type(frames).evidence == type_evidence::source_text);
}

TEST_CASE("type_ladder: the vtable of a first member does not stand against the source") {
    const source_of_lines file{"auto* w = new holder;"};
    ladder types;
    const type_answer answer =
        types.name_type({frame("app::make()", file.path(), 1, 11)}, "vtable for app::widget");
    CHECK(answer.name == "holder");
    CHECK(answer.evidence == type_evidence::source_text);
}

TEST_CASE("type_ladder: a folded function does not tell its template arguments") {
    const source_of_lines file{"template <class T> T* make() { return new T; }"};
    ladder types;
    const code_frame other = frame("app::a* make<app::a>()", file.path(), 1, 39);
    CHECK(types.name_type({other}).name == "app::a");
    CHECK(types.name_type({other, frame("app::b* make<app::b>()", file.path(), 1, 23)}).name ==
          "?");
    // Nor does one that was inlined into a folded one.
    code_frame user = frame("app::a* some<app::a>()", file.path(), 1, 2);
    const code_frame folded = frame("app::b* some<app::b>()", file.path(), 1, 1);
    user.is_inlined = true;
    CHECK(types.name_type({other, user, folded}).name == "?");
    CHECK(types.name_type({other, folded, frame("main", file.path(), 1, 1)}).name == "app::a");
    user.is_inlined = false;  // it was called
    CHECK(types.name_type({other, user, folded}).name == "app::a");
}

TEST_CASE("type_ladder: a function that calls another one of its name is not folded with it") {
    const source_of_lines file{"template <class T> T* some(int) { return keep(some()); }",
                               "template <class T> T* some() { return new T; }"};
    const auto type_at_column = [&](int column) {
        ladder types;
        code_frame inside = frame("app::a* some<app::a>()", file.path(), 2, 39);
        inside.is_inlined = true;
        const code_frame outer = frame("app::b* some<app::b>(int)", file.path(), 1, column);
        const type_answer answer = types.name_type({inside, outer});
        return std::string{answer.name.data(), answer.name.size()};
    };
    CHECK(type_at_column(47) == "app::a");
    CHECK(type_at_column(52) == "app::a");  // g++: the last token of the call
    CHECK(type_at_column(23) == "?");       // its declaration
}

TEST_CASE("type_ladder: a constructor that is a template is not folded with one that is none") {
    const source_of_lines file{"template <class A> any::any(A) { new part<A>; } any::any(int);"};
    ladder types;
    const code_frame made = frame("any::any<app::a>(app::a)", file.path(), 1, 34);
    const code_frame other = frame("any::any(int)", file.path(), 1, 1);
    const code_frame instance = frame("any::any<app::b>(app::b)", file.path(), 1, 1);
    CHECK(types.name_type({made, other}).name == "part<app::a>");
    CHECK(types.name_type({made, instance}).name == "?");
}

TEST_CASE("type_ladder: an allocator that was folded with another one has the type of its caller") {
    const allocscope_test::marked_source file{
        "template <class T> struct pool {\n"
        "    T* allocate(unsigned long n) {\n"
        "        return static_cast<T*>(@::operator new(n * sizeof(T)));\n"
        "    }\n"
        "};\n"};
    const std::string path = file.path();
    const std::string traits = "std::allocator_traits<pool<int> >::allocate(pool<int>&, unsigned)";
    code_frame folded =
        frame("pool<long>::allocate(unsigned long)", path.c_str(), file.line(), file.column());
    const code_frame caller = frame(traits.c_str(), "alloc_traits.h", 318, 1);
    ladder types;
    CHECK(types.name_type({folded, caller}).name == "long");  // it was called
    folded.is_inlined = true;
    CHECK(types.name_type({folded, caller}).name == "int");
    CHECK(types.name_type({folded, frame("main", "", 0, 0)}).name == "long");
}

TEST_CASE("type_ladder: an overload of the same instantiation is not a folded function") {
    const source_of_lines file{"template <class T> void bag<T>::fill() { p = new T; }"};
    ladder types;
    code_frame inner = frame("bag<int>::fill()", file.path(), 1, 46);
    inner.is_inlined = true;
    CHECK(types.name_type({inner, frame("bag<int>::fill(int)", file.path(), 1, 1)}).name == "int");
    CHECK(types.name_type({inner, frame("bag<long>::fill()", file.path(), 1, 1)}).name == "?");
}

TEST_CASE("type_ladder: a template that calls itself is not a folded function") {
    const source_of_lines file{
        "template <class T, class... R> void all() { keep(new T); if (more) all<R...>(); }",
        "template <class T, class... R> void* all(int n) { return n ? new T : all<R...>(n - 1); }"};
    ladder types;
    code_frame inner = frame("void all<int, long>()", file.path(), 1, 50);
    inner.is_inlined = true;
    const auto seen_in = [&](const char* path, int line, int column) {
        return types.name_type({inner, frame("void all<char, int, long>()", path, line, column)})
            .name;
    };
    CHECK(seen_in(file.path(), 1, 68) == "int");
    CHECK(seen_in(file.path(), 3, 3) == "?");     // no token
    CHECK(seen_in(file.path(), 1, 37) == "?");    // the place of the declaration
    CHECK(seen_in(file.path(), 1, 50) == "int");  // the same call, once more
    inner.column = 0;
    CHECK(seen_in(file.path(), 1, 0) == "?");
    // g++ may make one call of the `new` of all instantiations.
    inner.line = 2;
    inner.column = 62;
    CHECK(types.name_type({inner}).name == "int");
    CHECK(seen_in(file.path(), 2, 70) == "?");
    CHECK(seen_in("other.cpp", 1, 68) == "?");
}

TEST_CASE("type_ladder: a template that returns what it calls itself for, behind its own new") {
    const auto type_in = [](const std::string& body) {
        const std::string line = "template <class T, class... R> int all(int n) { " + body + " }";
        const source_of_lines file{line.c_str()};
        ladder types;
        const auto place = [&](const char* function, const char* word) {
            const int column = static_cast<int>(line.rfind(word)) + 1;
            return frame(function, file.path(), 1, column);
        };
        const type_answer found =
            types.name_type({place("int all<int, long>(int)", "new T"),
                             place("int all<char, int, long>(int)", "all<R...>")});
        return std::string{found.name.data(), found.name.size()};
    };
    CHECK(type_in("keep(new T); return all<R...>(n - 1);") == "int");
    CHECK(type_in("if (n) keep(new T); return 1 + all<R...>(n - 1);") == "int");
    CHECK(type_in("return keep(new T) && all<R...>(n - 1);") == "int");
    // g++ may make one call of the `new` of all instantiations.
    CHECK(type_in("if (n == 0) return keep(new T); return all<R...>(n - 1);") == "?");
    CHECK(type_in("if (n == 0) { keep(new T); return 1; } return all<R...>(n - 1);") == "?");
    CHECK(type_in("if (n == 0) keep(new T); else return all<R...>(n - 1); return 0;") == "?");
}

TEST_CASE("type_ladder: a function that calls its overload keeps its scopes") {
    const source_of_lines file{"auto* w = new widget;"};
    ladder types;
    type_knowledge knowledge;
    knowledge.kind = [](void*, const allocscope::plain::text&) {
        return allocscope::symbolize::name_kind::type;
    };
    knowledge.qualified = [](void*, const allocscope::plain::text&,
                             const allocscope::plain::text& function) {
        return function == "app::add" ? allocscope::plain::text{"app::widget"} : "";
    };
    const std::vector<code_frame> frames = {frame("app::add(int)", file.path(), 1, 11),
                                            frame("app::add(char)", file.path(), 1, 1)};
    CHECK(types.name_type(frames, "", knowledge).name == "app::widget");
}

TEST_CASE("type_ladder: a name that no scope has is the only described one, but not a global one") {
    type_knowledge knowledge;
    knowledge.kind = [](void*, const allocscope::plain::text&) {
        return allocscope::symbolize::name_kind::type;
    };
    knowledge.qualified = [](void*, const allocscope::plain::text&,
                             const allocscope::plain::text&) { return allocscope::plain::text{}; };
    knowledge.only = [](void*, const allocscope::plain::text& name,
                        const allocscope::plain::text&) {
        return name == "widget" ? allocscope::plain::text{"app::widget"} : "";
    };
    const auto type_in = [&](const char* source) { return type_at_line_two(source, knowledge); };
    CHECK(type_in("using namespace app;\nauto* w = new widget;") == "app::widget");
    CHECK(type_in("using app::widget;\nauto* w = new widget;") == "app::widget");
    CHECK(type_in("namespace app { struct widget; }\nauto* w = new widget;") == "app::widget");
    CHECK(type_in("using widget::part;\nauto* w = new widget;") == "app::widget");
    CHECK(type_in("struct widget {};\nauto* w = new widget;") == "widget");
    CHECK(type_in("typedef long widget;\nauto* w = new widget;") == "widget");
    CHECK(type_in("\nauto* w = new gadget;") == "gadget");
    // The initialiser of a variable in the namespace where the class is declared.
    CHECK(type_in("namespace app { struct widget {};\nauto* w = new widget; }") == "app::widget");
    CHECK(type_in("namespace web { struct widget {};\nauto* w = new widget; }") == "web::widget");
}

TEST_CASE("type_ladder: a `using` says which of several types is meant") {
    type_knowledge knowledge;
    knowledge.kind = [](void*, const allocscope::plain::text&) {
        return allocscope::symbolize::name_kind::type;
    };
    knowledge.qualified = [](void*, const allocscope::plain::text& name,
                             const allocscope::plain::text& function) {
        if (name != "widget") return allocscope::plain::text{};
        if (function == "app::") return allocscope::plain::text{"app::widget"};
        return allocscope::plain::text{function == "web::" ? "web::widget" : ""};
    };
    knowledge.only = [](void*, const allocscope::plain::text&, const allocscope::plain::text&) {
        return allocscope::plain::text{};
    };
    const auto type_in = [&](const char* source) { return type_at_line_two(source, knowledge); };
    CHECK(type_in("using namespace app;\nauto* w = new widget;") == "app::widget");
    CHECK(type_in("void f() { using namespace app; }\nauto* w = new widget;") == "widget");
    CHECK(type_in("using namespace app; using namespace web;\nauto* w = new widget;") == "widget");
    CHECK(type_in("using web::widget;\nauto* w = new widget;") == "web::widget");
    CHECK(type_in("\nauto* w = new widget; using web::widget;") == "widget");
    CHECK(type_in("namespace a = web;\nauto* w = new a::widget;") == "web::widget");
    CHECK(type_in("namespace a = ::web::ui;\nauto* w = new a::widget;") == "web::ui::widget");
}

TEST_CASE("type_ladder: an inlined operator new without its class may ask for more") {
    ladder types;
    const source_of_lines file{
        "void* operator new(std::size_t n) { return ::operator new(8 * n); }\n"
        "void* operator new(std::size_t n) { return ::operator new(n); }\n"
        "auto* w = new widget;"};
    code_frame more = frame("operator new", file.path(), 1, 44);
    more.is_inlined = true;
    code_frame same = frame("operator new", file.path(), 2, 44);
    same.is_inlined = true;
    const code_frame user = frame("main", file.path(), 3, 11);
    CHECK(types.name_type({more, user}).name == "?");
    CHECK(types.name_type({same, user}).name == "widget");
}

TEST_CASE("type_ladder: only the direct caller's source is read") {
    const source_of_lines file{"auto* w = new widget;"};
    ladder types;
    CHECK(types.name_type({frame("", "", 0, 0), frame("app::make()", file.path(), 1, 11)}).name ==
          "?");
    CHECK(types
              .name_type({frame("operator new(unsigned long)", "", 0, 0),
                          frame("app::make()", file.path(), 1, 11)})
              .name == "widget");
    CHECK(types.name_type({}).name == "?");
}

TEST_CASE("type_ladder: a vtable that is asked for later says what it would have said at once") {
    const source_of_lines file{"auto* w = new widget;"};
    ladder types;
    const char* symbol = "vtable for app::widget";
    const type_answer nothing = types.name_type({frame("app::make()", "", 0, 0)});
    CHECK(nothing.is_open());
    CHECK(with_vtable(types.memory, nothing, symbol).name == "begins with app::widget");
    CHECK(with_vtable(types.memory, nothing, "main").name == "?");
    const type_answer from_source = types.name_type({frame("app::make()", file.path(), 1, 11)});
    CHECK(from_source.is_open());
    CHECK(with_vtable(types.memory, from_source, symbol).name == "app::widget");
    CHECK(with_vtable(types.memory, from_source, symbol).evidence == type_evidence::vtable);
    CHECK(with_vtable(types.memory, from_source, "vtable for app::subwidget").name == "widget");
    const type_answer from_frames = types.name_type(
        {frame("std::__new_allocator<widget>::allocate(unsigned long, void const*)", "", 0, 0)});
    CHECK_FALSE(from_frames.is_open());
    CHECK(with_vtable(types.memory, from_frames, symbol).name == "widget");
}

TEST_CASE("type_ladder: what a vtable names must be as large as the block") {
    ladder types;
    const char* symbol = "vtable for app::widget";
    const type_answer nothing;
    const auto seen = [&](const type_answer& so_far, size_fit of_vtable, size_fit of_answer) {
        const type_answer answer =
            with_vtable(types.memory, so_far, symbol, known_fits{of_vtable, of_answer});
        return std::string{answer.name.data(), answer.name.size()} + " " + word_of(answer.evidence);
    };
    CHECK(seen(nothing, size_fit::same, size_fit::unknown) == "app::widget vtable");
    CHECK(seen(nothing, size_fit::other, size_fit::unknown) == "? ");
    CHECK(seen(nothing, size_fit::unknown, size_fit::unknown) ==
          "begins with app::widget unsized_vtable");
    const type_answer control = with_vtable(
        types.memory, nothing, "vtable for std::_Sp_counted_ptr<int*, (_Lock_policy)2>");
    CHECK(control.name == "std::shared_ptr<int> control block");
    CHECK(control.evidence == type_evidence::unsized_vtable);
    const type_answer source{"holder", type_evidence::source_text};
    CHECK(seen(source, size_fit::same, size_fit::unknown) == "holder source");
    CHECK(seen(source, size_fit::same, size_fit::same) == "holder source");
    CHECK(seen(source, size_fit::same, size_fit::other) == "app::widget vtable");
    CHECK(seen(source, size_fit::other, size_fit::other) == "? ");
    CHECK(seen(source, size_fit::unknown, size_fit::other) == "? ");
    CHECK(seen(source, size_fit::other, size_fit::same) == "holder source");
    const type_answer agreeing{"widget", type_evidence::source_text};
    CHECK(seen(agreeing, size_fit::unknown, size_fit::unknown) == "app::widget vtable");
    CHECK(seen(agreeing, size_fit::other, size_fit::other) == "app::widget vtable");
    const type_answer refuted =
        with_vtable(types.memory, source, "", {size_fit::unknown, size_fit::other});
    CHECK(refuted.name == "?");
    CHECK_FALSE(refuted.is_known());
    const type_answer made{"holder", type_evidence::made_object};
    CHECK(seen(made, size_fit::same, size_fit::same) == "holder make_function");
    CHECK(seen(made, size_fit::same, size_fit::unknown) == "holder make_function");
    CHECK(seen(made, size_fit::unknown, size_fit::other) == "? ");
    CHECK(seen(made, size_fit::same, size_fit::other) == "app::widget vtable");
}

TEST_CASE("type_ladder: behind a class's own operator new stands the type that was asked for") {
    const source_of_lines file{
        "struct w { static void* operator new(std::size_t n) { return ::operator new(n); } };",
        "auto* a = new derived;",
        "void* operator new[](std::size_t n, int) { return std::malloc(n); }"};
    ladder types;
    const code_frame caller = frame("app::make()", file.path(), 2, 11);
    const auto behind = [&](const char* function, int line) {
        return types.name_type({frame(function, file.path(), line, 57), caller}).name;
    };
    CHECK(behind("w::operator new(unsigned long)", 1) == "derived");
    CHECK(behind("w::operator new[](unsigned long, int)", 3) == "derived");
    CHECK(types.name_type({frame("w::operator new(unsigned long)", "", 0, 0), caller}).name == "?");
}

TEST_CASE("type_ladder: an operator new of the user that takes a place allocates") {
    const source_of_lines file{
        "void* operator new(std::size_t n, place const&) { return ::operator new(n); }",
        "auto* a = new (place{1, 2}) widget(f(3));",
        "void* operator new(std::size_t n, place const&) { return ::operator new(4096); }"};
    ladder types;
    const auto behind = [&](const char* function, int line, int column) {
        return types
            .name_type({frame("operator new(unsigned long)", "", 0, 0),
                        frame(function, file.path(), line, 57),
                        frame("app::make()", file.path(), 2, column)})
            .name;
    };
    CHECK(behind("operator new(unsigned long, place const&)", 1, 11) == "widget");
    CHECK(behind("operator new(unsigned long, place const&)", 1, 40) == "widget");
    CHECK(behind("operator new(unsigned long, place const&)", 1, 39) == "?");
    CHECK(behind("operator new(unsigned long, place const&)", 3, 11) == "?");
    CHECK(behind("operator new(unsigned long, std::nothrow_t const&)", 1, 11) == "?");
    CHECK(behind("operator new(unsigned long, std::align_val_t)", 1, 11) == "?");
}

TEST_CASE("type_ladder: a class's own operator new may ask for more than one object") {
    const source_of_lines file{"struct w { static void* operator new(std::size_t n) {",
                               "    if (!left) left = static_cast<char*>(::operator new(4096));",
                               "    if (n > 9) return ::operator new(count);",
                               "    if (n > 8) return ::operator new(n + 16);",
                               "    if (n > 7) return new char[n];",
                               "    return ::operator new(n);",
                               "} };",
                               "auto* a = new w;"};
    ladder types;
    const auto type_at = [&](int line, int column) {
        return types
            .name_type({frame("w::operator new(unsigned long)", file.path(), line, column),
                        frame("app::make()", file.path(), 8, 11)})
            .name;
    };
    CHECK(type_at(2, 45) == "?");
    CHECK(type_at(3, 25) == "?");
    CHECK(type_at(4, 25) == "?");
    CHECK(type_at(5, 23) == "char");
    CHECK(type_at(6, 12) == "w");
}

TEST_CASE("type_ladder: the memory of an exception is not that of a `new` at its place") {
    const source_of_lines file{"void f() { throw new widget(1); }",
                               "void g() { throw widget(1); }"};
    ladder types;
    const code_frame runtime = frame("__cxa_allocate_exception", "", 0, 0);
    const auto of_throw = [&](int line, int column) {
        return types.name_type({runtime, frame("g()", file.path(), line, column)});
    };
    CHECK(!of_throw(1, 30).is_known());
    CHECK(!of_throw(1, 12).is_known());
    CHECK(of_throw(2, 26).name == "widget");
    CHECK(of_throw(2, 12).name == "widget");
    CHECK(of_throw(2, 12).evidence == type_evidence::source_text);
    CHECK(of_throw(2, 12).is_array);                  // with what the runtime keeps for it
    const code_frame nameless = frame("", "", 0, 0);  // of libc++
    CHECK(types.name_type({nameless, runtime, frame("g()", file.path(), 2, 26)}).name == "widget");
    CHECK(!types.name_type({nameless, frame("g()", file.path(), 2, 26)}).is_known());
    CHECK(types.name_type({frame("f()", file.path(), 1, 30)}).name == "widget");
    CHECK(!types.name_type({frame("g()", file.path(), 2, 26)}).is_known());
}

TEST_CASE("type_ladder: a function of the library that throws says what") {
    ladder types;
    const auto thrown_by = [&](const char* function, const char* file) {
        return types
            .name_type({frame("__cxa_allocate_exception", "", 0, 0), frame(function, file, 64, 5),
                        frame("run()", "run.cpp", 3, 5)})
            .name;
    };
    CHECK(thrown_by("std::__throw_out_of_range_fmt(char const*, ...)", "") == "std::out_of_range");
    CHECK(thrown_by("std::__throw_bad_any_cast()", "/usr/include/c++/12/any") ==
          "std::bad_any_cast");
    CHECK(thrown_by("std::__throw_length_error(char const*)", "") == "std::length_error");
    CHECK(thrown_by("__throw_bad_optional_access", "/usr/include/c++/12/optional") ==
          "std::bad_optional_access");
    CHECK(thrown_by("std::__throw_ios_failure(char const*)", "") == "?");
    CHECK(thrown_by("void std::__throw_with_nested_impl<app::lost>(app::lost&&, std::true_type)",
                    "/usr/include/c++/12/bits/nested_exception.h") == "?");
    CHECK(thrown_by("__gnu_cxx::__throw_insufficient_space(char const*, char const*)", "") == "?");
    CHECK(thrown_by("std::make_exception_ptr<part>(part)", "/usr/include/c++/12/exception_ptr.h") ==
          "part");
    // What it asks operator new for is not the exception.
    CHECK(types.name_type({frame("std::__throw_system_error(int)", "", 0, 0)}).name == "?");
}

TEST_CASE("type_ladder: the size tells the parts of a path from the text of a part") {
    ladder types;
    const std::vector<code_frame> stack = {
        frame("", "", 0, 0), frame("std::filesystem::__cxx11::path::_M_split_cmpts()", "", 0, 0)};
    CHECK(types.name_type(stack).name == "?");
    CHECK(types.candidate_of(stack) == "std::filesystem::path components");
    CHECK(allocscope::symbolize::part_of_path(8 + 5 * 48) == "std::filesystem::path components");
    CHECK(allocscope::symbolize::part_of_path(22) == "char");
}
