#include <allocscope/types/type_from_source.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

#include "support/show_text.hpp"
#include "unit/types/type_at_mark.hpp"

using allocscope::plain::arena;
using allocscope::symbolize::code_frame;
using allocscope::symbolize::name_kind;
using allocscope::symbolize::source_cache;
using allocscope::symbolize::type_from_source;
using allocscope_test::header_beside;
using allocscope_test::marked_source;
using allocscope_test::source_file;
using allocscope_test::type_at;
using allocscope_test::type_at_mark;

namespace {

std::string type_on_line(const char* source, int line, const char* function = "main") {
    const source_file file{source};
    return type_at(file.path(), line, 0, function);
}

struct place {
    const char* source;
    const char* type;
};

// The places that g++ 12 and clang 14 put into line tables for these lines, at -O0 and -O2.
constexpr place places[] = {
    {"keep(@new w);", "w"},
    {"keep(new @w);", "w"},
    {"keep(new w(1, 2@));", "w"},
    {"keep(new p{1, 2@}, new int[30]);", "p"},
    {"keep(new p{1, 2}, @new int[30]);", "int"},
    {"keep@(new p{1, 2}, new int[30]);", "int"},
    {"keep(new std::@map<std::string, std::vector<int>>);",
     "std::map<std::string, std::vector<int>>"},
    {"keep(\n  new\n  std::string(\n    \"abc\"@));", "std::string"},
    {"keep(\n  @new\n  std::string(\n    \"abc\"));", "std::string"},
    {"auto* q =\n  new w(\n    new p(1,\n          2@));", "p"},
    {"auto* q =\n  new w(\n    new p(1,\n          2)@);", "w"},
    {"keep(q); keep(new unsigned long long(4@)); keep(new long);", "unsigned long long"},
    {"keep(q); keep(new unsigned long long(4)); keep@(new long);", "long"},
    {"keep(new (std::nothrow) @w);", "w"},
    {"keep(@new (std::align_val_t(64)) w);", "w"},
    {"keep@(new w*[argc]);", "w*"},
    {"keep(new (w@));", "w"},
    {"sink = new const p(@);", "p"},
    {"keep(@::new w);", "w"},
    {"keep(::new @w);", "w"},
    {"return n > 3 ? new int(n@) : new long[4];", "int"},
    {"return n > 3 ? new int(n) : new long[4@];", "long"},
    {"sink = new two<int, std::string>{1, \"a\"@};", "two<int, std::string>"},
    {"sink = new @two<int, (3 > 2)>;", "two<int,(3>2)>"},
    {"sink = (void*)new char[argc * 3 + 1](@);", "char"},
    {"sink = new int*(x@);", "int*"},
    {"sink = new int* const(x@);", "int*"},
    {"sink = new unsigned @char;", "unsigned char"},
    {"sink = new struct @w;", "w"},
    {"sink = @new long unsigned int;", "unsigned long"},
    {"sink = @new a::b<c::d>::e(1);", "a::b<c::d>::e"},
    {"p = static_cast<w*>(::operator new@(n * sizeof(w)));", "w"},
    {"void* p = ::operator new@(n * sizeof(w<int>));", "w<int>"},
    {"void* p = ::operator new@(n * sizeof(long));", "long"},
    {"p = static_cast<w*>(@::operator new(n * sizeof(w)));", "w"},
    {"p = @operator new[](sizeof(struct w) * (n + 1), std::nothrow);", "w"},
    {"p = (w*)std::malloc@(sizeof(w));", "w"},
    {"p = (w*)malloc@((n * sizeof(w)));", "w"},
    {"p = (w*)@std::malloc(count(n - 1) * sizeof(w*));", "w*"},
    {"p = (w*)@malloc(size_t{2} * n->size[i + 1] * sizeof(w));", "w"},
    {"{ w* p = @malloc(n * sizeof(w));", "w"},
    {"/* new a */ f(\"new b\"); // new c\nsink = @new d;", "d"},
    {"keep(@new auto(3.5));", "double"},
    {"keep(@new auto(3.5f));", "float"},
    {"keep(@new auto('a'));", "char"},
    {"keep(@new auto('\\n'));", "char"},
    {"keep(@new auto(42));", "int"},
    {"auto f = [](const part* u) { return @new auto(*u); };", "part"},
    {"auto f = [](const auto* u) { return @new auto(*u); };", "?"},
    {"auto f = [](const auto* u) { return @new auto(u); };", "?"},
    {"keep(@new auto(\"text\"));", "const char*"},
    {"keep(@new auto{3.5});", "double"},
    {"keep(@new (void (*)(int)));", "void (*)(int)"},
    {"keep(@new (void (*[2])(int)));", "void (*)(int)"},
    {"keep(@new (int (w::*)(char)));", "int (w::*)(char)"},
    {"keep(@new (int w::*)(nullptr));", "int w::*"},
    {"w* p = @new w; ::run();", "w"},
    {"int* p = @new int; ::run();", "int"},
    {"keep(@new w, ::run());", "w"},
    {"w* p = c ? @new w : ::run();", "w"},
    {"w* p{@new w}, ::q;", "w"},
    {"keep(@new (int*)(nullptr));", "int*"},
    {"keep(@new (unsigned char)(7));", "unsigned char"},
    {"keep(@new (w)());", "w"},
    {"keep(@new (pair<int, w>)(1, 2));", "pair<int, w>"},
    {"typedef void (*run)(int);\nkeep(@new run);", "run"},
    {"typedef int four[2][2];\nkeep(@new four);", "four"},
};

// Places where more than one type, or none, could be meant.
constexpr place silent_places[] = {
    {"keep@(new int, new long);", "?"},
    {"keep@(::operator new(30), new int);", "?"},
    {"keep@(MAKE(long), new int);", "?"},
    {"#define make(T) new T\nkeep@(make(long), new int);", "?"},
    {"@MAKE(w);", "?"},
    {"keep@(::operator new(30));", "?"},
    {"keep@(malloc(30));", "?"},
    {"keep@(f(), x ? new int : 0);", "?"},
    {"keep(new @decltype(argc));", "?"},
    {"void f() { std::vector<int> v; keep(@new decltype(v)::value_type); }", "?"},
    {"keep(new auto(3u@));", "?"},
    {"keep(new auto(3.5l@));", "?"},
    {"keep(new auto('ab'@));", "?"},
    {"keep(new auto(0x10@));", "?"},
    {"keep(new auto(10000000000@));", "?"},
    {"keep(new auto(3@ + 4));", "?"},
    {"keep(@new (place) w);", "?"},
    {"keep(@new std::pair(1, f()));", "?"},
    {"keep(@new std::pair(1, 2 + 3));", "?"},
    {"void f(std::optional<w> v) { keep(@new std::optional(v)); }", "?"},
    {"void f(std::pair<w, w> v) { keep(@new std::tuple(v)); }", "?"},
    {"void f(std::allocator_arg_t v) { keep(@new std::tuple(v, 1)); }", "?"},
    {"keep(@new std::vector{1, 2});", "?"},
    {"keep(@new auto(v.x));", "?"},
    {"keep(@new (w)(1));", "?"},
    {"holder(int n) : p_(new int[n]@) {}", "?"},
    {"p = (w*)::operator new@(n * sizeof(w) + 8);", "?"},
    {"p = (w*)malloc@(sizeof(w) / 2);", "?"},
    {"p = (w*)malloc@(sizeof(w) * sizeof(p));", "?"},
    {"p = (w*)malloc@((n * sizeof(w) + 8));", "?"},
    {"p = (w*)pool.@malloc(sizeof(w));", "?"},
    {"void f(p* w) { x = malloc@(sizeof(w)); }", "?"},
    {"p = malloc@(sizeof w);", "?"},
    {"void f(w* p, w* q) { q = p; x = malloc@(sizeof *r); }", "?"},
    {"p = malloc@(sizeof(w));", "?"},
    {"struct w {};\nvoid f() { p w[3]; x = malloc@(sizeof(w)); }", "?"},
    {"struct w {};\nvoid f(int w, int) { x = malloc@(sizeof(w)); }", "?"},
    {"struct w {};\nstruct s { p w; void* f() { return malloc@(sizeof(w)); } };", "?"},
    {"#define WIDGET int\nsink = @new WIDGET;", "?"},
    {"void* operator @new(size_t);", "?"},
    {"x = y.@new w;", "?"},
    {"sink = @new", "?"},
    {"sink = @new (", "?"},
    {"sink = @new a<b;", "?"},
};

}  // namespace

TEST_CASE("type_from_source: the column of g++ and clang finds the expression") {
    for (const place& example : places) {
        CAPTURE(std::string{example.source});
        CHECK(type_at_mark(example.source) == example.type);
    }
}

TEST_CASE("type_from_source: what is not certain is not known") {
    for (const place& example : silent_places) {
        CAPTURE(std::string{example.source});
        CHECK(type_at_mark(example.source) == example.type);
    }
}

TEST_CASE("type_from_source: without a column a line must hold one expression only") {
    CHECK(type_on_line("sink = new w;", 1) == "w");
    CHECK(type_on_line("sink =\n new w(\n  1);\n", 3) == "w");
    CHECK(type_on_line("sink = new w, sink = new p;", 1) == "?");
    CHECK(type_on_line("keep(new w, MAKE(p));", 1) == "?");
    CHECK(type_on_line("keep(new w, ::operator new(3));", 1) == "?");
    CHECK(type_on_line("sink = new w;", 2) == "?");
    // A default member initialiser is put on the line of the constructor.
    CHECK(type_on_line("holder() : p_(new int) {}", 1, "app::holder::holder()") == "?");
}

TEST_CASE("type_from_source: a template parameter is what the frame's function shows") {
    const char* make = "template <class T> T* make() { return @new T; }";
    CHECK(type_at_mark(make, "app::widget* app::make<app::widget>()") == "app::widget");
    CHECK(type_at_mark(make, "make") == "?");
    const char* member = "template <class T>\nstruct pool {\n  T* grab() { return @new T(); }\n};";
    CHECK(type_at_mark(member, "app::pool<std::vector<int, std::allocator<int> > >::grab()") ==
          "std::vector<int>");
    const char* outside = "template <class T, int N> T* pool<T, N>::grab() { return @new T(); }";
    CHECK(type_at_mark(outside, "app::pool<long, 3>::grab()") == "long");
    const char* both =
        "template <class T> struct pool { template <class U> void f() { new std::pair<T,@U>; } };";
    CHECK(type_at_mark(both, "void pool<int>::f<char>()") == "?");  // g++ names `pair` here
    const char* inner =
        "template <class T> struct pool { template <class U> void f() { @new std::pair<T,U>; } };";
    CHECK(type_at_mark(inner, "void pool<int>::f<char>()") == "std::pair<int, char>");
    const char* lambda = "template <class T> auto f() { return [] { return @new T; }; }";
    CHECK(type_at_mark(lambda, "f<int>()::{lambda()#1}::operator()() const") == "int");
    const char* initialiser = "template <class T> struct a { a() : x{1}, y{@new T} {} };";
    CHECK(type_at_mark(initialiser, "a<int>::a()") == "int");
    const char* nested =
        "template <class K> template <class V> std::pair<K, V>* a<K>::b<V>::f() { @new V; }";
    CHECK(type_at_mark(nested, "a<int>::b<char>::f()") == "char");
    const char* forwarding =
        "template <class T, class... A> T* make(A&&... a) { return @new T(a...); }";
    CHECK(type_at_mark(forwarding, "app::w* make<app::w, int, char>(int&&, char&&)") == "app::w");
    CHECK(type_at_mark(forwarding, "app::w* make<app::w>()") == "app::w");
    const char* constant = "template <class T> base* make() { return @new impl<const T&>; }";
    CHECK(type_at_mark(constant, "base* make<int>()") == "impl<const int&>");
    CHECK(type_at_mark(constant, "base* make<int&>()") == "impl<int&>");
    CHECK(type_at_mark(constant, "base* make<int&&>()") == "impl<int&>");
    CHECK(type_at_mark(constant, "base* make<long const&>()") == "impl<const long&>");
    const char* moved = "template <class T> base* make() { return @new impl<T&&, T>; }";
    CHECK(type_at_mark(moved, "base* make<int>()") == "impl<int&&, int>");
    CHECK(type_at_mark(moved, "base* make<int&>()") == "impl<int&, int&>");
    CHECK(type_at_mark(moved, "base* make<int&&>()") == "impl<int&&, int&&>");
    const char* body = "template <class T> struct a { T* x; }; struct b { b() { @new T; } };";
    CHECK(type_at_mark(body, "b::b()") == "T");  // some class that is called T
}

TEST_CASE("type_from_source: an alias for the type of an expression is not taken for a class") {
    const char* generic = "auto f = [](auto x) { using T = decltype(x); return @new T(); };";
    CHECK(type_at_mark(generic, "main::{lambda(auto:1)#1}::operator()<int>(int) const") == "int");
    CHECK(type_at_mark(generic, "main::{lambda(auto:1)#1}") == "?");
    const char* inside =
        "auto f = [](auto x) { using T = std::vector<decltype(x)>; @new std::pair<T, w>; };";
    CHECK(type_at_mark(inside, "main::<lambda(auto:1)> [with auto:1 = int]") == "?");
    const char* behind = "using A = long; int n; using B = decltype(n); auto* p = @new A();";
    CHECK(type_at_mark(behind, "main") == "A");
}

TEST_CASE("type_from_source: a parameter that cannot be told is not guessed") {
    const char* partial = "template <class T> struct pool<T*> { T* grab() { return @new T; } };";
    CHECK(type_at_mark(partial, "pool<int*>::grab()") == "int");
    const char* outside = "template <class T> T* pool<T*>::grab() { return @new T(); }";
    CHECK(type_at_mark(outside, "pool<int*>::grab()") == "int");
    const char* own = "template <class R, class... A> struct call<R(A...)> { template <class F> ";
    const std::string constructor = std::string(own) + "call(F f) : p(@new held<F>(f)) {} };";
    CHECK(type_at_mark(constructor, "call<void(int)>::call<user>(user)") == "held<user>");
    const std::string hidden_result = std::string(own) + "void set(F f) { @new held<R>; } };";
    CHECK(type_at_mark(hidden_result, "void call<void(int)>::set<user>(user)") == "?");
    const char* full = "template <> struct pool<int> { template <class U> U* f() { @new U; } };";
    CHECK(type_at_mark(full, "char* pool<int>::f<char>()") == "char");
    const char* pack = "template <class... T> void f() { g(@new T...); }";
    CHECK(type_at_mark(pack, "void f<int, char>()") == "?");
    const char* alias = "template <class T> struct a<T*> { using of = T; void f() { @new of; } };";
    CHECK(type_at_mark(alias, "a<int*>::f()") == "int");
    const char* hidden = "HEADER(T) void f() { @new T; }";
    CHECK(type_at_mark(hidden, "void f<int>()") == "?");
    CHECK(type_at_mark(hidden, "f()") == "T");
}

TEST_CASE("type_from_source: an alias in a template is what it stands for") {
    const char* open = "template <class T> struct a { using value = T; typedef b<value*> more;";
    const auto seen = [&](const char* function) {
        return type_at_mark(std::string(open) + function + " };", "a<int>::f()");
    };
    CHECK(seen("void f() { @new value; }") == "int");
    CHECK(seen("void f() { if (n) { g(); } @new more; }") == "b<int*>");
    CHECK(seen("void f() { [] { @new value; }(); }") == "int");
    CHECK(seen("void f() { using value = long; @new value; }") == "long");
    CHECK(seen("void f() { { using value = long; } @new value; }") == "int");
    CHECK(seen("void f() { typedef char value; @new value; }") == "char");
    CHECK(seen("void f() { using value = decltype(n); @new value; }") == "?");
    CHECK(seen("void f() { struct value {}; @new value; }") == "?");
    CHECK(seen("void g() { using value = long; } void f() { @new value; }") == "int");
    CHECK(seen("void f() { @new a<T*>; }") == "a<int*>");
    CHECK(seen("using x = y; using y = x; void f() { @new y; }") == "?");
    const char* of_function = "void f() { using number = double; @new known<number>; }";
    CHECK(type_at_mark(of_function, "f()") == "known<double>");
    const char* of_file = "using number = double; void f() { @new known<number>; }";
    CHECK(type_at_mark(of_file, "f()") == "known<double>");
    CHECK(type_at_mark("using number = double; void f() { @new number; }", "f()") == "number");
    const char* of_two =
        "namespace a { using number = int; } using number = double; void f() { @new known<number>; "
        "}";
    CHECK(type_at_mark(of_two, "f()") == "known<number>");
    const char* of_class =
        "struct w { using number = double; void f() { @new known<int, number*>; } };";
    CHECK(type_at_mark(of_class, "w::f()") == "known<int, double*>");
}

TEST_CASE("type_from_source: what stands for a value is the type that it is made of") {
    const char* defined =
        "struct w {}; template <class T> struct box {}; struct w2 { struct in {}; };";
    const auto seen = [&](const char* expression) {
        return type_at_mark(std::string(defined) + "auto* p = @new " + expression + ";", "main");
    };
    CHECK(seen("auto(w())") == "w");
    CHECK(seen("auto(w{1, f(2)})") == "w");
    CHECK(seen("auto(unsigned(3))") == "unsigned int");
    CHECK(seen("auto(w2::in())") == "w2::in");
    CHECK(seen("auto(box<int>())") == "box<int>");
    CHECK(seen("decltype(w())()") == "w");
    CHECK(seen("auto(w()), *w = nullptr") == "w");
    CHECK(type_at_mark("struct w {}; void f() { auto w = g; keep(@new auto(w(1))); }") == "?");
    CHECK(seen("auto(box(1))") == "?");
    CHECK(seen("auto(w().f())") == "?");
    CHECK(seen("auto(w() + w())") == "?");
    CHECK(seen("auto(x)") == "?");  // a variable, and no debug information
    CHECK(seen("decltype(w())[3]") == "?");
}

TEST_CASE("type_from_source: a class template's own name stands for the instantiation") {
    const char* own =
        "template <class T> struct pool { pool* copy() { return @new pool(*this); } };";
    CHECK(type_at_mark(own, "app::pool<int>::copy()") == "app::pool<int>");
}

TEST_CASE("type_from_source: a class template in a class that is none") {
    const char* inner =
        "struct shape { template <class T> struct model {};\n"
        "template <class T> shape(T) { keep(@new model<T>); } };";
    CHECK(type_at_mark(inner, "shape::shape<app::line>(app::line)") == "shape::model<app::line>");
}

TEST_CASE("type_from_source: the bare name of a class template is no type") {
    const char* bare = "template <class T> struct box { box(T); };\nauto* p = @new box(3);";
    CHECK(type_at_mark(bare, "main") == "?");
    const char* plain = "template <class T> struct box {}; struct crate {};\nauto* p = @new crate;";
    CHECK(type_at_mark(plain, "main") == "crate");
    const char* whole = "template <class T> struct box {};\nauto* p = @new box<int>(3);";
    CHECK(type_at_mark(whole, "main") == "box<int>");
    const char* inner = "template <class T> struct box { struct lid {}; };\n@new box<int>::lid;";
    CHECK(type_at_mark(inner, "main") == "box<int>::lid");
}

TEST_CASE("type_from_source: a class that the debug information lacks may be a template") {
    const header_beside header{
        "template <class T> struct box { T t; };\nstruct crate { int n; };\n"};
    allocscope::symbolize::type_knowledge knowledge;
    knowledge.kind = [](void*, const allocscope::plain::text&) { return name_kind::undescribed; };
    CHECK(header.type_of("box{3}", knowledge) == "?");
    CHECK(header.type_of("box<int>{3}", knowledge) == "box<int>");
    CHECK(header.type_of("crate{3}", knowledge) == "crate");
}

TEST_CASE("type_from_source: names of std are told apart from others") {
    CHECK(type_at_mark("using std::string;\nsink = @new string;") == "std::string");
    CHECK(type_at_mark("void run() { using std::string, std::deque; sink = @new string; }") ==
          "std::string");
    CHECK(type_at_mark("using namespace std;\nsink = @new vector<string>;") ==
          "std::vector<std::string>");
    CHECK(type_at_mark("using namespace std;\nsink = @new bitset<8>;") == "std::bitset<8>");
    CHECK(type_at_mark("using namespace std;\nsink = @new widget;") == "widget");
    CHECK(type_at_mark("using namespace std; struct string {};\nsink = @new string;") == "string");
    CHECK(type_at_mark("sink = @new string;") == "string");
}

TEST_CASE("type_from_source: only regular files are read, and nothing waits for them") {
    CHECK(type_at("/nonexistent/a.cpp", 1, 1, "main") == "?");
    CHECK(type_at("/dev/zero", 1, 1, "main") == "?");
    CHECK(type_at("/tmp", 1, 1, "main") == "?");
    CHECK(type_at("", 1, 1, "main") == "?");
    const std::string fifo = "/tmp/allocscope_fifo_" + std::to_string(::getpid());
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    CHECK(type_at(fifo, 1, 1, "main") == "?");
    ::unlink(fifo.c_str());
    const source_file large{std::string(3 * 1024 * 1024, ' ') + "\nsink = new w;"};
    CHECK(type_at(large.path(), 2, 8, "main") == "?");
    const source_file empty{""};
    CHECK(type_at(empty.path(), 1, 1, "main") == "?");
}

TEST_CASE("type_from_source: the library's own headers are not read") {
    code_frame frame;
    frame.file = "/usr/include/c++/12/bits/std_thread.h";
    frame.line = 142;
    arena memory;
    source_cache sources;
    allocscope::symbolize::read_names names{memory};
    CHECK(type_from_source(names, frame, sources).empty());
}

TEST_CASE("source_cache: a folder that has moved is found where the user says") {
    using allocscope::symbolize::moved_source;
    arena memory;
    const auto moved = [&](const char* path, const char* folders) {
        const auto found = moved_source(memory, path, folders);
        return std::string{found.data(), found.size()};
    };
    CHECK(moved("/build/a.cpp", "/build=/home/me") == "/home/me/a.cpp");
    CHECK(moved("/build/a.cpp", "/build/=/home/me/") == "/home/me/a.cpp");
    CHECK(moved("/build/x/a.cpp", "/other=/o:/build/x=/x:/build=/b") == "/x/a.cpp");
    CHECK(moved("/building/a.cpp", "/build=/home/me") == "/building/a.cpp");
    CHECK(moved("/build/a.cpp", "") == "/build/a.cpp");
    CHECK(moved("/build/a.cpp", "nonsense:=") == "/build/a.cpp");
    CHECK(moved("src/a.cpp", "src=/home/me/src") == "/home/me/src/a.cpp");
    CHECK(moved("src/a.cpp", "=/home/me/") == "/home/me/src/a.cpp");

    const source_file file{"auto* p = new widget;\n"};
    const std::string folder = file.path().substr(0, file.path().rfind('/'));
    const std::string name = file.path().substr(folder.size());
    source_cache sources;
    ::setenv("ALLOCSCOPE_SOURCES", ("/nowhere/at/all=" + folder).c_str(), 1);
    CHECK(sources.find(("/nowhere/at/all" + name).c_str()) != nullptr);
    ::unsetenv("ALLOCSCOPE_SOURCES");
    CHECK(sources.find(("/nowhere/else" + name).c_str()) == nullptr);
}

TEST_CASE("source_cache: a file is read once, until the cache is released") {
    source_cache sources;
    std::string path;
    {
        const source_file file{"new w;"};
        path = file.path();
        CHECK(sources.find(path.c_str()) != nullptr);
    }
    CHECK(sources.find(path.c_str()) != nullptr);
    sources.release();
    CHECK(sources.find(path.c_str()) == nullptr);
}

TEST_CASE("source_cache: a file that was written after the module was built is not believed") {
    const source_file file{"new w;"};
    struct stat facts = {};
    REQUIRE(::stat(file.path().c_str(), &facts) == 0);
    const auto written = static_cast<std::uint64_t>(facts.st_mtim.tv_sec) * 1000000000U +
                         static_cast<std::uint64_t>(facts.st_mtim.tv_nsec);
    source_cache sources;
    CHECK(sources.find(file.path().c_str(), written - 1) == nullptr);
    CHECK(sources.find(file.path().c_str(), written) != nullptr);
    CHECK(sources.find(file.path().c_str(), written - 1) == nullptr);
    CHECK(sources.find(file.path().c_str()) != nullptr);
}

TEST_CASE("type_from_source: a class inside of a template is told by the debug information") {
    const auto type_of = [](const std::string& source) {
        const source_file file{source + "\n"};
        allocscope::symbolize::type_knowledge knowledge;
        knowledge.meaning = [](void*, const allocscope::plain::text& name,
                               allocscope::symbolize::asked_name, arena&) {
            return allocscope::plain::text{name == "part" ? "box<int>::part" : ""};
        };
        return type_at(file.path(), 1, 0, "box<int>::f()", knowledge);
    };
    const auto in_box = [&](const char* body) {
        return type_of(std::string("template <class T> struct box {") + body + "};");
    };
    CHECK(in_box("struct part { T t; }; void f() { new part; }") == "box<int>::part");
    // Nothing but the function tells which one it is, also before it is declared.
    CHECK(in_box("struct node { T t; }; void f() { new node; }") == "box<int>::node");
    CHECK(in_box("void f() { new node; } struct node { T t; };") == "box<int>::node");
    CHECK(in_box("void f() { new later; } using later = T*;") == "int*");
    CHECK(in_box("struct bag { struct node {}; void f() { new node; } };") == "?");
    CHECK(in_box("void f() { using a = T; new a; } struct a {};") == "int");
    // A class of the function, which compilers seldom describe, is not what the box has.
    CHECK(in_box("void f() { struct part { T t; }; new part; }") == "box<int>::f::part");
    CHECK(in_box("struct part {}; void f() { struct part { T t; }; new part; }") ==
          "box<int>::f::part");
    CHECK(in_box("void f() { new box; }") == "box<int>");
}

TEST_CASE("type_from_source: a name that nobody knows as a type may be a macro") {
    const auto type_of = [](const std::string& source, const char* function = "main") {
        const source_file file{source + "\n"};
        const auto line = static_cast<int>(std::count(source.begin(), source.end(), '\n')) + 1;
        const allocscope::symbolize::type_knowledge knowledge{
            [](void*, const allocscope::plain::text& name) {
                return name == "known" || name == "app" ? name_kind::type
                       : name == "usual"                ? name_kind::undescribed
                       : name == "pair"                 ? name_kind::class_template
                                                        : name_kind::unknown;
            },
            nullptr, nullptr};
        return type_at(file.path(), line, 0, function, knowledge);
    };
    CHECK(type_of("new known;") == "known");
    CHECK(type_of("new UNKNOWN;") == "?");
    CHECK(type_of("new unknown;") == "?");
    CHECK(type_of("new app::known;") == "app::known");
    CHECK(type_of("new known<known()>;") == "known<known()>");
    CHECK(type_of("new known<std::string(int), int(*)(known)>;") ==
          "known<std::string(int), int (*)(known)>");
    CHECK(type_of("consteval int known() { return 6; } auto* p = new known<known()>;") == "?");
    CHECK(type_of("auto* i = new int(3);\nauto* p = new known<int(), void()>;") ==
          "known<int(), void()>");
    CHECK(type_of("new std::function<usual()>;") == "std::function<usual()>");
    CHECK(type_of("int usual(); auto* p = new std::function<usual()>;") == "?");
    CHECK(type_of("new app::unknown;") == "?");
    CHECK(type_of("new other::known;") == "?");
    CHECK(type_of("new known<unknown>;") == "?");
    CHECK(type_of("new pair(1, 2);") == "?");
    CHECK(type_of("new std::vector(1, 2);") == "?");
    CHECK(type_of("new std::pair<int, int>(1, 2);") == "std::pair<int, int>");
    CHECK(type_of("new known<int>;") == "known<int>");
    // With -g1 nothing is described.
    CHECK(type_of("new usual;") == "usual");
    CHECK(type_of("new usual;", "run<int>()") == "?");  // a parameter, perhaps
    CHECK(type_of("new other::usual(3);") == "?");
    CHECK(type_of("new std::usual(3);") == "?");  // a template, perhaps
    CHECK(type_of("#define usual known\nnew usual;") == "?");
    // Numbers that have names.
    CHECK(type_of("constexpr int usual = 12;\nnew known<int, usual>;") == "known<int, 12>");
    CHECK(type_of("const int unknown = 12;\nnew known<unknown>;") == "known<12>");
    CHECK(type_of("const int unknown = 12 + 1;\nnew known<unknown>;") == "?");
    CHECK(type_of("int unknown = 12, m = 1;\nnew known<unknown>;") == "?");
    CHECK(type_of("void f() { unknown = 3; }\nint unknown = 12;\nnew known<unknown>;") == "?");
    CHECK(type_of("const int known = 12;\nnew app<known>;") == "app<known>");
    CHECK(type_of("const int unknown = 012;\nnew known<unknown>;") == "?");
    const auto enumerated = [&](const char* before, const char* behind) {
        return type_of(std::string{before} + "unknown" + behind + "\nnew known<unknown>;");
    };
    CHECK(enumerated("enum { ", " };") == "known<0>");
    CHECK(enumerated("enum other : int { a, b = f(1, 2), c = 7, d, ", ", e = 3 };") == "known<9>");
    CHECK(enumerated("enum { a = 1 + 1, ", " };") == "?");
    CHECK(enumerated("enum { a, ", " = 3 + a };") == "?");
    CHECK(enumerated("enum { a, LIST(b) ", " };") == "?");
    CHECK(enumerated("enum { a,\n#ifdef B\nb,\n#endif\n", " };") == "?");
    CHECK(enumerated("enum { a, ", " }; enum { b, unknown };") == "?");
    CHECK(enumerated("enum { a, ", " }; void f() { int unknown = 7; }") == "?");
    CHECK(enumerated("enum class wind { a, ", " };") == "?");
    CHECK(type_of("new unsigned long[3];") == "unsigned long");
    CHECK(type_of("new std::vector<int>;") == "std::vector<int>");
    CHECK(type_of("new std::vector<unknown>;") == "?");
    CHECK(type_of("using std::deque;\nnew deque<int>;") == "std::deque<int>");
    CHECK(type_of("using std::string, std::deque;\nnew deque<string>;") ==
          "std::deque<std::string>");
    // What the file itself defines.
    for (const char* definition :
         {"struct own {};", "class own : known {};", "struct own final {};", "union own {};",
          "enum own : int {};", "using own = int;", "typedef int own;", "struct own::part {};",
          "namespace a::own {}"}) {
        CHECK(type_of(std::string(definition) + "\nnew own;") == "own");
    }
    CHECK(type_of("template <class own> void f();\nnew own;") == "?");
    CHECK(type_of("struct own;\nnew own;") == "?");
}

TEST_CASE("type_from_source: each of many expressions is found by its line") {
    std::string source = "auto* all = new group(\n";
    for (int i = 0; i < 5000; ++i) source += "  new a, new b(1),\n  new c,\n";
    source += "  nullptr);\n";
    const source_file file{source};
    source_cache sources;
    const auto* outline = sources.find(file.path().c_str());
    REQUIRE(outline != nullptr);
    for (int i = 0; i < 5000; i += 7) {
        const int line = 2 + 2 * i;
        using allocscope::symbolize::find_new_expression;
        const auto* first = find_new_expression(*outline, line, 3);
        const auto* second = find_new_expression(*outline, line, 17);  // the bracket of b(1)
        const auto* third = find_new_expression(*outline, line + 1, 0);
        REQUIRE(first != nullptr);
        REQUIRE(second != nullptr);
        REQUIRE(third != nullptr);
        CHECK(outline->tokens()[first->type_begin].spelling() == "a");
        CHECK(outline->tokens()[second->type_begin].spelling() == "b");
        CHECK(outline->tokens()[third->type_begin].spelling() == "c");
        CHECK(find_new_expression(*outline, line, 0) == nullptr);  // two of them
    }
    const auto* outer = allocscope::symbolize::find_new_expression(*outline, 10002, 0);
    REQUIRE(outer != nullptr);
    CHECK(outline->tokens()[outer->type_begin].spelling() == "group");
}

TEST_CASE("type_from_source: a `new` that is returned is what the function returns") {
    static const char* result = "";
    const auto seen = [](const char* returned, const std::string& source, const char* function) {
        result = returned;
        const allocscope_test::marked_source marked{source};
        allocscope::symbolize::type_knowledge knowledge;
        knowledge.meaning = [](void*, const allocscope::plain::text&,
                               allocscope::symbolize::asked_name wanted, arena&) {
            const bool is_result = wanted == allocscope::symbolize::asked_name::result;
            return allocscope::plain::text{is_result ? result : ""};
        };
        return type_at(marked.path(), marked.line(), marked.column(), function, knowledge);
    };
    const char* made = "void f() { return @new decltype(g())[3]; }";
    CHECK(seen("unsigned char*", made, "f()") == "unsigned char");
    CHECK(seen("app::part**", made, "f()") == "app::part*");
    CHECK(seen("app::part*", made, "f()") == "?");  // it may be a base class
    CHECK(seen("unsigned char", made, "f()") == "?");
    CHECK(seen("int*", "void f() { keep(@new decltype(g())[3]); }", "f()") == "?");
}

TEST_CASE("type_from_source: a pointer to a member") {
    CHECK(type_at_mark("struct box { int x; };\nauto* p = @new int box::*(&box::x);", "main") ==
          "int box::*");
    CHECK(type_at_mark("struct box { int x; };\nauto* p = @new int;", "main") == "int");
}
