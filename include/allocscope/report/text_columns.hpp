// text_columns.hpp - counts, pads and cuts text in columns.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by the files of report/ that write text
// Threads:  any
// Memory:   of the text that is written to
//
//     write_middle_cut(out, "include/parser.cpp:9:node", 18)  // "include...p:9:node"
//     write_end_cut(out, "void parse(std::string)", 12)       // "void pars..."
//     write_path(out, "/home/me/project/parser.cpp:9", 20)    // "...ect/parser.cpp:9"
//     write_right(out, "7", 4)                                // "   7"
//
// A column is one character, which is one UTF-8 sequence. (A terminal may draw a character twice as
// wide, or on top of the one before; it still counts as one. Such a row is out of line, nothing
// worse.)

#ifndef ALLOCSCOPE_REPORT_TEXT_COLUMNS_HPP
#define ALLOCSCOPE_REPORT_TEXT_COLUMNS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

inline bool begins_character(char byte) noexcept {
    return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;
}

inline std::size_t columns_of(const text& shown) noexcept {
    std::size_t columns = 0;
    for (const char byte : shown) columns += begins_character(byte) ? 1U : 0U;
    return columns;
}

// The first `columns` characters.
inline text first_columns(const text& shown, std::size_t columns) noexcept {
    std::size_t end = 0;
    while (end < shown.size()) {
        if (begins_character(shown[end]) && columns-- == 0) break;
        ++end;
    }
    return shown.substr(0, end);
}

inline text last_columns(const text& shown, std::size_t columns) noexcept {
    const std::size_t all = columns_of(shown);
    return shown.substr(first_columns(shown, all > columns ? all - columns : 0).size());
}

constexpr std::size_t cut_mark_columns = 3;  // "..."

// Keeps `before` characters at the beginning, and at the end as many as there is room for.
inline void write_cut(text_out& out, const text& shown, std::size_t columns, std::size_t before) {
    if (columns_of(shown) <= columns) {
        out << shown;
    } else if (columns <= cut_mark_columns) {
        out.fill(columns, '.');
    } else {
        out << first_columns(shown, before) << "..."
            << last_columns(shown, columns - cut_mark_columns - before);
    }
}

inline void write_end_cut(text_out& out, const text& shown, std::size_t columns) {
    write_cut(out, shown, columns, columns - cut_mark_columns);
}

inline void write_middle_cut(text_out& out, const text& shown, std::size_t columns) {
    write_cut(out, shown, columns, (columns - cut_mark_columns) / 2);
}

// Cuts directories from the left, but never the name of the file.
inline void write_path(text_out& out, text path, std::size_t columns) {
    const std::size_t slash = path.rfind('/');
    if (columns_of(path) > columns && slash != text::npos) {
        const std::size_t least = columns_of(path.substr(slash));
        const std::size_t room = columns > cut_mark_columns ? columns - cut_mark_columns : 0;
        path = last_columns(path, room > least ? room : least);
        out << "...";
    }
    out << path;
}

inline void pad(text_out& out, const text& shown, std::size_t columns) {
    const std::size_t taken = columns_of(shown);
    if (taken < columns) out.fill(columns - taken, ' ');
}

inline void write_right(text_out& out, const text& shown, std::size_t columns) {
    pad(out, shown, columns);
    out << shown;
}

inline void write_left(text_out& out, const text& shown, std::size_t columns) {
    out << shown;
    pad(out, shown, columns);
}

// Breaks lines between words, so that no line has more than `columns`; all lines but the first
// begin with `indent` blanks. A word that is longer than a line is not broken. 0 columns: no limit.
inline void write_wrapped(text_out& out, text shown, std::size_t columns, std::size_t indent) {
    std::size_t used = 0;
    bool has_word = false;  // in the line so far
    while (!shown.empty()) {
        // The next word, with the blanks before it.
        const std::size_t begin = shown.find_first_not_of(" ");
        std::size_t end = begin != text::npos ? shown.find(' ', begin) : text::npos;
        if (end == text::npos) end = shown.size();
        text word = shown.substr(0, end);
        shown.remove_prefix(end);
        if (columns != 0 && has_word && used + columns_of(word) > columns && begin != text::npos) {
            word.remove_prefix(begin);
            out << '\n';
            out.fill(indent, ' ');
            used = indent;
        }
        used += columns_of(word);
        out << word;
        has_word = true;
    }
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_REPORT_TEXT_COLUMNS_HPP
