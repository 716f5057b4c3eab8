// failures.hpp - an exception, and the macro that throws it.
//
// Room:     tests/process
// Called:   by main.cpp
// Threads:  any
// Memory:   none

#ifndef ALLOCSCOPE_TESTS_PROCESS_TYPES_IN_HEADERS_FAILURES_HPP
#define ALLOCSCOPE_TESTS_PROCESS_TYPES_IN_HEADERS_FAILURES_HPP

#include <cstdlib>
#include <stdexcept>

#ifdef ALLOCSCOPE_TEST_WITHOUT_EXCEPTIONS
    #define ALLOCSCOPE_TEST_THROW(exception) std::abort()
#else
    #define ALLOCSCOPE_TEST_THROW(exception) throw exception
#endif
#define ALLOCSCOPE_TEST_REQUIRE(condition)                                    \
    do {                                                                      \
        if (!(condition)) ALLOCSCOPE_TEST_THROW(shop::bad_order{#condition}); \
    } while (false)

namespace shop {

struct bad_order : std::runtime_error {
    using std::runtime_error::runtime_error;
    int number = 0;
};

inline bad_order bad_number(int number) {
    bad_order made{"a number"};
    made.number = number;
    return made;
}

}  // namespace shop

#endif  // ALLOCSCOPE_TESTS_PROCESS_TYPES_IN_HEADERS_FAILURES_HPP
