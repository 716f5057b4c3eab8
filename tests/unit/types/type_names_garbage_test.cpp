// labels: fuzz
#include <allocscope/places/frame_rule.hpp>
#include <allocscope/places/shorten_paths.hpp>
#include <allocscope/types/type_from_source.hpp>
#include <allocscope/types/type_ladder.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/dice.hpp"

namespace symbolize = allocscope::symbolize;
using allocscope::plain::arena;
using allocscope_test::dice;

namespace {

constexpr const char* name_seeds[] = {
    "std::map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, "
    "int, "
    "std::less<int>, std::allocator<std::pair<int const, int> > >",
    "void (*app::handler<int>(int))(double)",
    "std::__detail::_MakeUniq<int []>::__array std::make_unique<int []>(unsigned long)",
    "main::{lambda(int)#1}::operator()(int) const [clone .isra.0]",
    "app::(anonymous namespace)::operator< <int>[abi:cxx11](long unsigned int const&)",
    "vtable for std::_Sp_counted_ptr_inplace<a, std::allocator<void>, (__gnu_cxx::_Lock_policy)2>",
    "decltype(auto) app::widget::operator std::vector<int>() const &&",
};

constexpr const char* source_seeds[] = {
    "template <class T, class... U> struct pool<T*> : base { pool() : a{new T}, b(new int[3]) {} "
    "T* f() { return new std::pair<T, const long*>(1, {2}); } using x = T; };\n",
    "#define NEW(x) new x\n/* c */ auto s = R\"(new)\"; f(\"new\", 'n', new (std::nothrow) "
    "a::b<c>);\n"
    "using namespace std; x = [](auto y) { return ::new decltype(y)(3); };\n",
};

constexpr const char* pieces[] = {"<",  ">",     "(",  ")",    "::",    "new ",     "operator",
                                  "*",  "[",     "]",  "{",    "}",     "template", "'",
                                  "\"", "const", " ",  ",",    "std::", "R\"",      "std::map<",
                                  "\n", "//",    "/*", "\\\n", "#",     "decltype", "unsigned "};

std::string mutated(std::string text, dice& roll) {
    const std::uint64_t changes = roll.below(8) + 1;
    for (std::uint64_t i = 0; i < changes; ++i) {
        const std::size_t at = roll.below(text.size() + 1);
        const std::size_t length = roll.below(12);
        switch (roll.below(4)) {
            case 0:
                text.insert(at, pieces[roll.below(sizeof pieces / sizeof *pieces)]);
                break;
            case 1:
                text.erase(at, length);
                break;
            case 2:
                text.insert(at, text.substr(roll.below(text.size() + 1), length));
                break;
            default:
                if (at < text.size()) text[at] = static_cast<char>(roll.below(256));
                break;
        }
    }
    return text;
}

symbolize::text seen(const std::string& characters) {
    return {characters.data(), characters.size()};
}

void read_as_name(const std::string& characters) {
    arena memory;
    const symbolize::text name = seen(characters);
    static_cast<void>(symbolize::pretty_type(memory, name));
    const std::string vtable = "vtable for " + characters;
    static_cast<void>(symbolize::type_from_vtable(memory, seen(vtable)));
    const symbolize::function_name parsed = symbolize::parse_function_name(memory, name);
    for (const symbolize::name_component& component : parsed.components) {
        CHECK(component.name.data() >= name.data());
        CHECK(component.name.end() <= name.end());
    }
    symbolize::code_frame frame;
    frame.function = name;
    frame.file = name;
    frame.line = 1;
    symbolize::list<symbolize::code_frame> frames{memory};
    frames.push_back(frame);
    symbolize::read_names names{memory};
    symbolize::source_cache sources;
    CHECK_FALSE(symbolize::type_from_frames(names, frames, 0, sources).name.empty());
    static_cast<void>(symbolize::frame_rule{}.is_library(memory, frame));
    const std::string longer = characters + "/x";
    symbolize::list<symbolize::text> paths{memory};
    paths.push_back(name);
    paths.push_back("/a/b");
    paths.push_back(seen(longer));
    symbolize::shorten_paths(memory, paths);
}

void read_as_source(const std::string& characters) {
    arena memory;
    const symbolize::source_outline file{memory, seen(characters)};
    const symbolize::function_name function =
        symbolize::parse_function_name(memory, "app::pool<int>::f()");
    const symbolize::type_knowledge nothing;
    for (const symbolize::new_expression& expression : file.expressions()) {
        REQUIRE(expression.begin < file.tokens().size());
        REQUIRE(expression.last < file.tokens().size());
        REQUIRE(expression.reach < file.tokens().size());
        REQUIRE(expression.type_end <= file.tokens().size());
        if (!expression.has_type) continue;
        const symbolize::source_spelling spelling{memory, file, expression, function, nothing};
        static_cast<void>(spelling.spelled());
    }
    for (int line = 0; line < 6; ++line) {
        for (int column = 0; column < 100; column += 3) {
            static_cast<void>(symbolize::find_new_expression(file, line, column));
        }
    }
}

}  // namespace

TEST_CASE("type names: mutated names are read without harm") {
    dice roll{20};
    for (int round = 0; round < 20000; ++round) {
        const std::size_t seed = roll.below(sizeof name_seeds / sizeof *name_seeds);
        read_as_name(mutated(name_seeds[seed], roll));
    }
}

TEST_CASE("type names: random bytes are read without harm") {
    dice roll{21};
    for (int round = 0; round < 5000; ++round) {
        std::string text(roll.below(80), ' ');
        for (char& c : text) c = "<>(){}[]:*&, aoperatstd'\"~-0"[roll.below(28)];
        read_as_name(text);
        read_as_source(text);
    }
}

TEST_CASE("type names: mutated sources are read without harm") {
    dice roll{22};
    for (int round = 0; round < 3000; ++round) {
        const std::size_t seed = roll.below(sizeof source_seeds / sizeof *source_seeds);
        read_as_source(mutated(source_seeds[seed], roll));
    }
}

TEST_CASE("type names: long repetitions take time in proportion") {
    for (const char* piece : {"a<",
                              "a::",
                              "(",
                              "a(",
                              "a(b)::",
                              "{",
                              "<",
                              "operator<",
                              "template<class T>{",
                              "new a<",
                              "new (",
                              "new a(",
                              "template<class T>",
                              "R\"",
                              "R\"(",
                              "}{",
                              "using x=y;",
                              "template<class T>new T;",
                              "[",
                              "std::map<",
                              "const ",
                              "unsigned ",
                              "*",
                              "'",
                              "\"",
                              "a<b>::",
                              "decltype(",
                              "operator ",
                              "/",
                              "../",
                              "template<class T> f<<<<{}{}{}"}) {
        CAPTURE(piece);
        std::string text;
        while (text.size() < 40000) text += piece;
        arena memory;
        static_cast<void>(symbolize::pretty_type(memory, seen(text)));
        static_cast<void>(symbolize::parse_function_name(memory, seen(text)));
        symbolize::list<symbolize::text> paths{memory};
        paths.push_back(seen(text));
        symbolize::shorten_paths(memory, paths);
        const symbolize::source_outline file{memory, seen(text)};
        static_cast<void>(symbolize::find_new_expression(file, 1, 0));
        CHECK(file.tokens().size() <= text.size());
    }
}
