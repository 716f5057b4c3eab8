// name_brackets.hpp - jumps over brackets and operator symbols in demangled names.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by function_name.hpp, pretty_type.hpp and wrapped_type.hpp
// Threads:  any
// Memory:   one byte for each open bracket, while it runs
//
// A `<` in a demangled name opens template arguments unless it belongs to an operator's name or
// stands in an expression; the names of operators are the reason why counting is not enough.
//
//     skip_brackets("f<&X::operator> >(int)", 1)      // 17: behind the last ">"
//     split_arguments("<int, std::pair<a, b> >")      // "int", "std::pair<a, b> "

#ifndef ALLOCSCOPE_TYPES_NAME_BRACKETS_HPP
#define ALLOCSCOPE_TYPES_NAME_BRACKETS_HPP

#include <allocscope/config.hpp>

#include <cstddef>      // size_t
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

constexpr std::size_t no_position = std::string_view::npos;

inline bool is_name_character(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

inline bool starts_with(std::string_view text, std::string_view start) noexcept {
    return text.size() >= start.size() && text.compare(0, start.size(), start) == 0;
}

inline bool ends_with(std::string_view text, std::string_view end) noexcept {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Behind the word that starts at `at`.
inline std::size_t skip_word(std::string_view text, std::size_t at) noexcept {
    while (at < text.size() && is_name_character(text[at])) ++at;
    return at;
}

inline std::string_view without_spaces_around(std::string_view text) noexcept {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

// Length of the symbol of an operator, 0 when the text goes on with something else (new, delete,
// or the type of a conversion).
inline std::size_t operator_symbol_length(std::string_view text) noexcept {
    constexpr std::string_view longest_first[] = {
        "<=>", "<<=", ">>=", "->*", "()", "[]", "->", "<<", ">>", "<=", ">=", "==",   "!=", "&&",
        "||",  "++",  "--",  "+=",  "-=", "*=", "/=", "%=", "^=", "&=", "|=", "\"\"", "<",  ">",
        ",",   "+",   "-",   "*",   "/",  "%",  "^",  "&",  "|",  "~",  "!",  "="};
    for (const std::string_view symbol : longest_first) {
        if (starts_with(text, symbol)) return symbol.size();
    }
    return 0;
}

// True when the word `operator` starts at `at`.
inline bool is_operator_word(std::string_view text, std::size_t at) noexcept {
    return text[at] == 'o' && starts_with(text.substr(at), "operator") &&
           (at == 0 || !is_name_character(text[at - 1])) && skip_word(text, at) == at + 8;
}

// `at` is on an opening bracket: the position behind the one that closes it, or no_position.
// Linear in the length of the brackets.
inline std::size_t skip_brackets(std::string_view text, std::size_t at) {
    std::string open;
    while (at < text.size()) {
        const char c = text[at];
        if (is_operator_word(text, at)) {
            at += 8;
            at += operator_symbol_length(text.substr(at));
            continue;
        }
        if (c == '<' || c == '(' || c == '[' || c == '{') {
            open.push_back(c);
        } else if (c == '>') {
            const bool is_arrow = at > 0 && text[at - 1] == '-';
            if (!is_arrow && !open.empty() && open.back() == '<') open.pop_back();
        } else if (c == ')' || c == ']' || c == '}') {
            const char opening = c == ')' ? '(' : c == ']' ? '[' : '{';
            while (!open.empty() && open.back() == '<') open.pop_back();  // it was "less than"
            if (open.empty() || open.back() != opening) return no_position;
            open.pop_back();
        }
        ++at;
        if (open.empty()) return at;
    }
    return no_position;
}

// The arguments in "<a, b>" or "(a, b)", brackets included in the input, as they stand there.
inline std::vector<std::string_view> split_arguments(std::string_view bracketed) {
    std::vector<std::string_view> parts;
    if (bracketed.size() < 2) return parts;
    const std::string_view inside = bracketed.substr(1, bracketed.size() - 2);
    std::size_t begin = 0;
    std::size_t at = 0;
    while (at < inside.size()) {
        const char c = inside[at];
        if (is_operator_word(inside, at)) {
            at += 8;
            at += operator_symbol_length(inside.substr(at));
            continue;
        }
        if (c == '<' || c == '(' || c == '[' || c == '{') {
            const std::size_t behind = skip_brackets(inside, at);
            if (behind == no_position) break;
            at = behind;
            continue;
        }
        if (c == ',') {
            parts.push_back(without_spaces_around(inside.substr(begin, at - begin)));
            begin = at + 1;
        }
        ++at;
    }
    const std::string_view last = without_spaces_around(inside.substr(begin));
    if (!last.empty() || !parts.empty()) parts.push_back(last);
    return parts;
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_NAME_BRACKETS_HPP
