// gtest_own.hpp - tells what GoogleTest keeps for its own work from what a test leaves alive.
//
// Room:     integrations (floor 10), not malloc-safe
// Called:   by the engine for each stack that left something alive in a checked window
// Threads:  any
// Memory:   none
//
// What a test makes GoogleTest keep: recorded properties, the buffers of SCOPED_TRACE, the mocks it
// knows. Its function is then the innermost that is not the standard library's:
//
//     operator new < std::vector... < testing::TestResult::RecordProperty < the test
//
// A leak in a function that GoogleTest calls (an action of a mock, operator<<) is the user's.

#ifndef ALLOCSCOPE_INTEGRATIONS_GTEST_OWN_HPP
#define ALLOCSCOPE_INTEGRATIONS_GTEST_OWN_HPP

#include <allocscope/config.hpp>
#include <allocscope/integrations/framework_stacks.hpp>
#include <allocscope/measure/leak_check.hpp>

#include <string_view>  // string_view

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The functions right below the user's. One of them is innermost when the user's function is not on
// the stack: inlined without debug information, or left by a tail call into the standard library.
inline bool calls_the_test(const snapshot::frame& frame) noexcept {
    for (const std::string_view name :
         {"TestFactoryImpl", "HandleExceptionsInMethodIfSupported",
          "HandleSehExceptionsInMethodIfSupported", "testing::Test::Run", "testing::TestInfo::Run",
          "testing::TestSuite::Run"}) {
        if (mentions(frame, name)) return true;
    }
    return false;
}

constexpr const char* gtest_runner[] = {
    "testing::internal::HandleExceptionsInMethodIfSupported*",
    "testing::internal::HandleSehExceptionsInMethodIfSupported*",
    "testing::Test::Run*",
    "testing::TestInfo::Run*",
    "testing::TestSuite::Run*",
    "testing::internal::UnitTestImpl::RunAllTests*",
    "testing::UnitTest::Run*",
    "RUN_ALL_TESTS*"};

// The context is null, or the user's leak_options whose own answer counts too.
inline bool is_gtest_own(const leak_stack& stack, const void* context) {
    const auto* wanted = static_cast<const leak_options*>(context);
    if (wanted != nullptr && wanted->is_expected != nullptr &&
        wanted->is_expected(stack, wanted->expected_context)) {
        return true;
    }
    if (stack.user_frame >= stack.frame_count) return false;
    const snapshot::frame& maker = stack.frames[stack.user_frame];
    if (!is_of_namespace(maker.function, "testing::") || calls_the_test(maker)) return false;
    stack.decisive_frames = stack.user_frame + 1;
    return true;
}

// For leak_options::is_expected_by_symbols.
inline bool is_gtest_own_by_symbols(const leak_stack& stack, const void*) {
    return hides_nothing(stack, stack.user_frame, "testing::") && is_gtest_own(stack, nullptr);
}

// The user's options as the engine gets them. The result points to `wanted`.
inline leak_options without_gtest_own(const leak_options& wanted) noexcept {
    leak_options result = wanted;
    result.is_expected = &is_gtest_own;
    result.is_expected_by_symbols = &is_gtest_own_by_symbols;
    result.expected_context = &wanted;
    return result;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_GTEST_OWN_HPP
