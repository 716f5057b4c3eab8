// catch2_verdict.hpp - hands what a check found to Catch2, as one more assertion of the test case.
//
// Room:     integrations (floor 10), not malloc-safe
// Called:   by catch2_listener.hpp and catch2_blocks.hpp when something was found
// Threads:  as Catch2's own assertions: the thread that runs the test case
// Memory:   what Catch2 needs for the text, charged to nobody

#ifndef ALLOCSCOPE_INTEGRATIONS_CATCH2_VERDICT_HPP
#define ALLOCSCOPE_INTEGRATIONS_CATCH2_VERDICT_HPP

#include <allocscope/config.hpp>
#include <allocscope/integrations/catch2_versions.hpp>
#include <allocscope/measure/scope.hpp>

#include <cstddef>  // size_t
#include <string>   // string

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Leaves by an exception where Catch2's assertions would: is_fatal, or --abort was given.
inline void fail_catch2(const char* macro, const char* file, int line, const char* message,
                        bool is_fatal) {
    const pause_recording quietly;
    Catch::AssertionHandler assertion{
        Catch::StringRef{macro}, Catch::SourceLineInfo{file, static_cast<std::size_t>(line)},
        Catch::StringRef{},
        is_fatal ? Catch::ResultDisposition::Normal : Catch::ResultDisposition::ContinueOnFailure};
    assertion.handleMessage(Catch::ResultWas::ExplicitFailure, std::string{message});
    assertion.complete();
}

// The same from a destructor, which nothing leaves: with --abort the next assertion ends the run.
inline void fail_catch2_in_destructor(const char* macro, const char* file, int line,
                                      const char* message) noexcept {
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    fail_catch2(macro, file, line, message, false);
#else
    try {
        fail_catch2(macro, file, line, message, false);
    } catch (const Catch::TestFailureException&) {
    }
#endif
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_CATCH2_VERDICT_HPP
