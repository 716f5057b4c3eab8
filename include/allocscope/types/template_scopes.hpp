// template_scopes.hpp - which template parameters are in force at a place of a source file.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by new_expressions.hpp while it walks over the tokens
// Threads:  one walk belongs to one thread
// Memory:   one entry for each brace and each template header
//
// The text `new T` means another type in every instantiation. So the walk remembers the headers
// that the innermost scope stands in:
//
//     template <class T> struct pool {            // scope 1: headers {T}
//         template <class U> void fill(U u) {     // scope 2: headers {U}, parent 1
//             new T;                              // T is the first argument of pool<...>
//
// A header belongs to the next `{` before a `;`. One whose class is a partial specialisation is
// kept, but marked: its parameters are not the arguments that a demangled name shows.

#ifndef ALLOCSCOPE_TYPES_TEMPLATE_SCOPES_HPP
#define ALLOCSCOPE_TYPES_TEMPLATE_SCOPES_HPP

#include <allocscope/types/source_tokens.hpp>

#include <cstddef>      // size_t
#include <string_view>  // string_view
#include <vector>       // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

struct template_header {
    std::vector<std::string_view> parameters;  // "" for one without a name
    bool has_pack = false;
    bool shows_arguments = true;  // argument i of the demangled name is parameter i
};

// Behind the `>` that closes the `<` at `at`; 0 when there is none near. `partners` are the
// matching round, square and curly brackets.
inline std::size_t skip_angle_tokens(const std::vector<source_token>& tokens,
                                     const std::vector<std::size_t>& partners, std::size_t at) {
    constexpr std::size_t far_away = 512;
    int depth = 0;
    const std::size_t first = at;
    while (at < tokens.size() && at - first < far_away) {
        const std::string_view text = tokens[at].text;
        if (text == ";" || text == "{" || text == "}") return 0;
        if (text == "<") ++depth;
        if (text == ">" && --depth == 0) return at + 1;
        if (text == "(" || text == "[") {
            if (partners[at] == 0) return 0;
            at = partners[at];
        }
        ++at;
    }
    return 0;
}

class template_scopes {
public:
    template_scopes(const std::vector<source_token>& tokens,
                    const std::vector<std::size_t>& partners)
        : tokens_(tokens), partners_(partners) {
        scopes_.push_back({0, {}});
    }

    // Tells the walk of the token at `at`; returns the index of the next one to look at.
    std::size_t see(std::size_t at) {
        const std::string_view text = tokens_[at].text;
        if (text == "template" && text_at(at + 1) == "<") return read_header(at + 1);
        if (text == "]" && text_at(at + 1) == "<" &&
            (text_at(at + 2) == "class" || text_at(at + 2) == "typename")) {
            return read_header(at + 1);
        }
        if (text == "{") {
            check_specialisation(at);
            open_.push_back(current_);
            current_ = here();
            pending_.clear();
        } else if (text == "}" && !open_.empty()) {
            const std::size_t outer = open_.back();
            open_.pop_back();
            const bool was_initialiser = text_at(at + 1) == "," || text_at(at + 1) == "{";
            if (was_initialiser && current_ != outer) pending_ = scopes_[current_].headers;
            current_ = outer;
        } else if (text == ";") {
            pending_.clear();
        }
        return at + 1;
    }

    // The scope of the token that see() was told of last.
    std::size_t here() {
        if (pending_.empty()) return current_;
        scopes_.push_back({current_, pending_});
        return scopes_.size() - 1;
    }

    // The headers around a scope, outermost first.
    std::vector<const template_header*> headers_around(std::size_t scope) const {
        std::vector<const template_header*> inside_out;
        constexpr std::size_t most = 64;
        while (scope != 0 && inside_out.size() < most) {
            const std::vector<std::size_t>& own = scopes_[scope].headers;
            for (std::size_t i = own.size(); i > 0; --i)
                inside_out.push_back(&headers_[own[i - 1]]);
            scope = scopes_[scope].parent;
        }
        return {inside_out.rbegin(), inside_out.rend()};
    }

private:
    struct node {
        std::size_t parent;
        std::vector<std::size_t> headers;
    };

    std::string_view text_at(std::size_t at) const noexcept {
        return at < tokens_.size() ? tokens_[at].text : std::string_view{};
    }

    // `at` is on the `<` of a header.
    std::size_t read_header(std::size_t at) {
        const std::size_t behind = skip_angle_tokens(tokens_, partners_, at);
        if (behind == 0) return at + 1;
        template_header header;
        std::string_view name;
        int depth = 0;
        bool has_default = false;
        for (std::size_t i = at + 1; i < behind; ++i) {
            const std::string_view text = tokens_[i].text;
            if (depth == 0 && (text == "," || i + 1 == behind)) {
                if (i > at + 1) header.parameters.push_back(name);
                name = {};
                has_default = false;
                continue;
            }
            if (text == "<" || text == "(") ++depth;
            if (text == ">" || text == ")") --depth;
            if (depth == 0 && text == "=") has_default = true;
            if (text == ".") header.has_pack = true;
            const bool is_name = is_word(text) && text != "class" && text != "typename";
            if (depth == 0 && !has_default && is_name) name = text;
        }
        headers_.push_back(static_cast<template_header&&>(header));
        constexpr std::size_t most = 16;  // one for each level of nested classes, and their member
        if (pending_.size() < most) pending_.push_back(headers_.size() - 1);
        header_end_ = behind;
        is_unchecked_ = true;
        return behind;
    }

    // `at` is on the `{` behind the pending headers. In `struct pool<T*>` and `pool<T*>::grab()`
    // the arguments differ from the parameters; header i belongs to the i-th class with arguments.
    void check_specialisation(std::size_t at) {
        if (pending_.empty() || !is_unchecked_) return;
        is_unchecked_ = false;
        std::vector<std::size_t> opens;  // the "<" of each class of the name being declared
        const std::string_view first = text_at(header_end_);
        const bool is_class = first == "struct" || first == "class" || first == "union";
        constexpr std::size_t far_away = 256;
        for (std::size_t i = header_end_; i < at && i < header_end_ + far_away; ++i) {
            const std::string_view text = tokens_[i].text;
            if ((text == "(" && !is_class) || (text == ":" && is_class)) break;
            if (is_word(text) && i > header_end_ && text_at(i - 1) != "::") opens.clear();
            if (text != "<") continue;
            const std::size_t behind = skip_angle_tokens(tokens_, partners_, i);
            if (behind == 0 || behind > at) break;
            if (is_class || text_at(behind) == "::") opens.push_back(i);
            i = behind - 1;
        }
        for (std::size_t i = 0; i < opens.size(); ++i) {
            if (i < pending_.size()) check_arguments(headers_[pending_[i]], opens[i]);
        }
    }

    // `open` is on the "<" of the arguments that a class is declared or a member is defined with.
    void check_arguments(template_header& header, std::size_t open) {
        const std::size_t close = skip_angle_tokens(tokens_, partners_, open) - 1;
        std::size_t parameter = 0;
        bool is_same = true;
        for (std::size_t i = open + 1; i < close; ++i) {
            const std::string_view text = tokens_[i].text;
            if (text == "," || text == ".") continue;
            is_same = is_same && parameter < header.parameters.size() &&
                      text == header.parameters[parameter];
            ++parameter;
        }
        header.shows_arguments = is_same && parameter == header.parameters.size();
    }

    const std::vector<source_token>& tokens_;
    const std::vector<std::size_t>& partners_;
    std::vector<template_header> headers_;
    std::vector<node> scopes_;
    std::vector<std::size_t> open_;  // for every open brace: the scope outside it
    std::vector<std::size_t> pending_;
    std::size_t current_ = 0;
    std::size_t header_end_ = 0;
    bool is_unchecked_ = false;  // the pending headers, by check_specialisation
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_TEMPLATE_SCOPES_HPP
