// doctest_blocks.hpp - assertions about a block inside a test case: ALLOCSCOPE_CHECK_NO_LEAKS { }.
//
// Room:     integrations (floor 10), not malloc-safe
// Called:   through the macros, by the user in a TEST_CASE
// Threads:  NO_LEAKS counts every thread's objects; the others, and those that end in
//           _ON_THIS_THREAD, only those of the thread that enters the block
// Memory:   about 250 bytes on the stack
//
//     ALLOCSCOPE_CHECK_NO_LEAKS { connect(); disconnect(); }
//     ALLOCSCOPE_REQUIRE_NO_ALLOCATIONS { filter.process(samples); }
//     ALLOCSCOPE_CHECK_ALLOCATIONS_AT_MOST(3) { parse(text); }
//
// Each block is one assertion, whose place is the line of the macro: CHECK goes on after a failure,
// REQUIRE ends the case. A block that is left by an exception asserts nothing, since the case has
// failed already; one that is left by return or break is judged all the same.

#ifndef ALLOCSCOPE_INTEGRATIONS_DOCTEST_BLOCKS_HPP
#define ALLOCSCOPE_INTEGRATIONS_DOCTEST_BLOCKS_HPP

#include <allocscope/config.hpp>
#include <allocscope/integrations/doctest_own.hpp>
#include <allocscope/integrations/doctest_verdict.hpp>
#include <allocscope/measure/allocation_budget.hpp>
#include <allocscope/measure/budget_guard.hpp>
#include <allocscope/measure/leak_check.hpp>
#include <allocscope/measure/no_allocation_guard.hpp>
#include <allocscope/measure/on_violation.hpp>
#include <allocscope/measure/scope.hpp>

#include <exception>  // uncaught_exceptions

#ifndef DOCTEST_CONFIG_DISABLE

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// What the three kinds of blocks have in common. `Check` has finish(), which gives a check_result.
template <class Check>
class doctest_block {
public:
    template <class... Arguments>
    explicit doctest_block(const doctest_claim& claim, const Arguments&... arguments)
        : claim_(claim), exceptions_(std::uncaught_exceptions()), check_(arguments...) {}
    doctest_block(const doctest_block&) = delete;
    doctest_block& operator=(const doctest_block&) = delete;

    // By return, break or goto; an exception must not be answered with another one.
    ~doctest_block() {
        if (!is_finished_ && std::uncaught_exceptions() == exceptions_) judge(false);
    }

    bool is_open() const noexcept { return !is_finished_; }
    void finish() { judge(true); }

private:
    void judge(bool may_leave) {
        is_finished_ = true;
        const check_result found = check_.finish();
        tell_doctest(claim_, found.passed(), found.message(), may_leave);
    }

    doctest_claim claim_;
    int exceptions_;
    Check check_;
    bool is_finished_ = false;
};

// For the message and the name of the file that keeps the evidence.
inline const char* doctest_case_name() noexcept {
    const doctest::ContextOptions* options = doctest::getContextOptions();
    if (options == nullptr || options->currentTest == nullptr) return "block";
    return options->currentTest->m_name;
}

// The guards have nothing to do themselves.
inline on_violation told_by_doctest() noexcept {
    return on_violation::call([](const check_result&, void*) {});
}

class doctest_leak_block {
public:
    explicit doctest_leak_block(threads from) : check_(doctest_case_name(), options_for(from)) {}
    check_result finish() { return check_.finish(); }

private:
    static leak_options options_for(threads from) {
        leak_options wanted;
        wanted.is_expected = &is_doctest_own;
        wanted.is_expected_by_symbols = &is_doctest_own_by_symbols;
        wanted.window.from = from;
        return wanted;
    }

    leak_check check_;
};

class doctest_budget_block {
public:
    explicit doctest_budget_block(typed_number most)
        : guard_(doctest_case_name(), budget_of(most), told_by_doctest(), of_this_thread()) {}
    check_result finish() { return guard_.finish(); }

private:
    static allocation_budget budget_of(typed_number most) noexcept {
        allocation_budget budget;
        budget.allocations = at_most(most);
        return budget;
    }
    static options of_this_thread() noexcept {
        options wanted;
        wanted.from = threads::current;
        return wanted;
    }

    budget_guard guard_;
};

class doctest_silent_block {
public:
    explicit doctest_silent_block(bool) : guard_(doctest_case_name(), told_by_doctest()) {}
    check_result finish() { return guard_.finish(); }

private:
    no_allocation_guard guard_;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // DOCTEST_CONFIG_DISABLE

// The assertions themselves; with doctest switched off the block just runs.
#ifdef DOCTEST_CONFIG_DISABLE
    #define ALLOCSCOPE_DOCTEST_BLOCK(check, assertion, claim, argument) if (true)
#else
    #define ALLOCSCOPE_DOCTEST_BLOCK_NAMED(name, check, assertion, claim, argument)              \
        for (::allocscope::detail::doctest_block<::allocscope::detail::check> name{              \
                 ::allocscope::detail::doctest_claim{::doctest::assertType::assertion, __FILE__, \
                                                     __LINE__, claim},                           \
                 argument};                                                                      \
             name.is_open(); name.finish())
    #define ALLOCSCOPE_DOCTEST_BLOCK(check, assertion, claim, argument)                        \
        ALLOCSCOPE_DOCTEST_BLOCK_NAMED(DOCTEST_ANONYMOUS(allocscope_block_), check, assertion, \
                                       claim, argument)
#endif
#define ALLOCSCOPE_DOCTEST_LEAK_BLOCK(assertion, from) \
    ALLOCSCOPE_DOCTEST_BLOCK(doctest_leak_block, assertion, "no leaks", ::allocscope::threads::from)

// Nothing that is allocated in the block, by any thread, is alive at its end.
#define ALLOCSCOPE_CHECK_NO_LEAKS ALLOCSCOPE_DOCTEST_LEAK_BLOCK(DT_CHECK, all)
#define ALLOCSCOPE_REQUIRE_NO_LEAKS ALLOCSCOPE_DOCTEST_LEAK_BLOCK(DT_REQUIRE, all)
// The same for what this thread allocates, while others work.
#define ALLOCSCOPE_CHECK_NO_LEAKS_ON_THIS_THREAD ALLOCSCOPE_DOCTEST_LEAK_BLOCK(DT_CHECK, current)
#define ALLOCSCOPE_REQUIRE_NO_LEAKS_ON_THIS_THREAD \
    ALLOCSCOPE_DOCTEST_LEAK_BLOCK(DT_REQUIRE, current)

// This thread allocates nothing in the block.
#define ALLOCSCOPE_CHECK_NO_ALLOCATIONS \
    ALLOCSCOPE_DOCTEST_BLOCK(doctest_silent_block, DT_CHECK, "no allocations", true)
#define ALLOCSCOPE_REQUIRE_NO_ALLOCATIONS \
    ALLOCSCOPE_DOCTEST_BLOCK(doctest_silent_block, DT_REQUIRE, "no allocations", true)

// This thread allocates at most so many objects in the block. Any integer; one that is negative
// fails the case and is named.
#define ALLOCSCOPE_CHECK_ALLOCATIONS_AT_MOST(most) \
    ALLOCSCOPE_DOCTEST_BLOCK(doctest_budget_block, DT_CHECK, "allocations at most " #most, most)
#define ALLOCSCOPE_REQUIRE_ALLOCATIONS_AT_MOST(most) \
    ALLOCSCOPE_DOCTEST_BLOCK(doctest_budget_block, DT_REQUIRE, "allocations at most " #most, most)

#endif  // ALLOCSCOPE_INTEGRATIONS_DOCTEST_BLOCKS_HPP
