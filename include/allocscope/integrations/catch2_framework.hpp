// catch2_framework.hpp - what only Catch2 has: its names, its assertions, and a scope to the end.
//
// Room:     integrations (floor 11), not malloc-safe
// Called:   by catch2_listener.hpp, by blocks in a TEST_CASE, and by the user there
// Threads:  an assertion of Catch2 may fail only on the thread that runs the test case (in newer
//           releases: on each thread that they allow)
// Memory:   what Catch2 needs for a text, charged to no window
//
//     allocscope::catch2_leak_scope leaks;    // like CHECK_NO_LEAKS, to the end of its block
//
// While a test case runs, Catch2 remembers its sections, keeps the values of its generators for the
// next pass, and collects what will be reported. When a reporter captures std::cout, all printed
// text grows a buffer of Catch2, too.

#ifndef ALLOCSCOPE_INTEGRATIONS_CATCH2_FRAMEWORK_HPP
#define ALLOCSCOPE_INTEGRATIONS_CATCH2_FRAMEWORK_HPP

#include <allocscope/config.hpp>
#include <allocscope/integrations/catch2_versions.hpp>
#include <allocscope/integrations/checked_test.hpp>
#include <allocscope/integrations/framework_stacks.hpp>
#include <allocscope/measure/check_result.hpp>
#include <allocscope/measure/leak_check.hpp>
#include <allocscope/measure/scope.hpp>

#include <cstddef>    // size_t
#include <exception>  // uncaught_exceptions
#include <string>     // string

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Whether a reporter captures std::cout in the test case that is running. The listener writes this,
// on the thread that runs the test cases.
inline bool catch2_holds_output = false;

inline constexpr const char* catch2_runners[] = {"Catch::TestInvoker",
                                                 "Catch::(anonymous namespace)::TestInvoker",
                                                 "Catch::TestCase::",
                                                 "Catch::TestCaseHandle::",
                                                 "Catch::RunContext::invokeActiveTestCase",
                                                 "Catch::RunContext::runCurrentTest",
                                                 "Catch::RunContext::runTest",
                                                 "Catch::(anonymous namespace)::TestGroup::",
                                                 "Catch::Session::",
                                                 nullptr};
inline constexpr const char* catch2_callers[] = {nullptr};
inline constexpr const char* catch2_tellers[] = {"Catch::ListeningReporter::",  // in version 2
                                                 "Catch::MultiReporter::", nullptr};
inline constexpr framework_names catch2_names{
    "Catch::",      catch2_runners, catch2_callers,      "Catch::Generators::",
    catch2_tellers, "Catch::",      &catch2_holds_output};

// Throws where Catch2's own assertions would: if the claim is fatal, or if --abort was given.
inline void fail_catch2(const char* macro, const block_claim& claim, const char* message) {
    const pause_recording quietly;
    Catch::AssertionHandler assertion{
        Catch::StringRef{macro},
        Catch::SourceLineInfo{claim.file, static_cast<std::size_t>(claim.line)}, Catch::StringRef{},
        claim.is_fatal ? Catch::ResultDisposition::Normal
                       : Catch::ResultDisposition::ContinueOnFailure};
    assertion.handleMessage(Catch::ResultWas::ExplicitFailure, std::string{message});
    assertion.complete();
}

// The same for a destructor, which must not throw: with --abort the next assertion ends the run.
inline void fail_catch2_in_destructor(const char* macro, block_claim claim,
                                      const char* message) noexcept {
    claim.is_fatal = false;
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    fail_catch2(macro, claim, message);
#else
    try {
        fail_catch2(macro, claim, message);
    } catch (const Catch::TestFailureException&) {
    }
#endif
}

inline void tell_catch2(const block_claim& claim, const check_result& found, bool may_leave) {
    if (found) return;  // Catch2 could not count it on a thread that the test case made
    if (!may_leave) return fail_catch2_in_destructor("ALLOCSCOPE_CHECK", claim, found.message());
    fail_catch2(claim.is_fatal ? "ALLOCSCOPE_REQUIRE" : "ALLOCSCOPE_CHECK", claim, found.message());
}

inline constexpr test_framework catch2_framework{
    own_leaks<catch2_names>(nullptr),
    false,
    [] { return "block"; },
    [] { return false; },  // a failed REQUIRE throws, so a return is no failure
    nullptr,
    &tell_catch2};
inline const bool catch2_is_there = add_framework(catch2_framework);

}  // namespace detail

// Checks that nothing allocated from here to the end of the block is left alive.
class catch2_leak_scope {
public:
    // The texts of the options must stay valid. Throws std::invalid_argument as leak_check does.
    [[nodiscard]] ALLOCSCOPE_EXCEPTIONS_TAG explicit catch2_leak_scope(
        const leak_options& wanted = {}, const char* file = __builtin_FILE(),
        int line = __builtin_LINE())
        : claim_{file, line, false, ""},
          exceptions_(std::uncaught_exceptions()),
          wanted_(wanted),
          leaks_("scope", wanted_, detail::own_leaks<detail::catch2_names>(&wanted_)) {}
    // Judges like a CHECK on the line where the scope begins, unless an exception is passing
    // through.
    ~catch2_leak_scope() {
        if (std::uncaught_exceptions() != exceptions_) return;
        const check_result found = leaks_.finish();
        if (found) return;
        detail::fail_catch2_in_destructor("allocscope::catch2_leak_scope", claim_, found.message());
    }
    catch2_leak_scope(const catch2_leak_scope&) = delete;
    catch2_leak_scope& operator=(const catch2_leak_scope&) = delete;

private:
    detail::block_claim claim_;
    int exceptions_;
    leak_options wanted_;
    leak_check leaks_;
};

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_CATCH2_FRAMEWORK_HPP
