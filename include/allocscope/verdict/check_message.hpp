// check_message.hpp - what a check that failed says.
//
// Room:     verdict (floor 10), not malloc-safe
// Called:   by verdict/check_window.hpp
// Threads:  any
// Memory:   the standard library's
//
//     leak check "session": 3 objects with 96 bytes are still alive, at most 0 may be
//       src/session.cpp:31: 2 objects of std::string, 64 bytes, in session::login
//         called from src/main.cpp:12 in main
//       src/cache.cpp:70: 1 object of entry, 32 bytes, in cache::add
//       saved in allocscope-evidence/session-4711-1.txt
//
// Only the user's own frames are shown, each as file:line, which terminals and editors open.

#ifndef ALLOCSCOPE_VERDICT_CHECK_MESSAGE_HPP
#define ALLOCSCOPE_VERDICT_CHECK_MESSAGE_HPP

#include <allocscope/base/printable_text.hpp>
#include <allocscope/config.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/types/frame_rule.hpp>
#include <allocscope/types/function_name.hpp>

#include <algorithm>  // partial_sort, min
#include <cstddef>    // size_t
#include <cstdint>    // uint64_t
#include <string>     // string, to_string
#include <vector>     // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr std::size_t message_rows = 3;
constexpr std::size_t message_callers = 2;

inline std::string counted(std::uint64_t count, const char* one, const char* many) {
    return std::to_string(count) + ' ' + (count == 1 ? one : many);
}

// Escaped like everything that comes out of a file.
inline std::string shown(const char* text) {
    std::string made;
    while (*text != '\0') {
        const std::size_t length = printable_length(text);
        if (length != 0) {
            made.append(text, length);
            text += length;
        } else {
            char escaped[escaped_byte_length];
            write_escaped_byte(*text++, escaped);
            made.append(escaped, escaped_byte_length);
        }
    }
    return made;
}

// " in session::login": parameters and template arguments would make the lines long. The file has
// them.
inline std::string in_function(const char* function) {
    if (function[0] == '\0') return "";
    const std::string plain = symbolize::plain_name(symbolize::parse_function_name(function));
    return " in " + shown(plain.empty() ? function : plain.c_str());
}

inline std::string frame_place(const snapshot::frame& frame) {
    if (frame.file[0] == '\0') return "";
    return shown(frame.file) + ':' + std::to_string(frame.line);
}

// The whole path: the short one of the row cannot be opened.
inline std::string row_place(const snapshot::row& row) {
    if (row.user_frame < row.frame_count) {
        const std::string place = frame_place(row.frames[row.user_frame]);
        if (!place.empty()) return place;
    }
    std::string place = shown(row.file);
    if (place.empty()) place = "(place not recorded)";
    if (row.line != 0) return place + ':' + std::to_string(row.line);
    if (row.offset == 0) return place;
    char digits[17] = {};
    std::size_t at = 16;
    for (std::uint64_t left = row.offset; left != 0; left >>= 4U) {
        digits[--at] = "0123456789abcdef"[left & 15U];
    }
    return place + "+0x" + (digits + at);
}

inline std::string row_line(const snapshot::row& row, const char* mark) {
    std::string line =
        "\n  " + row_place(row) + ": " + mark + counted(row.objects, "object", "objects");
    if (row.type[0] != '\0' && row.type[0] != '?') line += " of " + shown(row.type);
    line += ", " + (mark + counted(row.bytes, "byte", "bytes"));
    if (row.function[0] != '\0') line += ',' + in_function(row.function);
    return line;
}

inline std::string caller_lines(const snapshot::row& row, const symbolize::frame_rule& rule) {
    std::string lines;
    std::size_t shown_callers = 0;
    for (std::size_t i = row.user_frame + 1; i < row.frame_count; ++i) {
        const snapshot::frame& frame = row.frames[i];
        symbolize::code_frame plain;
        plain.function = frame.function;
        plain.file = frame.file;
        plain.line = frame.line;
        // Further out there is only what runs the tests.
        if (plain.function.find("::allocscope_test_boundary") != std::string::npos) break;
        const std::string place = frame_place(frame);
        if (place.empty() || rule.is_library(plain)) continue;
        lines += "\n    called from " + place + in_function(frame.function);
        if (++shown_callers == message_callers) break;
    }
    return lines;
}

// One row without its numbers.
inline std::string place_and_callers(const snapshot::row& row, const symbolize::frame_rule& rule) {
    std::string line = row_place(row);
    if (row.function[0] != '\0') line += ':' + in_function(row.function);
    return line + caller_lines(row, rule);
}

// The rows that matter most, by bytes or by objects, and how many more there are.
inline std::string top_rows(const snapshot& rows, bool by_bytes,
                            const symbolize::frame_rule& rule) {
    std::vector<const snapshot::row*> order;
    for (const snapshot::row& row : rows) order.push_back(&row);
    const std::size_t count = std::min(message_rows, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count),
                      order.end(), [by_bytes](const snapshot::row* a, const snapshot::row* b) {
                          const std::uint64_t left = by_bytes ? a->bytes : a->objects;
                          const std::uint64_t right = by_bytes ? b->bytes : b->objects;
                          return left != right ? left > right : a < b;
                      });
    const char* mark = rows.info().record == recording::sampled ? "~" : "";
    std::string lines;
    for (std::size_t i = 0; i < count; ++i) {
        lines += row_line(*order[i], mark) + caller_lines(*order[i], rule);
    }
    if (order.size() > count) {
        lines += "\n  and " + counted(order.size() - count, "more place", "more places");
    }
    return lines;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_VERDICT_CHECK_MESSAGE_HPP
