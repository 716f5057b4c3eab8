// One of two translation units of a program, compiled with different knobs (PART is 1 or 2).
#include <allocscope/allocscope.hpp>

#include <cstddef>
#include <cstdio>
#if !ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    #include <stdexcept>
#endif

#define ALLOCSCOPE_TEST_JOIN(a, b) a##b
#define ALLOCSCOPE_TEST_NAME(name, part) ALLOCSCOPE_TEST_JOIN(name, part)

// The layout as this part sees it.
void ALLOCSCOPE_TEST_NAME(print_layout, PART)() {
    std::printf("scope %zu, snapshot %zu, row %zu, info %zu, options %zu, counts %zu, engine %zu\n",
                sizeof(allocscope::scope), sizeof(allocscope::snapshot),
                sizeof(allocscope::snapshot::row), sizeof(allocscope::snapshot::window_info),
                sizeof(allocscope::options), sizeof(allocscope::allocation_counts),
                sizeof(allocscope::detail::engine));
}

// A window that the caller looks at.
void ALLOCSCOPE_TEST_NAME(open_window, PART)(void* place) {
    ::new (place) allocscope::scope{"part"};
}

void ALLOCSCOPE_TEST_NAME(print_and_close, PART)(void* place) {
    auto* window = static_cast<allocscope::scope*>(place);
    std::printf("%llu allocations, %llu rows\n",
                static_cast<unsigned long long>(window->counts().allocations),
                static_cast<unsigned long long>(window->stop().size()));
    window->~scope();
}

#if !ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
// Only in a part with exceptions: its bad options must throw, whatever the other part would do.
bool throws_on_bad_options() {
    allocscope::options bad;
    bad.stack_frames = 0;
    try {
        allocscope::scope window{"bad", bad};
    } catch (const std::invalid_argument&) {
        return true;
    }
    return false;
}
#endif
