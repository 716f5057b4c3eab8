#include <allocscope/source/source_tokens.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/show_text.hpp"

using allocscope::plain::arena;
using allocscope::symbolize::read_tokens;
using allocscope::symbolize::source_token;
using allocscope::symbolize::token_list;

namespace {

std::string joined(const char* source) {
    arena memory;
    const token_list list = read_tokens(memory, source);
    std::string words;
    for (const source_token& token : list.tokens) {
        if (!words.empty()) words += ' ';
        words.append(token.begin, token.length);
    }
    return words;
}

}  // namespace

TEST_CASE("source_tokens: comments, literals and directives hold no words") {
    CHECK(joined("a // new b\nc /* new\n d */ e") == "a c e");
    CHECK(joined("f(\"new \\\" x\", 'n', '\\'')") == "f ( \"new \\\" x\" , 'n' , '\\'' )");
    CHECK(joined("#define A new B \\\n new C\nd") == "d");
    CHECK(joined("x = R\"m(new \" )\" ) )m\" ; y") == "x = R\"m(new \" )\" ) )m\" ; y");
    CHECK(joined("1'000'000 + 0x1p-3") == "1'000'000 + 0x1p - 3");
    CHECK(joined("a // b \\\n c\nd") == "a d");
}

TEST_CASE("source_tokens: a literal of a directive begins no comment") {
    CHECK(joined("#define ALL \"src/*.cpp\"\nint x;") == "int x ;");
    CHECK(joined("#define ALL \"src\" \\\n \"/*\"\nint x;") == "int x ;");
    CHECK(joined("#define QUOTE '\"' /* a\n b */\nint x;") == "int x ;");
    CHECK(joined("#define MANY 1'000 /* a\n b */\nint x;") == "int x ;");
    CHECK(joined("#error don't\nint x;") == "int x ;");
}

TEST_CASE("source_tokens: a literal goes on behind a backslash, however lines end") {
    CHECK(joined("f(\"a\\\nb\"); g();") == "f ( \"a\\\nb\" ) ; g ( ) ;");
    CHECK(joined("f(\"a\\\r\nb\"); g();") == "f ( \"a\\\r\nb\" ) ; g ( ) ;");
    CHECK(joined("f(\"a\r\nb); g();") == "f ( \"a\r b ) ; g ( ) ;");
}

TEST_CASE("source_tokens: a macro in front of a class's name is left out") {
    CHECK(joined("class API part { int n; };") == "class part { int n ; } ;");
    CHECK(joined("struct API_2 part : base {};") == "struct part : base { } ;");
    CHECK(joined("class API part final : base {};") == "class part final : base { } ;");
    CHECK(joined("struct alignas(2 * (8)) part {};") == "struct part { } ;");
    CHECK(joined("class [[deprecated(\"old\"), a]] part : base {};") == "class part : base { } ;");
    CHECK(joined("n; struct __attribute__((packed)) API part {};") == "n ; struct part { } ;");
    CHECK(joined("enum class alignas(4) kind : int {};") == "enum class kind : int { } ;");
    CHECK(joined("struct alignas(4) {} a;") == "struct alignas ( 4 ) { } a ;");
    CHECK(joined("struct part make() const {}") == "struct part make ( ) const { }");
    CHECK(joined("a[b] c {} (x) API d : e (f) g {") == "a [ b ] c { } ( x ) API d : e ( f ) g {");
    CHECK(joined("class PART final : base {};") == "class PART final : base { } ;");
    CHECK(joined("class PART : base {};") == "class PART : base { } ;");
    CHECK(joined("enum class PART : int {};") == "enum class PART : int { } ;");
    CHECK(joined("struct POINT p; x = {3}; struct POINT* q{};") ==
          "struct POINT p ; x = { 3 } ; struct POINT * q { } ;");
    CHECK(joined("struct point p{};") == "struct point p { } ;");
}

TEST_CASE("source_tokens: only the double colon and the arrow are signs of two characters") {
    CHECK(joined("a::b->c>>d") == "a :: b -> c > > d");
}

TEST_CASE("source_tokens: lines and columns count from one, columns in bytes") {
    arena memory;
    const token_list list = read_tokens(memory, "a\n\tb /*\n*/ c \xc3\xa4 d\r\n\"x\ne");
    std::vector<std::vector<int>> places;
    for (const source_token& token : list.tokens) {
        places.push_back({static_cast<int>(token.line), static_cast<int>(token.column)});
    }
    CHECK(places ==
          std::vector<std::vector<int>>{{1, 1}, {2, 2}, {3, 4}, {3, 6}, {3, 9}, {4, 1}, {5, 1}});
}

TEST_CASE("source_tokens: the largest file has its last line and column, and its longest token") {
    arena memory;
    const std::size_t size = allocscope::symbolize::max_source_bytes;
    const std::string lines = std::string(size - 1, '\n') + 'x';
    const token_list last_line = read_tokens(memory, lines.c_str());
    REQUIRE(last_line.tokens.size() == 1);
    CHECK(std::size_t{last_line.tokens[0].line} == size);
    CHECK(std::size_t{last_line.tokens[0].column} == 1);
    const std::string blanks = std::string(size - 1, ' ') + 'x';
    const token_list last_column = read_tokens(memory, blanks.c_str());
    REQUIRE(last_column.tokens.size() == 1);
    CHECK(std::size_t{last_column.tokens[0].column} == size);
    const std::string word(size, 'x');
    const token_list longest = read_tokens(memory, word.c_str());
    REQUIRE(longest.tokens.size() == 1);
    CHECK(longest.tokens[0].spelling().size() == size);
}

TEST_CASE("source_tokens: macros are remembered, with what they stand for") {
    arena memory;
    const token_list list = read_tokens(memory,
                                        "#define ONE 1\n #  define TWO(x) x + \\\n x\n#undef ONE\n"
                                        "#if A\n#ifdef B\n#endif\n#define THREE\n#endif\n"
                                        "#define FOUR 4\n");
    REQUIRE(list.macros.size() == 5);
    CHECK(list.macros[0].name == "ONE");
    CHECK(list.macros[0].rest == " 1");
    CHECK(list.macros[0].is_certain);
    CHECK(list.macros[1].name == "TWO");
    CHECK(list.macros[1].rest == "(x) x + \\\n x");
    CHECK(list.macros[2].name == "ONE");
    CHECK_FALSE(list.macros[2].is_certain);  // #undef
    CHECK(list.macros[3].name == "THREE");
    CHECK_FALSE(list.macros[3].is_certain);  // #if
    CHECK(list.macros[4].is_certain);
}

TEST_CASE("source_tokens: a brace that is opened behind #if and #else is opened once") {
    CHECK(joined("#ifdef A\nclass a : b {\n#else\nclass a {\n#endif\n}; c") ==
          "class a : b { } ; c");
    CHECK(joined("#if A\nx {\n#elif B\ny {\n#elif C\nz {\n#else\nw {\n#endif\n} c") == "x { } c");
    CHECK(joined("{\n#if A\n}\n#else\n; }\n#endif\nc") == "{ } c");
    CHECK(joined("#if A\nx;\n#else\ny;\n#endif\nc") == "x ; y ; c");
    CHECK(joined("#if A\nx { }\n#else\ny { }\n#endif\nc") == "x { } y { } c");
    CHECK(joined("#if A\nx {\n#else\n#if B\ny {\n#else\nz {\n#endif\n#endif\n} c") == "x { } c");
    CHECK(joined("#if A\nx {\n#else\ny {\n#endif\n#if A\nv\n#else\nw\n#endif\n}") == "x { v w }");
}

TEST_CASE("source_tokens: a source that breaks off is read to its end") {
    for (const char* source : {"\"abc", "'", "/*", "//", "R\"(", "R\"x", "#", "\\", "\\\n", "",
                               "1'", "#define", "/", "\"\\"}) {
        CAPTURE(source);
        arena memory;
        CHECK(read_tokens(memory, source).tokens.size() <= 2);
    }
}
