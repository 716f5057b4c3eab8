// type_from_source.hpp - the T of the `new T` at a frame's file, line and column.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by type_ladder.hpp, for the direct caller of operator new
// Threads:  one cache belongs to one thread
// Memory:   strings
//
// The column decides which of several expressions of a line it is; where it decides nothing the
// answer is none, never the likeliest. A template parameter is replaced by the argument that the
// frame's function shows:
//
//     template <class T> T* make() { return new T; }     frame: widget* make<widget>()   "widget"
//     keep(new int[3], MAKE(long));                      g++ names the bracket of the call: none

#ifndef ALLOCSCOPE_TYPES_TYPE_FROM_SOURCE_HPP
#define ALLOCSCOPE_TYPES_TYPE_FROM_SOURCE_HPP

#include <allocscope/symbols/code_location.hpp>
#include <allocscope/types/frame_rule.hpp>
#include <allocscope/types/function_name.hpp>
#include <allocscope/types/new_expressions.hpp>
#include <allocscope/types/pretty_type.hpp>
#include <allocscope/types/source_cache.hpp>
#include <allocscope/types/type_answer.hpp>

#include <cstddef>      // size_t
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// A word that may be a macro with a `new` inside: by convention, or defined in this file.
inline bool may_be_macro_call(const source_outline& file, std::size_t at) {
    const std::vector<source_token>& tokens = file.tokens();
    const std::string_view word = tokens[at].text;
    if (!is_word(word)) return false;
    if (file.is_macro(word)) return true;
    if (word.size() < 2 || at + 1 == tokens.size() || tokens[at + 1].text != "(") return false;
    for (const char c : word) {
        if (c >= 'a' && c <= 'z') return false;
    }
    return true;
}

// True when something in [begin, end) but `known` might call operator new in this very place.
inline bool has_hidden_new(const source_outline& file, std::size_t begin, std::size_t end) {
    const std::vector<source_token>& tokens = file.tokens();
    for (std::size_t i = begin; i < end && i < tokens.size(); ++i) {
        if (tokens[i].text == "operator" || may_be_macro_call(file, i)) return true;
    }
    return false;
}

// g++ gives a `new` without initialiser, whose value is handed over as it is, the place of the
// call's "(". The only such new-expression in that call, when it is an argument by itself.
inline const new_expression* find_in_call(const source_outline& file, std::size_t open) {
    const std::size_t close = file.partner(open);
    if (close <= open || has_hidden_new(file, open, close)) return nullptr;
    const new_expression* only = nullptr;
    for (const new_expression& expression : file.expressions()) {
        if (expression.begin < open || expression.begin > close) continue;
        if (expression.has_initialiser) continue;
        if (only != nullptr) return nullptr;
        only = &expression;
    }
    if (only == nullptr) return nullptr;
    const std::string_view before = file.tokens()[only->begin - 1].text;
    return before == "(" || before == "," ? only : nullptr;
}

// Without a column: the only new-expression that begins or ends on the line.
inline const new_expression* find_on_line(const source_outline& file, int line) {
    const new_expression* only = nullptr;
    for (const new_expression& expression : file.expressions()) {
        const int first = file.tokens()[expression.begin].line;
        const int last = file.tokens()[expression.last].line;
        if (line != first && line != last) continue;
        if (only != nullptr) return nullptr;
        only = &expression;
    }
    if (only == nullptr) return nullptr;
    const int first = file.tokens()[only->begin].line;
    const int last = file.tokens()[only->last].line;
    const bool is_hidden =
        has_hidden_new(file, file.token_from(first, 0), file.token_from(last + 1, 0));
    return is_hidden ? nullptr : only;
}

inline const new_expression* find_new_expression(const source_outline& file, int line, int column) {
    if (column <= 0) return find_on_line(file, line);
    const std::size_t at = file.token_from(line, column);
    if (at == file.tokens().size()) return nullptr;
    const source_token& token = file.tokens()[at];
    if (token.line != line || token.column != column) return nullptr;
    for (const new_expression& expression : file.expressions()) {
        if (expression.begin == at || expression.last == at) return &expression;
    }
    return token.text == "(" ? find_in_call(file, at) : nullptr;
}

// Puts what the frame's function shows in the place of template parameters.
class source_spelling {
public:
    source_spelling(const source_outline& file, const new_expression& expression,
                    std::string_view function)
        : file_(file),
          expression_(expression),
          name_(parse_function_name(function)),
          headers_(file.headers_around(expression.scope)) {
        for (std::size_t i = 0; i < name_.components.size(); ++i) {
            const bool is_generic_lambda = name_.components[i].name == "operator()" && i > 0 &&
                                           name_.components[i - 1].name[0] == '{';
            if (name_.components[i].arguments.empty() || is_generic_lambda) continue;
            instantiated_.push_back(i);
        }
    }

    // "" when it is not certain.
    std::string spelled() const {
        const std::vector<source_token>& tokens = file_.tokens();
        std::string text;
        for (std::size_t i = expression_.type_begin; i < expression_.type_end; ++i) {
            const std::string_view token = tokens[i].text;
            if (token == "template") continue;
            std::string word{token};
            if (is_word(token) && (i == 0 || tokens[i - 1].text != "::")) {
                word = meaning_of(token);
                if (word.empty()) return {};
            }
            const bool touches =
                !text.empty() && is_name_character(text.back()) && is_name_character(word[0]);
            if (touches) text += ' ';
            text += word;
        }
        return without_const(pretty_type(text));
    }

private:
    // `new const T` makes a T.
    static std::string without_const(std::string type) {
        if (ends_with(type, "* const")) return type.substr(0, type.size() - 6);
        const bool is_compound = ends_with(type, "*") || ends_with(type, "&");
        return starts_with(type, "const ") && !is_compound ? type.substr(6) : type;
    }

    std::string meaning_of(std::string_view word) const {
        if (is_plain_word(word)) return std::string{word};
        if (file_.is_macro(word)) return {};
        for (std::size_t i = headers_.size(); i > 0; --i) {
            const std::vector<std::string_view>& parameters = headers_[i - 1]->parameters;
            for (std::size_t p = 0; p < parameters.size(); ++p) {
                if (parameters[p] == word) return argument(i - 1, p);
            }
        }
        // Inside a template that the text does not show, any name may be a parameter.
        if (!instantiated_.empty() && headers_.empty()) return {};
        if (!headers_.empty() && file_.is_template_alias(word)) return {};
        if (file_.is_standard_name(word)) return "std::" + std::string{word};
        return own_class(word);
    }

    static bool is_plain_word(std::string_view word) {
        for (const std::string_view plain :
             {"std", "const", "volatile", "bool", "void", "float", "wchar_t", "char8_t", "char16_t",
              "char32_t", "struct", "class", "union", "enum", "typename", "true", "false"}) {
            if (word == plain) return true;
        }
        return builtin_type{}.take(word);
    }

    // Argument `index` of what the header's template was instantiated with.
    std::string argument(std::size_t header, std::size_t index) const {
        if (headers_.size() != instantiated_.size()) return {};
        for (const template_header* outer : headers_) {
            if (!outer->shows_arguments) return {};
        }
        const std::vector<std::string_view> arguments =
            split_arguments(name_.components[instantiated_[header]].arguments);
        const std::size_t count = headers_[header]->parameters.size();
        if (headers_[header]->has_pack) {  // the pack takes the rest: those before it are certain
            if (index + 1 >= count || index >= arguments.size()) return {};
        } else if (arguments.size() != count) {
            return {};
        }
        return std::string{arguments[index]};
    }

    // `pool` inside a member of app::pool<int> is app::pool<int>.
    std::string own_class(std::string_view word) const {
        for (const std::size_t i : instantiated_) {
            const name_component& component = name_.components[i];
            if (component.name != word || i + 1 == name_.components.size()) continue;
            const char* begin = name_.whole.data();
            const char* end = component.arguments.data() + component.arguments.size();
            return std::string(begin, end);
        }
        return std::string{word};
    }

    const source_outline& file_;
    const new_expression& expression_;
    function_name name_;
    std::vector<const template_header*> headers_;  // outermost first
    std::vector<std::size_t> instantiated_;        // components that show arguments
};

// What stands at the frame's line and column. The frame must be the direct caller of operator new.
inline type_answer type_from_source(const code_frame& frame, source_cache& sources) {
    if (frame.line <= 0 || frame.file.empty() || is_standard_header(frame.file)) return {};
    const function_name function = parse_function_name(frame.function);
    const std::size_t count = function.components.size();
    // Without a column a default member initialiser would be taken for what stands on the
    // constructor's line.
    const bool is_constructor =
        count > 1 && function.components[count - 1].name == function.components[count - 2].name;
    if (frame.column <= 0 && is_constructor) return {};
    const source_outline* file = sources.find(frame.file);
    if (file == nullptr) return {};
    const new_expression* expression = find_new_expression(*file, frame.line, frame.column);
    if (expression == nullptr || !expression->has_type) return {};
    std::string type = source_spelling{*file, *expression, frame.function}.spelled();
    if (type.empty()) return {};
    return {static_cast<std::string&&>(type), type_evidence::source_text};
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_TYPE_FROM_SOURCE_HPP
