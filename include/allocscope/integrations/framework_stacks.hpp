// framework_stacks.hpp - tells by a stack whether a test framework allocated or a test.
//
// Room:     integrations (floor 9), not malloc-safe
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
