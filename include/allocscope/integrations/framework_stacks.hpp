// framework_stacks.hpp - tells by a stack whether a test framework allocated or a test.
//
// Room:     integrations (floor 10), not malloc-safe
// Called:   by the GoogleTest and Catch2 adapters at the start of a run, and for each stack that
//           left something alive
// Threads:  any
// Memory:   none
//
// A framework keeps things beyond a test's end: names of sections, results for the report, streams
// it will use again. It makes them while the test runs, on the test's thread, so only the stack
// tells them apart. That needs function names: in a program without symbols they count as leaks.

#ifndef ALLOCSCOPE_INTEGRATIONS_FRAMEWORK_STACKS_HPP
#define ALLOCSCOPE_INTEGRATIONS_FRAMEWORK_STACKS_HPP

#include <allocscope/config.hpp>
#include <allocscope/measure/leak_check.hpp>
#include <allocscope/measure/library_frames.hpp>
#include <allocscope/measure/scope.hpp>

#include <cstddef>      // size_t
#include <string_view>  // string_view

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// A demangled function without the return type, which stands in front of templates.
constexpr std::string_view without_return_type(std::string_view function) noexcept {
    constexpr std::string_view unnamed = "(anonymous namespace)";
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t i = 0; i < function.size(); ++i) {
        const char here = function[i];
        if (depth == 0 && function.substr(i, unnamed.size()) == unnamed) {
            i += unnamed.size() - 1;
        } else if (depth == 0 && here == '(' && i != begin) {
            break;  // the parameters; right behind a blank it would be a decltype's
        } else if (here == '<' || here == '(') {
            ++depth;
        } else if (here == '>' || here == ')') {
            --depth;
        } else if (depth == 0 && (here == ' ' || here == '*' || here == '&')) {
            constexpr std::string_view conversion = "operator";
            const std::size_t length = i - begin;
            if (length >= conversion.size() &&
                function.substr(i - conversion.size(), conversion.size()) == conversion) {
                break;  // a conversion's type follows
            }
            begin = i + 1;
        }
    }
    return function.substr(begin);
}

// `space` with its colons: "testing::".
constexpr bool is_of_namespace(std::string_view function, std::string_view space) noexcept {
    if (function.find(space) == std::string_view::npos) return false;  // most
    return without_return_type(function).substr(0, space.size()) == space;
}

constexpr bool is_word_of_name(char byte) noexcept {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || byte == ':' || byte == '~';
}

constexpr bool is_builtin_word(std::string_view word) noexcept {
    constexpr std::string_view words[] = {
        "void",     "bool",     "char",     "short",     "int",   "long",
        "signed",   "unsigned", "float",    "double",    "const", "volatile",
        "operator", "wchar_t",  "decltype", "nullptr_t", "ref"};
    for (const std::string_view each : words) {
        if (word == each) return true;
    }
    return word[0] >= '0' && word[0] <= '9';
}

// Whether a demangled function names nothing, also in its arguments, but the framework (`space`,
// with its colons), the standard library and built-in types. The compiler cannot have inlined a
// user's code into such a function.
constexpr bool names_only(std::string_view function, std::string_view space) noexcept {
    if (function.empty()) return false;
    std::size_t at = 0;
    while (at < function.size()) {
        if (!is_word_of_name(function[at])) {
            if (function[at] == '{' || function.substr(at, 4) == "(ano") return false;
            ++at;
            continue;
        }
        const std::size_t begin = at;
        while (at < function.size() && is_word_of_name(function[at])) ++at;
        const std::string_view word = function.substr(begin, at - begin);
        const bool goes_on = begin != 0 && word[0] == ':';  // "vector<int>" | "::push_back"
        if (goes_on || is_builtin_word(word)) continue;
        bool is_known = false;
        for (const std::string_view known :
             {space, std::string_view{"std::"}, std::string_view{"__gnu_cxx::"},
              std::string_view{"allocscope::"}}) {
            is_known = is_known || word.substr(0, known.size()) == known;
        }
        if (!is_known) return false;
    }
    return true;
}

// For the question by symbols: whether the names up to `outermost` cannot hide a user's code.
inline bool hides_nothing(const leak_stack& stack, std::size_t outermost,
                          std::string_view space) noexcept {
    for (std::size_t i = 0; i <= outermost && i < stack.frame_count; ++i) {
        if (!names_only(stack.frames[i].function, space)) return false;
    }
    return outermost < stack.frame_count;
}

inline bool mentions(const snapshot::frame& frame, std::string_view part) noexcept {
    return std::string_view{frame.function}.find(part) != std::string_view::npos;
}

// Declares the functions between a test and main to be library code, so that messages end with the
// test. They must not be where the framework allocates: its rows would be charged to the test.
template <std::size_t Count>
void hide_runner(const char* const (&functions)[Count]) {
    if (usable_engine() == nullptr) return;
    for (const char* pattern : functions) library_frames(pattern);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_FRAMEWORK_STACKS_HPP
