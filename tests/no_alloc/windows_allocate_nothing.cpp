// Danger: what measures allocations makes some itself. Opening, reading and closing windows and the
// hooks themselves must not call the C library's allocator at all; a snapshot may, but no window
// must ever see it.
// not with: asan, tsan (they define malloc themselves)

#include "../support/own_threads.hpp"
#include "../support/process_test.hpp"
#include "../support/stack_tree.hpp"

#include <allocscope/allocscope.hpp>

#include <atomic>
#include <sstream>

namespace {

std::atomic<std::uint64_t> calls_of_malloc{0};

}  // namespace

extern "C" {
void* __libc_malloc(std::size_t size) noexcept;
void* __libc_calloc(std::size_t count, std::size_t size) noexcept;
void* __libc_realloc(void* memory, std::size_t size) noexcept;
void* __libc_memalign(std::size_t alignment, std::size_t size) noexcept;

void* malloc(std::size_t size) noexcept {
    calls_of_malloc.fetch_add(1);
    return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
    calls_of_malloc.fetch_add(1);
    return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) noexcept {
    calls_of_malloc.fetch_add(1);
    return __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    calls_of_malloc.fetch_add(1);
    return __libc_memalign(alignment, size);
}
int posix_memalign(void** result, std::size_t alignment, std::size_t size) noexcept {
    calls_of_malloc.fetch_add(1);
    *result = __libc_memalign(alignment, size);
    return *result == nullptr ? 12 : 0;
}
}

using namespace allocscope_test;

namespace {

template <class Work>
std::uint64_t calls_during(Work work) {
    const std::uint64_t before = calls_of_malloc.load();
    work();
    return calls_of_malloc.load() - before;
}

allocscope::options kind(int number) {
    allocscope::options wanted;
    wanted.record = static_cast<allocscope::recording>(number % 3);
    wanted.from = static_cast<allocscope::threads>(number / 3 % 2);
    return wanted;
}

void windows_call_no_malloc() {
    for (int i = 0; i < 6; ++i) {
        const std::uint64_t calls = calls_during([i] {
            allocscope::scope first{"first", kind(i)};
            allocscope::scope second{"second", kind(i + 1)};
            const allocscope::pause_recording pause;
            ALLOCSCOPE_EXPECT_EQUAL(first.counts().allocations, 0);
            ALLOCSCOPE_EXPECT_EQUAL(second.counts().allocations, 0);
        });
        ALLOCSCOPE_EXPECT_EQUAL(calls, 0);
    }
    ALLOCSCOPE_EXPECT_EQUAL(calls_during([] { allocscope::start(); }), 0);
    allocscope::stop();
}

// Also while tables grow, and for the first object of a thread.
void hooks_call_malloc_once_for_each_new() {
    for (int i = 0; i < 6; ++i) {
        allocscope::scope window{"hooks", kind(i)};
        const auto many_stacks = [] {
            for (unsigned path = 0; path < 4096; ++path) release(allocate_on_path(path, 12, 20));
        };
        ALLOCSCOPE_EXPECT_EQUAL(calls_during(many_stacks), 4096);
        own_thread thread;
        thread.start(
            [](void*) { ALLOCSCOPE_EXPECT_EQUAL(calls_during([] { release(allocate(20)); }), 1); },
            nullptr);
        thread.join();
    }
}

bool is_same(const allocscope::allocation_counts& left,
             const allocscope::allocation_counts& right) {
    return left.allocations == right.allocations && left.frees == right.frees &&
           left.bytes_allocated == right.bytes_allocated && left.bytes_freed == right.bytes_freed &&
           left.peak_bytes == right.peak_bytes;
}

void snapshots_are_charged_to_nobody() {
    for (int i = 0; i < 6; ++i) {
        allocscope::scope outer{"outer"};
        allocscope::scope window{"window", kind(i)};
        void* objects[100];
        for (unsigned path = 0; path < 100; ++path) objects[path] = allocate_on_path(path, 7, 30);
        const allocscope::allocation_counts seen_before = window.counts();
        const allocscope::allocation_counts outer_before = outer.counts();
        {
            const allocscope::snapshot first = window.stats();
            const allocscope::snapshot second = window.stats();
            const allocscope::snapshot difference = second.difference_from(first);
            ALLOCSCOPE_EXPECT(difference.empty());
            ALLOCSCOPE_EXPECT(is_same(outer.counts(), outer_before));
        }
        ALLOCSCOPE_EXPECT(is_same(window.counts(), seen_before));
        ALLOCSCOPE_EXPECT(is_same(outer.counts(), outer_before));
        own_thread thread;  // a look from elsewhere is no different
        thread.start([](void* looked_at) { static_cast<allocscope::scope*>(looked_at)->stats(); },
                     &window);
        thread.join();
        ALLOCSCOPE_EXPECT(is_same(outer.counts(), outer_before));
        {
            const allocscope::scope short_lived{"inner"};
            allocscope::start();
            allocscope::stop();
        }
        ALLOCSCOPE_EXPECT(is_same(outer.counts(), outer_before));
        window.stop();
        ALLOCSCOPE_EXPECT(is_same(outer.counts(), outer_before));
        for (void* object : objects) release(object);
        ALLOCSCOPE_EXPECT_EQUAL(outer.counts().live_objects(), 0);
    }
}

}  // namespace

int main() {
    watchdog();
    windows_call_no_malloc();
    hooks_call_malloc_once_for_each_new();
    snapshots_are_charged_to_nobody();
    return verdict();
}
