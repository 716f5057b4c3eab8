#include <allocscope/types/type_ladder.hpp>

#include <doctest/doctest.h>

#include <string>

#include "unit/types/type_at_mark.hpp"

using allocscope::plain::arena;
using allocscope::plain::list;
using allocscope::plain::text;
using allocscope::symbolize::code_frame;
using allocscope::symbolize::source_cache;

namespace {

// The functions grab() and take() stand at the marks in the first lines; main() calls one of them
// at the last mark.
std::string type_of(const std::string& source, const char* ending = "") {
    std::string plain;
    arena memory;
    list<code_frame> frames{memory};
    int line = 1;
    int column = 1;
    for (const char sign : source) {
        if (sign == '@') {
            code_frame frame;
            frame.function = frames.empty() ? "grab" : "take";
            frame.line = line;
            frame.column = column;
            frames.push_back(frame);
            continue;
        }
        plain += sign;
        column = sign == '\n' ? 1 : column + 1;
        line += sign == '\n' ? 1 : 0;
    }
    const allocscope_test::source_file file{plain, ending};
    for (code_frame& each : frames) each.file = file.path().c_str();
    frames.back().function = "main";
    source_cache sources;
    allocscope::symbolize::read_names names{memory};
    allocscope::symbolize::type_knowledge knowledge;
    knowledge.is_c = text{ending} == ".c";
    const auto answer = allocscope_test::name_type(names, frames, sources, knowledge);
    return std::string{answer.name.data(), answer.name.size()};
}

const std::string grab = "void* grab(unsigned long n) { return @malloc(n); }\n";

}  // namespace

TEST_CASE("wrapped_request: the caller of a function that hands on the size says the type") {
    CHECK(type_of(grab + "part* p = @grab(sizeof(part));") == "part");
    CHECK(type_of(grab + "part* p = grab(sizeof(part)@);") == "part");  // as g++ places it in C++
    CHECK(type_of(grab + "void* p = @grab(3 * sizeof(struct part));") == "part");
    CHECK(type_of(grab + "char* p = @grab(20);") == "char");
    const std::string more = "void* grab(void* old, unsigned long n) {\n    void* p = ";
    CHECK(
        type_of(more + "@realloc(old, n); return p; }\nvoid* p = @grab(f(1, 2), sizeof(long));") ==
        "long");
    CHECK(type_of(more + "std::realloc(old, n@); }\nvoid* p = @grab(0, 2 * sizeof(int));") ==
          "int");
    const std::string zeroed = "void* grab(int n, unsigned long size) { return @calloc(n, size); }";
    CHECK(type_of(zeroed + "\npart* p = @grab(8, sizeof(part));") == "part");
    CHECK(type_of(zeroed + "\npart* p = @grab(sizeof(part), 8);") == "?");
    CHECK(type_of("void* grab(int n, int size) { return @calloc(size, n); }\n"
                  "part* p = @grab(8, sizeof(part));") == "?");
    CHECK(type_of("void* grab(void* p, int n) { return @reallocarray(p, 8, n); }\n"
                  "part* p = @grab(0, sizeof(part));") == "part");
    CHECK(type_of("void* grab(int n) { if (n == 0 || n < 1) return 0; return @malloc(n); }\n"
                  "long* p = @grab(sizeof(long));") == "long");
    CHECK(type_of(grab + "void* take(int a, int n) { return @grab(n); }\n"
                         "void* p = @take(8, sizeof(struct part));") == "part");
}

TEST_CASE("wrapped_request: a macro around the call says the type") {
    const std::string part = "struct part { long number; };\n";
    const std::string make = "#define MAKE(T) ((T*)grab(sizeof(T)))\n";
    CHECK(type_of(part + make + grab + "part* p = @MAKE(struct part);") == "part");
    CHECK(type_of("#define LIST(T, old, n) (T*)grab(old, 0, (n) * sizeof(T))\n"
                  "void* grab(void* old, int was, int n) { return @realloc(old, n); }\n"
                  "int* p = @LIST(int, 0, 8);") == "int");
    CHECK(type_of("#define MAKE(T, kind) (T*)take(sizeof(T), kind)\n"
                  "void* grab(int n) { return @malloc(n); }\n"
                  "void* take(int n, int kind) { part* p = @grab(n); return p; }\n"
                  "long* p = @MAKE(long, 3);") == "long");
    CHECK(type_of("#define BYTES(n) grab(n)\n"
                  "typedef unsigned char byte;\n"
                  "byte* grab(int n) { byte* p = @malloc(n); return p; }\n"
                  "byte* p = keep(@BYTES(9));") == "unsigned char");
    CHECK(type_of("#define TEXT(n) grab(n)\n"
                  "char* grab(int n) { char* p = @malloc(n); return p; }\n"
                  "char* p = keep(@TEXT(9));") == "char");
    CHECK(type_of("#define MAKE(T) (T*)other(sizeof(T))\n" + grab + "long* p = @MAKE(long);") ==
          "?");
    CHECK(type_of("#define MAKE(T) (T*)grab(sizeof(T) + 8)\n" + grab + "long* p = @MAKE(long);") ==
          "?");
    CHECK(type_of("#define MAKE(T) (T*)grab(sizeof(T), grab(9))\n" + grab +
                  "long* p = @MAKE(long);") == "?");
}

TEST_CASE("wrapped_request: in C, a macro around the call may be called `new`") {
    const std::string source =
        "#define new(T) ((T*)grab(1, sizeof(T)))\nstruct part { long number; };\n"
        "void* grab(int n, int size) { return @calloc(n, size); }\n"
        "struct part* p = @new(struct part);";
    CHECK(type_of(source, ".c") == "part");
}

TEST_CASE("wrapped_request: in C, a member that is called is a pointer to the function") {
    const std::string two = "void* grab(int kind, int n) { return @malloc(n); }\n";
    const std::string call = "part* p = (part*)@hooks->get.one(sizeof(part));";
    CHECK(type_of(call, ".c") == "part");
    CHECK(type_of(call, ".cpp") == "?");
    CHECK(type_of("char* p = (char*)@hooks->resize(p, f(n, 1));", ".c") == "char");
    CHECK(type_of("long* p = (long*)@hooks->resize(f(1, 2), 3 * sizeof(long));", ".c") == "long");
    CHECK(type_of("void* grab(int n) { return @hooks->get(n); }\nlong* p = @grab(sizeof(long));",
                  ".c") == "long");
    CHECK(type_of(two + "part* p = (part*)@hooks->get(8, sizeof(part));", ".c") == "part");
    CHECK(type_of(two + "part* p = (part*)@hooks->get(sizeof(part), 8);", ".c") == "?");
    CHECK(type_of(two + "part* p = (part*)@hooks->get(8, sizeof(part));", ".cpp") == "?");
}

TEST_CASE("wrapped_request: a function that may ask for another size says nothing") {
    const auto with = [](const std::string& body) {
        return type_of("void* grab(unsigned long n) { " + body +
                       " }\npart* p = @grab(sizeof(part));");
    };
    CHECK(with("return @malloc(n);") == "part");
    CHECK(with("return @malloc(n + 8);") == "?");
    CHECK(with("return @malloc(8);") == "?");
    CHECK(with("n += 8; return @malloc(n);") == "?");
    CHECK(with("n = 8; return @malloc(n);") == "?");
    CHECK(with("n <<= 1; return @malloc(n);") == "?");
    CHECK(with("n++; return @malloc(n);") == "?");
    CHECK(with("--n; return @malloc(n);") == "?");
    CHECK(with("round_up(&n); return @malloc(n);") == "?");
    CHECK(with("return pool.@malloc(n);") == "?");
    CHECK(type_of("void* grab(int a, int n) { return @malloc(n); }\n"
                  "part* p = @grab(sizeof(part), 64);") == "?");
    CHECK(type_of(grab + "part* p = @other(sizeof(part));") == "?");
    CHECK(type_of(grab + "part* p = x.@grab(sizeof(part));") == "?");
    CHECK(type_of(grab + "part* p = @grab(sizeof(part) + 8);") == "?");
    CHECK(type_of(grab + "void* p = @grab(20);") == "?");
}
