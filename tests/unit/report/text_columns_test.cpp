#include <allocscope/report/text_columns.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace allocscope::detail;

namespace {

// What `write` appends.
template <class Write>
std::string written(const Write& write) {
    arena memory;
    text_out out{memory};
    out << "|";
    write(out);
    return {out.view().data() + 1, out.size() - 1};
}

text seen(const std::string& characters) {
    return {characters.data(), characters.size()};
}

std::string printable(const char* shown) {
    return written([&](text_out& out) { write_printable(out, shown); });
}
std::string pad_left(const char* shown, std::size_t columns) {
    return written([&](text_out& out) { write_right(out, shown, columns); });
}
std::string pad_right(const char* shown, std::size_t columns) {
    return written([&](text_out& out) { write_left(out, shown, columns); });
}
std::string cut_end(const std::string& shown, std::size_t columns) {
    return written([&](text_out& out) { write_end_cut(out, seen(shown), columns); });
}
std::string cut_middle(const std::string& shown, std::size_t columns) {
    return written([&](text_out& out) { write_middle_cut(out, seen(shown), columns); });
}
std::string wrap(const char* shown, std::size_t columns, std::size_t indent) {
    return written([&](text_out& out) { write_wrapped(out, shown, columns, indent); });
}

}  // namespace

TEST_CASE("text_columns: only what can be shown is shown") {
    CHECK(printable("plain text") == "plain text");
    CHECK(printable("a\x1b[31m\n") == "a\\x1b[31m\\x0a");
    CHECK(printable("gr\xc3\xbcn") == "gr\xc3\xbcn");
    CHECK(printable("\xff\xfe") == "\\xff\\xfe");
    CHECK(printable("\xe2\x80\xae") == "\\xe2\\x80\\xae");
    CHECK(printable("") == "");
    CHECK(printable(nullptr) == "");
}

TEST_CASE("text_columns: a column is a character, not a byte") {
    CHECK(columns_of("abc") == 3);
    CHECK(columns_of("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80") == 3);
    CHECK(pad_left("\xc3\xa9", 3) == "  \xc3\xa9");
    CHECK(pad_right("\xc3\xa9", 3) == "\xc3\xa9  ");
    CHECK(pad_left("abcd", 3) == "abcd");
    CHECK(pad_right("abcd", 3) == "abcd");
}

TEST_CASE("text_columns: no cut splits a character, and every cut fits and is marked") {
    std::string long_name;
    for (int i = 0; i < 20; ++i) long_name += "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
    for (std::size_t columns = 0; columns < 80; ++columns) {
        for (const std::string& cut :
             {cut_end(long_name, columns), cut_middle(long_name, columns)}) {
            CHECK(columns_of(seen(cut)) == columns);
            CHECK(printable(cut.c_str()) == cut);  // still well-formed
            if (columns >= 3) CHECK(cut.find("...") != std::string::npos);
        }
    }
    CHECK(cut_end(long_name, 80) == long_name);
    CHECK(cut_middle(long_name, 80) == long_name);
}

TEST_CASE("text_columns: a cut keeps the beginning, or both ends") {
    CHECK(cut_end("void parse(std::string)", 12) == "void pars...");
    CHECK(cut_middle("include/parser.cpp:9:node", 18) == "include...p:9:node");
    CHECK(cut_end("abcdef", 2) == "..");
    CHECK(cut_middle("abcdef", 3) == "...");
    CHECK(cut_end("abc", 3) == "abc");
    CHECK(cut_end("", 0) == "");
}

TEST_CASE("text_columns: lines break between words and are indented from the second on") {
    CHECK(wrap("  one two three", 9, 4) == "  one two\n    three");
    CHECK(wrap("  one two three", 0, 4) == "  one two three");
    CHECK(wrap("  one two three", 100, 4) == "  one two three");
    CHECK(wrap("", 10, 4) == "");
    CHECK(wrap("a verylongwordindeed b", 10, 2) == "a\n  verylongwordindeed\n  b");
    CHECK(wrap("verylongwordindeed", 5, 2) == "verylongwordindeed");
    CHECK(wrap("ends with a blank ", 100, 2) == "ends with a blank ");
}
