// catch2_own.hpp - tells what Catch2 keeps for its own work from what a test case leaves alive.
//
// Room:     integrations (floor 10), not malloc-safe
// Called:   by the engine for each stack that left something alive in a checked window
// Threads:  any
// Memory:   none
//
// While a test case runs Catch2 remembers its sections, keeps the values of its generators for the
// next pass, and collects what is to be reported. Three kinds of stacks are Catch2's:
//
//     operator new < std::vector... < Catch::RunContext::sectionStarted < the test
//     operator new < a generator of the user's < Catch::Generators::generate < the test
//     operator new < std::basic_stringbuf::overflow < the user's operator<< < Catch::... < the test
//
// and when a reporter catches std::cout, whatever is printed grows a buffer of Catch2 too. A leak
// in the user's operator== or matcher is the user's.

#ifndef ALLOCSCOPE_INTEGRATIONS_CATCH2_OWN_HPP
#define ALLOCSCOPE_INTEGRATIONS_CATCH2_OWN_HPP

#include <allocscope/config.hpp>
#include <allocscope/integrations/framework_stacks.hpp>
#include <allocscope/measure/leak_check.hpp>

#include <cstddef>      // size_t
#include <string_view>  // string_view

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Whether a reporter catches std::cout in the test case that is running. Written by the listener,
// on the thread that runs test cases.
inline bool catch2_holds_output = false;

// The functions right below the test's. One of them is innermost when the test's function is not on
// the stack: inlined without debug information, or left by a tail call into the standard library.
inline bool calls_the_test_case(const snapshot::frame& frame) noexcept {
    for (const std::string_view name : {"TestInvoker", "Catch::TestCase::invoke",
                                        "Catch::TestCaseHandle::invoke", "catch2_invoker"}) {
        if (mentions(frame, name)) return true;
    }
    return false;
}

constexpr const char* catch2_runner[] = {"Catch::TestInvoker*",
                                         "Catch::(anonymous namespace)::TestInvoker*",
                                         "Catch::TestCase::",
                                         "Catch::TestCaseHandle::",
                                         "Catch::RunContext::invokeActiveTestCase*",
                                         "Catch::RunContext::runCurrentTest*",
                                         "Catch::RunContext::runTest*",
                                         "Catch::(anonymous namespace)::TestGroup::",
                                         "Catch::Session::"};

// The user's function `maker` allocated: did Catch2 have it called, to keep what comes of it?
inline bool made_for_catch2(const leak_stack& stack, std::size_t maker,
                            bool fills_buffer) noexcept {
    if (fills_buffer && catch2_holds_output) return true;
    for (std::size_t i = maker + 1; i < stack.frame_count; ++i) {
        const snapshot::frame& frame = stack.frames[i];
        if (calls_the_test_case(frame)) return false;
        if (is_of_namespace(frame.function, "Catch::Generators::") ||
            (fills_buffer && is_of_namespace(frame.function, "Catch::"))) {
            stack.decisive_frames = i + 1;
            return true;
        }
    }
    return false;
}

// The context is null, or the user's leak_options whose own answer counts too.
inline bool is_catch2_own(const leak_stack& stack, const void* context) {
    const auto* wanted = static_cast<const leak_options*>(context);
    if (wanted != nullptr && wanted->is_expected != nullptr &&
        wanted->is_expected(stack, wanted->expected_context)) {
        return true;
    }
    bool fills_buffer = false;
    for (std::size_t i = 0; i < stack.user_frame && i < stack.frame_count; ++i) {
        if (calls_the_test_case(stack.frames[i])) return false;
        if (mentions(stack.frames[i], "basic_stringbuf<")) fills_buffer = true;
    }
    if (stack.user_frame >= stack.frame_count) return false;
    const snapshot::frame& maker = stack.frames[stack.user_frame];
    if (calls_the_test_case(maker)) return false;
    if (is_of_namespace(maker.function, "Catch::")) {
        stack.decisive_frames = stack.user_frame + 1;
        return true;
    }
    return made_for_catch2(stack, stack.user_frame, fills_buffer);
}

// For leak_options::is_expected_by_symbols.
inline bool is_catch2_own_by_symbols(const leak_stack& stack, const void*) {
    return hides_nothing(stack, stack.user_frame, "Catch::") && is_catch2_own(stack, nullptr);
}

// The user's options as the engine gets them. The result points to `wanted`.
inline leak_options without_catch2_own(const leak_options& wanted) noexcept {
    leak_options result = wanted;
    result.is_expected = &is_catch2_own;
    result.is_expected_by_symbols = &is_catch2_own_by_symbols;
    result.expected_context = &wanted;
    return result;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_CATCH2_OWN_HPP
