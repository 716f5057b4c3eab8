// pretty_type.hpp - spells a type the way people write it, from a demangled name or from source.
//
// Room:     types (floor 8), not malloc-safe
// Called:   for every type that is printed, so that spellings of one type merge into one row
// Threads:  any
// Memory:   strings no longer than the input times its depth of nesting
//
//     std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >*
//         -> std::string*
//     std::map<int, long unsigned int, std::less<int>, std::allocator<std::pair<int const,
//         long unsigned int> > >
//         -> std::map<int, unsigned long>
//     std::pair<std::__1::list<char const*> const, int>
//         -> std::pair<const std::list<const char*>, int>
//
// One pass from left to right, template arguments by recursion of at most 64 levels. Whatever it
// does not understand comes back unchanged.

#ifndef ALLOCSCOPE_TYPES_PRETTY_TYPE_HPP
#define ALLOCSCOPE_TYPES_PRETTY_TYPE_HPP

#include <allocscope/types/default_arguments.hpp>
#include <allocscope/types/function_name.hpp>
#include <allocscope/types/name_brackets.hpp>

#include <cstddef>      // size_t
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

constexpr int max_type_depth = 64;
constexpr std::size_t max_type_length = 256 * 1024;

// Counts the words of a built-in type, whose order is free: "long unsigned int" is "unsigned long".
class builtin_type {
public:
    bool take(std::string_view word) noexcept {
        constexpr std::string_view words[word_count] = {"unsigned", "signed", "long",   "short",
                                                        "int",      "char",   "double", "__int128"};
        for (std::size_t i = 0; i < word_count; ++i) {
            if (word != words[i]) continue;
            ++counts_[i];
            return true;
        }
        return false;
    }

    std::string spelled() const {
        const char* sign = counts_[0] != 0 ? "unsigned " : "";
        if (counts_[5] != 0) return (counts_[1] != 0 ? "signed " : std::string{sign}) + "char";
        if (counts_[6] != 0) return counts_[2] != 0 ? "long double" : "double";
        if (counts_[7] != 0) return std::string{sign} + "__int128";
        if (counts_[3] != 0) return std::string{sign} + "short";
        if (counts_[2] > 1) return std::string{sign} + "long long";
        if (counts_[2] == 1) return std::string{sign} + "long";
        return std::string{sign} + "int";
    }

private:
    enum : std::size_t { word_count = 8 };
    int counts_[word_count] = {};
};

class type_printer {
public:
    explicit type_printer(std::string_view text) : text_(text) {}

    std::string print() {
        std::string out = type(0);
        if (is_failed_ || at_ != text_.size()) return std::string{text_};
        return out;
    }

private:
    // What has been written of one type, up to the next comma or closing bracket.
    struct written {
        std::string text;
        std::size_t name_begin = 0;   // where the qualified name that is being written began
        bool space_before = false;    // the input has a space here
        bool has_declarator = false;  // behind "*", "&" or "(": const belongs to that
        bool is_const = false;        // of the type itself
        bool is_volatile = false;
    };

    std::string type(int depth) {
        if (depth > max_type_depth) is_failed_ = true;
        written out;
        while (!is_failed_ && at_ < text_.size()) {
            const char c = text_[at_];
            if (c == ',' || c == '>' || c == ')' || c == ']' || c == '}') break;
            step(out, depth, c);
        }
        std::string prefix;
        if (out.is_const) prefix += "const ";
        if (out.is_volatile) prefix += "volatile ";
        return prefix + out.text;
    }

    void step(written& out, int depth, char c) {
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            out.space_before = true;
            ++at_;
        } else if (is_name_character(c)) {
            word(out);
        } else if (starts_with(rest(), "::")) {
            at_ += 2;
            if (out.text.size() > out.name_begin && !out.space_before) out.text += "::";
        } else if (c == '<') {
            angle_brackets(out, depth);
        } else if (c == '(') {
            parentheses(out, depth);
        } else if (c == '{') {
            braces(out, depth);
        } else if (c == '[') {
            square_brackets(out);
        } else if (c == '\'') {
            const std::size_t quote = text_.find('\'', at_ + 1);
            copy_until(out, quote == no_position ? no_position : quote + 1);
        } else if (c == '*' || c == '&') {
            out.text += c;
            out.has_declarator = true;
            out.space_before = false;
            ++at_;
        } else if (starts_with(rest(), "->")) {
            copy_until(out, at_ + 2);
        } else {
            copy_until(out, at_ + 1);
        }
    }

    void word(written& out) {
        const std::size_t behind = skip_word(text_, at_);
        const std::string_view word = text_.substr(at_, behind - at_);
        const bool continues_name = ends_with(out.text, "::") && !out.space_before;
        if (!continues_name && special_word(out, word, behind)) return;
        if (continues_name && is_inline_namespace(out, word, behind)) {
            at_ = behind + 2;
            return;
        }
        if (!continues_name) begin_name(out);
        if (is_operator_word(text_, at_)) {
            const std::size_t symbol = operator_symbol_length(text_.substr(behind));
            return copy_until(out, behind + symbol);
        }
        out.text += without_literal_suffix(word);
        at_ = behind;
    }

    // Words that are no names: qualifiers, `struct`, and the words of built-in types.
    bool special_word(written& out, std::string_view word, std::size_t behind) {
        if (word == "const" || word == "volatile") {
            at_ = behind;
            if (out.has_declarator) {
                if (!out.text.empty() && out.text.back() != '(') out.text += ' ';
                out.text += word;
                out.space_before = true;
            } else {
                (word == "const" ? out.is_const : out.is_volatile) = true;
            }
            return true;
        }
        const bool is_elaborated = word == "struct" || word == "class" || word == "union" ||
                                   word == "enum" || word == "typename";
        if (is_elaborated && behind < text_.size() && text_[behind] == ' ') {
            at_ = behind;
            return true;
        }
        return builtin_words(out, word);
    }

    bool builtin_words(written& out, std::string_view word) {
        builtin_type builtin;
        if (!builtin.take(word)) return false;
        begin_name(out);
        at_ += word.size();
        for (;;) {
            std::size_t next = at_;
            while (next < text_.size() && text_[next] == ' ') ++next;
            const std::size_t behind = skip_word(text_, next);
            const std::string_view more = text_.substr(next, behind - next);
            if (more == "const" && next != behind) {
                out.is_const = true;
            } else if (!builtin.take(more)) {
                break;
            }
            at_ = behind;
        }
        out.text += builtin.spelled();
        return true;
    }

    void begin_name(written& out) {
        const bool needs_space = out.space_before && !out.text.empty() && out.text.back() != '(';
        if (needs_space) out.text += ' ';
        out.space_before = false;
        if (needs_space || out.text.empty() || !is_name_character(out.text.back())) {
            out.name_begin = out.text.size();
        }
    }

    // Parts of a name that the library's authors put there for the linker.
    bool is_inline_namespace(const written& out, std::string_view word, std::size_t behind) const {
        if (!starts_with(text_.substr(behind), "::")) return false;
        const std::string_view name = std::string_view{out.text}.substr(out.name_begin);
        if (name == "allocscope::") return word == "v0";
        if (!starts_with(name, "std::")) return false;
        return word == "__cxx11" || word == "__1" || word == "__debug" || word == "__cxx1998" ||
               word == "__ndk1" || word == "_V2" || word == "__8";
    }

    // "8ul" and "8": one number.
    static std::string_view without_literal_suffix(std::string_view word) noexcept {
        if (word.front() < '0' || word.front() > '9') return word;
        std::string_view digits = word;
        while (!digits.empty() && (digits.back() == 'u' || digits.back() == 'l' ||
                                   digits.back() == 'U' || digits.back() == 'L')) {
            digits.remove_suffix(1);
        }
        for (const char c : digits) {
            if (c < '0' || c > '9') return word;
        }
        return digits;
    }

    void angle_brackets(written& out, int depth) {
        const bool has_name = out.text.size() > out.name_begin && !ends_with(out.text, "::");
        if (!has_name) {  // "<lambda(int)>", as g++ writes it in debug information
            return copy_until(out, skip_brackets(text_, at_));
        }
        std::vector<std::string> arguments = list('>', depth);
        if (is_failed_) return;
        append_arguments(out.text, out.name_begin,
                         static_cast<std::vector<std::string>&&>(arguments));
        out.space_before = false;
    }

    void parentheses(written& out, int depth) {
        if (starts_with(rest(), anonymous_namespace)) {
            if (!ends_with(out.text, "::")) begin_name(out);
            return copy_until(out, at_ + anonymous_namespace.size());
        }
        if (out.space_before && !out.text.empty()) out.text += ' ';
        out.space_before = false;
        const bool is_main = out.text == "main" && starts_with(rest(), "()::");
        const std::vector<std::string> parts = list(')', depth);
        if (is_main) return;  // main::local, whatever main's parameters
        append_list(out.text, '(', parts, ')');
        if (!starts_with(rest(), "::")) out.has_declarator = true;
    }

    void braces(written& out, int depth) {
        if (starts_with(rest(), "{anonymous}")) {
            at_ += 11;
            out.text += anonymous_namespace;
            return;
        }
        if (!ends_with(out.text, "::")) begin_name(out);
        append_list(out.text, '{', list('}', depth), '}');
    }

    void square_brackets(written& out) {
        const std::size_t behind = skip_brackets(text_, at_);
        if (starts_with(rest(), "[abi:") && behind != no_position) {
            at_ = behind;
            return;
        }
        out.space_before = false;  // "int []" is "int[]"
        copy_until(out, behind);
    }

    // The parts between this bracket and the closing one, which is consumed.
    std::vector<std::string> list(char closing, int depth) {
        std::vector<std::string> parts;
        ++at_;
        for (;;) {
            std::string part = type(depth + 1);
            if (is_failed_ || at_ >= text_.size()) break;
            const char c = text_[at_++];
            if (!part.empty() || c == ',' || !parts.empty()) {
                parts.push_back(static_cast<std::string&&>(part));
            }
            if (c == closing) return parts;
            if (c != ',') break;
        }
        is_failed_ = true;
        return parts;
    }

    static void append_list(std::string& text, char open, const std::vector<std::string>& parts,
                            char close) {
        text += open;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (i != 0) text += ", ";
            text += parts[i];
        }
        text += close;
    }

    void copy_until(written& out, std::size_t behind) {
        if (behind == no_position || behind > text_.size()) {
            is_failed_ = true;
            return;
        }
        if (out.space_before && !out.text.empty()) out.text += ' ';
        out.space_before = false;
        out.text += text_.substr(at_, behind - at_);
        at_ = behind;
    }

    std::string_view rest() const { return text_.substr(at_); }

    std::string_view text_;
    std::size_t at_ = 0;
    bool is_failed_ = false;
};

// The type as people write it; the input itself when it is no type that we understand.
inline std::string pretty_type(std::string_view type) {
    type = without_spaces_around(type);
    if (type.size() > max_type_length) return std::string{type};
    return type_printer{type}.print();
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_PRETTY_TYPE_HPP
