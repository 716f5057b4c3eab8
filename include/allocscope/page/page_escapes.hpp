// page_escapes.hpp - escapes names in a page, so that they stay text whatever they look like.
//
// Room:     page (floor 10), not malloc-safe
// Called:   by page/page_data.hpp, page/page_without_script.hpp and page/page_writer.hpp
// Threads:  any
// Memory:   of the text that is written to
//
//     write_script_text(out, "</script>");   // "\u003c/script\u003e", with the quotation marks
//     write_page_text(out, "<b>");           // &lt;b&gt;
//
// Bytes that cannot be shown are escaped first, as in a text report, so a page is valid UTF-8.

#ifndef ALLOCSCOPE_PAGE_PAGE_ESCAPES_HPP
#define ALLOCSCOPE_PAGE_PAGE_ESCAPES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/printable_text.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int64_t, uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// Returns what replaces a character that has a meaning in the target, or "" if nothing replaces it.
using character_escapes = text (*)(char);

// For the characters that have a meaning in JSON, and for those that HTML looks for in a script.
inline text escape_in_script(char c) {
    switch (c) {
        case '"':
            return "\\\"";
        case '\\':
            return "\\\\";
        case '<':
            return "\\u003c";
        case '>':
            return "\\u003e";
        case '&':
            return "\\u0026";
        default:
            return {};
    }
}

inline text escape_in_page(char c) {
    switch (c) {
        case '<':
            return "&lt;";
        case '>':
            return "&gt;";
        case '&':
            return "&amp;";
        case '"':
            return "&quot;";
        case '\'':
            return "&#39;";
        default:
            return {};
    }
}

// Whether a character is shown as it is in both; most characters of most names are.
inline bool is_plain(char c) noexcept {
    return c >= '(' && c <= '~' && c != '<' && c != '>' && c != '\\';
}

// Text between two escapes is written at once.
inline void write_escaped(text_out& out, const char* shown, character_escapes escape) {
    const char* begin = shown;
    const auto write_piece = [&] { out << text{begin, static_cast<std::size_t>(shown - begin)}; };
    while (*shown != '\0') {
        if (is_plain(*shown)) {
            ++shown;
            continue;
        }
        const std::size_t length = printable_length(shown);
        const text escaped = length == 1 ? escape(*shown) : text{};
        if (length != 0 && escaped.empty()) {
            shown += length;
            continue;
        }
        write_piece();
        if (length == 0) {
            char byte[escaped_byte_length];
            write_escaped_byte(*shown, byte);
            // The backslash of the escape may have a meaning, too.
            const text slash = escape(byte[0]);
            out << (slash.empty() ? text{byte, 1} : slash) << text{byte + 1, sizeof byte - 1};
        } else {
            out << escaped;
        }
        begin = ++shown;
    }
    write_piece();
}

// A string of JSON, inside <script>.
inline void write_script_text(text_out& out, const char* shown) {
    out << '"';
    write_escaped(out, shown, &escape_in_script);
    out << '"';
}

// Text of HTML; also between the quotation marks of an attribute.
inline void write_page_text(text_out& out, const char* shown) {
    write_escaped(out, shown, &escape_in_page);
}

// The same for lines that have no bytes to escape.
inline void write_page_lines(text_out& out, const text& lines) {
    for (const char c : lines) {
        const text escaped = escape_in_page(c);
        if (escaped.empty()) {
            out << c;
        } else {
            out << escaped;
        }
    }
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_PAGE_PAGE_ESCAPES_HPP
