// new_expressions.hpp - finds every `new T` of a source file, and where compilers say it stands.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by type_from_source.hpp, once for each source file that a report needs
// Threads:  read-only once it is built
// Memory:   the tokens of the file and one entry for each new-expression
//
// Compilers give the call of operator new one of two places (measured: g++ 12, clang 14, -O0, -O2):
//
//     auto* w = new app::widget(1, 2);
//               ^ clang; g++ in templates
//                                   ^ g++: the last token of the expression
//     auto* m = new std::map<int, char>;
//                        ^ g++: a name with template arguments is one token, its name's
//
// `new (place) T` allocates nothing and is left out, except with std::nothrow or std::align_val_t.

#ifndef ALLOCSCOPE_TYPES_NEW_EXPRESSIONS_HPP
#define ALLOCSCOPE_TYPES_NEW_EXPRESSIONS_HPP

#include <allocscope/types/pretty_type.hpp>
#include <allocscope/types/source_tokens.hpp>
#include <allocscope/types/template_scopes.hpp>

#include <algorithm>    // sort, binary_search
#include <cstddef>      // size_t
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// Positions are indices of tokens.
struct new_expression {
    std::size_t begin = 0;       // of `new`, or of the `::` before it
    std::size_t last = 0;        // the token that g++ names
    std::size_t type_begin = 0;  // of the type, without the bounds of an array
    std::size_t type_end = 0;
    std::size_t scope = 0;  // of template_scopes
    bool has_initialiser = false;
    bool has_type = false;  // false: `new auto(x)`, or something that we cannot read
};

class source_outline {
public:
    explicit source_outline(std::string source)
        : source_(static_cast<std::string&&>(source)),
          list_(read_tokens(source_)),
          partners_(matching_brackets(list_.tokens)),
          scopes_(list_.tokens, partners_) {
        std::sort(list_.macros.begin(), list_.macros.end());
        for (std::size_t at = 0; at < tokens().size();) {
            const std::string_view text = tokens()[at].text;
            if (text == "new") read_new(at);
            if (text == "using" || text == "typedef") read_alias(at);
            if (text == "using") read_using_std(at);
            if (text == "struct" || text == "class") class_names_.push_back(text_at(at + 1));
            at = scopes_.see(at);
        }
        std::sort(template_aliases_.begin(), template_aliases_.end());
        std::sort(class_names_.begin(), class_names_.end());
        std::sort(standard_names_.begin(), standard_names_.end());
    }
    source_outline(const source_outline&) = delete;
    source_outline& operator=(const source_outline&) = delete;

    const std::vector<source_token>& tokens() const noexcept { return list_.tokens; }
    const std::vector<new_expression>& expressions() const noexcept { return expressions_; }

    // The token that closes the bracket at `at`, or that it closes; 0 when there is none.
    std::size_t partner(std::size_t at) const noexcept { return partners_[at]; }

    std::vector<const template_header*> headers_around(std::size_t scope) const {
        return scopes_.headers_around(scope);
    }

    bool is_macro(std::string_view name) const {
        return std::binary_search(list_.macros.begin(), list_.macros.end(), name);
    }

    // Declared by `using` or `typedef` inside a template: it may depend on the parameters.
    bool is_template_alias(std::string_view name) const {
        return std::binary_search(template_aliases_.begin(), template_aliases_.end(), name);
    }

    // A name of the standard library that this file uses without "std::".
    bool is_standard_name(std::string_view name) const {
        if (std::binary_search(class_names_.begin(), class_names_.end(), name)) return false;
        if (std::binary_search(standard_names_.begin(), standard_names_.end(), name)) return true;
        if (!uses_namespace_std_) return false;
        // Names that hardly anybody gives to a class of his own.
        for (const std::string_view known :
             {"string", "wstring", "vector", "deque", "forward_list", "map", "multimap", "multiset",
              "unordered_map", "unordered_set", "unordered_multimap", "shared_ptr", "unique_ptr",
              "ostringstream", "istringstream", "stringstream"}) {
            if (name == known) return true;
        }
        return false;
    }

    // Index of the first token at or behind a line and column.
    std::size_t token_from(int line, int column) const {
        const auto found = std::lower_bound(
            tokens().begin(), tokens().end(), column, [line](const source_token& token, int c) {
                return token.line < line || (token.line == line && token.column < c);
            });
        return static_cast<std::size_t>(found - tokens().begin());
    }

private:
    static std::vector<std::size_t> matching_brackets(const std::vector<source_token>& tokens) {
        std::vector<std::size_t> partners(tokens.size(), 0);
        std::vector<std::size_t> open;
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const char c = tokens[i].text.size() == 1 ? tokens[i].text[0] : ' ';
            if (c == '(' || c == '[' || c == '{') open.push_back(i);
            if (c != ')' && c != ']' && c != '}') continue;
            if (open.empty()) continue;
            const char opening = c == ')' ? '(' : c == ']' ? '[' : '{';
            if (tokens[open.back()].text[0] == opening) {
                partners[open.back()] = i;
                partners[i] = open.back();
                open.pop_back();
            } else if (c == '}') {  // a macro with half a bracket: start again behind the brace
                while (!open.empty() && tokens[open.back()].text[0] != '{') open.pop_back();
                if (!open.empty()) open.pop_back();
            }
        }
        return partners;
    }

    std::string_view text_at(std::size_t at) const noexcept {
        return at < tokens().size() ? tokens()[at].text : std::string_view{};
    }

    std::string_view text_before(std::size_t at) const noexcept {
        return at > 0 ? tokens()[at - 1].text : std::string_view{};
    }

    void read_new(std::size_t at) {
        const std::string_view before = text_before(at);
        if (before == "operator" || before == "." || before == "->") return;
        new_expression found;
        found.begin = before == "::" ? at - 1 : at;
        std::size_t next = at + 1;
        std::size_t behind = 0;
        if (text_at(next) == "(") {
            const std::size_t close = partners_[next];
            if (close == 0) return;
            const std::string_view follows = text_at(close + 1);
            if (is_word(follows) || follows == "::") {
                if (!is_allocating_placement(next, close)) return;
                behind = read_type(close + 1, found);
            } else {  // new (T)
                const std::size_t type_end = read_type(next + 1, found);
                found.has_type = found.has_type && type_end == close && follows != "(";
                found.last = close;
                behind = close + 1;
            }
        } else {
            behind = read_type(next, found);
        }
        const std::string_view opens = text_at(behind);
        if ((opens == "(" || opens == "{") && partners_[behind] != 0) {
            found.has_initialiser = true;
            found.last = partners_[behind];
        }
        found.scope = scopes_.here();
        expressions_.push_back(found);
    }

    bool is_allocating_placement(std::size_t open, std::size_t close) const {
        for (std::size_t i = open + 1; i < close && i < open + 16; ++i) {
            if (tokens()[i].text == "nothrow" || tokens()[i].text == "align_val_t") return true;
        }
        return false;
    }

    // Reads a type that starts at `at`; the index behind it and its array bounds.
    std::size_t read_type(std::size_t at, new_expression& found) {
        found.type_begin = at;
        found.last = at < tokens().size() ? at : tokens().size() - 1;
        bool has_name = false;
        bool is_builtin = false;
        bool is_readable = true;
        for (;; ++at) {
            const std::string_view text = text_at(at);
            if (text == "const" || text == "volatile") {
                found.last = at;
            } else if (!has_name && builtin_type{}.take(text)) {
                is_builtin = true;
                found.last = at;
            } else if (has_name || is_builtin) {
                break;
            } else if (text == "decltype" || text == "auto") {
                has_name = true;
                is_readable = false;
                found.last = at;
                if (text == "decltype" && text_at(at + 1) == "(") at = partners_[at + 1];
                if (at == 0) return found.last + 1;
            } else if (text == "struct" || text == "class" || text == "union" || text == "enum" ||
                       text == "typename") {
                continue;
            } else if (text == "::" || is_word(text)) {
                const std::size_t behind = read_qualified_name(at, found);
                if (behind == 0) return at + 1;
                has_name = true;
                at = behind - 1;
            } else {
                return at;
            }
        }
        for (; text_at(at) == "*" || text_at(at) == "&" || text_at(at) == "const"; ++at) {
            found.last = at;
        }
        found.type_end = at;
        found.has_type = is_readable;
        while (text_at(at) == "[" && partners_[at] != 0) {
            at = partners_[at];
            found.last = at++;
        }
        return at;
    }

    // 0 when it cannot be read.
    std::size_t read_qualified_name(std::size_t at, new_expression& found) const {
        if (text_at(at) == "::") ++at;
        for (;;) {
            if (!is_word(text_at(at))) return 0;
            found.last = at++;
            if (text_at(at) == "<") {
                at = skip_angle_tokens(tokens(), partners_, at);
                if (at == 0) return 0;
            }
            if (text_at(at) != "::") return at;
            ++at;
            if (text_at(at) == "template") ++at;
        }
    }

    // Remembers `using X =` and `typedef ... X;` when they stand in a template.
    void read_alias(std::size_t at) {
        if (scopes_.headers_around(scopes_.here()).empty()) return;
        if (text_at(at) == "using") {
            if (text_at(at + 2) == "=") template_aliases_.push_back(text_at(at + 1));
            return;
        }
        constexpr std::size_t far_away = 64;
        for (std::size_t i = at + 1; i < tokens().size() && i < at + far_away; ++i) {
            if (tokens()[i].text != ";") continue;
            template_aliases_.push_back(tokens()[i - 1].text);
            return;
        }
    }

    // `using std::string;` and `using namespace std;`
    void read_using_std(std::size_t at) {
        if (text_at(at + 1) == "namespace" && text_at(at + 2) == "std" && text_at(at + 3) == ";") {
            uses_namespace_std_ = true;
        }
        if (text_at(at + 1) == "std" && text_at(at + 2) == "::" && text_at(at + 4) == ";") {
            standard_names_.push_back(text_at(at + 3));
        }
    }

    std::string source_;
    token_list list_;
    std::vector<std::size_t> partners_;
    template_scopes scopes_;
    std::vector<new_expression> expressions_;
    std::vector<std::string_view> template_aliases_;
    std::vector<std::string_view> class_names_;     // declared or named as such in this file
    std::vector<std::string_view> standard_names_;  // of using-declarations
    bool uses_namespace_std_ = false;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_NEW_EXPRESSIONS_HPP
