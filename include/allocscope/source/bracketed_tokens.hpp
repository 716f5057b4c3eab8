// bracketed_tokens.hpp - the tokens of a source file, and which bracket belongs to which.
//
// Room:     source (floor 8), not malloc-safe
// Called:   made by new_expressions.hpp, once for each source file that a report needs; read by
//           everything in source/, types/ and places/ that looks at it
// Threads:  read-only once it is built
// Memory:   4 bytes for each token, of the given arena, besides the tokens
//
// Positions are indices of tokens. Before the first one and after the last one there is "".

#ifndef ALLOCSCOPE_SOURCE_BRACKETED_TOKENS_HPP
#define ALLOCSCOPE_SOURCE_BRACKETED_TOKENS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/source_tokens.hpp>
#include <allocscope/spelling/name_brackets.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t

ALLOCSCOPE_MILD_BEGIN

namespace symbolize {

// For each token, the token that closes its bracket, or the bracket that it closes; 0 if there is
// none, and behind the last token. Angle brackets do not count.
ALLOCSCOPE_NOINLINE list<std::uint32_t> matching_brackets(arena& memory,
                                                          const list<source_token>& tokens) {
    list<std::uint32_t> partners{memory};
    partners.resize(tokens.size() + 1);
    list<std::uint32_t> open{memory};
    for (std::uint32_t i = 0; i < tokens.size(); ++i) {
        const char c = tokens[i].spelling().size() == 1 ? tokens[i].spelling()[0] : ' ';
        if (c == '(' || c == '[' || c == '{') open.push_back(i);
        if ((c != ')' && c != ']' && c != '}') || open.empty()) continue;
        const char opening = c == ')' ? '(' : c == ']' ? '[' : '{';
        if (tokens[open.back()].spelling()[0] == opening) {
            partners[open.back()] = i;
            partners[i] = open.back();
            open.pop_back();
        } else if (c == '}') {  // a macro has half a bracket: start again after the brace
            while (!open.empty() && tokens[open.back()].spelling()[0] != '{') open.pop_back();
            if (!open.empty()) open.pop_back();
        }
    }
    return partners;
}

class bracketed_tokens {
public:
    ALLOCSCOPE_INLINE bracketed_tokens(arena& memory, const list<source_token>& tokens)
        : tokens_(tokens), partners_(matching_brackets(memory, tokens)) {}

    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE const list<source_token>& tokens() const noexcept {
        return tokens_;
    }
    ALLOCSCOPE_PURE const source_token& token(std::size_t at) const noexcept { return tokens_[at]; }
    ALLOCSCOPE_PURE text text_at(std::size_t at) const noexcept { return spelling_at(tokens_, at); }
    ALLOCSCOPE_PURE std::size_t count() const noexcept { return tokens_.size(); }
    // Whether a token is `wanted`, or one of the words in `words`. Not inlined, because unoptimised
    // code has hundreds of these calls.
    ALLOCSCOPE_PURE bool is_at(std::size_t at, const char* wanted) const noexcept;
    ALLOCSCOPE_PURE bool is_at(std::size_t at, const text& wanted) const noexcept;
    ALLOCSCOPE_PURE bool is_any_at(std::size_t at, const char* words) const noexcept;
    // Whether a token and the next one are these.
    ALLOCSCOPE_PURE bool are_at(std::size_t at, const char* first,
                                const char* second) const noexcept;
    ALLOCSCOPE_PURE bool is_word_at(std::size_t at) const noexcept;

    // The text of the file from one token to another.
    ALLOCSCOPE_PURE text between(std::size_t begin, std::size_t end) const noexcept {
        const char* const from = text_at(begin).data();
        return {from, static_cast<std::size_t>(text_at(end).data() - from)};
    }

    // The token that closes the bracket at `at`, or the bracket that the token at `at` closes; 0 if
    // there is none.
    ALLOCSCOPE_PURE std::size_t partner(std::size_t at) const noexcept { return partners_[at]; }

    // The same if the token is `bracket`; otherwise 0.
    ALLOCSCOPE_PURE std::size_t partner_if(std::size_t at, const char* bracket) const noexcept;

    // Steps over brackets: from the one that opens to the one that closes, and back. `at` itself if
    // the token there is none of these.
    ALLOCSCOPE_PURE std::size_t end_of_brackets(std::size_t at) const noexcept;
    ALLOCSCOPE_PURE std::size_t begin_of_brackets(std::size_t at) const noexcept;

    // The first token in [begin, end) that is one of these words; `end`: none is.
    ALLOCSCOPE_PURE std::size_t find(std::size_t begin, std::size_t end,
                                     const char* words) const noexcept;
    // How many tokens in [begin, end) are one of these words.
    ALLOCSCOPE_PURE std::size_t count_of(std::size_t begin, std::size_t end,
                                         const char* words) const noexcept;
    // The nearest token at `at`, or before it, that is one of these words; 0: there is none.
    ALLOCSCOPE_PURE std::size_t back_to(std::size_t at, const char* words) const noexcept;
    // The first of the tokens in front of `at` that are such words one after another; `at` itself
    // if there is none.
    ALLOCSCOPE_PURE std::size_t back_over(std::size_t at, const char* words) const noexcept;

    // The first and the last name in `a::b::c`, or another chain with such signs, that has the name
    // at `at`.
    ALLOCSCOPE_PURE std::size_t first_in_chain(std::size_t at, const char* signs) const noexcept;
    ALLOCSCOPE_PURE std::size_t last_in_chain(std::size_t at, const char* signs) const noexcept;

    // The index after the `>` that closes the `<` at `at`; 0 if there is none nearby.
    ALLOCSCOPE_PURE std::size_t behind_angles(std::size_t at) const noexcept;

private:
    list<source_token> tokens_;
    list<std::uint32_t> partners_;
};

ALLOCSCOPE_NOINLINE bool bracketed_tokens::is_at(std::size_t at,
                                                 const char* wanted) const noexcept {
    return text_at(at) == wanted;
}
ALLOCSCOPE_NOINLINE bool bracketed_tokens::is_at(std::size_t at,
                                                 const text& wanted) const noexcept {
    return text_at(at) == wanted;
}
ALLOCSCOPE_NOINLINE bool bracketed_tokens::is_any_at(std::size_t at,
                                                     const char* words) const noexcept {
    return is_listed(text_at(at), words);
}
ALLOCSCOPE_NOINLINE bool bracketed_tokens::are_at(std::size_t at, const char* first,
                                                  const char* second) const noexcept {
    return is_at(at, first) && is_at(at + 1, second);
}
ALLOCSCOPE_NOINLINE bool bracketed_tokens::is_word_at(std::size_t at) const noexcept {
    return is_word(text_at(at));
}
ALLOCSCOPE_NOINLINE std::size_t bracketed_tokens::partner_if(std::size_t at,
                                                             const char* bracket) const noexcept {
    return is_at(at, bracket) ? partners_[at] : 0;
}
ALLOCSCOPE_NOINLINE std::size_t bracketed_tokens::end_of_brackets(std::size_t at) const noexcept {
    return partners_[at] > at ? partners_[at] : at;
}
ALLOCSCOPE_NOINLINE std::size_t bracketed_tokens::begin_of_brackets(std::size_t at) const noexcept {
    return partners_[at] != 0 && partners_[at] < at ? partners_[at] : at;
}
ALLOCSCOPE_NOINLINE std::size_t bracketed_tokens::find(std::size_t begin, std::size_t end,
                                                       const char* words) const noexcept {
    while (begin < end && !is_any_at(begin, words)) ++begin;
    return begin;
}
ALLOCSCOPE_NOINLINE std::size_t bracketed_tokens::count_of(std::size_t begin, std::size_t end,
                                                           const char* words) const noexcept {
    std::size_t count = 0;
    for (; begin < end; ++begin) count += is_any_at(begin, words) ? 1U : 0U;
    return count;
}
ALLOCSCOPE_NOINLINE std::size_t bracketed_tokens::back_to(std::size_t at,
                                                          const char* words) const noexcept {
    while (at > 0 && !is_any_at(at, words)) --at;
    return at;
}
ALLOCSCOPE_NOINLINE std::size_t bracketed_tokens::back_over(std::size_t at,
                                                            const char* words) const noexcept {
    while (at > 0 && is_any_at(at - 1, words)) --at;
    return at;
}
ALLOCSCOPE_NOINLINE std::size_t bracketed_tokens::first_in_chain(std::size_t at,
                                                                 const char* signs) const noexcept {
    while (at > 1 && is_any_at(at - 1, signs)) at -= 2;
    return at;
}
ALLOCSCOPE_NOINLINE std::size_t bracketed_tokens::last_in_chain(std::size_t at,
                                                                const char* signs) const noexcept {
    while (is_any_at(at + 1, signs)) at += 2;
    return at;
}
ALLOCSCOPE_NOINLINE std::size_t bracketed_tokens::behind_angles(std::size_t at) const noexcept {
    constexpr std::size_t far_away = 512;
    int depth = 0;
    const std::size_t first = at;
    while (at < tokens_.size() && at - first < far_away) {
        const text token = tokens_[at].spelling();
        const char c = token.size() == 1 ? token[0] : ' ';
        if (c == ';' || c == '{' || c == '}') return 0;
        if (c == '<') ++depth;
        if (c == '>' && --depth == 0) return at + 1;
        if (c == '(' || c == '[') {
            if (partners_[at] == 0) return 0;
            at = partners_[at];
        }
        ++at;
    }
    return 0;
}

}  // namespace symbolize

ALLOCSCOPE_MILD_END

#endif  // ALLOCSCOPE_SOURCE_BRACKETED_TOKENS_HPP
