#include <allocscope/types/type_from_source.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "unit/types/type_at_mark.hpp"

using allocscope::plain::arena;
using allocscope_test::source_file;
using allocscope_test::type_at;
using allocscope_test::type_at_mark;

TEST_CASE("sizes_in_requests: the size of what a pointer points to") {
    const auto type_of = [](const std::string& call) {
        const source_file file{"void f(part* p) { p = (part*)" + call + "; }\n"};
        allocscope::symbolize::type_knowledge knowledge;
        knowledge.meaning = [](void*, const allocscope::plain::text& name,
                               allocscope::symbolize::asked_name, arena&) {
            if (name == "p") return allocscope::plain::text{"part*"};
            return allocscope::plain::text{name == "pp" ? "part**" : name == "n" ? "int" : ""};
        };
        return type_at(file.path(), 1, 0, "f(part*)", knowledge);
    };
    CHECK(type_of("malloc(sizeof *p)") == "part");
    CHECK(type_of("calloc(3, sizeof(*p))") == "part");
    CHECK(type_of("realloc(p, sizeof *p * 3)") == "part");
    CHECK(type_of("malloc(n * sizeof(*p))") == "part");
    CHECK(type_of("malloc(sizeof(p[0]))") == "part");
    CHECK(type_of("calloc(n, sizeof p[0])") == "part");
    CHECK(type_of("malloc(n * sizeof **pp)") == "part");
    CHECK(type_of("malloc(n * sizeof **p)") == "?");
    CHECK(type_of("malloc(sizeof(p[1]))") == "?");  // p may be a type, and this an array
    CHECK(type_of("malloc(sizeof(n[0]))") == "?");
    CHECK(type_of("malloc(sizeof *n)") == "?");
    CHECK(type_of("malloc(sizeof *q)") == "?");
    CHECK(type_of("malloc(n * sizeof *pp[i + 1])") == "part");
    CHECK(type_of("malloc(n * sizeof(*pp[1]))") == "part");
    CHECK(type_of("malloc(n * sizeof(*(pp[1])))") == "part");
    CHECK(type_of("malloc(n * sizeof(*(p)))") == "part");
    CHECK(type_of("malloc(n * sizeof(*(pp[1]) + 1))") == "?");
    CHECK(type_of("malloc(n * sizeof pp[1])") == "?");
    CHECK(type_of("malloc(n * sizeof *pp[1].n)") == "?");
    CHECK(type_of("malloc(sizeof *p[0])") == "?");
    CHECK(type_of("malloc(sizeof(*p[0]))") == "?");
    CHECK(type_of("malloc(sizeof *p + 8)") == "?");
    CHECK(type_of("malloc(sizeof p[0].n)") == "?");
    CHECK(type_of("malloc(sizeof *p * sizeof(part))") == "?");
    CHECK(type_of("malloc(sizeof(p))") == "?");
    CHECK(type_of("aligned_alloc(64, n * sizeof *p)") == "part");
    CHECK(type_of("aligned_alloc(sizeof *p, n)") == "?");
    CHECK(type_of("reallocarray(p, n, sizeof *p)") == "part");
    CHECK(type_of("posix_memalign(&q, 64, sizeof *p)") == "part");
    CHECK(type_of("posix_memalign(&q, sizeof *p, n)") == "?");
}

TEST_CASE("sizes_in_requests: without debug information, a declaration tells what is pointed to") {
    const auto type_of = [](const std::string& statements) {
        const source_file file{"struct part* f(part* a) { " + statements + " }\n"};
        return type_at(file.path(), 1, 0, "f");
    };
    CHECK(type_of("struct part* p = malloc(sizeof *p);") == "part");
    CHECK(type_of("part *p; if (!a) return 0; p = malloc(sizeof(*p));") == "part");
    CHECK(type_of("part **p = malloc(3 * sizeof *p);") == "part*");
    CHECK(type_of("a = calloc(3, sizeof(*a));") == "part");
    CHECK(type_of("part (*rows)[4] = malloc(3 * sizeof *rows);") == "part");
    CHECK(type_of("char *(*rows)[4]; rows = calloc(3, sizeof(*rows));") == "char*");
    CHECK(type_of("if (a) { part (*rows)[4]; } rows = calloc(3, sizeof(*rows));") == "?");
    CHECK(type_of("part (*run)(int) = malloc(3 * sizeof *run);") == "?");
    CHECK(type_of("if ((*rows)[2]) rows = malloc(3 * sizeof *rows);") == "?");
    CHECK(type_of("part **p = q(); while ((*p)[2]) { p = malloc(sizeof *p); }") == "part*");
    CHECK(type_of("p = malloc(sizeof *p);") == "?");
    CHECK(type_of("if (n) { part *p; } p = malloc(sizeof *p);") == "?");
    CHECK(type_of("part** p = q(); while (*p) p = &(*p)->next; *p = malloc(sizeof **p);") ==
          "part");
    CHECK(type_of("part* p = q(); { other *o = r(), *p = o; p = malloc(sizeof *p); }") == "?");
    const std::string list =
        "struct list { struct part** parts; char* text; }; struct list* l = q(); ";
    CHECK(type_of(list + "l->parts = realloc(l->parts, n * sizeof *l->parts);") == "part*");
    CHECK(type_of(list + "l->text = malloc(n);") == "char");
    CHECK(type_of(list + "l->parts = malloc(sizeof *l->other);") == "?");
    CHECK(type_of("list* l = q(); l->parts = malloc(sizeof *l->parts);") == "?");
    const std::string body = "struct line { char* text; } ";
    const std::string use = " line_t* l = q(); l->text = malloc(n);";
    CHECK(type_of("typedef " + body + "line_t;" + use) == "char");
    CHECK(type_of(body + "; typedef struct line line_t;" + use) == "char");
    CHECK(type_of("typedef struct { char* text; } line_t;" + use) == "char");
    CHECK(type_of("typedef struct { char* other; } line_t;" + use) == "?");
    CHECK(type_of("typedef struct line line_t;" + use) == "?");
}

TEST_CASE("sizes_in_requests: with -g1, a header has the class of a member") {
    const source_file header{
        "struct list { part** parts; char* text; };\n"
        "template <class T> struct any { T* text; };\n"
        "typedef struct { long n; } part_t;\n"};
    const std::string name = header.path().substr(header.path().rfind('/') + 1);
    const auto type_of = [&](const std::string& statements, bool is_c = false) {
        const source_file file{"#include \"" + name + "\"\nvoid f(list* l, any<int>* a) { " +
                               statements + " }\n"};
        allocscope::symbolize::type_knowledge knowledge;
        knowledge.kind = [](void*, const allocscope::plain::text&) {
            return allocscope::symbolize::name_kind::undescribed;
        };
        knowledge.is_c = is_c;
        return type_at(file.path(), 2, 0, "f", knowledge);
    };
    CHECK(type_of("l->parts = malloc(3 * sizeof *l->parts);") == "part*");
    CHECK(type_of("l->parts[1] = malloc(sizeof *l->parts[1]);") == "part");
    CHECK(type_of("l->other = malloc(3 * sizeof *l->other);") == "?");
    CHECK(type_of("a->text = malloc(3 * sizeof *a->text);") == "?");
    CHECK(type_of("l->text = (void*)malloc(sizeof(part_t));", true) == "part_t");
    CHECK(type_of("int part_t; l->any = malloc(sizeof(part_t));", true) == "?");
    CHECK(type_of("l->any = malloc(sizeof(other_t));", true) == "?");
}

TEST_CASE("sizes_in_requests: in C, an alias of a header is no variable") {
    const auto type_of = [](const std::string& source, bool is_c = true) {
        const source_file file{source + "\n"};
        allocscope::symbolize::type_knowledge knowledge;
        using allocscope::symbolize::name_kind;
        knowledge.kind = [](void*, const allocscope::plain::text&) { return name_kind::type; };
        knowledge.bytes = [](void*, const allocscope::plain::text& name) -> std::uint64_t {
            return name == "part_t" ? 0 : 24;  // of an alias, and of a structure
        };
        knowledge.is_c = is_c;
        return type_at(file.path(), 1, 0, "f", knowledge);
    };
    CHECK(type_of("void f() { p->q = malloc(sizeof(part_t)); }") == "part_t");
    CHECK(type_of("void f() { p->q = malloc(sizeof(part_t)); }", false) == "?");
    CHECK(type_of("void f(long part_t) { p->q = malloc(sizeof(part_t)); }") == "?");
    CHECK(type_of("void f() { p->q = malloc(sizeof(part)); }") == "?");  // `struct part part;`
    // With -g1, the file has to declare it.
    const auto with_g1 = [](const std::string& source) {
        const source_file file{source + "\n"};
        allocscope::symbolize::type_knowledge knowledge;
        knowledge.kind = [](void*, const allocscope::plain::text&) {
            return allocscope::symbolize::name_kind::undescribed;
        };
        knowledge.is_c = true;
        return type_at(file.path(), 1, 0, "f", knowledge);
    };
    const std::string alias = "typedef struct { long n; } part_t; ";
    CHECK(with_g1(alias + "void f() { p->q = malloc(sizeof(part_t)); }") == "part_t");
    CHECK(with_g1(alias + "void f(int part_t) { p->q = malloc(sizeof(part_t)); }") == "?");
    CHECK(with_g1("void f() { p->q = malloc(sizeof(part_t)); }") == "?");
    CHECK(with_g1("void f() { p->q = malloc(n * sizeof(uint32_t)); }") == "uint32_t");
}

TEST_CASE("sizes_in_requests: the name of a class that no variable has") {
    const auto type_of = [](const std::string& source, bool is_described = true) {
        const source_file file{"struct part { long n; };\n" + source + "\n"};
        allocscope::symbolize::type_knowledge knowledge;
        using allocscope::symbolize::name_kind;
        knowledge.context = &is_described;
        knowledge.kind = [](void* is_known, const allocscope::plain::text&) {
            return *static_cast<bool*>(is_known) ? name_kind::type : name_kind::undescribed;
        };
        return type_at(file.path(), 2, 0, "f()", knowledge);
    };
    CHECK(type_of("void f() { void* p = malloc(3 * sizeof(part)); }") == "part");
    CHECK(type_of("void f() { void* p = malloc(3 * sizeof(part)); }", false) == "part");
    CHECK(type_of("void f() { void* p = malloc(3 * sizeof(other)); }", false) == "?");
    CHECK(type_of("long part; void f() { void* p = malloc(3 * sizeof(part)); }", false) == "?");
    CHECK(type_of("void f(long part) { void* p = malloc(3 * sizeof(part)); }") == "?");
    CHECK(type_of("void f() { void* p = malloc(3 * sizeof(other)); }") == "?");
    CHECK(type_of("void f() { void* p = malloc(sizeof(part)); new (p) part; }") == "part");
    CHECK(type_of("void f() { void* p = malloc(sizeof(part)); new (p) other; }") == "?");
    CHECK(type_of("void f() { void* p = malloc(sizeof(part)); new (q) other; }") == "part");
    CHECK(type_of("void f() { keep(malloc(sizeof(part))); new (q) other; }") == "?");
}

TEST_CASE("sizes_in_requests: a number of characters") {
    const auto type_of = [](const std::string& statement) {
        const source_file file{"void f(long n) { " + statement + " }\n"};
        return type_at(file.path(), 1, 0, "f(long)");
    };
    CHECK(type_of("p = (char*)malloc(n + 1);") == "char");
    CHECK(type_of("return (unsigned char*)std::malloc(n);") == "unsigned char");
    CHECK(type_of("if ((p = (char*)realloc(p, n * 2)) == nullptr) throw 1;") == "char");
    CHECK(type_of("p = static_cast<unsigned char*>(std::malloc(n));") == "unsigned char");
    CHECK(type_of("char *p = malloc(strlen(s) + 1);") == "char");
    CHECK(type_of("unsigned char* const p = malloc(n);") == "unsigned char");
    CHECK(type_of("p = (char*)malloc(sizeof(\"a, b\") + n);") == "char");  // a number
    CHECK(type_of("both b = {1, (char*)malloc(10)};") == "char");
    CHECK(type_of("return both{static_cast<char*>(std::malloc(n)), 1};") == "char");
    CHECK(type_of("both b = {1, (char*)malloc(10) + 8};") == "?");
    CHECK(type_of("p = (char*)malloc(n + sizeof \"a\");") == "?");
    // What the characters are is not certain.
    CHECK(type_of("p = (part*)((char*)malloc(n + 8) + 8);") == "?");
    CHECK(type_of("p = (part*)(char*)malloc(n);") == "?");
    CHECK(type_of("p = (char*)malloc(sizeof(part) + n);") == "?");
    CHECK(type_of("p = (char*)malloc((sizeof(part) + 7) * n);") == "?");
    CHECK(type_of("p = (char**)malloc(n);") == "?");
    CHECK(type_of("char** p = malloc(n);") == "?");
    CHECK(type_of("p = (part*)malloc(n);") == "?");
    CHECK(type_of("p = (char)malloc(n);") == "?");
    CHECK(type_of("keep(static_cast<char*>(malloc(n)));") == "?");
    CHECK(type_of("p = (char*)pool.malloc(n);") == "?");
    CHECK(type_of("p = static_cast<char*>(::operator new(n));") == "?");
    CHECK(type_of("p = (char*)operator new[](n);") == "?");
}

TEST_CASE("sizes_in_requests: what a pointer to characters gets") {
    const auto type_of = [](const std::string& statement) {
        const source_file file{"void f(box* v, long n) { " + statement + " }\n"};
        allocscope::symbolize::type_knowledge knowledge;
        knowledge.meaning = [](void*, const allocscope::plain::text& name,
                               allocscope::symbolize::asked_name, arena&) {
            const bool is_text = name == "p" || name == "v->p" || name == "v->in.p";
            if (is_text) return allocscope::plain::text{"char*"};
            if (name == "b") return allocscope::plain::text{"_Bool*"};  // of C
            return allocscope::plain::text{name == "v" ? "box*" : name == "q" ? "char**" : ""};
        };
        return type_at(file.path(), 1, 0, "f(box*, long)", knowledge);
    };
    CHECK(type_of("p = malloc(n + 1);") == "char");
    CHECK(type_of("bytes_t* p = malloc(n);") == "char");
    CHECK(type_of("p = (bytes_t*)malloc(n);") == "char");
    CHECK(type_of("if (n) p = realloc(p, n * 2);") == "char");
    CHECK(type_of("if ((v->p = calloc(n, 1)) == 0) return;") == "char");
    CHECK(type_of("v->in.p = malloc(strlen(s) + 1);") == "char");
    CHECK(type_of("unsigned char* u; u = malloc(n);") == "unsigned char");
    CHECK(type_of("b = malloc(n);") == "bool");
    // Nobody keeps something else behind a pointer to these.
    CHECK(type_of("float* x = aligned_alloc(64, n);") == "float");
    CHECK(type_of("double* x = malloc(n);") == "double");
    CHECK(type_of("char* x = n ? v->p : malloc(n);") == "char");
    CHECK(type_of("p = v->get(n == 1, c = 2) != nullptr ? malloc(n) : v->p;") == "char");
    CHECK(type_of("auto x = n == 0 ? v->p : (char*)malloc(n);") == "char");
    CHECK(type_of("auto x = n ? v->p : malloc(n);") == "?");
    CHECK(type_of("f(n) ? v->p : malloc(n);") == "?");
    CHECK(type_of("int* x = n ? nullptr : malloc(n);") == "?");
    CHECK(type_of("int* x = malloc(n);") == "?");
    CHECK(type_of("double* x = malloc(sizeof(part) + n);") == "?");
    CHECK(type_of("v = malloc(n);") == "?");
    CHECK(type_of("q = malloc(n);") == "?");
    CHECK(type_of("v[0].p = malloc(n);") == "?");  // it is another p
    CHECK(type_of("box::p = malloc(n);") == "?");
    CHECK(type_of("p = malloc(sizeof(part) + n);") == "?");
    CHECK(type_of("p = ::operator new(n);") == "?");
    CHECK(type_of("p = q = malloc(n);") == "?");
}

TEST_CASE("sizes_in_requests: an object that ends with an array of any length") {
    const auto type_of = [](const std::string& member, const std::string& request) {
        const source_file file{"struct line { long n; " + member + " };\n" +
                               "void f(line* p, long n) { p = (line*)" + request + "; }\n"};
        return type_at(file.path(), 2, 0, "f(line*, long)");
    };
    CHECK(type_of("char text[];", "malloc(sizeof(line) + n + 1)") == "line");
    CHECK(type_of("char text[];", "malloc(sizeof *p + n * sizeof(char))") == "line");
    CHECK(type_of("char text[];", "calloc(1, n + sizeof(struct line))") == "line");
    CHECK(type_of("long more[1];", "realloc(p, sizeof(*p) + (n - 1) * sizeof(long))") == "line");
    CHECK(type_of("long more[0];", "malloc(sizeof(*p) + n)") == "line");
    CHECK(type_of("char text[];", "malloc(sizeof(line))") == "line");
    CHECK(type_of("char text[];", "malloc(offsetof(line, text) + n)") == "line");
    CHECK(type_of("char text[];", "malloc(offsetof(struct line, text[n]))") == "line");
    CHECK(type_of("char text[1]; line* next() { return this; }", "malloc(n + sizeof(line))") ==
          "line");
    CHECK(type_of("line* next() { return this; } char text[];", "malloc(sizeof(line) + n)") ==
          "line");
    const source_file scoped{
        "namespace app { struct line { long n; char text[1]; };\n"
        "line* f(long n) { return (line*)malloc(sizeof(line) - 1 + n); } }\n"};
    CHECK(type_at(scoped.path(), 2, 0, "app::f(long)") == "app::line");
    // What is behind these is another object.
    CHECK(type_of("char text[12];", "malloc(sizeof(line) + n)") == "?");
    CHECK(type_of("char* text;", "malloc(sizeof *p + n)") == "?");
    CHECK(type_of("char* text;", "malloc(offsetof(line, text) + n)") == "?");
    CHECK(type_of("int all[1]; int m;", "malloc(sizeof(line) + n)") == "?");
    CHECK(type_of("static int all[1];", "malloc(sizeof(line) + n)") == "?");
    CHECK(type_of("", "malloc(sizeof(line) + n)") == "?");
    CHECK(type_of("char text[];", "malloc(sizeof(long) + n)") == "?");
    CHECK(type_of("char text[];", "malloc(sizeof(line) * sizeof(long))") == "?");
}

TEST_CASE("sizes_in_requests: what an allocator hands out is no text") {
    const auto type_of = [](const std::string& result, const std::string& statements) {
        const source_file file{result + " get(long n) noexcept { " + statements + " }\n"};
        return type_at(file.path(), 1, 0, "get(long)");
    };
    CHECK(type_of("void*", "char* p = malloc(n); if (!p) abort(); return p;") == "?");
    CHECK(type_of("static void *", "char* p = (char*)malloc(n + 8); return p + 8;") == "?");
    CHECK(type_of("void* pool::", "char* p = malloc(n); { return (void*)p; }") == "?");
    CHECK(type_of("void*", "char* p = malloc(n); keep(p); return nullptr;") == "char");
    CHECK(type_of("void*", "char* p = malloc(n); return strcpy(p, all);") == "char");
    CHECK(type_of("void*", "char* p = malloc(n); return align(p, 16);") == "?");
    CHECK(type_of("char*", "char* p = malloc(n); return p;") == "char");
    CHECK(type_of("text", "char* p = malloc(n); return text{p, n};") == "char");
    CHECK(type_of("void*", "char* p = malloc(n * sizeof(long)); return p;") == "long");
}

TEST_CASE("sizes_in_requests: a factor may be a sum") {
    const auto type_of = [](const std::string& call) {
        const source_file file{"void f(part* p) { p = (part*)" + call + "; }\n"};
        return type_at(file.path(), 1, 0, "f(part*)");
    };
    CHECK(type_of("calloc(n + 1, sizeof(part))") == "part");
    CHECK(type_of("calloc(sizeof(part), n + 1)") == "part");
    CHECK(type_of("calloc(n, sizeof(part) + 1)") == "?");
    CHECK(type_of("calloc(sizeof(part) + 1, n)") == "?");
    CHECK(type_of("realloc(p, (sizeof(part) * (n + 1)))") == "part");
    CHECK(type_of("malloc((sizeof(part)))") == "part");
    CHECK(type_of("malloc((sizeof(part) + 1))") == "?");
    CHECK(type_of("malloc((sizeof(part) + 1) * n)") == "?");
}

TEST_CASE("sizes_in_requests: a request at the beginning of a file") {
    const source_file file{"malloc(n + 1);\n"};
    CHECK(type_at(file.path(), 1, 0, "f()") == "?");
}

TEST_CASE("sizes_in_requests: the arguments of a call at whose place it is") {
    const auto in_c = [](const std::string& source) {
        const allocscope_test::marked_source marked{source};
        allocscope::symbolize::type_knowledge knowledge;
        knowledge.is_c = true;
        return type_at(marked.path(), marked.line(), marked.column(), "main", knowledge);
    };
    CHECK(type_at_mark("keep@(malloc(4 * sizeof(int)));") == "int");  // g++
    CHECK(in_c("@keep(malloc(4 * sizeof(int)));") == "int");          // gcc
    CHECK(type_at_mark("@keep(malloc(4 * sizeof(int)));") == "?");
    CHECK(in_c("@keep(n, (part*)memcpy(malloc(sizeof(int)), p, 4));") == "int");
    CHECK(in_c("@keep(reallocarray(p, n, sizeof(int)));") == "int");
    CHECK(in_c("@keep(malloc(sizeof(int)), malloc(sizeof(long)));") == "?");
    CHECK(in_c("@keep(malloc(n), malloc(sizeof(long)));") == "?");
    CHECK(in_c("@keep(memalign(64, n), malloc(sizeof(long)));") == "?");
    CHECK(in_c("@keep(MAKE(part), malloc(sizeof(long)));") == "?");
    CHECK(in_c("@KEEP(malloc(sizeof(long)));") == "?");  // a macro may allocate, too
    CHECK(type_at_mark("void keep(void*, int* = new int);\nkeep@(malloc(sizeof(long)));") == "?");
}
