#include <allocscope/types/implied_new.hpp>
#include <allocscope/types/type_ladder.hpp>

#include <doctest/doctest.h>

#include <string>

#include "unit/types/type_at_mark.hpp"

using allocscope::plain::arena;
using allocscope::plain::list;
using allocscope::plain::text;
using allocscope::symbolize::code_frame;
using allocscope::symbolize::known_fits;
using allocscope::symbolize::name_kind;
using allocscope::symbolize::size_fit;
using allocscope::symbolize::source_cache;
using allocscope::symbolize::source_places;
using allocscope::symbolize::type_answer;
using allocscope::symbolize::type_evidence;
using allocscope::symbolize::type_knowledge;

namespace {

// "part": certain; "part if as large": a candidate; "w, else part": refuted by its size; "?".
std::string type_at_mark(const std::string& source, const char* function = "main",
                         bool is_constructed = false, bool is_c = false) {
    const allocscope_test::marked_source marked{source};
    arena memory;
    code_frame frame;
    frame.function = function;
    frame.file = marked.path().c_str();
    frame.line = marked.line();
    frame.column = marked.column();
    list<code_frame> frames{memory};
    frames.push_back(frame);
    source_cache sources;
    allocscope::symbolize::read_names names{memory};
    type_knowledge knowledge;
    knowledge.is_c = is_c;
    knowledge.kind = [](void*, const text& name) {
        const bool is_type = name == "part" || name == "other" || name == "app";
        return is_type ? name_kind::type : name_kind::unknown;
    };
    if (is_constructed) {  // a part, at the place of the mark
        knowledge.made = [](void*, const text& own, const source_places&, arena&) {
            return own == "part" ? text{"app::part"} : text{};
        };
    }
    knowledge.bytes = [](void*, const text& name) { return std::uint64_t{name == "w" ? 16U : 8U}; };
    knowledge.meaning = [](void*, const text& name, allocscope::symbolize::asked_name, arena&) {
        const bool is_known = name == "l.items" || name == "w->l.items" || name == "p->items";
        return text{is_known ? "part*" : ""};
    };
    const type_answer answer = allocscope_test::name_type(names, frames, sources, knowledge);
    const std::string name{answer.name.data(), answer.name.size()};
    const std::string candidate{answer.candidate.data(), answer.candidate.size()};
    if (candidate.empty()) return name;
    return answer.is_known() ? name + ", else " + candidate : candidate + " if as large";
}

}  // namespace

TEST_CASE("implied_new: the initialiser of a member has a line of its own") {
    const allocscope_test::marked_source marked{
        "struct outer { struct pool; };\nstruct outer::@pool {\n    long n;\n    part* p = new "
        "part;\n};"};
    arena memory;
    code_frame frame;
    frame.function = "outer::pool::pool()";
    frame.file = marked.path().c_str();
    frame.line = marked.line();
    frame.column = marked.column();
    list<code_frame> frames{memory};
    frames.push_back(frame);
    source_cache sources;
    allocscope::symbolize::read_names names{memory};
    const type_answer answer = allocscope_test::name_type(names, frames, sources, {});
    CHECK(answer.name == "part");
    CHECK(frames[0].line == 4);
}

TEST_CASE("implied_new: the initialiser of a member, in a constructor that g++ makes") {
    const auto seen = [](const std::string& body) {
        return type_at_mark("struct @pool {" + body + "};", "app::pool::pool()");
    };
    CHECK(seen("long n = 3; part* p = new part;") == "part");
    CHECK(seen("part* p{new part(3)};") == "part");
    // What a function has is no initialiser, in whatever statement it is.
    CHECK(seen("part* p = new part; void f(int n) { int k = n; other* q = new other(k); }") ==
          "part");
    CHECK(seen("part* p = new part; struct in { int k = 3; other* q = new other; };") == "part");
    CHECK(seen("part* p = {new part};") == "part");
    CHECK(seen("box p = f({1}, {new part});") == "part");
    CHECK(seen("std::unique_ptr<part> p = std::unique_ptr<part>(new part);") == "part");
    CHECK(seen("void f() { new other; } part* p = new part; void g(other* o);") == "part");
    CHECK(seen("void f() { auto g = [=] { new other; }; } part* p{new part};") == "part");
    CHECK(seen("struct in { other* o = new other; }; part* p = new part;") == "part");
    CHECK(type_at_mark("template <class T> struct pool;\n"
                       "template <> struct @pool<char*> { part* p = new part; };",
                       "pool<char*>::pool()") == "part");
    CHECK(seen("part* p = new part; part* q = new part;") == "<part, part> if as large");
    CHECK(seen("part* p = new part; other* q = f({1}, new other);") == "<part, other> if as large");
    CHECK(seen("part* p = new part; other* q = new other[2];") == "?");
    CHECK(seen("void f() { new part; }") == "?");
    CHECK(seen("pool(int) : p(new part) {} part* p;") == "?");
    CHECK(seen("struct in { part* p = new part; };") == "?");
    CHECK(seen("part* p = MAKE(part); other* o = new other;") == "?");
    CHECK(seen("void f() { MAKE(other); } part* p = new part; bool operator==(pool);") == "part");
    CHECK(seen("part* p = make(3); other* o = new other;") == "?");  // make may be a macro
    CHECK(seen("part* p = new unknown;") == "?");
    // A `new` in a default argument would be placed there, too.
    CHECK(seen("other o; part* p = new part; }; struct other { other(int* n = new int);") == "?");
    CHECK(type_at_mark("struct base { base(int* n = new int); };\n"
                       "struct @pool : base { part* p = new part; };",
                       "pool::pool()") == "?");
    CHECK(type_at_mark("struct base { base(part* n = new part); };\n"
                       "struct @pool : base { part* p = new part; };",
                       "pool::pool()") == "part");
    const std::string array = "struct @pool final : base { part* p = new part[3]; };";
    CHECK(type_at_mark(array, "pool::pool()") == "part");
    CHECK(type_at_mark("struct @pool { part* p = new part; };", "run()") == "?");
    const char* of_template = "template <class T> struct @pool { T* p = new T; };";
    CHECK(type_at_mark(of_template, "pool<int>::pool()") == "int");
}

TEST_CASE("implied_new: the initialiser of a member, in a constructor that is inherited") {
    const auto seen = [](const std::string& body) {
        return type_at_mark("struct pool : base {" + body + "};", "pool::base(int)");
    };
    CHECK(seen("part* p = new part; using base::@base;") == "part");
    CHECK(seen("using base::@base; part* p = new part;") == "part");
    CHECK(seen("part* p = new part; void base(int) { f(3@); }") == "?");
}

TEST_CASE("implied_new: the initialiser of a member, in a constructor that is written") {
    const auto seen = [](const std::string& body, const std::string& behind = "") {
        return type_at_mark("struct pool {" + body + "};" + behind, "pool::pool(int)");
    };
    CHECK(seen("part* p = new part; pool(int) @{ f(); }") == "part");
    CHECK(seen("part* p = new part; int n; pool(int m) : n(m@) { f(); }") == "part");
    CHECK(seen("part* p = new part; pool(int);", "pool::pool(int) @{ f(); }") == "part");
    CHECK(seen("using call = std::function<bool(int)>; part* p = new part; pool(int) @{}") ==
          "part");
    CHECK(seen("bool is_made = made(3); part* p = new part; pool(int) @{}") == "?");
    CHECK(seen("part* p = new part; pool();", "@pool::pool() = default;") == "part");
    CHECK(seen("part* p = new part; @pool() = default; pool(int);") == "part");
    CHECK(seen("part* p = new part; @pool(); pool(int) = default;") == "?");
    CHECK(seen("part* p = new part; other* o; pool(int) : o(new other(3@)) {}") == "other");
    CHECK(seen("part* p = new part; other* o; pool(int) : o(f(new other)@) {}") == "?");
    CHECK(seen("part* p = new part; pool(int) { f(3@); }") == "?");
    CHECK(seen("part* p = new part; pool(int) @{}",
               "namespace n { struct pool { other* o = new other; }; }") == "?");
}

TEST_CASE("implied_new: a default argument is the type where the size says so") {
    const std::string run = "void run(int n, part* p = new part());\n";
    CHECK(type_at_mark(run + "run@(1);") == "part if as large");
    CHECK(type_at_mark(run + "@run(1);") == "part if as large");
    CHECK(type_at_mark(run + "@app::run(1);") == "part if as large");
    CHECK(type_at_mark(run + "walk@(1);") == "?");
    const std::string w = "struct w { w(int, part* p = new part); };\n";
    CHECK(type_at_mark(w + "auto* o = @new w(3);") == "w");
    CHECK(type_at_mark(w + "auto* o = new w(3@);") == "w, else part");
    CHECK(type_at_mark(w + "auto* o = new @w;") == "w, else part");
    CHECK(type_at_mark(w + "auto* o = new @w(3);") == "part if as large");  // clang's, of the part
    const std::string same = "struct other { other(int, part* p = new part); };\n";
    CHECK(type_at_mark(same + "auto* o = new other(3@);") == "?");  // both have 8 bytes
    CHECK(type_at_mark(same + "auto* o = @new other(3);") == "other");
    CHECK(type_at_mark(w + "take@(new w);") == "w");
    CHECK(type_at_mark(w + "void take(w*, part* p = new part);\ntake@(new w);") == "w, else part");
    CHECK(type_at_mark("void take(other*, part* p = new part);\ntake@(new other);") == "?");
    CHECK(type_at_mark(w + "w one(3@);") == "part if as large");
    CHECK(type_at_mark(w + "w @one(3);") == "part if as large");
    CHECK(type_at_mark(run + "void run(other* o = new other);\nrun@(1);") == "?");
    CHECK(type_at_mark("void run(part* p = new part, other* o = f(new other));\nrun@(1);") == "?");
    CHECK(type_at_mark("template <class T> void run(T* p = new T);\nrun@<int>();") == "?");
}

TEST_CASE("implied_new: gcc places what a macro asks for at the call around it") {
    const auto in_c = [](const std::string& statement) {
        return type_at_mark("#define GET(T) ((T*)malloc(sizeof(T)))\n" + statement, "main", false,
                            true);
    };
    CHECK(in_c("; @keep(GET(part));") == "part");
    CHECK(in_c("; @keep(n, (void*)GET(struct part));") == "part");
    CHECK(in_c("; @keep(GET(part), GET(other));") == "?");
    CHECK(in_c("; @keep(malloc(n), GET(other));") == "?");
    CHECK(in_c("; @keep(GET(other), UNKNOWN(3));") == "?");
    CHECK(type_at_mark("#define GET(T) ((T*)malloc(sizeof(T)))\n; @keep(GET(part));") == "?");
}

TEST_CASE("implied_new: what is asked for in the arguments of a macro") {
    const std::string keep = "#define KEEP(p) (kept[count++] = (p))\n";
    CHECK(type_at_mark(keep + "; @KEEP((part*)malloc(3 * sizeof(part)));") == "part");
    CHECK(type_at_mark(keep + "; @KEEP(malloc(n));") == "?");
    CHECK(type_at_mark(keep + "; @KEEP(f(GET(n), (part*)malloc(sizeof(part))));") ==
          "part if as large");
}

TEST_CASE("implied_new: the size is that of what an argument of the macro points to") {
    const std::string get = "#define GET(p) ((p) = malloc(sizeof(*(p))))\n";
    const std::string list = "struct list { other* last; part** parts; }; ";
    CHECK(type_at_mark(get + "void f() { other* o; part* q; @GET(q); }") == "part");
    CHECK(type_at_mark(get + list + "void f(list* l) { @GET(l->parts[2]); }") == "part");
    CHECK(type_at_mark(get + list + "void f(list* l) { @GET(l->last); }") == "other");
    CHECK(type_at_mark(get + "void f() { other* o; @GET(q); }") == "?");
    CHECK(type_at_mark(get + "void f() { other* o; @GET(o[1].q); }") == "?");
    const std::string make = "#define MAKE(p) other* p = malloc(sizeof(*p))\n";
    CHECK(type_at_mark(make + "void f() { part* q; if (q) { @MAKE(q); } }") == "?");
}

TEST_CASE("implied_new: the size stands in the argument of a macro") {
    const std::string get = "#define GET(n) (malloc(n))\n";
    const std::string own = "#ifndef GET\n" + get + "#endif\n";
    const std::string other = "#if A\n#define GET(n) take(n)\n#else\n" + get + "#endif\n";
    for (const std::string& definition : {get, own, other}) {
        CHECK(type_at_mark(definition + "; l.first = (part*)@GET(3 * sizeof(part));") == "part");
        CHECK(type_at_mark(definition + "; part* p =\n    @GET(sizeof(part));") == "part");
        CHECK(type_at_mark(definition + "; part* p = f(2) ? (part*)@GET(sizeof(part)) : q;") ==
              "part");
        CHECK(type_at_mark(definition + "; (void)@GET(sizeof(part));") == "?");  // a variable?
        CHECK(type_at_mark(definition + "; part* p = (part*)@GET(sizeof(part) + n);") == "?");
    }
    CHECK(type_at_mark("#ifndef GET\n#define GET(n) malloc(n)\n#endif\n; q = (char*)@GET(n);") ==
          "char if as large");
    CHECK(type_at_mark("#define MAKE(T) new T\nif (f(2)) @MAKE(part);") == "part");
    const std::string set =
        "#define SET(v) u.v = v;\n#define SET(v)\nSET(new part) @SET(new other)";
    CHECK(type_at_mark(set) == "?");
    CHECK(type_at_mark("part* p = new part @UNKNOWN(3);") == "?");
    CHECK(type_at_mark("#define MAKE new part\nvoid f() { g(new other); }\n@MAKE;") == "part");
}

TEST_CASE("implied_new: what a macro makes is the type where the size says so") {
    const std::string make = "#define MAKE(T, ...) new T(__VA_ARGS__)  // one\n";
    CHECK(type_at_mark(make + "keep(@MAKE(part, 1, f(2)));") == "part if as large");
    CHECK(type_at_mark(make + "keep(@MAKE(part, 1, 'f', of, -3.5f));") == "part");
    CHECK(type_at_mark(make + "keep(@MAKE(part, n + 1, OTHERS));") == "part");
    CHECK(type_at_mark(make + "keep(@MAKE(part, f<int>(2)));") == "part if as large");
    CHECK(type_at_mark(make + "keep(@MAKE(part, other{2}));") == "part if as large");
    CHECK(type_at_mark(make + "keep(@MAKE(app::part));") == "app::part");
    CHECK(type_at_mark(make + "keep(@MAKE(std::map<int, char>));") == "?");  // two arguments
    CHECK(type_at_mark(make + "keep(@MAKE(unknown));") == "?");
    CHECK(type_at_mark(make + "void f() { using part = long; @MAKE(part); }") == "?");
    CHECK(type_at_mark(make + "struct s { struct part {}; void f() { @MAKE(part); } };") == "?");
    CHECK(type_at_mark(make + "template <class T> void f() { @MAKE(T); }", "void f<int>()") ==
          "int");
    CHECK(type_at_mark(make + "template <class T> void f() { @MAKE(T); }", "void f()") == "?");
    CHECK(type_at_mark("#define PART new part\nauto* p = @PART;") == "part");
    CHECK(type_at_mark("#define PART new part\nauto* p = PART(3@);") == "part");
    CHECK(type_at_mark("#define SOME(T, n) (new T[n])\nauto* p = @SOME(part, 3);") == "part");
    CHECK(type_at_mark("#define SOME(T, n) (new T[n])\nauto* p = @SOME(part, f(3));") ==
          "part if as large");
    CHECK(type_at_mark("#define MAKE(T) (new T)\nauto* p = @MAKE(part);") == "part");
    CHECK(type_at_mark("#define MAKE(T) new T\nauto* p = MAKE(part)(@);") == "part");
    CHECK(type_at_mark("#define MAKE(T) new T\nauto* p = @MAKE(std::map<part, int>);") == "?");
    CHECK(type_at_mark("#define MAKE(T) new T\nauto* p = @MAKE(app::other<part>);") ==
          "app::other<part>");
    CHECK(type_at_mark("#define MAKE(n) (new part[n][2])\nauto* p = @MAKE(3);") == "part");
    CHECK(type_at_mark("#define MAKE(T) f(new T)\nauto* p = @MAKE(part);") == "part if as large");
    CHECK(type_at_mark("#define MAKE(T) new T\nauto* p = MAKE(part){@};") == "part");
    const std::string keep = "#define KEEP(...) keep(new __VA_ARGS__)\n";
    CHECK(type_at_mark(keep + "; @KEEP(part);") == "part if as large");
    CHECK(type_at_mark(keep + "; @KEEP(app::part(1, 2));") == "app::part if as large");
    CHECK(type_at_mark(keep + "; @KEEP(app::part{1, f(2, 3)});") == "app::part if as large");
    const std::string bytes = "#define BYTES(T, n) ((T*)malloc((n) * sizeof(T)))\n";
    CHECK(type_at_mark(bytes + "; @BYTES(part, 3);") == "part");
    CHECK(type_at_mark(bytes + "; @BYTES(long, n + 3);") == "long");
    CHECK(type_at_mark(bytes + "; @BYTES(part, f(3));") == "part");
    CHECK(type_at_mark(bytes + "; @BYTES(unknown, 3);") == "?");
    CHECK(type_at_mark("#define ONE(T) static_cast<T*>(std::malloc(sizeof(T)))\n; @ONE(part);") ==
          "part");
    CHECK(type_at_mark("#define ONE(T) f((T*)malloc(sizeof(T)))\n; @ONE(part);") ==
          "part if as large");
    const std::string declared = "static void* f(void* block);\n";
    CHECK(type_at_mark(declared + "#define ONE(T) ((T*)f(malloc(sizeof(T))))\n; @ONE(part);") ==
          "part");
    CHECK(type_at_mark(declared + "#define ONE(T) ((T*)g(malloc(sizeof(T))))\n; @ONE(part);") ==
          "part if as large");
    CHECK(type_at_mark("#define TWO(T) f((T*)malloc(sizeof(T)), malloc(8))\n; @TWO(part);") == "?");
    CHECK(type_at_mark("#define TWO(T) f(new T, new T)\n@TWO(part);") == "?");
    CHECK(type_at_mark("#define TWO(T) f(new (g) T, new T)\n@TWO(part);") == "?");
    CHECK(type_at_mark("#define JOIN(T) new T##_s\n@JOIN(part);") == "?");
    CHECK(type_at_mark("#define P part\n#define MAKE() new P\n@MAKE();") == "?");
    CHECK(type_at_mark("#define P part\n#define MAKE(T) new T\n@MAKE(P);") == "?");
    CHECK(type_at_mark("#if A\n#define MAKE new part\n#endif\n@MAKE;") == "?");
    CHECK(type_at_mark("#define MAKE new part\n#undef MAKE\n@MAKE;") == "?");
    CHECK(type_at_mark("#define MAKE new part\n#define MAKE new other\n@MAKE;") == "?");
}

TEST_CASE("implied_new: the macro writes the function that asks") {
    const std::string test =
        "#define CASE(T) struct T##_case : part { static part* make() { return new T; } }; int n = "
        "count(T());\n";
    CHECK(type_at_mark(test + "; @CASE(other)", "other_case::make()") == "other");
    CHECK(type_at_mark(test + "; @CASE(other)", "other_case::other_case()") == "other if as large");
    CHECK(type_at_mark("#define CASE(T) part* make() { count(T()); return new T; }\n; @CASE(other)",
                       "make()") == "other if as large");
}

TEST_CASE("implied_new: the macro writes several functions, of which that of the frame asks") {
    const std::string table =
        "#define TABLE(name) struct name##_head { name* first; }; \\\n"
        "  static name##_head* name##_make() { return (name##_head*)malloc(sizeof(name##_head)); } "
        "\\\n"
        "  static void name##_put(const char* key) { keep((name*)malloc(sizeof(name)), "
        "strdup(key)); }\n"
        "static void keep(part* p, char* key);\nstruct part_head;\n; @TABLE(part)";
    CHECK(type_at_mark(table, "part_put(char const*)") == "part");
    CHECK(type_at_mark(table, "part_make()") == "?");  // nobody knows a part_head
    CHECK(type_at_mark(table, "part_get()") == "?");
    CHECK(type_at_mark("#define TWO(T) T* T##_make() { return keep(new T, new T); } T* one() { "
                       "return new T; }\n; @TWO(part)",
                       "part_make()") == "?");
}

TEST_CASE("implied_new: a macro stands for `new`") {
    CHECK(type_at_mark("#define NEW new\nauto* p = @NEW part;") == "part");
    CHECK(type_at_mark("#define NEW ::new\nauto* p = NEW part(1, f(2)@);") == "part");
    CHECK(type_at_mark("#define NEW new\nauto* p = NEW part[3@];") == "part");
    CHECK(type_at_mark("#define NEW new (__FILE__, __LINE__)\nauto* p = NEW part(3@);") == "?");
    CHECK(type_at_mark("#define NEW new (place)\nauto* p = @NEW part(3);") == "?");
    CHECK(type_at_mark("#define NEW renew\nauto* p = @NEW part;") == "?");
    CHECK(type_at_mark("#define NEW new\nauto* p = NEW part(f(3@));") == "?");
}

TEST_CASE("implied_new: the code constructs what the macro makes") {
    const auto constructed = [](const std::string& source) {
        return type_at_mark(source, "main", true);
    };
    const std::string make = "#define MAKE(T) wrap(new T(3))\n";
    CHECK(constructed(make + "; @MAKE(part);") == "part");
    CHECK(constructed(make + "; @MAKE(app::part);") == "app::part");
    CHECK(constructed(make + "; @MAKE(other);") == "other if as large");
    CHECK(type_at_mark(make + "; @MAKE(part);") == "part if as large");
    // WRAP may be a macro of another file.
    CHECK(constructed("#define MAKE(T) WRAP(new T(3))\n; @MAKE(part);") == "part if as large");
    CHECK(constructed("#define ONE(T) f((T*)malloc(sizeof(T)))\n; @ONE(part);") ==
          "part if as large");
}

TEST_CASE("implied_new: a macro of a header in the folder of the file") {
    const auto seen = [](const std::string& header, const std::string& use) {
        const allocscope_test::source_file included{header};
        const std::string name = included.path().substr(included.path().rfind('/') + 1);
        return type_at_mark("#include \"" + name + "\"\n" + use);
    };
    const std::string guard = "#ifndef PARTS_HPP\n#define PARTS_HPP\n";
    const std::string make = "#define MAKE(T) new T(#T)\n";
    CHECK(seen(make, "keep(@MAKE(part));") == "part if as large");
    CHECK(seen(guard + make + "#endif\n", "keep(@MAKE(part));") == "part if as large");
    // The file may show the scopes of what stands in its arguments.
    CHECK(seen(make,
               "namespace yard { struct spade { int n; }; void* f() { return "
               "@MAKE(spade); } }") == "yard::spade if as large");
    // The size of an array is that of several.
    const std::string some = "#define SOME(T, n) (new T[(n)]())\n";
    CHECK(seen(some, "keep(@SOME(part, 2));") == "part");
    CHECK(seen("#ifdef FAST\n" + some + "#endif\n", "keep(@SOME(part, 2));") == "part if as large");
    // Of several definitions it is the one that asks, if only one does.
    CHECK(seen("#ifdef FAST\n" + make + "#endif\n", "keep(@MAKE(part));") == "part if as large");
    CHECK(seen("#ifdef FAST\n#define MAKE(T) take<T>()\n#else\n" + make + "#endif\n",
               "keep(@MAKE(part));") == "part if as large");
    CHECK(seen("#ifdef FAST\n#define MAKE(T) new T[2]\n#else\n" + make + "#endif\n",
               "keep(@MAKE(part));") == "?");
    CHECK(seen(make + "#undef MAKE\n", "keep(@MAKE(part));") == "part if as large");
    // Something else may define it otherwise.
    const std::string own = "#ifndef MAKE\n// by default\n#define MAKE(T) new T\n#endif\n";
    CHECK(seen(own, "keep(@MAKE(part));") == "part if as large");
    CHECK(seen(guard + own + "#endif\n", "keep(@MAKE(part));") == "part if as large");
    CHECK(type_at_mark(own + "int n; @MAKE(part);") == "part if as large");
    CHECK(seen("#if A\n" + own + "#endif\n", "keep(@MAKE(part));") == "part if as large");
    const std::string through = "\n#define MAKE(T) MADE(T)\n#endif\n#define MADE(T) new T\n";
    CHECK(seen("#ifndef MAKE" + through, "keep(@MAKE(part));") == "part if as large");
    CHECK(seen("#ifndef OTHER" + through, "keep(@MAKE(part));") == "?");
    CHECK(seen("#ifndef B\n#ifndef MAKE\n#endif\n#define MAKE(T) new T\n#endif\n",
               "keep(@MAKE(part));") == "part if as large");
    CHECK(seen(make, "#define MAKE(T) new T\nkeep(@MAKE(part));") == "?");
    const std::string pasted =
        "#define TEST(a, b) struct a##b { void* f() { return new a##b; } }\n";
    CHECK(seen(pasted + "#define CASE(b) TEST(pa, b)\n", "int n; @CASE(rt);") ==
          "part if as large");
    // With the size in any case: note() may allocate at the same place.
    const std::string around = "#define MAKE(T) new T\n#define KEEP(T) keep(note(), MAKE(T))\n";
    CHECK(type_at_mark(around + "int n; @KEEP(part);") == "part if as large");
    CHECK(type_at_mark("#define part other\n#define MAKE new part\nint n; @MAKE;") == "?");
    const std::string others = "#define CHECK(n) if (!(n)) fail()\n" + make;
    CHECK(type_at_mark(others + "#define NAMED(T) MAKE(T); CHECK(1)\nint n; @NAMED(part);") ==
          "part if as large");
    CHECK(type_at_mark(others + "#define TWICE(T) MAKE(T), MAKE(T)\nint n; @TWICE(part);") == "?");
    CHECK(type_at_mark(others + "#define ROW(T) MAKE(T)\n#define BOTH(T) ROW(T), MAKE(T)\n"
                                "int n; @BOTH(part);") == "?");
    const std::string maybe = "#if A\n#define NOTE(n) new other\n#endif\n" + make;
    CHECK(type_at_mark(maybe + "#define NAMED(T) MAKE(T); NOTE(1)\nint n; @NAMED(part);") == "?");
    // Both definitions ask: which one counts is not certain.
    const std::string either =
        "#if A\n#define NOTE(n) new other\n#else\n"
        "#define NOTE(n) new third\n#endif\n" +
        make;
    CHECK(type_at_mark(either + "#define NAMED(T) MAKE(T); NOTE(1)\nint n; @NAMED(part);") == "?");
    const allocscope_test::source_file included{make};
    const std::string again = "#include \".." + included.path() + "\"\n#include \"" +
                              included.path().substr(included.path().rfind('/') + 1) + "\"\n";
    CHECK(type_at_mark(again + "keep(@MAKE(part));") == "part if as large");
    const std::string two = "#define ALL(T) new T, MAKE(T)\n";
    CHECK(seen(make + two, "keep(@ALL(part));") == "?");
}

TEST_CASE("implied_new: a macro of a header that asks for bytes, under conditions of its own") {
    const auto seen = [](const std::string& header, const std::string& use) {
        const allocscope_test::source_file included{header};
        const std::string name = included.path().substr(included.path().rfind('/') + 1);
        return type_at_mark("#include \"" + name + "\"\n" + use);
    };
    const std::string grow = "(v).a = (T*)realloc((v).a, sizeof(T) * (v).m)";
    const std::string push = "#define PUSH(T, v) do { if ((v).n >= (v).m) { " + grow + "; } ";
    const std::string use = "void run(list l) { @PUSH(part, l); }";
    CHECK(seen(push + "(v).a[(v).n++] = 1; } while (0)\n", use) == "part");
    CHECK(seen(push + "for (;;) keep(); } while (0)\n", use) == "part if as large");
    CHECK(seen(push + "{ CHECK{v}; } } while (0)\n", use) == "part if as large");
    CHECK(seen("#define PUSH(T, v) do { if (full(v)) " + grow + "; } while (0)\n", use) ==
          "part if as large");
    CHECK(seen("#ifndef PUSH\n" + push + "} while (0)\n#endif\n", use) == "part if as large");
    CHECK(type_at_mark(push + "} while (0)\n" + use) == "part");
}

TEST_CASE("implied_new: a macro with sizeof of a variable that it has in brackets") {
    const auto seen = [&](const std::string& size, const std::string& argument) {
        return type_at_mark("#define GROW(v) do { (v)->items = realloc((v)->items, n * sizeof(" +
                            size + ")); } while (0)\nvoid run() { @GROW(" + argument + "); }");
    };
    CHECK(seen("*(v)->items", "p") == "part");
    CHECK(seen("(v)->items[0]", "p") == "part");
    CHECK(seen("*(v)->items", "&l") == "part");
    CHECK(seen("(v)->items[0]", "&w->l") == "part");
    CHECK(seen("*(v).items", "w->l") == "part");
    CHECK(seen("*(v)->items", "&GROW") == "?");
    CHECK(seen("*(v.items)", "l") == "part");
    CHECK(seen("(*(v)).items[0]", "p") == "part");
    CHECK(seen("*(v).items", "*p") == "part");
    CHECK(seen("(v).items[0]", "*w->p") == "?");
    CHECK(seen("*(v)->items", "*p") == "?");
    // Other brackets are needed.
    CHECK(seen("(*v)->items", "p") == "?");
    CHECK(seen("*f(v).items", "l") == "?");
}

TEST_CASE("implied_new: a template whose constructor nobody knows has no type") {
    const std::string box =
        "struct part {};\ntemplate <class T> struct box { box(T value); };\nauto* p = ";
    CHECK(type_at_mark(box + "@new box(part());") == "?");
    CHECK(type_at_mark(box + "@new box(x);") == "?");
    CHECK(type_at_mark(box + "@new box<int>(1);") == "box<int>");
    CHECK(type_at_mark("auto* p = @new std::vector(x);") == "?");
}

TEST_CASE("implied_new: a candidate is the type when the block is as large") {
    arena memory;
    const auto seen = [&](type_answer so_far, size_fit of_answer, size_fit of_candidate,
                          const char* symbol = "", const char* candidate = "part") {
        so_far.candidate = candidate;
        known_fits fits{size_fit::unknown, of_answer, of_candidate};
        const type_answer made = allocscope::symbolize::with_vtable(memory, so_far, symbol, fits);
        CHECK(made.candidate.empty());
        return std::string{made.name.data(), made.name.size()};
    };
    const type_answer source{"w", type_evidence::source_text};
    CHECK(seen({}, size_fit::unknown, size_fit::same) == "part");
    CHECK(seen({}, size_fit::unknown, size_fit::other) == "?");
    CHECK(seen({}, size_fit::unknown, size_fit::unknown) == "?");
    CHECK(seen(source, size_fit::other, size_fit::same) == "part");
    CHECK(seen(source, size_fit::other, size_fit::other) == "?");
    CHECK(seen(source, size_fit::same, size_fit::same) == "w");
    CHECK(seen(source, size_fit::unknown, size_fit::same) == "w");
    CHECK(seen({}, size_fit::unknown, size_fit::same, "vtable for app::part") == "app::part");
    // What stands in the block is printed, but the block is as large as the whole class.
    CHECK(seen({}, size_fit::unknown, size_fit::same, "", "boost::any::holder<char>") == "char");
}
