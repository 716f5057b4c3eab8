// pretty_type.hpp - spells a type the way people write it, from a demangled name or from source.
//
// Room:     spelling (floor 7), not malloc-safe
// Called:   by types/read_names.hpp for every type that is printed, so that spellings of one type
//           merge into one row; by others in source/ and types/ to compare types
// Threads:  any
// Memory:   of the given arena: no more than the input times its depth of nesting
//
//     std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >*
//         -> std::string*
//     std::map<int, long unsigned int, std::less<int>, std::allocator<std::pair<int const,
//         long unsigned int> > >
//         -> std::map<int, unsigned long>
//     std::pair<std::__1::list<char const*> const, int>
//         -> std::pair<const std::list<const char*>, int>
//
// It makes one pass from left to right, with recursion of at most 64 levels for template arguments.
// A type that it does not understand is returned unchanged.

#ifndef ALLOCSCOPE_SPELLING_PRETTY_TYPE_HPP
#define ALLOCSCOPE_SPELLING_PRETTY_TYPE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/spelling/default_arguments.hpp>
#include <allocscope/spelling/function_name.hpp>
#include <allocscope/spelling/name_brackets.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

constexpr int max_type_depth = 64;
constexpr std::size_t max_type_length = 256 * 1024;

// Counts the words of a built-in type. Their order is free: "long unsigned int" is "unsigned long".
class builtin_type {
public:
    bool take(const text& word) noexcept {
        if (word == "long") {
            ++longs_;
        } else if (word == "unsigned") {
            is_unsigned_ = true;
        } else if (word == "signed") {
            is_signed_ = true;
        } else if (is_listed(word,
                             "char short double float bool wchar_t char8_t char16_t char32_t "
                             "__int128")) {
            kind_ = word;
        } else if (word == "_Bool") {  // of C, which calls it bool in <stdbool.h>
            kind_ = "bool";
        } else {
            return word == "int";
        }
        return true;
    }

    void write(text_out& out) const {
        const bool is_char = kind_ == "char";
        if (kind_ == "double") {
            out << (longs_ != 0 ? "long double" : "double");
            return;
        }
        if (is_signed_ && is_char) out << "signed ";
        if (is_unsigned_ && !(is_signed_ && is_char)) out << "unsigned ";
        if (!kind_.empty()) {
            out << kind_;
        } else {
            out << (longs_ > 1 ? "long long" : longs_ == 1 ? "long" : "int");
        }
    }

private:
    text kind_;  // "char", "short", "double", "float", ..., or "" for int and the long ones
    int longs_ = 0;
    bool is_unsigned_ = false;
    bool is_signed_ = false;
};

ALLOCSCOPE_PURE inline bool is_builtin_word(const text& word) noexcept {
    return builtin_type{}.take(word);
}

// Removes the const of the type itself: `new const T` makes a T.
inline text without_const(text type) noexcept {
    if (take_end(type, " const")) return type;
    const bool is_compound = type.ends_with("*") || type.ends_with("&") ||
                             (!type.ends_with(">") && type.contains("(*)"));
    if (!is_compound) take_start(type, "const ");
    return type;
}

// The type that `auto` deduces from a value of `type`; "" if that is an array or a function: then
// it is a pointer.
inline text decayed(text type) noexcept {
    type = without_const(without_reference(type));
    const bool is_object = !type.ends_with("]") && !type.ends_with(")");
    // A pointer to such a thing, or clang's name of a lambda.
    return is_object || type.contains("(*)") || type.contains(" at ") ? type : text{};
}

// What "std::decay_t<int&>", or "std::decay<int&>" before "::type", stands for; "" for other types.
inline text result_of_trait(const text& type) noexcept {
    const text start = listed_start(
        type,
        "std::decay_t< std::remove_cvref_t< std::decay< std::remove_cvref< boost::decay< decay< "
        "std::remove_reference_t< std::remove_reference< std::remove_pointer_t< "
        "std::remove_pointer< std::remove_const_t< std::remove_const< std::remove_cv_t< "
        "std::remove_cv<");
    if (start.empty() || skip_brackets(type, start.size() - 1) != type.size()) return no_text();
    if (is_listed(type.substr(type.size() - 2), "]> )>")) return no_text();
    text of = type.substr(start.size(), type.size() - start.size() - 1);
    if (start.contains("reference")) {
        of = without_reference(of);
    } else if (start.contains("pointer")) {
        of = without_pointer(without_const(of));
    } else if (start.contains("remove_c") && !start.contains("ref")) {
        return of.contains("volatile") ? text{} : without_const(of);
    } else {
        of = decayed(of);
    }
    return of;
}

class type_printer {
public:
    ALLOCSCOPE_INLINE type_printer(arena& memory, const text& type)
        : memory_(memory), type_(type) {}

    ALLOCSCOPE_INLINE text print() {
        const text printed = part(0);
        return is_failed_ || at_ != type_.size() ? type_ : printed;
    }

private:
    // What has been written of one type, which ends at the next comma or closing bracket.
    struct written {
        text_out out;
        std::size_t name_begin = 0;   // where the qualified name that is being written began
        bool space_before = false;    // the input has a space at this point
        bool has_declarator = false;  // "*", "&" or "(" was written: a const belongs to that
        bool is_const = false;        // the type itself is const
        bool is_volatile = false;

        ALLOCSCOPE_INLINE explicit written(arena& memory) : out(memory) {}

        ALLOCSCOPE_PURE bool is_after_colons() const noexcept { return out.view().ends_with("::"); }

        // Writes a space if the input has one at this point.
        void write_space() {
            if (space_before && !out.empty()) out << ' ';
            space_before = false;
        }
    };

    text part(int depth) {
        if (depth > max_type_depth) is_failed_ = true;
        written to{memory_};
        while (!is_failed_ && at_ < type_.size()) {
            const char c = type_[at_];
            if (c == ',' || c == '>' || c == ')' || c == ']' || c == '}') break;
            step(to, depth, c);
        }
        if (!to.is_const && !to.is_volatile) return to.out.view();
        return joined(memory_, to.is_const ? "const " : "", to.is_volatile ? "volatile " : "",
                      to.out.view());
    }

    void step(written& to, int depth, char c) {
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            to.space_before = true;
            ++at_;
        } else if (is_name_character(c)) {
            word(to);
        } else if (is_next("::")) {
            at_ += 2;
            if (to.out.size() > to.name_begin && !to.space_before) to.out << "::";
        } else if (c == '<') {
            angle_brackets(to, depth);
        } else if (c == '(') {
            parentheses(to, depth);
        } else if (c == '{') {
            braces(to, depth);
        } else if (c == '[') {
            square_brackets(to);
        } else if (is_next("'lambda")) {  // 'lambda0'(int), as LLVM's demangler writes it
            const std::size_t open = type_.find('(', at_);
            lambda(to, open == no_position ? open : skip_brackets(type_, open));
        } else if (c == '\'') {
            const std::size_t quote = type_.find('\'', at_ + 1);
            copy_until(to, quote == no_position ? no_position : quote + 1);
        } else if (c == '*' || c == '&') {
            to.out << c;
            to.has_declarator = true;
            to.space_before = false;
            ++at_;
        } else {
            copy_until(to, is_next("->") ? at_ + 2 : at_ + 1);
        }
    }

    // Compilers number lambdas, or show their parameters, or both. All of it is left out, because
    // the place of a row distinguishes lambdas.
    void lambda(written& to, std::size_t behind) {
        if (!to.is_after_colons()) begin_name(to);
        if (behind == no_position) is_failed_ = true;
        to.write_space();
        to.out << "{lambda}";
        at_ = behind;
    }

    // After a failure `at_` may be anywhere.
    ALLOCSCOPE_PURE bool is_next(const char* wanted) const noexcept {
        return at_ <= type_.size() && type_.has_at(at_, wanted);
    }

    void word(written& to) {
        const std::size_t behind = skip_word(type_, at_);
        const text word = type_.substr(at_, behind - at_);
        const bool continues_name = to.is_after_colons() && !to.space_before;
        if (!continues_name && special_word(to, word, behind)) return;
        if (continues_name && is_inline_namespace(to, word, behind)) {
            at_ = behind + 2;
            return;
        }
        if (continues_name && word == "type" && take_trait(to, 2)) {
            at_ = behind;
            return;
        }
        const bool is_of_clang = word.size() > 2 && word.starts_with("$_") &&
                                 word.find_first_not_of("0123456789", 2) == no_position;
        if (is_of_clang) return lambda(to, behind);
        if (!continues_name) begin_name(to);
        if (is_operator_word(type_, at_)) {
            return copy_until(to, behind + operator_symbol_length(type_.substr(behind)));
        }
        const bool is_scope = !continues_name && type_.has_at(behind, "::");
        to.out << (is_scope ? without_version(word) : without_literal_suffix(word));
        at_ = behind;
    }

    // "icu" for "icu_72": the namespace has an alias, which people write.
    static ALLOCSCOPE_INLINE text without_version(const text& word) noexcept {
        const text start = listed_start(word, "icu_ xercesc_ xalanc_");
        const bool is_versioned =
            !start.empty() && word.find_first_not_of("0123456789_", start.size()) == no_position;
        return is_versioned ? start.substr(0, start.size() - 1) : word;
    }

    // Words that are not names: qualifiers, `struct`, and the words of built-in types.
    bool special_word(written& to, const text& word, std::size_t behind) {
        if (is_listed(word, "const volatile")) {
            at_ = behind;
            if (to.has_declarator) {
                if (!to.out.empty() && to.out.back() != '(') to.out << ' ';
                to.out << word;
                to.space_before = true;
            } else {
                (word == "const" ? to.is_const : to.is_volatile) = true;
            }
            return true;
        }
        if (is_listed(word, "struct class union enum typename") && behind < type_.size() &&
            type_[behind] == ' ') {
            at_ = behind;
            return true;
        }
        return builtin_words(to, word);
    }

    bool builtin_words(written& to, const text& word) {
        builtin_type builtin;
        if (!builtin.take(word)) return false;
        begin_name(to);
        at_ += word.size();
        for (;;) {
            std::size_t next = at_;
            while (next < type_.size() && type_[next] == ' ') ++next;
            const std::size_t behind = skip_word(type_, next);
            const text more = type_.substr(next, behind - next);
            if (more == "const") {
                to.is_const = true;
            } else if (!builtin.take(more)) {
                break;
            }
            at_ = behind;
        }
        builtin.write(to.out);
        return true;
    }

    static void begin_name(written& to) {
        const bool needs_space = to.space_before && !to.out.empty() && to.out.back() != '(';
        if (needs_space) to.out << ' ';
        to.space_before = false;
        if (needs_space || to.out.empty() || !is_name_character(to.out.back())) {
            to.name_begin = to.out.size();
        }
    }

    // Whether `word` is a part of the name that is there only for the linker.
    ALLOCSCOPE_PURE bool is_inline_namespace(const written& to, const text& word,
                                             std::size_t behind) const {
        if (!type_.has_at(behind, "::")) return false;
        const text name = to.out.view().substr(to.name_begin);
        if (is_listed(name, "allocscope:: fmt:: msgpack:: toml:: boost::log::") &&
            word.size() > 1 && word[0] == 'v' && word[1] >= '0' && word[1] <= '9') {
            return true;
        }
        if (name == "tbb::") return is_listed(word, "detail d0 d1 d2 r1");
        if (is_listed(name, "absl:: nlohmann:: toml::")) {
            return !listed_start(word, "lts_ debian json_abi_ toml11_").empty();
        }
        return name.starts_with("std::") &&
               is_listed(
                   word,
                   "__cxx11 __1 __debug __cxx1998 __ndk1 _V2 __8 __n4861 __exception_ptr __fs");
    }

    // "8ul" is written as "8".
    static text without_literal_suffix(const text& word) noexcept {
        if (word.front() < '0' || word.front() > '9') return word;
        const text digits = word.substr(0, word.find_last_not_of("ulUL") + 1);
        return digits.find_first_not_of("0123456789") == no_position ? digits : word;
    }

    void angle_brackets(written& to, int depth) {
        const bool has_name = to.out.size() > to.name_begin && !to.is_after_colons();
        if (is_next("<lambda(") && !has_name) return lambda(to, skip_brackets(type_, at_));
        if (!has_name) {  // "<unnamed struct>", as g++ writes it in debug information
            return copy_until(to, skip_brackets(type_, at_));
        }
        const list<text> arguments = parts('>', depth);
        if (is_failed_) return;
        if (to.out.back() == '<') to.out << ' ';  // operator< <int>
        const bool is_result = to.out.view().ends_with("_t");
        write_arguments(to.out, to.name_begin, arguments);
        if (is_result) take_trait(to, 0);
        to.space_before = false;
    }

    // Replaces the name that is being written, without its last characters, by what it stands for.
    bool take_trait(written& to, std::size_t without) {
        text name = to.out.view().substr(to.name_begin);
        name.remove_suffix(without);
        const text made = copy_of(memory_, result_of_trait(name));
        if (made.empty()) return false;
        to.out.cut(to.name_begin);
        to.out << made;
        return true;
    }

    // Demanglers write template arguments of small types as "(unsigned char)7" and "(char)120";
    // people write 7 and 'x'.
    bool small_value(written& to) {
        const std::size_t begin = skip_brackets(type_, at_);
        if (begin == no_position) return false;
        const text of = type_.substr(at_ + 1, begin - at_ - 2);
        const bool is_number = of == "short" || of.ends_with(" short") || of.ends_with(" char");
        if (!is_number && of != "char") return false;
        std::size_t end = type_.find_first_not_of("-0123456789", begin);
        if (end == no_position) end = type_.size();
        const text digits = type_.substr(begin, end - begin);
        if (digits.empty()) return false;
        if (is_number) {
            to.out << digits;
        } else {
            int code = 0;
            for (const char digit : digits) code = code * 10 + (digit - '0');
            if (digits.size() > 3 || code < ' ' || code > '~' || code == '\'' || code == '\\') {
                return false;
            }
            to.out << '\'' << static_cast<char>(code) << '\'';
        }
        at_ = end;
        return true;
    }

    void parentheses(written& to, int depth) {
        if (is_next(anonymous_namespace.data())) {
            if (!to.is_after_colons()) begin_name(to);
            return copy_until(to, at_ + anonymous_namespace.size());
        }
        if (is_next("(lambda at ")) return lambda(to, skip_brackets(type_, at_));  // clang
        if (is_next("(nullptr)") && to.out.view().ends_with("decltype")) {         // clang
            to.out.cut(to.out.view().size() - text{"decltype"}.size());
            to.out << "std::nullptr_t";
            at_ += text{"(nullptr)"}.size();
            return;
        }
        if (depth > 0 && to.out.empty() && small_value(to)) return;
        const std::size_t behind = skip_brackets(type_, at_);
        if (leave_function(to, behind)) return;
        // Writes void(int) and void (*)(int), whether or not the input has these spaces.
        to.space_before = behind != no_position && !to.out.empty() && to.out.back() != '(' &&
                          (type_.has_at(behind, "(") || is_next("(*") || is_next("(&"));
        to.write_space();
        write_list(to.out, '(', parts(')', depth), ')');
        to.has_declarator = true;
    }

    // A class in a function is app::run::local, without the parameters of the function, which end
    // at `behind`, and its result; one in a lambda is main::{lambda}::local. Returns false if this
    // is no such function.
    bool leave_function(written& to, std::size_t behind) {
        const text name = to.out.view().substr(to.name_begin);
        if (behind == no_position || name.empty() || name == "decltype") return false;
        text rest = type_.substr(behind);
        for (;;) {
            while (rest.starts_with(" ")) rest.remove_prefix(1);
            const text qualifier = listed_start(rest, "const volatile noexcept && &");
            if (qualifier.empty()) break;
            rest.remove_prefix(qualifier.size());
        }
        if (!rest.starts_with("::")) return false;
        constexpr text call = "{lambda}::operator()";
        std::size_t end = name.find(call);
        end = end == no_position ? name.size() : end + text{"{lambda}"}.size();
        const text function = copy_of(memory_, name.substr(0, end));
        to.out.cut(0);
        to.out << function;
        to.name_begin = 0;
        to.space_before = false;
        to.is_const = false;  // that of the result
        at_ = type_.size() - rest.size();
        return true;
    }

    void braces(written& to, int depth) {
        if (is_next("{anonymous}")) {
            at_ += 11;
            to.out << anonymous_namespace;
            return;
        }
        if (is_next("{lambda")) return lambda(to, skip_brackets(type_, at_));
        if (!to.is_after_colons()) begin_name(to);
        write_list(to.out, '{', parts('}', depth), '}');
    }

    void square_brackets(written& to) {
        const std::size_t behind = skip_brackets(type_, at_);
        if (is_next("[abi:") && behind != no_position) {
            at_ = behind;
            return;
        }
        to.space_before = false;  // "int []" is "int[]"
        copy_until(to, behind);
    }

    // The parts between this bracket and the closing one. Moves to the position after it.
    list<text> parts(char closing, int depth) {
        list<text> found{memory_};
        ++at_;
        for (;;) {
            const text one = part(depth + 1);
            if (is_failed_ || at_ >= type_.size()) break;
            const char c = type_[at_++];
            if (!one.empty() || c == ',' || !found.empty()) found.push_back(one);
            if (c == closing) return found;
            if (c != ',') break;
        }
        is_failed_ = true;
        return found;
    }

    void copy_until(written& to, std::size_t behind) {
        if (behind == no_position || behind > type_.size()) {
            is_failed_ = true;
            return;
        }
        to.write_space();
        to.out << type_.substr(at_, behind - at_);
        at_ = behind;
    }

    arena& memory_;
    text type_;
    std::size_t at_ = 0;
    bool is_failed_ = false;
};

// Returns the type as people write it, or the input if the type is not understood. The result lives
// in the arena or is a view of the input.
inline text pretty_type(arena& memory, text type) {
    type = without_spaces_around(type);
    if (type.size() > max_type_length) return type;
    return type_printer{memory, type}.print();
}

// A pretty type without unnamed namespaces, which nobody writes.
inline text without_unnamed_namespaces(arena& memory, text type) {
    constexpr text unnamed = "(anonymous namespace)::";
    for (std::size_t at = type.find(unnamed); at != no_position; at = type.find(unnamed, at)) {
        type = replaced(memory, type, at, at + unnamed.size(), {});
    }
    return type;
}

constexpr word_meaning integers[] = {{"size_t uint64_t uintptr_t", "unsigned long"},
                                     {"ssize_t ptrdiff_t int64_t intptr_t", "long"},
                                     {"int8_t", "signed char"},
                                     {"uint8_t", "unsigned char"},
                                     {"int16_t", "short"},
                                     {"uint16_t", "unsigned short"},
                                     {"int32_t", "int"},
                                     {"uint32_t", "unsigned int"}};

// What compilers describe for an integer of the C library, with or without std::: `unsigned char`
// for uint8_t; "" for any other name. Linux x86_64 has one meaning for each of these names.
inline text integer_of_alias(text alias) noexcept {
    if (!alias.ends_with("_t")) return no_text();
    take_start(alias, "std::");
    return listed_meaning(integers, alias);
}

// A type as compilers describe it, also in the arguments of a template.
inline text without_integer_aliases(arena& memory, const text& type) {
    text_out made{memory};
    std::size_t at = 0;
    while (at < type.size()) {
        std::size_t end = skip_word(type, at);
        if (type.has_at(at, "std::")) end = skip_word(type, at + 5);
        const bool is_inside = at > 0 && type[at - 1] == ':';
        const text word = type.substr(at, end > at ? end - at : 1);
        const text integer = is_inside ? text{} : integer_of_alias(word);
        made << (integer.empty() ? word : integer);
        at += word.size();
    }
    return made.view();
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SPELLING_PRETTY_TYPE_HPP
