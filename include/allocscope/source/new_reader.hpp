// new_reader.hpp - reads one `new T`, or one request for the bytes of objects, from tokens.
//
// Room:     source (floor 8), not malloc-safe
// Called:   by new_expressions.hpp, for each `new` and each call of malloc and its family
// Threads:  any
// Memory:   none
//
// Compilers place the call of operator new at one of two tokens (measured with g++ 12 and clang 14,
// -O0 and -O2):
//
//     auto* w = new app::widget(1, 2);
//               ^ clang; g++ in templates
//                                   ^ g++: the last token of the expression
//     auto* m = new std::map<int, char>;
//                        ^ g++: a name with template arguments counts as one token, the name
//
// `new (place) T` allocates nothing and is left out, unless the place is std::nothrow or a
// std::align_val_t.
//
// A request for the bytes of objects counts as an expression, too:
//
//     ::operator new(count * sizeof(T))      std::malloc(sizeof(T))
//     ^ clang       ^ g++                    ^ clang    ^ g++
//
// So does one whose result is kept as characters, whatever they will hold, as `new char[n]` does:
//
//     p = (char*)malloc(n + 1)               char* p = malloc(n)            p = malloc(n)
//
// and one for an object with more behind it, if that ends with an array:
//
//     malloc(sizeof(T) + n)                  malloc(offsetof(T, text) + n)

#ifndef ALLOCSCOPE_SOURCE_NEW_READER_HPP
#define ALLOCSCOPE_SOURCE_NEW_READER_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/bracketed_tokens.hpp>
#include <allocscope/source/source_tokens.hpp>
#include <allocscope/source/written_new.hpp>
#include <allocscope/spelling/name_brackets.hpp>
#include <allocscope/spelling/pretty_type.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

class new_reader {
public:
    ALLOCSCOPE_INLINE explicit new_reader(const bracketed_tokens& file) : file_(file) {}

    // Reads the expression whose `new` is at `at`. Returns false if it allocates nothing; but an
    // operator new of the user that `takes_place` may.
    bool read_new(std::size_t at, new_expression& found, bool takes_place = false) const {
        found.begin = is_at(at - 1, "::") ? at - 1 : at;
        std::size_t next = at + 1;
        std::size_t behind = 0;
        if (is_at(next, "(")) {
            const std::size_t close = file_.partner(next);
            if (close == 0) return false;
            const text follows = text_at(close + 1);
            if (is_word(follows) || follows == "::") {
                if (!takes_place && !is_allocating_placement(next, close)) return false;
                behind = read_type(close + 1, found);
            } else {  // new (T)
                const std::size_t type_end = read_type(next + 1, found);
                const bool is_whole = type_end == close || is_declarator(type_end, close);
                if (is_whole && !is_at(close - 1, "]")) found.type_end = close;
                found.has_type =
                    found.has_type && is_whole && (follows != "(" || is_no_place(close));
                found.last = close;
                behind = close + 1;
            }
        } else {
            behind = read_type(next, found);
        }
        const text opens = text_at(behind);
        if (is_listed(opens, "( {") && file_.partner(behind) != 0) {
            found.has_initialiser = true;
            found.last = file_.partner(behind);
        }
        return true;
    }

    // Reads a call that is given the size of a type, or a multiple of it: as its first argument, as
    // the second of realloc and aligned_alloc, the third of posix_memalign, as the product of both
    // of calloc. Or one that is kept as characters. Returns false if it is neither.
    bool read_request(std::size_t begin, std::size_t open, new_expression& found) const {
        const bool is_third = is_any_at(open - 1, "posix_memalign reallocarray");
        const bool is_second = is_any_at(open - 1, "calloc realloc aligned_alloc");
        return read_request(begin, open, is_third ? 2 : is_second ? 1 : 0, found);
    }

    // The same for any function. The size is behind `left` commas.
    bool read_request(std::size_t begin, std::size_t open, std::size_t left,
                      new_expression& found) const {
        const std::size_t close = file_.partner_if(open, "(");
        const bool is_product = is_at(open - 1, "calloc");
        bool is_sum = false;
        bool is_typed = false;  // an argument before this one has the size of a type
        for (std::size_t at = open + 1; at < close; ++at) {
            const text token = text_at(at);
            if (token == "," && left-- == 0) break;
            if (token == "," || (left != 0 && !is_product)) {
                at = file_.end_of_brackets(at);
                is_typed = found.has_type;
                is_sum = is_sum && is_typed;  // a factor of calloc may be one
                continue;
            }
            const bool is_all = token == "(" && is_any_at(at - 1, "( ,");
            if (is_all && is_any_at(file_.partner(at) + 1, ") ,")) continue;
            if (token == "offsetof" && is_at(at + 1, "(") && !found.has_type) {
                is_sum = is_at(read_type(at + 2, found), ",");  // and what is behind it
                if (!is_sum) return false;
            } else if (is_sizeof(at)) {
                if (found.has_type && is_sum) break;  // it is that of more
                if (found.has_type) return false;
                at = read_sizeof(at + 1, found);
                if (at == 0) return false;
            } else if (!is_name_character(token[0]) && !is_listed(token, "* :: . -> < > ( [ { )")) {
                is_sum = is_sum || !is_typed;
            }
            at = file_.end_of_brackets(at);
        }
        begin = file_.back_over(begin, ":: std");
        if (is_any_at(begin - 1, ". ->")) return false;
        found.has_more = is_sum && found.has_type;
        if (!found.has_type && !read_kept_type(begin, open, close, found)) return false;
        found.begin = begin;
        found.last = open;
        found.has_initialiser = true;
        found.is_request = true;
        return true;
    }

    // Reads the value that the `throw` at `at` throws: `throw T(...);`, `throw v;` or `throw (v);`.
    // Returns false if it is something else.
    bool read_throw(std::size_t at, new_expression& found) const {
        found.begin = at++;
        const std::size_t close = file_.partner_if(at, "(");
        const bool is_in_brackets = is_at(close + 1, ";");
        found.last = read_value(is_in_brackets ? at + 1 : at, found) - 1;
        return found.has_type && is_at(found.last + 1, is_in_brackets ? ")" : ";");
    }

    // The token after a name with its scopes and template arguments; 0 if it cannot be read. Sets
    // found.last to the last token that g++ names for it.
    std::size_t read_qualified_name(std::size_t at, new_expression& found) const {
        if (is_at(at, "::")) ++at;
        for (;;) {
            if (!file_.is_word_at(at)) return 0;
            found.last = at++;
            if (is_at(at, "<")) {
                at = file_.behind_angles(at);
                if (at == 0) return 0;
            }
            if (!is_at(at, "::")) return at;
            ++at;
            if (is_at(at, "template")) ++at;
        }
    }

private:
    // Reads what the result is kept as, if the request has no `sizeof`: then it may be characters.
    bool read_kept_type(std::size_t begin, std::size_t open, std::size_t close,
                        new_expression& found) const {
        if (is_any_at(open - 1, "new ]")) return false;  // operator new: of any objects
        for (std::size_t at = open; at < close; ++at) {
            if (is_sizeof(at)) return false;
        }
        if (is_any_at(begin - 1, "? :")) begin = behind_sign(begin - 1);
        return read_characters(begin, close, found) || read_pointer(begin, found);
    }

    // The token behind the sign in `p = q != nullptr ? q : malloc(n)`, whose result p keeps, too.
    std::size_t behind_sign(std::size_t at) const {
        for (; at > 1 && !is_any_at(at, "; { }"); --at) {
            at = file_.begin_of_brackets(at);
            if (is_at(at, "=") && !is_at(at + 1, "=") && !is_any_at(at - 1, "= ! < >")) break;
        }
        return at + 1;
    }

    // Reads the `p`, `v.p` or `v->p` in `p = malloc(n)`, `T* p = malloc(n)`, `p = (T*)malloc(n)`.
    // It may point to characters.
    bool read_pointer(std::size_t begin, new_expression& found) const {
        if (is_at(begin - 1, ")")) begin = file_.partner(begin - 1);  // of a cast
        const std::size_t first = file_.first_in_chain(begin - 2, ". ->");
        if (!is_at(begin - 1, "=") || !is_any_at(first - 1, "; { } ( ) : * const")) return false;
        found.type_begin = first;
        found.type_end = begin - 1;
        return found.has_type = found.is_of_variable = file_.is_word_at(first);
    }

    // Reads the `char` in `= (char*)malloc(n)`, `= static_cast<char*>(malloc(n))` and
    // `char* p = malloc(n)`.
    bool read_characters(std::size_t begin, std::size_t close, new_expression& found) const {
        const bool has_cast = !is_at(begin - 1, "=");
        std::size_t star = begin - 2;
        const std::size_t before = is_at(star, "*") ? 2 : 3;  // this many tokens, the cast begins
        if (before == 3) --star;
        std::size_t type = star - 1;
        if (!file_.are_at(type, "char", "*")) return false;
        if (is_at(type - 1, "unsigned")) --type;
        // A cast may also be one of several values, `{1, (char*)malloc(n)}`.
        const bool is_value =
            is_any_at(type - before, "{ ,") && is_any_at(close + before - 1, ", }");
        if (has_cast && !is_value && !is_any_at(type - before, "= return ? :")) return false;
        found.type_begin = type;
        found.type_end = star;
        found.has_type = true;
        return true;
    }

    // Whether the token is the `sizeof` of objects. That of a literal, `sizeof("")`, is a number.
    bool is_sizeof(std::size_t at) const {
        return is_at(at, "sizeof") && !text_at(at + 2).starts_with("\"");
    }

    // Reads `(T)`, `(*p)`, `*p`, `*p[i]`, `(*(p[i]))`, `(p[0])`, `p[0]` or `v` behind `sizeof`;
    // returns its last token or the bracket before it, and 0 if it is something else. `(p[i])` may
    // be an array type, and `(v)` a type.
    std::size_t read_sizeof(std::size_t at, new_expression& found) const {
        const bool has_brackets = is_at(at, "(");
        const std::size_t value = has_brackets ? at + 1 : at;
        std::size_t behind = value;
        const std::size_t index = behind_variable(file_.tokens(), value);
        const bool is_target = is_at(value, "*");
        const bool is_element = is_at(index, "[") && (is_target || is_at(index + 1, "0"));
        if (is_element || is_target || (!has_brackets && index == value + 1)) {
            behind = is_element ? file_.partner(index) + 1 : index;
            const bool is_inner = is_element && is_at(value + 1, "(");
            if (is_inner && behind == file_.partner(value + 1)) ++behind;
            found.type_begin = value;
            found.type_end = behind;
            found.has_type = found.is_of_variable = true;
        } else if (has_brackets) {
            behind = read_type(value, found);
        }
        if (has_brackets) return behind == file_.partner(at) ? at : 0;
        return is_any_at(behind, ") , * +") ? behind - 1 : 0;
    }

    // Whether the brackets that close at `close` are those of a type, although `(` follows:
    // `new (int*)(nullptr)`. `new (x)(y)` may be a y at the place x.
    bool is_no_place(std::size_t close) const {
        const text last = text_at(close - 1);
        return is_at(close + 2, ")") || is_listed(last, "* >") || is_builtin_word(last);
    }

    // Whether the tokens after the first name of a type make it a pointer to functions, arrays or
    // members: the rest of `int (*)(char)`, `int (*[2])(char)`, `int (*)[3]`, `int box::*`.
    bool is_declarator(std::size_t at, std::size_t close) const {
        const std::size_t inner = file_.partner_if(at, "(");
        if (inner == 0) return file_.are_at(close - 2, "::", "*");
        const std::size_t bound = is_at(inner - 1, "]") ? file_.partner(inner - 1) : inner;
        return is_at(bound - 1, "*") && file_.partner(inner + 1) + 1 == close;
    }

    ALLOCSCOPE_PURE bool is_allocating_placement(std::size_t open, std::size_t close) const {
        const std::size_t end = close < open + 16 ? close : open + 16;
        return file_.count_of(open + 1, end, "nothrow align_val_t") != 0;
    }

    // Reads a type that starts at `at`. Returns the index after the type and its array bounds.
    std::size_t read_type(std::size_t at, new_expression& found) const {
        found.type_begin = at;
        found.last = at < file_.count() ? at : file_.count() - 1;
        bool has_name = false;
        bool is_builtin = false;
        bool is_readable = true;
        std::size_t value = 0;  // where the bracket of the value opens
        for (;; ++at) {
            const text word = text_at(at);
            if (is_listed(word, "const volatile")) {
                found.last = at;
            } else if (!has_name && is_builtin_word(word)) {
                is_builtin = true;
                found.last = at;
            } else if (has_name || is_builtin) {
                if (!is_word(word) || !is_at(at + 1, "::")) break;
                ++at;  // `int box::*`
            } else if (is_listed(word, "decltype auto")) {
                has_name = true;
                is_readable = word == "decltype" && is_at(at + 1, "(") &&
                              behind_variable(file_.tokens(), at + 2) == file_.partner(at + 1);
                found.last = at;
                if (word == "decltype" && is_at(at + 1, "(")) at = file_.partner(at + 1);
                if (at == 0) return found.last + 1;
                value = found.last + 1;
            } else if (is_listed(word, "struct class union enum typename")) {
                continue;
            } else if (word == "::" || is_word(word)) {
                const std::size_t behind = read_qualified_name(at, found);
                if (behind == 0) return at + 1;
                has_name = true;
                at = behind - 1;
            } else {
                return at;
            }
        }
        for (; is_any_at(at, "* & const"); ++at) {
            found.last = at;
        }
        found.type_end = at;
        found.has_type = is_readable && !is_at(at, "::");  // decltype(v)::type
        const std::size_t close = value != 0 && !is_readable ? file_.partner(value) : 0;
        if (close > value && !is_any_at(close + 1, "[ * &") &&
            read_value(value + 1, found) != close) {
            found.has_type = found.is_of_variable = found.is_of_value = false;
            found.type_end = close;
        }
        while (is_at(at, "[") && file_.partner(at) != 0) {
            at = file_.partner(at);
            found.last = at++;
        }
        return at;
    }

    // Reads the value that begins at `begin`. Returns the token behind it. Sets `has_type` if the
    // value can be read.
    std::size_t read_value(std::size_t begin, new_expression& found) const {
        std::size_t at = behind_variable(file_.tokens(), begin);
        found.type_begin = begin;
        found.is_of_variable = is_any_at(at, "; ) }");
        if (!found.is_of_variable) {
            new_expression inner;
            at = begin;
            while (is_builtin_word(text_at(at))) ++at;
            if (at == begin) at = read_qualified_name(at, inner);
            if (is_any_at(at, ". ->") && file_.is_word_at(begin))
                at = behind_variable(file_.tokens(), begin);
            found.is_of_value = at != 0 && is_any_at(at, "( {");
        }
        found.type_end = at;
        found.has_type = found.is_of_variable || found.is_of_value;
        return found.is_of_value ? file_.partner(at) + 1 : at;
    }

    ALLOCSCOPE_PURE text text_at(std::size_t at) const noexcept { return file_.text_at(at); }
    ALLOCSCOPE_PURE bool is_at(std::size_t at, const char* wanted) const noexcept {
        return file_.is_at(at, wanted);
    }
    ALLOCSCOPE_PURE bool is_any_at(std::size_t at, const char* words) const noexcept {
        return file_.is_any_at(at, words);
    }

    const bracketed_tokens& file_;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SOURCE_NEW_READER_HPP
