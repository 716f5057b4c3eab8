// Danger: a hook that fails at something inside changes errno in a call that succeeds. Tried with
// every operator and every kind of recording, while tables grow. A sampled window that takes every
// byte records every event; only with wider intervals are there samples.

#include "../../support/own_threads.hpp"
#include "../../support/process_test.hpp"
#include "../../support/stack_tree.hpp"

#include <allocscope/allocscope.hpp>

#include <cerrno>
#include <cstdint>
#include <initializer_list>
#include <new>

using namespace allocscope_test;

namespace {

constexpr std::align_val_t alignment{64};

#define ALLOCSCOPE_TEST_KEEPS(call)         \
    do {                                    \
        errno = 77;                         \
        call;                               \
        ALLOCSCOPE_EXPECT_EQUAL(errno, 77); \
        errno = 77;                         \
    } while (false)

void every_operator(std::size_t size) {
    void* object = nullptr;
    ALLOCSCOPE_TEST_KEEPS(object = opaque(::operator new(size)));
    ALLOCSCOPE_TEST_KEEPS(::operator delete(object));
    ALLOCSCOPE_TEST_KEEPS(object = opaque(::operator new[](size)));
    ALLOCSCOPE_TEST_KEEPS(::operator delete[](object));
    ALLOCSCOPE_TEST_KEEPS(object = opaque(::operator new(size, std::nothrow)));
    ALLOCSCOPE_TEST_KEEPS(::operator delete(object, std::nothrow));
    ALLOCSCOPE_TEST_KEEPS(object = opaque(::operator new[](size, std::nothrow)));
    ALLOCSCOPE_TEST_KEEPS(::operator delete[](object, std::nothrow));
    ALLOCSCOPE_TEST_KEEPS(object = opaque(::operator new(size, alignment)));
    ALLOCSCOPE_TEST_KEEPS(::operator delete(object, alignment));
    ALLOCSCOPE_TEST_KEEPS(object = opaque(::operator new[](size, alignment)));
    ALLOCSCOPE_TEST_KEEPS(::operator delete[](object, alignment));
    ALLOCSCOPE_TEST_KEEPS(object = opaque(::operator new(size, alignment, std::nothrow)));
    ALLOCSCOPE_TEST_KEEPS(::operator delete(object, alignment, std::nothrow));
    ALLOCSCOPE_TEST_KEEPS(object = opaque(::operator new[](size, alignment, std::nothrow)));
    ALLOCSCOPE_TEST_KEEPS(::operator delete[](object, alignment, std::nothrow));
#if defined(__cpp_sized_deallocation)
    object = opaque(::operator new(size));
    ALLOCSCOPE_TEST_KEEPS(::operator delete(object, size));
    object = opaque(::operator new[](size));
    ALLOCSCOPE_TEST_KEEPS(::operator delete[](object, size));
    object = opaque(::operator new(size, alignment));
    ALLOCSCOPE_TEST_KEEPS(::operator delete(object, size, alignment));
    object = opaque(::operator new[](size, alignment));
    ALLOCSCOPE_TEST_KEEPS(::operator delete[](object, size, alignment));
#endif
    ALLOCSCOPE_TEST_KEEPS(::operator delete(nullptr));
}

void all_sizes(void*) {
    for (const std::size_t size : {0U, 1U, 24U, 5000U, 200000U, 40000000U}) every_operator(size);
}

// Many new stacks in a row: the tables have to take pages from the system now and then.
void growing_tables() {
    for (unsigned path = 0; path < 1U << 13; ++path) {
        void* object = nullptr;
        ALLOCSCOPE_TEST_KEEPS(object = allocate_on_path(path, 13, 16));
        ALLOCSCOPE_TEST_KEEPS(release(object));
    }
}

void everywhere() {
    all_sizes(nullptr);
    own_thread fresh;  // its first allocation sets up the thread's own tables
    fresh.start(all_sizes, nullptr);
    fresh.join();
    growing_tables();
}

void under_a_window(allocscope::recording record, std::uint64_t sample_bytes) {
    allocscope::options wanted;
    wanted.record = record;
    wanted.sample_bytes = sample_bytes;
    allocscope::scope window{"errno", wanted};
    everywhere();
    ALLOCSCOPE_TEST_KEEPS(allocscope::pause_recording pause; every_operator(8));
    ALLOCSCOPE_TEST_KEEPS(window.counts());
    // The largest size is asked for eight times or more on each of two threads: a sample each time.
    if (sample_bytes > 1) ALLOCSCOPE_EXPECT(window.stats().info().samples >= 16);
}

}  // namespace

int main() {
    watchdog();
    everywhere();
    under_a_window(allocscope::recording::exact, 1);
    under_a_window(allocscope::recording::counters, 1);
    for (const std::uint64_t sample_bytes : {1U, 256U, 64U * 1024U}) {
        under_a_window(allocscope::recording::sampled, sample_bytes);
    }
    return verdict();
}
