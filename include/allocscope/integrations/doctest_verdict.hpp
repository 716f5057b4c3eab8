// doctest_verdict.hpp - hands what a check found to doctest, as one more assertion of the case.
//
// Room:     integrations (floor 10), not malloc-safe
// Called:   by doctest_listener.hpp and doctest_blocks.hpp when something has been measured
// Threads:  as doctest's own assertions
// Memory:   what doctest needs for the text, charged to nobody
//
// An assertion and not a message: doctest 2.4 leaves messages out of its JUnit report.

#ifndef ALLOCSCOPE_INTEGRATIONS_DOCTEST_VERDICT_HPP
#define ALLOCSCOPE_INTEGRATIONS_DOCTEST_VERDICT_HPP

#include <allocscope/config.hpp>
#include <allocscope/measure/scope.hpp>

#ifndef DOCTEST_LIBRARY_INCLUDED
    #include <doctest/doctest.h>  // ResultBuilder, DOCTEST_BREAK_INTO_DEBUGGER
#endif

#ifndef DOCTEST_CONFIG_DISABLE

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Where a verdict belongs, and how it reads: "file(line): ERROR: CHECK( claim ) is NOT correct!".
struct doctest_claim {
    doctest::assertType::Enum kind;  // DT_CHECK goes on after a failure, DT_REQUIRE does not
    const char* file;
    int line;
    const char* text;
};

// Leaves by an exception where an assertion of this kind would: after a failed REQUIRE, and when
// --abort-after is reached. Else returns.
inline void tell_doctest(const doctest_claim& claim, bool has_passed, const char* message,
                         bool may_leave) {
    doctest::detail::ResultBuilder assertion(claim.kind, claim.file, claim.line, claim.text);
    {
        const pause_recording quietly;
        assertion.m_failed = !has_passed;
        if (has_passed) message = "true";
        assertion.m_decomp = message;
        if (assertion.log()) DOCTEST_BREAK_INTO_DEBUGGER();
    }
    if (may_leave) assertion.react();
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // DOCTEST_CONFIG_DISABLE

#endif  // ALLOCSCOPE_INTEGRATIONS_DOCTEST_VERDICT_HPP
