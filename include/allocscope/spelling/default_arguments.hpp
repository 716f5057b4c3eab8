// default_arguments.hpp - drops the template arguments that nobody writes, and uses common names.
//
// Room:     spelling (floor 7), not malloc-safe
// Called:   by pretty_type.hpp for every template
// Threads:  any
// Memory:   of the given arena
//
// An argument is dropped only if it is the default for these arguments. A vector with another
// allocator keeps that argument, because it is another type.
//
//     "std::map", {"int", "char", "std::less<int>", "std::allocator<std::pair<const int, char>>"}
//         -> "std::map<int, char>"
//     "std::basic_string", {"char", ...}  -> "std::string"

#ifndef ALLOCSCOPE_SPELLING_DEFAULT_ARGUMENTS_HPP
#define ALLOCSCOPE_SPELLING_DEFAULT_ARGUMENTS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/spelling/name_brackets.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// "const std::string", but "char* const": puts const where people write it.
inline text with_const(arena& memory, const text& type) {
    const bool is_pointer = type.ends_with("*");
    if (type.starts_with("const ") && !is_pointer) return type;
    if (is_pointer || type.ends_with("&") || type.ends_with(")")) {
        return joined(memory, type, " const");
    }
    return joined(memory, "const ", type);
}

// The defaults of some templates of the standard library, as rules for filled_in(); rules[i]
// belongs to argument first + i.
struct default_rule {
    text names;
    std::size_t first;
    text rules[4];
    bool has_allocator;  // the last rule is that of the allocator, and there is a std::pmr form
};

constexpr default_rule default_rules[] = {
    // The two that are asked for most come first.
    {"basic_string", 1, {"std::char_traits<$0>", "std::allocator<$0>"}, true},
    {"unique_ptr", 1, {"std::default_delete<$0>"}, false},
    {"vector deque list forward_list", 1, {"std::allocator<$0>"}, true},
    {"set multiset", 1, {"std::less<$0>", "std::allocator<$0>"}, true},
    {"map multimap", 2, {"std::less<$0>", "std::allocator<$p>"}, true},
    {"unordered_set unordered_multiset",
     1,
     {"std::hash<$0>", "std::equal_to<$0>", "std::allocator<$0>"},
     true},
    {"unordered_map unordered_multimap",
     2,
     {"std::hash<$0>", "std::equal_to<$0>", "std::allocator<$p>"},
     true},
    {"basic_stringbuf basic_stringstream basic_istringstream basic_ostringstream",
     1,
     {"std::char_traits<$0>", "std::allocator<$0>"},
     false},
    {"basic_string_view basic_streambuf basic_ios basic_istream basic_ostream basic_iostream "
     "basic_filebuf basic_ifstream basic_ofstream basic_fstream",
     1,
     {"std::char_traits<$0>"},
     false},
    {"basic_regex", 1, {"std::regex_traits<$0>"}, false},
    {"match_results", 1, {"std::allocator<std::sub_match<$0>>"}, true},
    {"stack queue", 1, {"std::deque<$0>"}, false},
    {"priority_queue", 1, {"std::vector<$0>", "std::less<$0>"}, false},
    {"less greater equal_to", 0, {"void"}, false},
    {"ratio", 1, {"1"}, false},
    {"span", 1, {"18446744073709551615"}, false},  // std::dynamic_extent
    {"chrono::duration", 1, {"std::ratio<1>"}, false},
};

inline const default_rule* find_default_rule(const text& name) noexcept {
    for (const default_rule& rule : default_rules) {
        if (is_listed(name, rule.names)) return &rule;
    }
    return nullptr;
}

inline text without_pointer(text type) noexcept {
    take_end(type, "*");
    return type;
}

inline text without_reference(text type) noexcept {
    while (type.ends_with("&")) type.remove_suffix(1);
    return type;
}

// The rule with the arguments in it: $0, $1 and so on, $* for the first one without its pointer,
// and $p for the std::pair of a map. Those that there are not leave nothing.
inline text filled_in(arena& memory, const text& rule, const list<text>& arguments) {
    text_out filled{memory};
    for (std::size_t i = 0; i < rule.size(); ++i) {
        if (rule[i] != '$') {
            filled << rule[i];
            continue;
        }
        const char which = rule[++i];
        const std::size_t number = static_cast<std::size_t>(which) - '0';
        if (number < arguments.size()) {
            filled << arguments[number];
        } else if (which == '*') {
            filled << without_pointer(arguments[0]);
        } else if (which == 'p' && arguments.size() > 1) {
            filled << "std::pair<" << with_const(memory, arguments[0]) << ", " << arguments[1];
            filled << '>';
        }
    }
    return filled.view();
}

// How the name of a character template starts that is not one of `char`.
constexpr word_meaning character_names[] = {
    {"wchar_t", "w"}, {"char8_t", "u8"}, {"char16_t", "u16"}, {"char32_t", "u32"}};

// The name of a character template after "std::" or "std::pmr::": "string" for basic_string<char>,
// "wregex" for basic_regex<wchar_t>. Writes nothing if there is no such name.
inline bool write_character_alias(text_out& out, text name, const text& character) {
    if (!take_start(name, "basic_")) return false;
    const text start = listed_meaning(character_names, character);
    if (start.empty() && character != "char") return false;
    if (start.starts_with("u") && !is_listed(name, "string string_view")) return false;
    out << start << name;
    return true;
}

// Drops the arguments that are the rule's defaults. Returns true if the arguments are those of the
// template in std::pmr.
inline bool drop_defaults(arena& memory, const default_rule& rule, list<text>& arguments) {
    std::size_t most = rule.first;
    while (most < rule.first + 4 && !rule.rules[most - rule.first].empty()) ++most;
    bool is_pmr = false;
    if (rule.has_allocator && arguments.size() == most) {
        text element = filled_in(memory, rule.rules[most - 1 - rule.first], arguments);
        element.remove_prefix(14);  // "std::allocator"
        is_pmr = arguments.back() == joined(memory, "std::pmr::polymorphic_allocator", element);
        if (is_pmr) arguments.pop_back();
    }
    while (arguments.size() > rule.first && arguments.size() <= most &&
           arguments.back() ==
               filled_in(memory, rule.rules[arguments.size() - 1 - rule.first], arguments)) {
        arguments.pop_back();
    }
    return is_pmr;
}

// Writes parts between brackets, with commas.
inline void write_list(text_out& out, char open, const list<text>& parts, char close) {
    out << open;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i != 0) out << ", ";
        out << parts[i];
    }
    out << close;
}

// Types that people call by another name.
struct common_name {
    text type;
    text name;
};

constexpr common_name common_names[] = {
    {"std::chrono::duration<long>", "std::chrono::seconds"},
    {"std::chrono::duration<long, std::ratio<1, 1000>>", "std::chrono::milliseconds"},
    {"std::chrono::duration<long, std::ratio<1, 1000000>>", "std::chrono::microseconds"},
    {"std::chrono::duration<long, std::ratio<1, 1000000000>>", "std::chrono::nanoseconds"},
    {"std::chrono::duration<long, std::ratio<60>>", "std::chrono::minutes"},
    {"std::chrono::duration<long, std::ratio<3600>>", "std::chrono::hours"},
    {"std::chrono::duration<long, std::ratio<86400>>", "std::chrono::days"},
    {"std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>",
     "std::chrono::system_clock::time_point"},
    {"std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>",
     "std::chrono::steady_clock::time_point"},
    {"std::match_results<const char*>", "std::cmatch"},
    {"std::match_results<std::string::const_iterator>", "std::smatch"},
    {"std::linear_congruential_engine<unsigned long, 16807, 0, 2147483647>", "std::minstd_rand0"},
    {"std::linear_congruential_engine<unsigned long, 48271, 0, 2147483647>", "std::minstd_rand"},
    {"std::mersenne_twister_engine<unsigned long, 32, 624, 397, 31, 2567483615, 11, 4294967295, "
     "7, 2636928640, 15, 4022730752, 18, 1812433253>",
     "std::mt19937"},
    {"std::mersenne_twister_engine<unsigned long, 64, 312, 156, 31, 13043109905998158313, 29, "
     "6148914691236517205, 17, 8202884508482404352, 37, 18444473444759240704, 43, "
     "6364136223846793005>",
     "std::mt19937_64"},
    {"boost::property_tree::basic_ptree<std::string, std::string, std::less<std::string>>",
     "boost::property_tree::ptree"},
};

// nlohmann::basic_json with all its defaults has another name; "" for other arguments.
inline text alias_of_json(text arguments) noexcept {
    const bool is_ordered = take_start(arguments, "<nlohmann::ordered_map, ");
    const bool is_usual =
        (is_ordered || take_start(arguments, "<std::map, ")) &&
        take_start(arguments,
                   "std::vector, std::string, bool, long, unsigned long, double, std::allocator, "
                   "nlohmann::adl_serializer, std::vector<unsigned char>");
    if (!is_usual || (arguments != ">" && arguments != ", void>")) return no_text();
    return is_ordered ? "nlohmann::ordered_json" : "nlohmann::json";
}

constexpr word_meaning iterated_containers[] = {
    {"std::_List_iterator std::_List_const_iterator std::__list_iterator "
     "std::__list_const_iterator",
     "std::list<$0>"},
    {"std::_Deque_iterator", "std::deque<$0>"}};

// The iterator of a container, as in "std::list<int>::iterator"; "" if `name` is another template,
// or one that does not show which container it belongs to.
inline text alias_of_iterator(arena& memory, const text& name, const list<text>& arguments) {
    if (!name.ends_with("terator") || arguments.empty()) return no_text();
    text pointer = arguments.back();
    text container;
    if (name == "__gnu_cxx::__normal_iterator") {
        container = pointer.starts_with("std::") ? pointer : text{};
        pointer = arguments[0];
    } else {
        container = filled_in(memory, listed_meaning(iterated_containers, name), arguments);
        if (container.starts_with("std::list<")) pointer = {};
    }
    if (container.empty()) return no_text();
    const bool is_const =
        name.contains("const") || pointer.ends_with(" const*") ||
        (pointer.starts_with("const ") && pointer.find('*') + 1 == pointer.size());
    return joined(memory, container, is_const ? "::const_iterator" : "::iterator");
}

// The common name of a template with exactly these arguments; "" if there is none.
inline text alias_of(arena& memory, const text& name, const list<text>& arguments) {
    constexpr const char* templates =
        "std::chrono::duration std::chrono::time_point std::match_results "
        "std::linear_congruential_engine std::mersenne_twister_engine nlohmann::basic_json "
        "boost::property_tree::basic_ptree";
    if (!is_listed(name, templates)) return alias_of_iterator(memory, name, arguments);
    text_out type{memory};
    type << name;
    write_list(type, '<', arguments, '>');
    for (const common_name& known : common_names) {
        if (type.view() == known.type) return known.name;
    }
    const bool is_json = name.starts_with("nlohmann::");
    return is_json ? alias_of_json(type.view().substr(name.size())) : text{};
}

// Appends `arguments`, which are already pretty, to `out`, which ends with the qualified name of
// their template from `name_begin` on. Changes name and arguments to what people write.
inline void write_arguments(text_out& out, std::size_t name_begin, list<text> arguments) {
    const text name = out.view().substr(name_begin);
    const default_rule* rule = nullptr;
    if (name.starts_with("std::")) rule = find_default_rule(name.substr(5));
    if (rule != nullptr && arguments.size() >= rule->first) {
        const text own = copy_of(out.memory(), name.substr(5));
        const bool is_pmr = drop_defaults(out.memory(), *rule, arguments);
        out.cut(name_begin);
        out << (is_pmr ? "std::pmr::" : "std::");
        if (arguments.size() == 1 && write_character_alias(out, own, arguments[0])) return;
        out << own;
    }
    const text alias = alias_of(out.memory(), name, arguments);
    if (alias.empty()) return write_list(out, '<', arguments, '>');
    out.cut(name_begin);
    out << alias;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SPELLING_DEFAULT_ARGUMENTS_HPP
