// function_name.hpp - takes a demangled function name apart into its own qualified name.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by frame_rule.hpp and the type_from_* files
// Threads:  any
// Memory:   one entry for each component; the texts are views of the input
//
// A demangled name begins with the return type when the function is a template, and ends with
// parameters, qualifiers and clone marks. What decides whose function it is stands between:
//
//     std::vector<int>* (anonymous namespace)::make<int>(std::map<int, int>&) [clone .isra.0]
//                       |                  |  |   |  |
//                       components[0]         [1]   its arguments
//
// The parser walks once from left to right and begins anew at everything that can only stand in
// a return type: a space, `*`, `&`, and the bracket of a returned function pointer.

#ifndef ALLOCSCOPE_TYPES_FUNCTION_NAME_HPP
#define ALLOCSCOPE_TYPES_FUNCTION_NAME_HPP

#include <allocscope/types/name_brackets.hpp>

#include <cstddef>      // size_t
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

struct name_component {
    std::string_view name;       // "vector", "operator()", "{lambda(int)#1}"
    std::string_view arguments;  // "<int, std::allocator<int> >", or empty
};

struct function_name {
    std::vector<name_component> components;  // empty when the text is not a function's name
    std::string_view whole;                  // from the first component to the last

    bool is_known() const noexcept { return !components.empty(); }
    const name_component& last() const noexcept { return components.back(); }
};

constexpr std::string_view anonymous_namespace = "(anonymous namespace)";
constexpr std::size_t max_name_components = 256;

class function_name_parser {
public:
    explicit function_name_parser(std::string_view text) : text_(text) {}

    function_name parse() {
        while (at_ < text_.size() && !is_done_ && !is_failed_) step();
        finish_component();
        if (is_failed_) return {};
        function_name result;
        result.components = static_cast<std::vector<name_component>&&>(components_);
        if (result.is_known()) result.whole = text_.substr(begin_, end_ - begin_);
        return result;
    }

private:
    void step() {
        const char c = text_[at_];
        if (is_name_character(c) || c == '~') {
            read_word();
        } else if (c == ':') {
            if (!starts_with(text_.substr(at_), "::")) return fail();
            finish_component();
            at_ += 2;
        } else if (c == '<') {
            read_angle_brackets();
        } else if (c == '(') {
            read_parentheses();
        } else if (c == '{' || c == '[') {
            const std::size_t behind = skip_brackets(text_, at_);
            if (behind == no_position) return fail();
            if (c == '{') extend_name(at_, behind);
            at_ = behind;  // an ABI tag says nothing about whose function it is
        } else if (c == '\'') {
            const std::size_t quote = text_.find('\'', at_ + 1);
            if (quote == no_position) return fail();
            extend_name(at_, quote + 1);
            at_ = quote + 1;
        } else if (c == ' ') {
            read_space();
        } else if (c == '*' || c == '&') {
            begin_anew(at_ + 1);
        } else if (c == '.' || c == '@' || c == ')') {
            is_done_ = has_name();
            if (!is_done_) fail();
        } else {
            fail();
        }
    }

    void read_space() {
        if (is_end_mark(at_)) {
            is_done_ = true;
        } else if (is_decltype() && starts_with(text_.substr(at_), " (")) {
            ++at_;
        } else {
            begin_anew(at_ + 1);
        }
    }

    bool is_decltype() const {
        return name_begin_ != no_position &&
               text_.substr(name_begin_, name_end_ - name_begin_) == "decltype";
    }

    void read_word() {
        if (!is_operator_word(text_, at_)) {
            const std::size_t behind = skip_word(text_, at_ + 1);
            extend_name(at_, behind);
            at_ = behind;
            return;
        }
        std::size_t behind = at_ + 8;
        const std::size_t symbol = operator_symbol_length(text_.substr(behind));
        if (symbol != 0) {
            behind += symbol;
            if (text_[behind - 1] == '"' && behind < text_.size() && text_[behind] == ' ') {
                behind = skip_word(text_, behind + 1);
            }
        } else {
            behind = skip_named_operator(behind);
        }
        if (behind == no_position) return fail();
        extend_name(at_, behind);
        at_ = behind;
        // "operator< <int>": the space belongs to the name
        if (starts_with(text_.substr(at_), " <")) ++at_;
    }

    // Behind `operator`: " new", " delete[]", " co_await", or the type of a conversion.
    std::size_t skip_named_operator(std::size_t at) {
        for (const std::string_view word :
             {" new[]", " delete[]", " new", " delete", " co_await"}) {
            const std::string_view rest = text_.substr(at);
            if (!starts_with(rest, word)) continue;
            const bool ends_here =
                rest.size() == word.size() || !is_name_character(rest[word.size()]);
            if (ends_here) return at + word.size();
        }
        while (at < text_.size() &&
               (text_[at] != '(' || starts_with(text_.substr(at), anonymous_namespace))) {
            if (text_[at] == '<' || text_[at] == '{' || text_[at] == '(') {
                at = skip_brackets(text_, at);
                if (at == no_position) return at;
            } else {
                ++at;
            }
        }
        return at;
    }

    void read_angle_brackets() {
        const std::size_t behind = skip_brackets(text_, at_);
        if (behind == no_position) return fail();
        if (name_begin_ == no_position) {
            extend_name(at_, behind);  // "<lambda(int)>", as g++ writes it in debug information
        } else {
            arguments_ = text_.substr(at_, behind - at_);
            end_ = behind;
        }
        at_ = behind;
    }

    void read_parentheses() {
        if (starts_with(text_.substr(at_), anonymous_namespace)) {
            extend_name(at_, at_ + anonymous_namespace.size());
            at_ += anonymous_namespace.size();
            return;
        }
        if (name_begin_ == no_position) return begin_anew(at_ + 1);  // returns a function pointer
        const std::size_t behind = skip_brackets(text_, at_);
        if (behind == no_position) return fail();
        if (is_decltype()) return begin_anew(behind);
        const std::size_t rest = skip_qualifiers(behind);
        if (starts_with(text_.substr(rest), "::")) {  // a lambda or a type inside this function
            at_ = rest;
            return;
        }
        is_done_ = true;
    }

    std::size_t skip_qualifiers(std::size_t at) const {
        for (bool again = true; again;) {
            again = false;
            for (const std::string_view word : {" const", " volatile", " &&", " &", "&&", "&"}) {
                if (!starts_with(text_.substr(at), word)) continue;
                at += word.size();
                again = true;
            }
        }
        return at;
    }

    bool is_end_mark(std::size_t at) const {
        const std::string_view rest = text_.substr(at);
        return has_name() &&
               (starts_with(rest, " [clone") || starts_with(rest, " [with ") ||
                starts_with(rest, " (.") || starts_with(rest, " const") || rest == " ");
    }

    bool has_name() const noexcept { return name_begin_ != no_position || !components_.empty(); }

    void extend_name(std::size_t from, std::size_t to) {
        if (name_begin_ == no_position) name_begin_ = from;
        if (components_.empty() && begin_ == no_position) begin_ = from;
        name_end_ = to;
        end_ = to;
    }

    void finish_component() {
        if (name_begin_ == no_position) return;
        if (components_.size() == max_name_components) return fail();
        components_.push_back({text_.substr(name_begin_, name_end_ - name_begin_), arguments_});
        name_begin_ = no_position;
        arguments_ = {};
    }

    void begin_anew(std::size_t at) {
        components_.clear();
        name_begin_ = no_position;
        begin_ = no_position;
        arguments_ = {};
        at_ = at;
    }

    void fail() { is_failed_ = true; }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t begin_ = no_position;
    std::size_t end_ = 0;
    std::size_t name_begin_ = no_position;
    std::size_t name_end_ = 0;
    std::string_view arguments_;
    std::vector<name_component> components_;
    bool is_done_ = false;
    bool is_failed_ = false;
};

// The views in the result point into `demangled`.
inline function_name parse_function_name(std::string_view demangled) {
    std::string_view text = without_spaces_around(demangled);
    constexpr std::string_view thunk = "non-virtual thunk to ";
    if (starts_with(text, thunk)) text.remove_prefix(thunk.size());
    return function_name_parser{text}.parse();
}

// "std::vector::push_back" of any vector: the components without their arguments.
inline std::string plain_name(const function_name& name) {
    std::string joined;
    for (const name_component& component : name.components) {
        if (!joined.empty()) joined += "::";
        joined += component.name;
    }
    return joined;
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_FUNCTION_NAME_HPP
