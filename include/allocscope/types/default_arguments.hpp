// default_arguments.hpp - the template arguments that nobody writes, and the names people use.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by pretty_type.hpp for every template of namespace std
// Threads:  any
// Memory:   short strings
//
// An argument is dropped only when it is the default for that very element type: a vector with
// another allocator keeps it, for that is what makes it another type.
//
//     "std::map", {"int", "char", "std::less<int>", "std::allocator<std::pair<const int, char>>"}
//         -> "std::map<int, char>"
//     "std::basic_string", {"char", ...}  -> "std::string"

#ifndef ALLOCSCOPE_TYPES_DEFAULT_ARGUMENTS_HPP
#define ALLOCSCOPE_TYPES_DEFAULT_ARGUMENTS_HPP

#include <allocscope/types/name_brackets.hpp>

#include <cstddef>      // size_t
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// "const std::string", but "char* const": the place where people write it.
inline std::string with_const(const std::string& type) {
    if (starts_with(type, "const ") && !ends_with(type, "*")) return type;
    const bool is_compound = ends_with(type, "*") || ends_with(type, "&") || ends_with(type, ")");
    return is_compound ? type + " const" : "const " + type;
}

// The defaults of one family of templates. In a rule $0 and $1 stand for the first arguments,
// $p for the std::pair of a map; rules[i] belongs to argument first + i.
struct default_rule {
    const char* name;
    std::size_t first;
    const char* rules[4];
    bool has_allocator;  // the last rule is the allocator's: the pmr form is known too
};

constexpr default_rule default_rules[] = {
    {"vector", 1, {"std::allocator<$0>"}, true},
    {"deque", 1, {"std::allocator<$0>"}, true},
    {"list", 1, {"std::allocator<$0>"}, true},
    {"forward_list", 1, {"std::allocator<$0>"}, true},
    {"set", 1, {"std::less<$0>", "std::allocator<$0>"}, true},
    {"multiset", 1, {"std::less<$0>", "std::allocator<$0>"}, true},
    {"map", 2, {"std::less<$0>", "std::allocator<$p>"}, true},
    {"multimap", 2, {"std::less<$0>", "std::allocator<$p>"}, true},
    {"unordered_set", 1, {"std::hash<$0>", "std::equal_to<$0>", "std::allocator<$0>"}, true},
    {"unordered_multiset", 1, {"std::hash<$0>", "std::equal_to<$0>", "std::allocator<$0>"}, true},
    {"unordered_map", 2, {"std::hash<$0>", "std::equal_to<$0>", "std::allocator<$p>"}, true},
    {"unordered_multimap", 2, {"std::hash<$0>", "std::equal_to<$0>", "std::allocator<$p>"}, true},
    {"basic_string", 1, {"std::char_traits<$0>", "std::allocator<$0>"}, true},
    {"basic_string_view", 1, {"std::char_traits<$0>"}, false},
    {"basic_stringbuf", 1, {"std::char_traits<$0>", "std::allocator<$0>"}, false},
    {"basic_stringstream", 1, {"std::char_traits<$0>", "std::allocator<$0>"}, false},
    {"basic_istringstream", 1, {"std::char_traits<$0>", "std::allocator<$0>"}, false},
    {"basic_ostringstream", 1, {"std::char_traits<$0>", "std::allocator<$0>"}, false},
    {"basic_streambuf", 1, {"std::char_traits<$0>"}, false},
    {"basic_ios", 1, {"std::char_traits<$0>"}, false},
    {"basic_istream", 1, {"std::char_traits<$0>"}, false},
    {"basic_ostream", 1, {"std::char_traits<$0>"}, false},
    {"basic_iostream", 1, {"std::char_traits<$0>"}, false},
    {"basic_filebuf", 1, {"std::char_traits<$0>"}, false},
    {"basic_ifstream", 1, {"std::char_traits<$0>"}, false},
    {"basic_ofstream", 1, {"std::char_traits<$0>"}, false},
    {"basic_fstream", 1, {"std::char_traits<$0>"}, false},
    {"basic_regex", 1, {"std::regex_traits<$0>"}, false},
    {"match_results", 1, {"std::allocator<std::sub_match<$0>>"}, true},
    {"unique_ptr", 1, {"std::default_delete<$0>"}, false},
    {"stack", 1, {"std::deque<$0>"}, false},
    {"queue", 1, {"std::deque<$0>"}, false},
    {"priority_queue", 1, {"std::vector<$0>", "std::less<$0>"}, false},
};

inline const default_rule* find_default_rule(std::string_view name) noexcept {
    for (const default_rule& rule : default_rules) {
        if (name == rule.name) return &rule;
    }
    return nullptr;
}

inline std::string filled_in(std::string_view rule, const std::vector<std::string>& arguments) {
    std::string text;
    for (std::size_t i = 0; i < rule.size(); ++i) {
        if (rule[i] != '$') {
            text += rule[i];
        } else if (rule[++i] == '0') {
            text += arguments[0];
        } else if (arguments.size() > 1) {
            text += "std::pair<" + with_const(arguments[0]) + ", " + arguments[1] + '>';
        }
    }
    return text;
}

// "std::string" for basic_string<char>, "std::wregex" for basic_regex<wchar_t>; "" when there is
// no such name. `space` is "std::" or "std::pmr::".
inline std::string character_alias(std::string_view space, std::string_view name,
                                   std::string_view character) {
    if (!starts_with(name, "basic_")) return {};
    const std::string_view rest = name.substr(6);
    const bool is_string = rest == "string" || rest == "string_view";
    const char* prefix = character == "char"                    ? ""
                         : character == "wchar_t"               ? "w"
                         : is_string && character == "char8_t"  ? "u8"
                         : is_string && character == "char16_t" ? "u16"
                         : is_string && character == "char32_t" ? "u32"
                                                                : nullptr;
    if (prefix == nullptr) return {};
    return std::string{space} + prefix + std::string{rest};
}

// Appends `arguments`, which are pretty already, to a text that ends with the qualified name from
// `name_begin` on, and makes of both what people write.
inline void append_arguments(std::string& text, std::size_t name_begin,
                             std::vector<std::string> arguments) {
    const std::string_view name = std::string_view{text}.substr(name_begin);
    const default_rule* rule =
        starts_with(name, "std::") ? find_default_rule(name.substr(5)) : nullptr;
    if (rule != nullptr && arguments.size() >= rule->first) {
        std::size_t rule_count = 0;
        while (rule_count < 4 && rule->rules[rule_count] != nullptr) ++rule_count;
        std::string_view space = "std::";
        if (rule->has_allocator && arguments.size() == rule->first + rule_count) {
            const std::string allocator = filled_in(rule->rules[rule_count - 1], arguments);
            const std::string element = allocator.substr(15);  // behind "std::allocator<"
            if (arguments.back() == "std::pmr::polymorphic_allocator<" + element) {
                space = "std::pmr::";
                arguments.pop_back();
            }
        }
        while (arguments.size() > rule->first && arguments.size() <= rule->first + rule_count &&
               arguments.back() ==
                   filled_in(rule->rules[arguments.size() - 1 - rule->first], arguments)) {
            arguments.pop_back();
        }
        std::string alias;
        if (arguments.size() == 1) alias = character_alias(space, rule->name, arguments[0]);
        text.resize(name_begin);
        if (!alias.empty()) {
            text += alias;
            return;
        }
        text += space;
        text += rule->name;
    }
    text += '<';
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (i != 0) text += ", ";
        text += arguments[i];
    }
    text += '>';
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_DEFAULT_ARGUMENTS_HPP
