// framework_stacks.hpp - decides by its stack whether an object is a test framework's own.
//
// Room:     integrations (floor 11), not malloc-safe
// Called:   by the adapters at the start of a run; by the engine for each stack that left something
//           alive
// Threads:  any
// Memory:   none
//
// A framework keeps some objects beyond the end of a test: names of sections, results for the
// report, streams that it will use again. It makes them while the test runs, on the thread of the
// test, so only the stack distinguishes them from objects of the test. That needs function names:
// in a program without symbols such objects count as leaks.

#ifndef ALLOCSCOPE_INTEGRATIONS_FRAMEWORK_STACKS_HPP
#define ALLOCSCOPE_INTEGRATIONS_FRAMEWORK_STACKS_HPP

#include <allocscope/config.hpp>
#include <allocscope/measure/leak_check.hpp>
#include <allocscope/measure/library_frames.hpp>
#include <allocscope/measure/scope.hpp>

#include <cstddef>      // size_t
#include <string>       // string
#include <string_view>  // string_view

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// A demangled function without its return type, which only templates have.
constexpr std::string_view without_return_type(std::string_view function) noexcept {
    constexpr std::string_view unnamed = "(anonymous namespace)";
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t i = 0; i < function.size(); ++i) {
        const char here = function[i];
        if (depth == 0 && function.substr(i, unnamed.size()) == unnamed) {
            i += unnamed.size() - 1;
        } else if (depth == 0 && here == '(' && i != begin) {
            break;  // the parameters; a bracket after a blank would be a decltype's
        } else if (here == '<' || here == '(') {
            ++depth;
        } else if (here == '>' || here == ')') {
            --depth;
        } else if (depth == 0 && (here == ' ' || here == '*' || here == '&')) {
            constexpr std::string_view conversion = "operator";
            const std::size_t length = i - begin;
            if (length >= conversion.size() &&
                function.substr(i - conversion.size(), conversion.size()) == conversion) {
                break;  // the type of a conversion operator follows
            }
            begin = i + 1;
        }
    }
    return function.substr(begin);
}

// `space` is the namespace with its colons: "testing::".
constexpr bool is_of_namespace(std::string_view function, std::string_view space) noexcept {
    if (function.find(space) == std::string_view::npos) return false;  // true for most
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

// Whether a demangled function names, also in its arguments, only the framework (`space`, with its
// colons), the standard library and built-in types. If so, the compiler cannot have inlined a
// user's code into it.
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

// For the search by symbols only: whether the names up to `outermost` cannot hide a user's code.
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

// The names that distinguish a framework's own stacks from those of the tests. Lists end with null.
struct framework_names {
    const char* space;           // the namespace of the framework with its colons: "testing::"
    const char* const* runners;  // how the functions between main and a test begin
    const char* const* callers;  // other functions that may call a test's function directly
    const char* keepers;         // call user functions and keep what these make; or null
    const char* const* tellers;  // tell the listeners and reporters what happens in a test
    const char* printers;        // print into buffers through the user's operator<<; or null
    const bool* holds_output;    // true: the framework owns the buffer of each stream; or null
};

inline bool begins_with_any(const snapshot::frame& frame, const char* const* names) noexcept {
    for (; *names != nullptr; ++names) {
        if (is_of_namespace(frame.function, *names)) return true;
    }
    return false;
}

// Whether a frame is one of the runners or callers. If such a frame is innermost, the test's own
// function is not on the stack: it was inlined and there is no debug information, or it made a tail
// call into the standard library. The object is then the test's.
inline bool calls_a_test(const snapshot::frame& frame, const framework_names& names) noexcept {
    return begins_with_any(frame, names.runners) || begins_with_any(frame, names.callers);
}

// The maker is the innermost function that is not the standard library's. A framework keeps what
// its own functions make, and also what some of them let a function of the user make:
//
//     operator new < std::vector... < testing::TestResult::RecordProperty < the test
//     operator new < a generator of the user's < Catch::Generators::generate < the test
//     operator new < a listener of the user's < doctest::detail::ResultBuilder::log < the test
//     operator new < std::basic_stringbuf::overflow < a user's operator<< < doctest::... < the test
//
// Any other leak in a function that the framework calls is the user's: in operator==, in a matcher,
// in an action of a mock, and in an operator<< that a framework's own reporter calls.
inline bool is_framework_own(const leak_stack& stack, const framework_names& names) noexcept {
    bool fills_buffer = false;
    for (std::size_t i = 0; i < stack.user_frame && i < stack.frame_count; ++i) {
        if (calls_a_test(stack.frames[i], names)) return false;
        fills_buffer = fills_buffer || mentions(stack.frames[i], "std::stringbuf::") ||
                       mentions(stack.frames[i], "basic_stringbuf<");
    }
    if (stack.user_frame >= stack.frame_count) return false;
    if (calls_a_test(stack.frames[stack.user_frame], names)) return false;
    if (fills_buffer && names.holds_output != nullptr && *names.holds_output) return true;
    bool is_users_so_far = true;
    for (std::size_t i = stack.user_frame; i < stack.frame_count; ++i) {
        const char* function = stack.frames[i].function;
        if (calls_a_test(stack.frames[i], names)) return false;
        const bool is_maker = i == stack.user_frame && is_of_namespace(function, names.space);
        const bool is_teller = is_users_so_far && begins_with_any(stack.frames[i], names.tellers);
        is_users_so_far = is_users_so_far && !is_of_namespace(function, names.space);
        const bool is_keeper = names.keepers != nullptr && is_of_namespace(function, names.keepers);
        const bool is_printer =
            fills_buffer && names.printers != nullptr && is_of_namespace(function, names.printers);
        if (!is_maker && !is_keeper && !is_teller && !is_printer) continue;
        stack.decisive_frames = i + 1;
        return true;
    }
    return false;
}

// The function of expected_leaks. The context is null, or the user's leak_options: then their
// function is asked, too.
template <const framework_names& names>
bool is_own(const leak_stack& stack, const void* context) {
    const auto* wanted = static_cast<const leak_options*>(context);
    if (wanted != nullptr && wanted->is_expected != nullptr &&
        wanted->is_expected(stack, wanted->expected_context)) {
        return true;
    }
    return is_framework_own(stack, names);
}

template <const framework_names& names>
bool is_own_by_symbols(const leak_stack& stack, const void*) {
    if (!is_framework_own(stack, names)) return false;
    const bool is_by_maker = stack.decisive_frames == 0;
    return hides_nothing(stack, is_by_maker ? stack.user_frame : stack.decisive_frames - 1,
                         names.space);
}

template <const framework_names& names>
constexpr expected_leaks own_leaks(const leak_options* wanted) noexcept {
    expected_leaks own;
    own.test = &is_own<names>;
    own.test_by_symbols = &is_own_by_symbols<names>;
    own.context = wanted;
    return own;
}

// Declares the functions between main and a test to be library code, so that messages end with the
// test. The framework must not allocate in these functions: its rows would be charged to the test.
inline void hide_runners(const framework_names& names) {
    if (usable_engine() == nullptr) return;
    const pause_recording quietly;
    for (const char* const* name = names.runners; *name != nullptr; ++name) {
        const std::string beginning = *name;
        library_frames((beginning.back() == ':' ? beginning : beginning + '*').c_str());
    }
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_FRAMEWORK_STACKS_HPP
