// source_tokens.hpp - splits C++ source into words and signs with their line and column.
//
// Room:     source (floor 8), not malloc-safe
// Called:   by new_expressions.hpp, once for each source file that a report needs; its tokens are
//           read by others in source/, types/ and places/
// Threads:  any
// Memory:   16 bytes for each token, of the given arena; the texts are views of the source
//
// Comments are skipped, and a literal is one token. Preprocessor lines are left out, but the macros
// that they define are remembered. Columns count bytes from 1, as in the line tables of compilers.
//
//     f("new x"); // new y      ->   f  (  "new x"  )  ;
//
// A file may hold two megabytes, so this loop is compiled with optimisation.

#ifndef ALLOCSCOPE_SOURCE_SOURCE_TOKENS_HPP
#define ALLOCSCOPE_SOURCE_SOURCE_TOKENS_HPP
#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/spelling/name_brackets.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace symbolize {

// The largest source file that is read: 21 bits hold a column or a length in it, 22 a line.
constexpr std::uint64_t max_source_bytes = 2 * 1024 * 1024 - 1;

// 16 bytes, because a hundred thousand lines have a million tokens.
struct source_token {
    static constexpr std::uint64_t limit = max_source_bytes;  // 21 bits, all set

    const char* begin;
    std::uint64_t line : 22;
    std::uint64_t column : 21;
    std::uint64_t length : 21;

    // A word, a number, a literal, or a sign ("::" and "->" are one).
    ALLOCSCOPE_INLINE text spelling() const noexcept { return text{begin, length}; }
};

// A `#define`, or an `#undef`, of this file.
struct macro_line {
    text name;
    text rest;        // the text after the name, up to the end of the directive
    bool is_certain;  // it is not an `#undef`, and is not inside an `#if`
    bool is_default;  // it is only inside its own `#ifndef`: something else may define it otherwise
};

struct token_list {
    explicit token_list(arena& memory) noexcept
        : tokens(memory), macros(memory), includes(memory) {}

    list<source_token> tokens;
    list<macro_line> macros;
    list<text> includes;  // of #include "..." and <....>, but not <vector>
};

ALLOCSCOPE_PURE inline bool is_word(const text& token) noexcept {
    return !token.empty() && is_name_byte(token[0]) && !(token[0] >= '0' && token[0] <= '9');
}

class source_lexer {
public:
    source_lexer(arena& memory, const text& source) : source_(source), result_(memory) {
        result_.tokens.reserve(source.size() / 4 + 4);
    }

    token_list read() {
        while (at_ < source_.size()) step();
        return result_;
    }

private:
    // The character at a position; zero after the end.
    char peek(std::size_t at) const noexcept { return at < source_.size() ? source_[at] : '\0'; }

    void step() {
        const char c = source_[at_];
        if (c == '\n') {
            new_line();
            is_line_start_ = true;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            ++at_;
        } else if (is_comment()) {
            skip_comment();
        } else if (c == '\\' && continues_line()) {
            return;
        } else if (c == '#' && is_line_start_) {
            skip_directive();
        } else {
            is_line_start_ = false;
            token(c);
        }
    }

    void token(char c) {
        const std::size_t begin = at_;
        source_token found{source_.data() + begin, line_ & (2 * source_token::limit + 1),
                           (begin - line_begin_ + 1) & source_token::limit, 0};
        if (c == '"' || c == '\'') {
            pass_literal(skip_literal(begin));
        } else if (c >= '0' && c <= '9') {
            at_ = skip_number(begin);
        } else if (is_name_byte(c)) {
            at_ = skip_word(source_, begin);
            const bool is_raw = at_ - begin <= 3 && peek(at_) == '"' && source_[at_ - 1] == 'R';
            if (is_raw) pass_literal(skip_raw_string(at_));
        } else {
            const char next = peek(begin + 1);
            const bool is_pair = (c == ':' && next == ':') || (c == '-' && next == '>');
            at_ = begin + (is_pair ? 2 : 1);
        }
        if (left_out_ != 0) return;
        if (c == '{') ++depth_;
        if (c == '}') --depth_;
        found.length = (at_ - begin) & source_token::limit;
        result_.tokens.push_back(found);
        if (c == '{' || found.spelling() == ":" || found.spelling() == "final") drop_attributes();
    }

    // Of `class API part {` and `struct alignas(64) part {`, in front of the last token.
    void drop_attributes() {
        list<source_token>& all = result_.tokens;
        const std::size_t name = all.size() - 2;
        if (all.size() < 4 || !is_word(all[name].spelling())) return;
        if (all[name].spelling() == "final") return;
        std::size_t begin = name;
        const std::size_t end = name > 64 ? name - 64 : 1;  // far enough
        for (; !is_listed(all[begin - 1].spelling(), "struct class union enum"); --begin) {
            int depth = 0;  // of brackets, backwards
            for (;; --begin) {
                const text token = all[begin - 1].spelling();
                if (is_listed(token, ") ]")) ++depth;
                if (depth == 0 || begin <= end) break;
                if (is_listed(token, "( [")) --depth;
                if (depth == 0 && token == "[") break;
            }
            const text word = all[begin - 1].spelling();
            const bool is_macro = is_word(word) && word.find_first_of(lower_case) == no_position;
            if (begin <= end || (!is_macro && !is_listed(word, "alignas __attribute__ ["))) return;
        }
        all[begin] = all[name];
        all[begin + 1] = all[name + 1];
        while (all.size() > begin + 2) all.pop_back();
    }

    // A literal may span several lines.
    void pass_literal(std::size_t behind) noexcept {
        while (at_ < behind) {
            if (source_[at_] == '\n') {
                new_line();
            } else {
                ++at_;
            }
        }
    }

    void new_line() noexcept {
        ++at_;
        ++line_;
        line_begin_ = at_;
    }

    // Skips a backslash that ends a line.
    bool continues_line() noexcept {
        const std::size_t end = peek(at_ + 1) == '\r' ? at_ + 2 : at_ + 1;
        if (peek(end) != '\n') return false;
        at_ = end;
        new_line();
        return true;
    }

    bool is_comment() const noexcept {
        if (source_[at_] != '/') return false;
        const char next = peek(at_ + 1);
        return next == '/' || next == '*';
    }

    void skip_comment() noexcept {
        const bool is_block = source_[at_ + 1] == '*';
        at_ += 2;
        while (at_ < source_.size()) {
            if (source_[at_] == '\n') {
                const bool goes_on = source_[at_ - 1] == '\\';
                if (!is_block && !goes_on) return;
                new_line();
            } else if (is_block && source_[at_] == '*' && peek(at_ + 1) == '/') {
                at_ += 2;
                return;
            } else {
                ++at_;
            }
        }
    }

    void skip_directive() {
        const std::size_t begin = at_ + 1;
        while (at_ < source_.size() && source_[at_] != '\n') {
            if (is_comment()) {
                skip_comment();
            } else if (begins_literal()) {
                pass_literal(skip_literal(at_));
            } else if (source_[at_] != '\\' || !continues_line()) {
                ++at_;
            }
        }
        text directive = without_blanks(source_.substr(begin, at_ - begin));
        if (directive.starts_with("include")) add_include(directive);
        see_condition(directive);
        const bool defines = directive.starts_with("define");
        const text guard = guard_;
        const bool was_first = is_first_;
        guard_ = directive.starts_with("ifndef") ? directive : text{};
        is_first_ = !has_directive_;
        has_directive_ = true;
        if (!defines && !directive.starts_with("undef")) return;
        directive.remove_prefix(defines ? 6 : 5);
        directive = without_blanks(directive);
        const std::size_t behind = skip_word(directive, 0);
        const text name = directive.substr(0, behind);
        const text rest = directive.substr(behind);
        const bool is_guarded = !guard.empty() && without_blanks(guard.substr(6)) == name;
        result_.macros.push_back(
            {name, rest, defines && conditions_ == 0, defines && is_guarded && conditions_ == 1});
        // `#ifndef PART_HPP`, `#define PART_HPP`: the rest of the header is always there.
        if (is_guarded && was_first && without_blanks(rest).empty()) --conditions_;
    }

    // If the lines behind #if open a brace, those behind #else open it once more: they are left
    // out.
    void see_condition(text directive) noexcept {
        const bool begins = directive.starts_with("if");
        if (begins) ++conditions_;
        int& depth = depths_[conditions_ & (most_conditions - 1)];
        if (begins) depth = depth_;
        const bool is_other = directive.starts_with("el") && depth != depth_;
        if (is_other && left_out_ == 0) left_out_ = conditions_;
        if (!directive.starts_with("endif")) return;
        if (left_out_ == conditions_) left_out_ = 0;
        --conditions_;
    }

    void add_include(text directive) {
        directive = directive.substr(skip_word(directive, 0));
        const std::size_t open = directive.find_first_of("\"<");
        if (open == no_position) return;
        const char close = directive[open] == '<' ? '>' : '"';
        directive.remove_prefix(open + 1);
        const text name = directive.substr(0, directive.find(close));
        if (close == '"' || name.contains(".")) result_.includes.push_back(name);  // not <vector>
    }

    // Literals are skipped, because "src/*.cpp" contains no comment. The sign in 1'000 begins none.
    ALLOCSCOPE_INLINE bool begins_literal() const noexcept {
        const char c = source_[at_];
        return c == '"' || (c == '\'' && !is_name_byte(source_[at_ - 1]));
    }

    static text without_blanks(const text& line) noexcept {
        const std::size_t begin = line.find_first_not_of(" \t");
        return begin == no_position ? text{} : line.substr(begin);
    }

    std::size_t skip_number(std::size_t at) const noexcept {
        for (;; ++at) {
            const char c = peek(at);
            const bool is_separator = c == '\'' && is_name_byte(peek(at + 1));
            if (!is_name_byte(c) && c != '.' && !is_separator) return at;
        }
    }

    // A string or character literal ends at its quote, or at the end of the line.
    std::size_t skip_literal(std::size_t at) const noexcept {
        const char quote = source_[at++];
        while (at < source_.size() && source_[at] != '\n') {
            if (source_[at] == quote) return at + 1;
            if (source_[at] == '\\' && at + 1 < source_.size()) {
                ++at;
                if (source_[at] == '\r' && peek(at + 1) == '\n') ++at;  // the line goes on
            }
            ++at;
        }
        return at < source_.size() ? at : source_.size();
    }

    // R"mark( ... )mark": `at` is on the first quote.
    std::size_t skip_raw_string(std::size_t at) const noexcept {
        const std::size_t length = source_.substr(at, 18).find('(');  // a mark has 16 at most
        if (length == no_position) return skip_literal(at);
        const std::size_t open = at + length;
        const text mark = source_.substr(at + 1, open - at - 1);
        for (std::size_t close = source_.find(')', open); close != no_position;
             close = source_.find(')', close + 1)) {
            const std::size_t quote = close + 1 + mark.size();
            if (peek(quote) == '"' && source_.substr(close + 1).starts_with(mark)) return quote + 1;
        }
        return source_.size();
    }

    text source_;
    std::size_t at_ = 0;
    std::size_t line_begin_ = 0;
    unsigned line_ = 1;
    int conditions_ = 0;  // how many #if are open
    int left_out_ = 0;    // the #if whose other lines are left out; 0: none
    int depth_ = 0;       // of braces
    static constexpr int most_conditions = 64;
    int depths_[most_conditions] = {};  // at each #if that is open
    bool is_line_start_ = true;
    bool has_directive_ = false;
    bool is_first_ = false;  // the directive before is the first one
    text guard_;             // it, if it is an #ifndef
    token_list result_;
};

ALLOCSCOPE_NOINLINE token_list read_tokens(arena& memory, const text& source) {
    return source_lexer{memory, source}.read();
}

}  // namespace symbolize

ALLOCSCOPE_COOL_END

ALLOCSCOPE_MILD_BEGIN

namespace symbolize {

// "" after the last token. Not inlined, because unoptimised code has hundreds of these calls. The
// text is written out, because text{} is a call.
ALLOCSCOPE_NOINLINE text spelling_at(const list<source_token>& tokens, std::size_t at) noexcept {
    return at < tokens.size() ? tokens[at].spelling() : text{"", 0};
}

// The token after `v`, `v.member`, `v->member`, or one of these behind `*` and `&`. A macro has
// brackets around its parameters: `(v).member`, `(&v)->member`.
inline std::size_t behind_variable(const list<source_token>& tokens, std::size_t at) noexcept {
    std::size_t open = 0;
    for (; is_listed(spelling_at(tokens, at), "* & ("); ++at) {
        if (spelling_at(tokens, at) == "(") ++open;
    }
    for (;; ++at) {
        for (++at; open != 0 && spelling_at(tokens, at) == ")"; ++at) --open;
        if (!is_listed(spelling_at(tokens, at), ". ->")) return at;
    }
}

// The type of a literal without a suffix, or with f; "": another one.
inline text type_of_literal(const text& token) noexcept {
    if (token[0] == '\'') return token.size() == 3 || token[1] == '\\' ? "char" : "";  // 'ab'
    if (token[0] == '"') return "const char*";
    const std::size_t end = token.find_first_not_of("0123456789.");
    if (end == 0 || token.size() > 9) return no_text();  // or too large for an int
    const bool is_real = token.contains(".");
    if (end == no_position) return is_real ? "double" : "int";
    return is_real && token.ends_with("f") ? "float" : "";
}

// Index of the first token at or after a line and column; `last` has the answer before.
ALLOCSCOPE_NOINLINE std::size_t token_behind(const list<source_token>& tokens, int line, int column,
                                             std::size_t& last) noexcept {
    return partition_point_near(last, tokens.data(), tokens.size(), [&](const source_token& token) {
        return token.line < line || (token.line == line && token.column < column);
    });
}

}  // namespace symbolize

ALLOCSCOPE_MILD_END

#endif  // ALLOCSCOPE_SOURCE_SOURCE_TOKENS_HPP
