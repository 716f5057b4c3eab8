// Danger: objects allocated before main, by constructors that run before the hooks' own, are lost.
// The window is opened by the very first code of the program, in .preinit_array.

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"

#include <allocscope/allocscope.hpp>

#include <new>

using namespace allocscope_test;

namespace {

constexpr int blocks = 1000;
void* kept[5 * blocks];
int kept_count = 0;
int groups = 0;

alignas(allocscope::scope) unsigned char storage[sizeof(allocscope::scope)];
allocscope::scope* window = nullptr;

void open_window() {
    if (window == nullptr) window = new (storage) allocscope::scope{"before main"};
}

void allocate_a_thousand_and_free_half() {
    ++groups;
    for (int i = 0; i < blocks; ++i) {
        void* object = allocate(24);
        if (i % 2 == 0) {
            release(object);
        } else {
            kept[kept_count++] = object;
        }
    }
}

[[maybe_unused]] void first_code(int, char**, char**) {
    open_window();
    allocate_a_thousand_and_free_half();
}

__attribute__((constructor(101))) void early_constructor() {
    open_window();
    allocate_a_thousand_and_free_half();
}

struct allocates_when_constructed {
    allocates_when_constructed() {
        open_window();
        allocate_a_thousand_and_free_half();
    }
};

__attribute__((init_priority(102))) allocates_when_constructed early_object;
allocates_when_constructed ordinary_object;

}  // namespace

#if !ALLOCSCOPE_TEST_SANITIZED  // a sanitizer's own start comes after this
__attribute__((section(".preinit_array"),
               used)) static void (*const run_first)(int, char**, char**) = first_code;
#endif

int main() {
    watchdog();
    ALLOCSCOPE_EXPECT_EQUAL(groups, is_sanitized ? 3 : 4);
    const allocscope::allocation_counts seen = window->counts();
    ALLOCSCOPE_EXPECT_EQUAL(seen.allocations, groups * blocks);
    ALLOCSCOPE_EXPECT_EQUAL(seen.frees, groups * blocks / 2);
    ALLOCSCOPE_EXPECT_EQUAL(seen.live_bytes(), groups * blocks / 2 * 24);
    ALLOCSCOPE_EXPECT_EQUAL(window->stats().live_objects(), groups * blocks / 2);
    for (int i = 0; i < kept_count; ++i) release(kept[i]);
    ALLOCSCOPE_EXPECT_EQUAL(window->counts().live_objects(), 0);
    const auto births = static_cast<std::uint64_t>(groups) * blocks;
    expect_accounted(window->stats(), {births, births});
    window->~scope();
    return verdict();
}
