// checked_test.hpp - what all adapters of test frameworks do around a test, and how they report.
//
// Room:     integrations (floor 11), not malloc-safe
// Called:   by the adapters of doctest, GoogleTest and Catch2
// Threads:  the thread that runs the tests; blocks run on any thread on which the framework may
//           assert
// Memory:   none of its own

#ifndef ALLOCSCOPE_INTEGRATIONS_CHECKED_TEST_HPP
#define ALLOCSCOPE_INTEGRATIONS_CHECKED_TEST_HPP

#include <allocscope/config.hpp>
#include <allocscope/measure/check_result.hpp>
#include <allocscope/measure/leak_check.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// An assertion about a block: where its macro stands, and what it says.
struct block_claim {
    const char* file;
    int line;
    bool is_fatal;     // ends the test when it fails
    const char* text;  // "no leaks"
};

// What an adapter provides for the blocks in tests of its framework.
struct test_framework {
    expected_leaks own;           // tells which stacks are the framework's own: no leaks
    bool leaves_by_return;        // the macro reports a fatal failure, and then returns
    const char* (*block_name)();  // the name of a block in messages
    bool (*has_failed)();         // the running test: a return may be that of a failed assertion
    bool (*is_running)();         // null: true whenever no other framework is running
    // Reports an assertion that holds, or one that does not. `may_leave`: it may throw where an
    // assertion of the framework itself would.
    void (*tell)(const block_claim& claim, const check_result& found, bool may_leave);
};

// The frameworks whose adapters are in the program. Two frameworks share some macros.
inline const test_framework* frameworks_of_program[2] = {};

inline bool add_framework(const test_framework& added) noexcept {
    for (const test_framework*& place : frameworks_of_program) {
        if (place != nullptr) continue;
        place = &added;
        break;
    }
    return true;
}

inline const test_framework* running_framework() {
    const test_framework* otherwise = nullptr;
    for (const test_framework* each : frameworks_of_program) {
        if (each == nullptr) break;
        if (each->is_running == nullptr || otherwise == nullptr) otherwise = each;
        if (each->is_running != nullptr && each->is_running()) return each;
    }
    return otherwise;
}

// Runs a test. Messages show no frame further out than this one; the engine knows the name.
template <class Test>
__attribute__((__noinline__)) void allocscope_test_boundary(const Test& test) {
    test();
    __asm__ volatile("");  // a frame of its own: the call above must not become a jump
}

constexpr int runs_of_repeated_test = 3;

// For only_repeated_leaks(): the test ran once and left something alive. Runs it again and judges.
template <class Test>
check_result judge_repeated(const char* name, const leak_options& wanted, const expected_leaks& own,
                            const Test& test) {
    leak_repetition runs{name, wanted, own};
    for (int i = 0; i < runs_of_repeated_test; ++i) {
        allocscope_test_boundary(test);
        runs.end_of_run();
    }
    return runs.finish();
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_CHECKED_TEST_HPP
