// catch2_blocks.hpp - assertions about a block inside a test case: ALLOCSCOPE_CHECK_NO_LEAKS { }.
//
// Room:     integrations (floor 10), not malloc-safe
// Called:   by the user in a TEST_CASE
// Threads:  NO_LEAKS counts every thread's objects; the others, and what ends in _ON_THIS_THREAD,
//           only those of the thread that enters the block. Catch2's assertions may fail only on
//           the thread that runs the test case (newer ones: where it allows them)
// Memory:   about 300 bytes on the stack
//
//     ALLOCSCOPE_CHECK_NO_LEAKS { connect(); disconnect(); }
//     ALLOCSCOPE_REQUIRE_NO_ALLOCATIONS { filter.process(samples); }
//     ALLOCSCOPE_CHECK_ALLOCATIONS_AT_MOST(3) { parse(text); }
//     ALLOCSCOPE_CHECK_WITHIN_BUDGET(limits) { load(file); }      // allocscope::allocation_budget
//
//     allocscope::catch2_leak_scope leaks;    // the same as NO_LEAKS, to the end of what it is in
//
// CHECK goes on after a failure, REQUIRE ends the test case. The place is the line of the macro. A
// block that is left by an exception is not judged: the test case has failed already. Assertions
// inside a block are counted when they allocate: those of Catch2 do when they fail, and with -s.

#ifndef ALLOCSCOPE_INTEGRATIONS_CATCH2_BLOCKS_HPP
#define ALLOCSCOPE_INTEGRATIONS_CATCH2_BLOCKS_HPP

#include <allocscope/config.hpp>
#include <allocscope/integrations/catch2_own.hpp>
#include <allocscope/integrations/catch2_verdict.hpp>
#include <allocscope/integrations/checked_block.hpp>
#include <allocscope/measure/leak_check.hpp>
#include <allocscope/measure/scope.hpp>

#include <exception>  // uncaught_exceptions

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct catch2_voice {
    static constexpr bool leaves_by_return = false;
    static void fail(const char* file, int line, const char* message, bool is_fatal) {
        const char* macro = is_fatal ? "ALLOCSCOPE_REQUIRE" : "ALLOCSCOPE_CHECK";
        fail_catch2(macro, file, line, message, is_fatal);
    }
    static void fail_in_destructor(const char* file, int line, const char* message) noexcept {
        fail_catch2_in_destructor("ALLOCSCOPE_CHECK", file, line, message);
    }
    // A failed REQUIRE leaves by an exception, so a return means that nothing failed.
    static bool has_failed() noexcept { return false; }
};

template <class Check>
using catch2_block = checked_block<Check, catch2_voice>;

inline leak_options catch2_leaks_of(threads from) noexcept {
    leak_options wanted;
    wanted.is_expected = &is_catch2_own;
    wanted.is_expected_by_symbols = &is_catch2_own_by_symbols;
    wanted.window.from = from;
    return wanted;
}

}  // namespace detail

// From here to the end of the block nothing may be left alive.
class catch2_leak_scope {
public:
    // The options' texts must stay valid. Throws std::invalid_argument as leak_check does.
    ALLOCSCOPE_EXCEPTIONS_TAG explicit catch2_leak_scope(const leak_options& wanted = {},
                                                         const char* file = __builtin_FILE(),
                                                         int line = __builtin_LINE())
        : file_(file),
          line_(line),
          exceptions_(std::uncaught_exceptions()),
          wanted_(wanted),
          leaks_("scope", detail::without_catch2_own(wanted_)) {}
    // Judges as a CHECK at the place where the scope begins, unless an exception passes through.
    ~catch2_leak_scope() {
        if (std::uncaught_exceptions() != exceptions_) return;
        const check_result found = leaks_.finish();
        if (found) return;
        detail::fail_catch2_in_destructor("allocscope::catch2_leak_scope", file_, line_,
                                          found.message());
    }
    catch2_leak_scope(const catch2_leak_scope&) = delete;
    catch2_leak_scope& operator=(const catch2_leak_scope&) = delete;

private:
    const char* file_;
    int line_;
    int exceptions_;
    leak_options wanted_;
    leak_check leaks_;
};

ALLOCSCOPE_NAMESPACE_END

#define ALLOCSCOPE_CATCH2_JOIN_(left, right) left##right
#define ALLOCSCOPE_CATCH2_NAME_(line) ALLOCSCOPE_CATCH2_JOIN_(allocscope_block_, line)
#define ALLOCSCOPE_CATCH2_LOOP_(name, check, ...)                                                 \
    for (::allocscope::detail::catch2_block<::allocscope::detail::check> name{__FILE__, __LINE__, \
                                                                              __VA_ARGS__};       \
         name.next();)
// CHECK or REQUIRE: is_fatal is the first argument.
#define ALLOCSCOPE_CATCH2_BLOCK_(check, ...) \
    ALLOCSCOPE_CATCH2_LOOP_(ALLOCSCOPE_CATCH2_NAME_(__LINE__), check, __VA_ARGS__)

#define ALLOCSCOPE_CATCH2_LEAKS_(from) \
    ::allocscope::detail::catch2_leaks_of(::allocscope::threads::from)
#define ALLOCSCOPE_CHECK_NO_LEAKS \
    ALLOCSCOPE_CATCH2_BLOCK_(block_without_leaks, false, ALLOCSCOPE_CATCH2_LEAKS_(all))
#define ALLOCSCOPE_REQUIRE_NO_LEAKS \
    ALLOCSCOPE_CATCH2_BLOCK_(block_without_leaks, true, ALLOCSCOPE_CATCH2_LEAKS_(all))
#define ALLOCSCOPE_CHECK_NO_LEAKS_ON_THIS_THREAD \
    ALLOCSCOPE_CATCH2_BLOCK_(block_without_leaks, false, ALLOCSCOPE_CATCH2_LEAKS_(current))
#define ALLOCSCOPE_REQUIRE_NO_LEAKS_ON_THIS_THREAD \
    ALLOCSCOPE_CATCH2_BLOCK_(block_without_leaks, true, ALLOCSCOPE_CATCH2_LEAKS_(current))

#define ALLOCSCOPE_CHECK_NO_ALLOCATIONS ALLOCSCOPE_CATCH2_BLOCK_(block_without_allocations, false)
#define ALLOCSCOPE_REQUIRE_NO_ALLOCATIONS ALLOCSCOPE_CATCH2_BLOCK_(block_without_allocations, true)

// `most` is any integer; a negative one is refused by name.
#define ALLOCSCOPE_CHECK_ALLOCATIONS_AT_MOST(most)       \
    ALLOCSCOPE_CATCH2_BLOCK_(block_within_budget, false, \
                             ::allocscope::detail::allocations_at_most(most))
#define ALLOCSCOPE_REQUIRE_ALLOCATIONS_AT_MOST(most)    \
    ALLOCSCOPE_CATCH2_BLOCK_(block_within_budget, true, \
                             ::allocscope::detail::allocations_at_most(most))

// An allocation_budget; commas of an initialiser may stand in it.
#define ALLOCSCOPE_CHECK_WITHIN_BUDGET(...) \
    ALLOCSCOPE_CATCH2_BLOCK_(block_within_budget, false, __VA_ARGS__)
#define ALLOCSCOPE_REQUIRE_WITHIN_BUDGET(...) \
    ALLOCSCOPE_CATCH2_BLOCK_(block_within_budget, true, __VA_ARGS__)

#endif  // ALLOCSCOPE_INTEGRATIONS_CATCH2_BLOCKS_HPP
