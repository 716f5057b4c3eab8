#include <allocscope/report/text_columns.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace allocscope::detail;

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
    std::string text;
    for (int i = 0; i < 20; ++i) text += "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
    for (std::size_t columns = 0; columns < 80; ++columns) {
        for (const std::string& cut : {cut_end(text, columns), cut_middle(text, columns)}) {
            CHECK(columns_of(cut) == columns);
            CHECK(printable(cut.c_str()) == cut);  // still well-formed
            if (columns >= 3) CHECK(cut.find("...") != std::string::npos);
        }
    }
    CHECK(cut_end(text, 80) == text);
    CHECK(cut_middle(text, 80) == text);
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
