// template_scopes.hpp - which template parameters are visible at a place of a source file.
//
// Room:     source (floor 8), not malloc-safe
// Called:   by new_expressions.hpp while it loops over the tokens
// Threads:  one object belongs to one thread
// Memory:   one entry for each brace and each template header, of the given arena
//
// In a template, `new T` means another type in every instantiation. So this class remembers the
// template headers around every scope:
//
//     template <class T> struct pool {            // scope 1: headers {T}
//         template <class U> void fill(U u) {     // scope 2: headers {U}, parent 1
//             new T;                              // T is the first argument of pool<...>
//
// A header belongs to the next `{` before a `;`. If its class is a partial specialisation, the
// header is kept, but marked: its parameters are not the arguments that a demangled name shows.

#ifndef ALLOCSCOPE_SOURCE_TEMPLATE_SCOPES_HPP
#define ALLOCSCOPE_SOURCE_TEMPLATE_SCOPES_HPP
#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/bracketed_tokens.hpp>
#include <allocscope/source/source_tokens.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// The tokens after `at` are in `scope`.
struct scope_change {
    std::size_t at;  // first, for count_below()
    std::size_t scope;
};

struct template_header {
    list<text> parameters;  // "" if it has no name
    std::size_t packs = 0;
    std::size_t pack = 0;         // the number of the last parameter that is a pack
    std::size_t invented = 0;     // `auto x` as a parameter of the function is one more, at the end
    bool shows_arguments = true;  // argument i in a demangled name belongs to parameter i
    std::size_t specialised = 0;  // the "<" of the arguments, if they differ from the parameters
};

// A parameter of a template.
struct found_parameter {
    std::size_t header = 0;  // the number of its header among those around a place, from 1; 0: none
    std::size_t number = 0;
};

// The parameter that a name means inside of these headers.
inline found_parameter find_parameter(const list<const template_header*>& headers,
                                      const text& name) noexcept {
    for (std::size_t header = headers.size(); header > 0; --header) {
        const list<text>& parameters = headers[header - 1]->parameters;
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            if (parameters[i] == name) return {header, i};
        }
    }
    return {};
}

class template_scopes {
public:
    template_scopes(arena& memory, const bracketed_tokens& tokens)
        : memory_(&memory),
          tokens_(tokens),
          headers_(memory),
          scopes_(memory),
          open_(memory),
          pending_(memory),
          changes_(memory) {
        scopes_.push_back({0, list<std::size_t>{}});
    }

    // Takes the token at `at`; returns the index of the next token to look at.
    std::size_t see(std::size_t at) {
        const text token = text_at(at);
        switch (token.front()) {
            case 't':
                if (token == "template" && tokens_.is_at(at + 1, "<")) {
                    // The declaration between them has another form behind #else.
                    const bool is_next =
                        at == header_end_ || tokens_.is_at(header_end_, "requires");
                    if (!is_next) forget_pending();
                    return read_header(at + 1);
                }
                break;
            case ']':
                if (tokens_.is_at(at + 1, "<") && tokens_.is_any_at(at + 2, "class typename")) {
                    return read_header(at + 1);
                }
                break;
            case '{':
                check_specialisation(at);
                open_.push_back(current_);
                enter(at, here());
                forget_pending();
                break;
            case '}':
                close_brace(at);
                break;
            case ';':
                forget_pending();
                break;
            default:
                break;
        }
        return at + 1;
    }

    // The scope of the last token that see() took.
    std::size_t here() {
        if (pending_.empty()) return current_;
        scopes_.push_back({current_, pending_});
        return scopes_.size() - 1;
    }

    // The scope of a token in a block. Call it after see() has taken all tokens.
    std::size_t scope_of(std::size_t at) const noexcept {
        const std::size_t behind = count_below(changes_, at);
        return behind == 0 ? 0 : changes_[behind - 1].scope;
    }

    // Whether the tokens after a template header are being read: they declare the template.
    ALLOCSCOPE_INLINE bool is_behind_header() const noexcept { return !pending_.empty(); }

    bool is_in_template() const noexcept {
        if (!pending_.empty()) return true;
        std::size_t scope = current_;
        while (scope != 0 && scopes_[scope].headers.empty()) scope = scopes_[scope].parent;
        return scope != 0;
    }

    // The headers around a scope, outermost first.
    list<const template_header*> headers_around(arena& memory, std::size_t scope) const {
        list<const template_header*> found{memory};
        constexpr std::size_t most = 64;
        while (scope != 0 && found.size() < most) {
            const list<std::size_t>& own = scopes_[scope].headers;
            for (std::size_t i = own.size(); i > 0; --i) found.push_back(&headers_[own[i - 1]]);
            scope = scopes_[scope].parent;
        }
        const template_header** last = found.end();
        for (const template_header** first = found.begin(); first < last; ++first) {
            const template_header* const inner = *first;
            *first = *--last;
            *last = inner;
        }
        return found;
    }

private:
    struct node {
        std::size_t parent;
        list<std::size_t> headers;
    };

    static constexpr std::size_t max_pending =
        16;  // one for each class level, and one for a member

    ALLOCSCOPE_PURE text text_at(std::size_t at) const noexcept { return tokens_.text_at(at); }

    // A scope may have kept the old list, so the list is left to that scope.
    void forget_pending() noexcept {
        if (!pending_.empty()) pending_ = list<std::size_t>{*memory_};
    }

    void close_brace(std::size_t at) {
        if (open_.empty()) return;
        const std::size_t outer = open_.back();
        open_.pop_back();
        const bool was_initialiser = tokens_.is_any_at(at + 1, ", {");
        if (was_initialiser && current_ != outer) {
            forget_pending();
            pending_.append(scopes_[current_].headers);
        }
        enter(at, outer);
    }

    void enter(std::size_t at, std::size_t scope) {
        if (scope != current_) changes_.push_back({at, scope});
        current_ = scope;
    }

    // `at` is on the `<` of a header.
    std::size_t read_header(std::size_t at) {
        const std::size_t behind = tokens_.behind_angles(at);
        if (behind == 0) return at + 1;
        template_header header;
        header.parameters = list<text>{*memory_};
        text name;
        int depth = 0;
        bool has_default = false;
        for (std::size_t i = at + 1; i < behind; ++i) {
            const text token = text_at(i);
            const char c = token.size() == 1 ? token[0] : ' ';
            if (depth == 0 && (c == ',' || i + 1 == behind)) {
                if (i > at + 1) header.parameters.push_back(name);
                name = {};
                has_default = false;
                continue;
            }
            if (c == '<' || c == '(') ++depth;
            if (c == '>' || c == ')') --depth;
            if (depth == 0 && c == '=') has_default = true;
            if (depth == 0 && c == '.') {
                if (!tokens_.is_at(i - 1, ".")) ++header.packs;
                header.pack = header.parameters.size();
            }
            const bool is_name = is_word(token) && !is_listed(token, "class typename");
            if (depth == 0 && !has_default && is_name) name = token;
        }
        headers_.push_back(header);
        if (pending_.size() < max_pending) pending_.push_back(headers_.size() - 1);
        header_end_ = behind;
        is_unchecked_ = true;
        return behind;
    }

    // `at` is on the `{` after the pending headers. In `struct pool<T*>` and `pool<T*>::grab()` the
    // arguments differ from the parameters; header i belongs to the i-th class with arguments.
    void check_specialisation(std::size_t at) {
        if (pending_.empty() || !is_unchecked_) return;
        is_unchecked_ = false;
        std::size_t opens[max_pending];  // the "<" of each class of the name being declared
        std::size_t count = 0;
        const bool is_class = tokens_.is_any_at(header_end_, "struct class union");
        constexpr std::size_t far_away = 256;
        std::size_t i = header_end_;
        for (; i < at && i < header_end_ + far_away; ++i) {
            const text token = text_at(i);
            if ((token == "(" && !is_class) || (token == ":" && is_class)) break;
            if (is_word(token) && i > header_end_ && !tokens_.is_at(i - 1, "::")) count = 0;
            if (token != "<") continue;
            const std::size_t behind = tokens_.behind_angles(i);
            if (behind == 0 || behind > at) break;
            if ((is_class || tokens_.is_at(behind, "::")) && count < max_pending)
                opens[count++] = i;
            i = behind - 1;
        }
        for (std::size_t k = 0; k < count && k < pending_.size(); ++k) {
            check_arguments(headers_[pending_[k]], opens[k]);
        }
        for (; i < at; ++i) {
            const bool is_one = tokens_.is_at(i, "auto") && !tokens_.is_at(i - 2, "decltype");
            if (is_one && !is_class) ++headers_[pending_.back()].invented;
        }
    }

    // `open` is on the "<" of the arguments with which a class is declared or a member is defined.
    void check_arguments(template_header& header, std::size_t open) const noexcept {
        const std::size_t close = tokens_.behind_angles(open) - 1;
        std::size_t parameter = 0;
        bool is_same = true;
        for (std::size_t i = open + 1; i < close; ++i) {
            const text token = text_at(i);
            if (is_listed(token, ", .")) continue;
            is_same = is_same && parameter < header.parameters.size() &&
                      token == header.parameters[parameter];
            ++parameter;
        }
        header.shows_arguments = is_same && parameter == header.parameters.size();
        header.specialised = header.shows_arguments ? 0 : open;
    }

    arena* memory_;
    const bracketed_tokens& tokens_;
    list<template_header> headers_;
    list<node> scopes_;
    list<std::size_t> open_;  // for each open brace, the scope around it
    list<std::size_t> pending_;
    list<scope_change> changes_;
    std::size_t current_ = 0;
    std::size_t header_end_ = 0;
    bool is_unchecked_ = false;  // check_specialisation() has not seen the pending headers
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SOURCE_TEMPLATE_SCOPES_HPP
