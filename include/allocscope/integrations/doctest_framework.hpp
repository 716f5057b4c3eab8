// doctest_framework.hpp - what only doctest has: its names, its assertions, its decorators.
//
// Room:     integrations (floor 11), not malloc-safe
// Called:   by doctest_listener.hpp, by blocks in a TEST_CASE, and by decorators before main
// Threads:  assertions: as doctest's own; one thread applies the decorators, afterwards they are
//           only read
// Memory:   about 70 bytes for each decorator, until the process ends
//
// While a case runs, doctest remembers subcases and contexts, and fills the buffers that it prints
// through. About a hundred bytes may stay alive after each pass; with -s or another reporter it may
// be more.

#ifndef ALLOCSCOPE_INTEGRATIONS_DOCTEST_FRAMEWORK_HPP
#define ALLOCSCOPE_INTEGRATIONS_DOCTEST_FRAMEWORK_HPP

#include <allocscope/config.hpp>
#include <allocscope/integrations/checked_test.hpp>
#include <allocscope/integrations/framework_stacks.hpp>
#include <allocscope/integrations/leak_remarks.hpp>
#include <allocscope/measure/check_result.hpp>
#include <allocscope/measure/scope.hpp>

#ifndef DOCTEST_LIBRARY_INCLUDED  // the user may have included a copy from elsewhere
    #include <doctest/doctest.h>  // TestCase, ResultBuilder, DOCTEST_BREAK_INTO_DEBUGGER
#endif

#include <cstring>  // strcmp

#ifndef DOCTEST_CONFIG_DISABLE

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// --- its names ---

inline constexpr const char* doctest_runners[] = {"doctest::Context::", nullptr};
inline constexpr const char* doctest_callers[] = {nullptr};
inline constexpr const char* doctest_tellers[] = {"doctest::detail::ResultBuilder::log",
                                                  "doctest::detail::MessageBuilder::log",
                                                  "doctest::detail::Subcase::", nullptr};
inline constexpr framework_names doctest_names{
    "doctest::", doctest_runners, doctest_callers, nullptr, doctest_tellers, "doctest::", nullptr};

// --- its assertions ---

// Makes an assertion and not a message, because doctest 2.4 leaves messages out of its JUnit
// report. Throws where an assertion of this kind would: after a failed REQUIRE, and when
// --abort-after is reached. The output is "file(line): ERROR: CHECK( claim ) is NOT correct!".
inline void tell_doctest(const block_claim& claim, bool has_passed, const char* message,
                         bool may_leave) {
    const auto kind =
        claim.is_fatal ? doctest::assertType::DT_REQUIRE : doctest::assertType::DT_CHECK;
    doctest::detail::ResultBuilder assertion(kind, claim.file, claim.line, claim.text);
    {
        const pause_recording quietly;
        assertion.m_failed = !has_passed;
        if (has_passed) message = "true";
        assertion.m_decomp = message;
        if (assertion.log()) DOCTEST_BREAK_INTO_DEBUGGER();
    }
    if (may_leave) assertion.react();
}

inline const char* doctest_block_name() noexcept {
    const doctest::ContextOptions* options = doctest::getContextOptions();
    if (options == nullptr || options->currentTest == nullptr) return "block";
    return options->currentTest->m_name;
}

inline constexpr test_framework doctest_framework{
    own_leaks<doctest_names>(nullptr),
    false,
    &doctest_block_name,
    [] { return false; },  // a failed REQUIRE throws, so a return is no failure
    [] { return doctest::is_running_in_test; },
    [](const block_claim& claim, const check_result& found, bool may_leave) {
        tell_doctest(claim, found.passed(), found.message(), may_leave);
    }};
inline const bool doctest_is_there = add_framework(doctest_framework);

// --- its decorators ---

// doctest's TestCase has no field for us, so the remarks of decorators are kept in a separate list.
// A case is found by its function, which no other case has; a suite is found by its name.
struct doctest_remark {
    leak_remark said;
    doctest::detail::funcType test = nullptr;  // null: the remark belongs to the suite
    const char* suite = nullptr;
    const doctest_remark* next = nullptr;
};

// Constant-initialised, so that the decorators of every translation unit can use it. It lives as
// long as doctest's own registry.
inline const doctest_remark* doctest_remarks = nullptr;

inline void remember_remark(doctest::detail::TestCase& test, const leak_remark& said) {
    doctest_remarks = new doctest_remark{said, test.m_test, nullptr, doctest_remarks};
}
inline void remember_remark(doctest::detail::TestSuite& suite, const leak_remark& said) {
    doctest_remarks = new doctest_remark{said, nullptr, suite.m_test_suite, doctest_remarks};
}

// The remarks of a case's own decorators; if there are none, those of its suite.
inline said_of_leaks said_by_decorators(doctest::detail::funcType test, const char* suite) {
    said_of_leaks said;
    bool has_own = false;
    for (const doctest_remark* each = doctest_remarks; each != nullptr; each = each->next) {
        if (each->test != test || test == nullptr) continue;
        said.add(each->said);
        has_own = true;
    }
    if (has_own || suite == nullptr) return said;
    for (const doctest_remark* each = doctest_remarks; each != nullptr; each = each->next) {
        if (each->suite != nullptr && std::strcmp(each->suite, suite) == 0) said.add(each->said);
    }
    return said;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // DOCTEST_CONFIG_DISABLE

#endif  // ALLOCSCOPE_INTEGRATIONS_DOCTEST_FRAMEWORK_HPP
