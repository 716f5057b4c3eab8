// Danger: a leak that passes because its function names alone looked like a framework's, or a
// question that an adapter asks in every test and that reads the debug information each time.

#include "../../support/escape.hpp"

#include <allocscope/allocscope.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <string>

using namespace allocscope;

namespace {

struct questions {
    int by_symbols = 0;
    int with_names = 0;
    bool saw_a_line = false;        // by symbols
    bool saw_the_function = false;  // by symbols
    std::size_t decisive = 0;       // to be said by symbols
    bool answer_by_symbols = false;
};

questions asked;

bool names_the_keeper(const leak_stack& stack) {
    for (std::size_t i = 0; i < stack.frame_count; ++i) {
        if (std::strstr(stack.frames[i].function, "keep_one") != nullptr) return true;
    }
    return false;
}

bool by_symbols(const leak_stack& stack, const void*) {
    ++asked.by_symbols;
    for (std::size_t i = 0; i < stack.frame_count; ++i) {
        if (stack.frames[i].line != 0 || stack.frames[i].file[0] != '\0') asked.saw_a_line = true;
    }
    asked.saw_the_function = names_the_keeper(stack);
    stack.decisive_frames = asked.decisive;
    return asked.answer_by_symbols;
}

bool with_names(const leak_stack&, const void*) {
    ++asked.with_names;
    return false;
}

__attribute__((noinline)) void* keep_one() {
    void* kept = allocscope_test::allocate(24);
    allocscope_test::barrier();
    return kept;
}

// From two places, so the stacks are others but begin alike.
__attribute__((noinline)) void* keep_from_elsewhere() {
    void* kept = keep_one();
    allocscope_test::barrier();
    return kept;
}

check_result checked(void* (*work)()) {
    detail::expected_leaks own;
    own.test = &with_names;
    own.test_by_symbols = &by_symbols;
    leak_check leaks{"by symbols", {}, own};
    void* kept = work();
    const check_result found = leaks.finish();
    allocscope_test::release(kept);
    return found;
}

}  // namespace

TEST_CASE("what gets a no by symbols is asked again with all names, and is a leak") {
    asked = questions{};
    const check_result found = checked(&keep_one);
    CHECK_FALSE(found.passed());
    CHECK(asked.by_symbols == 1);
    CHECK(asked.with_names == 1);
    CHECK(asked.saw_the_function);
    CHECK_FALSE(asked.saw_a_line);
    CHECK(std::strstr(found.message(), "leaks_by_symbols_test.cpp:") != nullptr);

    // The names are known now: there is nothing to spare.
    CHECK_FALSE(checked(&keep_one).passed());
    CHECK(asked.with_names == 2);
}

TEST_CASE("what gets a yes by symbols is no leak, and its beginning is known from then on") {
    asked = questions{};
    asked.answer_by_symbols = true;
    CHECK(checked(&keep_from_elsewhere).passed());
    CHECK(asked.by_symbols == 1);
    CHECK(asked.with_names == 0);
    CHECK(checked(&keep_from_elsewhere).passed());  // nothing was said to be decisive
    CHECK(asked.by_symbols == 2);

    asked.decisive = 1;
    CHECK(checked(&keep_from_elsewhere).passed());
    CHECK(asked.by_symbols == 3);
    asked.answer_by_symbols = false;
    CHECK(checked(&keep_from_elsewhere).passed());
    CHECK(asked.by_symbols == 3);
    CHECK(asked.with_names == 0);
}
