// Linked to a test program, this ends it when code of ours asks the process for memory: when a hook
// that is at work on a thread's state reaches the underlying allocator.
#include "poison.hpp"

#include <allocscope/hooks/underlying_allocator.hpp>
#include <allocscope/state/process_state.hpp>

#include <unistd.h>
#include <cstdlib>
#include <cstring>

namespace allocscope_test {

thread_local bool is_malloc_forbidden = false;
unsigned long calls_through_poison = 0;

}  // namespace allocscope_test

namespace {

using namespace allocscope::detail;

allocator_functions real_functions{};

void abort_with(const char* text) {
    if (write(2, text, std::strlen(text)) < 0) _exit(98);
    std::abort();
}

void look() {
    ++allocscope_test::calls_through_poison;
    const thread_state* own = current_state();
    if (own != nullptr && own->busy.load() != 0) {
        abort_with("poison: a hook at work has called malloc or free. \n");
    }
    if (allocscope_test::is_malloc_forbidden) {
        abort_with("poison: malloc or free was called where none may be\n");
    }
}

#define ALLOCSCOPE_TEST_POISON(result, name, parameters, arguments) \
    result poisoned_##name parameters noexcept {                    \
        look();                                                     \
        return function_in(real_functions.name) arguments;          \
    }
ALLOCSCOPE_UNDERLYING_FUNCTIONS(ALLOCSCOPE_TEST_POISON)
#undef ALLOCSCOPE_TEST_POISON

__attribute__((constructor(101))) void install() {
    std::free(std::malloc(1));  // the choice is made
#define ALLOCSCOPE_TEST_POISON(result, name, parameters, arguments) \
    real_functions.name.store(underlying.name.load());              \
    underlying.name.store(&poisoned_##name);
    ALLOCSCOPE_UNDERLYING_FUNCTIONS(ALLOCSCOPE_TEST_POISON)
#undef ALLOCSCOPE_TEST_POISON
}

}  // namespace
