// standard_names.hpp - the classes and class templates of the standard library, by their names.
//
// Room:     source (floor 8), not malloc-safe
// Called:   by type_spelling.hpp and type_from_source.hpp
// Threads:  any
// Memory:   none
//
// The source tells `new std::pair(1, 2)`, a template whose arguments are deduced, from `new
// std::string(3, 'a')`. The debug information may lack these, or have another type of that name.

#ifndef ALLOCSCOPE_SOURCE_STANDARD_NAMES_HPP
#define ALLOCSCOPE_SOURCE_STANDARD_NAMES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/spelling/default_arguments.hpp>
#include <allocscope/spelling/name_brackets.hpp>

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

ALLOCSCOPE_PURE ALLOCSCOPE_INLINE bool is_standard_template(const text& word) noexcept {
    return find_default_rule(word) != nullptr ||
           is_listed(word,
                     "pair tuple array optional variant function shared_ptr weak_ptr complex "
                     "valarray atomic lock_guard unique_lock scoped_lock");
}

// Classes of the standard library that are no templates.
ALLOCSCOPE_PURE inline bool is_standard_class(const text& word) noexcept {
    if (word.ends_with("_error") || (word.starts_with("bad_") && !word.ends_with("ed_access"))) {
        return true;  // exceptions, but not bad_expected_access<E>
    }
    return is_listed(
        word,
        "string wstring u16string u32string string_view thread jthread mutex recursive_mutex "
        "timed_mutex shared_mutex condition_variable any stringstream ostringstream "
        "istringstream stringbuf ifstream ofstream fstream filebuf exception nested_exception "
        "invalid_argument out_of_range error_code locale regex smatch "
        "cmatch random_device mt19937 mt19937_64 once_flag type_index byte size_t ptrdiff_t "
        "nullptr_t exception_ptr "
        "stop_source stop_token monotonic_buffer_resource synchronized_pool_resource "
        "unsynchronized_pool_resource uint8_t uint16_t uint32_t uint64_t int8_t int16_t "
        "int32_t int64_t uintmax_t intmax_t uintptr_t intptr_t source_location milli micro "
        "nano "
        "strong_ordering weak_ordering partial_ordering");
}

// Whether a type has parts that only the compiler can read: `std::invoke_result_t<F>`,
// `buffer<16 + 8>`, `buffer<sizeof(T)>`.
inline bool needs_compiler(const text& type) noexcept {
    if (type.contains("sizeof") || type.find_first_of("+/%?") != no_position) return true;
    std::size_t name = 0;
    for (std::size_t at = 0; at < type.size(); ++at) {
        const char sign = type[at];
        if (is_name_character(sign) || sign == ':') continue;
        const text word = type.substr(name, at - name);
        const bool is_number = !word.empty() && word[0] >= '0' && word[0] <= '9';
        if (is_number && (sign == '*' || sign == '-')) return true;
        if (sign == '<' && word.starts_with("std::") && word.ends_with("_t")) return true;
        name = at + 1;
    }
    return false;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SOURCE_STANDARD_NAMES_HPP
