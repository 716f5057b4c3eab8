// text_columns.hpp - text in columns: escaped, counted, padded, cut.
//
// Room:     report (floor 9), not malloc-safe
// Called:   by report/text_report.hpp
// Threads:  any
// Memory:   returned strings
//
//     printable("a\x1b[0m")                        // the ESC byte becomes \ x 1 b
//     cut_middle("include/parser.cpp:9:node", 18)  // "include...p:9:node"
//     cut_end("void parse(std::string)", 12)       // "void pars..."
//     pad_left("7", 4)                             // "   7"
//
// A column is one character, that is one UTF-8 sequence. (What a terminal draws twice as wide, or
// on top of the character before, is counted as one: such a row is out of line, nothing worse.)

#ifndef ALLOCSCOPE_REPORT_TEXT_COLUMNS_HPP
#define ALLOCSCOPE_REPORT_TEXT_COLUMNS_HPP

#include <allocscope/base/printable_text.hpp>
#include <allocscope/config.hpp>

#include <algorithm>    // min
#include <cstddef>      // size_t
#include <string>       // string
#include <string_view>  // string_view

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// `text` with everything that a terminal could obey or hide escaped; valid UTF-8.
inline std::string printable(const char* text) {
    std::string shown;
    while (text != nullptr && *text != '\0') {
        const std::size_t length = printable_length(text);
        if (length != 0) {
            shown.append(text, length);
            text += length;
        } else {
            char escaped[escaped_byte_length];
            write_escaped_byte(*text++, escaped);
            shown.append(escaped, escaped_byte_length);
        }
    }
    return shown;
}

inline bool begins_character(char byte) noexcept {
    return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;
}

inline std::size_t columns_of(std::string_view text) noexcept {
    std::size_t columns = 0;
    for (const char byte : text) columns += begins_character(byte) ? 1U : 0U;
    return columns;
}

// The first `columns` characters.
inline std::string_view first_columns(std::string_view text, std::size_t columns) noexcept {
    std::size_t end = 0;
    while (end < text.size()) {
        if (begins_character(text[end]) && columns-- == 0) break;
        ++end;
    }
    return text.substr(0, end);
}

inline std::string_view last_columns(std::string_view text, std::size_t columns) noexcept {
    const std::size_t all = columns_of(text);
    return text.substr(first_columns(text, all - std::min(all, columns)).size());
}

constexpr std::string_view cut_mark = "...";

// Keeps the beginning.
inline std::string cut_end(const std::string& text, std::size_t columns) {
    if (columns_of(text) <= columns) return text;
    if (columns <= cut_mark.size()) return std::string(columns, '.');
    std::string cut{first_columns(text, columns - cut_mark.size())};
    return cut.append(cut_mark);
}

// Keeps both ends: of file:line:type the file's directory and the type matter as much.
inline std::string cut_middle(const std::string& text, std::size_t columns) {
    if (columns_of(text) <= columns) return text;
    if (columns <= cut_mark.size()) return std::string(columns, '.');
    const std::size_t kept = columns - cut_mark.size();
    std::string cut{first_columns(text, kept / 2)};
    return cut.append(cut_mark).append(last_columns(text, kept - kept / 2));
}

inline std::string pad_left(const std::string& text, std::size_t columns) {
    return std::string(columns - std::min(columns, columns_of(text)), ' ') + text;
}

inline std::string pad_right(const std::string& text, std::size_t columns) {
    return text + std::string(columns - std::min(columns, columns_of(text)), ' ');
}

// Breaks between words, so that no line has more than `columns`; the following lines begin with
// `indent` blanks. A word that is longer than a line stays whole. 0 columns: no limit.
inline std::string wrap(const std::string& text, std::size_t columns, std::size_t indent) {
    std::string wrapped;
    std::size_t used = 0;
    std::size_t begin = 0;
    bool has_word = false;  // in the line so far
    while (begin < text.size()) {
        // A word, with the blanks before it.
        std::size_t end = text.find_first_not_of(' ', begin);
        end = end == std::string::npos ? text.size() : std::min(text.find(' ', end), text.size());
        std::string word = text.substr(begin, end - begin);
        if (columns != 0 && has_word && used + columns_of(word) > columns) {
            word.erase(0, word.find_first_not_of(' '));
            wrapped += '\n' + std::string(indent, ' ');
            used = indent;
        }
        used += columns_of(word);
        wrapped += word;
        has_word = true;
        begin = end;
    }
    return wrapped;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_TEXT_COLUMNS_HPP
