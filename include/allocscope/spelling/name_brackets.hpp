// name_brackets.hpp - skips words, brackets and operators in demangled names.
//
// Room:     spelling (floor 7), not malloc-safe
// Called:   by everything that reads names
// Threads:  any
// Memory:   half a kilobyte of stack for the open brackets; lists of parts from the given arena
//
// A `<` in a demangled name opens template arguments, unless it belongs to the name of an operator
// or to an expression. So counting brackets is not enough.
//
//     skip_brackets("f<&X::operator> >(int)", 1)          // 17: after the last ">"
//     split_arguments(memory, "<int, std::pair<a, b> >")  // "int", "std::pair<a, b> "
//
// These loops see every character of every name, so they are compiled with optimisation.

#ifndef ALLOCSCOPE_SPELLING_NAME_BRACKETS_HPP
#define ALLOCSCOPE_SPELLING_NAME_BRACKETS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>

#include <cstddef>  // size_t
#include <cstring>  // memchr, memcmp

ALLOCSCOPE_COOL_BEGIN

namespace symbolize {

constexpr std::size_t no_position = text::npos;
constexpr text lower_case = "abcdefghijklmnopqrstuvwxyz";
constexpr std::size_t max_open_brackets = 512;  // names with more open brackets are not understood

// Inlined, for the loops over whole files.
ALLOCSCOPE_PURE ALLOCSCOPE_INLINE bool is_name_byte(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

ALLOCSCOPE_PURE ALLOCSCOPE_NOINLINE bool is_name_character(char c) noexcept {
    return is_name_byte(c);
}

// The position after the word that starts at `at`.
ALLOCSCOPE_NOINLINE std::size_t skip_word(const text& name, std::size_t at) noexcept {
    while (at < name.size() && is_name_byte(name[at])) ++at;
    return at;
}

ALLOCSCOPE_NOINLINE text without_spaces_around(text padded) noexcept {
    while (!padded.empty() && padded.front() == ' ') padded.remove_prefix(1);
    while (!padded.empty() && padded.back() == ' ') padded.remove_suffix(1);
    return padded;
}

// Removes the beginning of a text if it is `start`.
ALLOCSCOPE_NOINLINE bool take_start(text& from, const char* start) noexcept {
    const text wanted = start;
    if (!from.starts_with(wanted)) return false;
    from.remove_prefix(wanted.size());
    return true;
}

// Removes the end of a text if it is `end`.
ALLOCSCOPE_NOINLINE bool take_end(text& from, const char* end) noexcept {
    const text wanted = end;
    if (!from.ends_with(wanted)) return false;
    from.remove_suffix(wanted.size());
    return true;
}

// "app::part" for that name in that scope.
ALLOCSCOPE_NOINLINE text scoped_name(arena& memory, const text& scope, const text& name) {
    return joined(memory, scope, "::", name);
}

ALLOCSCOPE_NOINLINE text enclosed(arena& memory, const char* before, const text& inside,
                                  const char* behind) {
    return joined(memory, before, inside, behind);
}

// The text with `part` in place of what is in [begin, end).
ALLOCSCOPE_NOINLINE text replaced(arena& memory, const text& whole, std::size_t begin,
                                  std::size_t end, const text& part) {
    return joined(memory, whole.substr(0, begin), part, whole.substr(end));
}

// The first of the words in `words`, separated by single spaces, with which `name` starts; "" if it
// starts with none of them.
ALLOCSCOPE_NOINLINE text listed_start(const text& name, text words) noexcept {
    while (!words.empty()) {
        const std::size_t space = words.find(' ');
        const text word = words.substr(0, space);
        if (name.starts_with(word)) return word;
        if (space == no_position) break;
        words.remove_prefix(space + 1);
    }
    return no_text();
}

ALLOCSCOPE_NOINLINE text listed_start(const text& name, const char* words) noexcept {
    return listed_start(name, text{words});
}

// True if `word`, which contains no space, is one of the words in `words`.
ALLOCSCOPE_PURE ALLOCSCOPE_NOINLINE bool is_listed(const text& word, const text& words) noexcept {
    if (word.empty() || word.size() > words.size()) return false;
    const char* const last = words.end() - word.size();  // where the word may begin
    for (const char* at = words.begin(); at <= last; ++at) {
        const auto left = static_cast<std::size_t>(last - at) + 1;
        at = static_cast<const char*>(std::memchr(at, word.front(), left));
        if (at == nullptr) return false;
        const char* const behind = at + word.size();
        const bool is_whole =
            (at == words.begin() || at[-1] == ' ') && (behind == words.end() || *behind == ' ');
        if (is_whole && std::memcmp(at, word.data(), word.size()) == 0) return true;
    }
    return false;
}

ALLOCSCOPE_PURE ALLOCSCOPE_NOINLINE bool is_listed(const text& word, const char* words) noexcept {
    return is_listed(word, text{words});
}

// What some words mean, which are separated by single spaces.
struct word_meaning {
    text words;
    text meaning;
};

// The meaning in the first of the rows that list the word; "" if none does.
ALLOCSCOPE_NOINLINE text find_meaning(const word_meaning* rows, std::size_t count,
                                      const text& word) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        if (is_listed(word, rows[i].words)) return rows[i].meaning;
    }
    return no_text();
}

template <std::size_t Count>
ALLOCSCOPE_INLINE text listed_meaning(const word_meaning (&rows)[Count],
                                      const text& word) noexcept {
    return find_meaning(rows, Count, word);
}

// Length of the symbol of an operator; 0 if the text continues with something else (new, delete, or
// the type of a conversion).
ALLOCSCOPE_NOINLINE std::size_t operator_symbol_length(const text& name) noexcept {
    constexpr text longest_first =
        "<=> <<= >>= ->* () [] -> << >> <= >= == != && || ++ -- += -= *= /= %= ^= &= |= \"\" < > , "
        "+ - * / % ^ & | ~ ! =";
    return listed_start(name, longest_first).size();
}

// True if the word `operator` starts at `at`.
ALLOCSCOPE_PURE inline bool is_operator_word(const text& name, std::size_t at) noexcept {
    return name[at] == 'o' && name.has_at(at, "operator") &&
           (at == 0 || !is_name_character(name[at - 1])) && skip_word(name, at) == at + 8;
}

// The position after the bracket that closes the one at `at`, or no_position. Linear in the length
// of the brackets.
ALLOCSCOPE_PURE ALLOCSCOPE_NOINLINE std::size_t skip_brackets(const text& name,
                                                              std::size_t at) noexcept {
    char open[max_open_brackets];
    std::size_t depth = 0;
    while (at < name.size()) {
        const char c = name[at++];
        switch (c) {
            case 'o':
                if (!is_operator_word(name, at - 1)) break;
                at += 7;
                at += operator_symbol_length(name.substr(at));
                break;
            case '<':
            case '(':
            case '[':
            case '{':
                if (depth == max_open_brackets) return no_position;
                open[depth++] = c;
                break;
            case '>':  // unless it is part of an arrow, or "greater than"
                if (depth == 0 || open[depth - 1] != '<' || name[at - 2] == '-') break;
                if (--depth == 0) return at;
                break;
            case ')':
            case ']':
            case '}': {
                const char opening = c == ')' ? '(' : c == ']' ? '[' : '{';
                while (depth > 0 && open[depth - 1] == '<') --depth;  // it was "less than"
                if (depth == 0 || open[depth - 1] != opening) return no_position;
                if (--depth == 0) return at;
                break;
            }
            default:
                break;
        }
    }
    return no_position;
}

// The arguments in "<a, b>" or "(a, b)", unchanged; the input includes the brackets.
ALLOCSCOPE_NOINLINE list<text> split_arguments(arena& memory, const text& bracketed) {
    list<text> parts{memory};
    if (bracketed.size() < 2) return parts;
    const text inside = bracketed.substr(1, bracketed.size() - 2);
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
    const text last = without_spaces_around(inside.substr(begin));
    if (!last.empty() || !parts.empty()) parts.push_back(last);
    return parts;
}

// "" if there is none.
ALLOCSCOPE_NOINLINE text first_argument(arena& memory, const text& bracketed) {
    const list<text> parts = split_arguments(memory, bracketed);
    return parts.empty() ? text{} : parts[0];
}

// Whether the type has a part behind the place of a name, as `void (*)(int)` and `int[3]`.
// Nothing more can be written behind that.
ALLOCSCOPE_PURE inline bool is_declarator(const text& type) noexcept {
    return type.size() > 1 && (type.ends_with(")") || type.ends_with("]"));
}

// The element of an array, and of the arrays in it; other types are as they are.
inline text element_of_array(text type) noexcept {
    while (type.ends_with("]")) type = type.substr(0, type.rfind('['));
    return type;
}

}  // namespace symbolize

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_SPELLING_NAME_BRACKETS_HPP
