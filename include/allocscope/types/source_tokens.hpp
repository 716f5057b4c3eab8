// source_tokens.hpp - cuts C++ source into words and signs with their line and column.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by new_expressions.hpp, once for each source file that a report needs
// Threads:  any
// Memory:   32 bytes for each token; the texts are views of the source
//
// Comments are skipped, literals are one token each, preprocessor lines are left out except that
// the names they define are remembered. Columns count bytes from 1, as compilers write them into
// line tables.
//
//     f("new x"); // new y      ->   f  (  "new x"  )  ;

#ifndef ALLOCSCOPE_TYPES_SOURCE_TOKENS_HPP
#define ALLOCSCOPE_TYPES_SOURCE_TOKENS_HPP

#include <allocscope/types/name_brackets.hpp>

#include <cstddef>      // size_t
#include <string_view>  // string_view
#include <vector>       // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

struct source_token {
    std::string_view text;  // a word, a number, a literal, or a sign ("::" and "->" are one)
    int line;
    int column;
};

struct token_list {
    std::vector<source_token> tokens;
    std::vector<std::string_view> macros;  // names defined in this file
};

inline bool is_word(std::string_view token) noexcept {
    return !token.empty() && is_name_character(token[0]) && !(token[0] >= '0' && token[0] <= '9');
}

class source_lexer {
public:
    explicit source_lexer(std::string_view source) : source_(source) {}

    token_list read() {
        while (at_ < source_.size()) step();
        return static_cast<token_list&&>(result_);
    }

private:
    void step() {
        const char c = source_[at_];
        if (c == '\n') {
            new_line();
            is_line_start_ = true;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            ++at_;
        } else if (c == '\\' && is_line_end(at_ + 1)) {
            at_ = source_[at_ + 1] == '\r' ? at_ + 2 : at_ + 1;
            new_line();
        } else if (is_comment()) {
            skip_comment();
        } else if (c == '#' && is_line_start_) {
            skip_directive();
        } else {
            is_line_start_ = false;
            token(c);
        }
    }

    void token(char c) {
        const std::size_t begin = at_;
        const int line = line_;
        const int column = static_cast<int>(at_ - line_begin_) + 1;
        std::size_t behind = at_ + 1;
        if (c >= '0' && c <= '9') {
            behind = skip_number(begin);
        } else if (is_name_character(c)) {
            behind = skip_word(source_, begin);
            const bool is_prefix = behind < source_.size() && behind - begin <= 3;
            if (is_prefix && source_[behind] == '"' && source_[behind - 1] == 'R') {
                behind = skip_raw_string(behind);
            }
        } else if (c == '"' || c == '\'') {
            behind = skip_literal(begin);
        } else if (starts_with(source_.substr(begin), "::") ||
                   starts_with(source_.substr(begin), "->")) {
            behind = begin + 2;
        }
        for (at_ = begin; at_ < behind;) {  // a literal may run over lines
            if (source_[at_] == '\n') {
                new_line();
            } else {
                ++at_;
            }
        }
        result_.tokens.push_back({source_.substr(begin, behind - begin), line, column});
    }

    void new_line() {
        ++at_;
        ++line_;
        line_begin_ = at_;
    }

    bool is_line_end(std::size_t at) const {
        const std::string_view rest = source_.substr(at);
        return starts_with(rest, "\n") || starts_with(rest, "\r\n");
    }

    bool is_comment() const {
        const std::string_view rest = source_.substr(at_);
        return starts_with(rest, "//") || starts_with(rest, "/*");
    }

    void skip_comment() {
        const bool is_block = source_[at_ + 1] == '*';
        at_ += 2;
        while (at_ < source_.size()) {
            if (source_[at_] == '\n') {
                const bool goes_on = source_[at_ - 1] == '\\';
                if (!is_block && !goes_on) return;
                new_line();
            } else if (is_block && starts_with(source_.substr(at_), "*/")) {
                at_ += 2;
                return;
            } else {
                ++at_;
            }
        }
    }

    void skip_directive() {
        const std::size_t begin = at_;
        while (at_ < source_.size() && source_[at_] != '\n') {
            if (is_comment()) {
                skip_comment();
            } else if (source_[at_] == '\\' && is_line_end(at_ + 1)) {
                at_ = source_[at_ + 1] == '\r' ? at_ + 2 : at_ + 1;
                new_line();
            } else {
                ++at_;
            }
        }
        std::string_view directive = source_.substr(begin + 1, at_ - begin - 1);
        skip_blanks(directive);
        if (!starts_with(directive, "define")) return;
        directive.remove_prefix(6);
        skip_blanks(directive);
        result_.macros.push_back(directive.substr(0, skip_word(directive, 0)));
    }

    static void skip_blanks(std::string_view& text) noexcept {
        while (!text.empty() && (text[0] == ' ' || text[0] == '\t')) text.remove_prefix(1);
    }

    std::size_t skip_number(std::size_t at) const {
        while (at < source_.size()) {
            const bool is_separator = source_[at] == '\'' && at + 1 < source_.size() &&
                                      is_name_character(source_[at + 1]);
            if (!is_name_character(source_[at]) && source_[at] != '.' && !is_separator) break;
            ++at;
        }
        return at;
    }

    // A string or character literal ends at its quote, or at the end of the line.
    std::size_t skip_literal(std::size_t at) const {
        const char quote = source_[at++];
        while (at < source_.size() && source_[at] != '\n') {
            if (source_[at] == quote) return at + 1;
            if (source_[at] == '\\' && at + 1 < source_.size()) ++at;
            ++at;
        }
        return at < source_.size() ? at : source_.size();
    }

    // R"mark( ... )mark": `at` is on the first quote.
    std::size_t skip_raw_string(std::size_t at) const {
        const std::size_t length = source_.substr(at, 18).find('(');  // a mark has 16 at most
        if (length == no_position) return skip_literal(at);
        const std::size_t open = at + length;
        const std::string_view mark = source_.substr(at + 1, open - at - 1);
        for (std::size_t close = source_.find(')', open); close != no_position;
             close = source_.find(')', close + 1)) {
            const std::string_view rest = source_.substr(close + 1);
            if (starts_with(rest, mark) && starts_with(rest.substr(mark.size()), "\"")) {
                return close + 2 + mark.size();
            }
        }
        return source_.size();
    }

    std::string_view source_;
    std::size_t at_ = 0;
    std::size_t line_begin_ = 0;
    int line_ = 1;
    bool is_line_start_ = true;
    token_list result_;
};

inline token_list read_tokens(std::string_view source) {
    return source_lexer{source}.read();
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_SOURCE_TOKENS_HPP
