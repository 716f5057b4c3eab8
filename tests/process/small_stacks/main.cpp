// Danger: the hook needs more stack than a thread has to spare. A thousand threads run on the
// smallest stack there is, and a painted stack shows how much the hook uses.
// about: stacks

#include "../../support/accounting.hpp"
#include "../../support/own_threads.hpp"
#include "../../support/stack_tree.hpp"

#include <allocscope/allocscope.hpp>

#include <climits>
#include <cstdint>

using namespace allocscope_test;

namespace {

constexpr std::size_t painted_bytes = 24 * 1024;
constexpr unsigned char paint = 0xa5;

// With this interval an object that counts 80 bytes is a sample, but for one in 10^17. With an
// interval of one byte the window would record every event, which is not the way of a sample.
constexpr std::uint64_t narrowest_interval = 2;
constexpr std::uint64_t narrow_interval = 256;

// What one call of operator new writes below the caller's frame.
__attribute__((noinline)) std::size_t stack_used(bool for_delete) {
    void* object = for_delete ? allocate(64) : nullptr;
    volatile unsigned char* top = nullptr;
    __asm__ volatile("mov %%rsp, %0" : "=r"(top));
    top -= 128;  // the red zone is ours
    for (std::size_t i = 1; i <= painted_bytes; ++i) *(top - i) = paint;
    if (for_delete) {
        ::operator delete(object);
    } else {
        object = ::operator new(64);
    }
    __asm__ volatile("" : "+r"(object) : : "memory");
    std::size_t lowest = 0;
    for (std::size_t i = 1; i <= painted_bytes; ++i) {
        if (*(top - i) != paint) lowest = i;
    }
    if (!for_delete) release(object);
    return lowest + 128;
}

struct measurement {
    std::size_t first_new, later_new, later_delete, deep_new;
};

__attribute__((noinline)) std::size_t deep(int depth) {
    const std::size_t used = depth == 0 ? stack_used(false) : deep(depth - 1);
    barrier();
    return used;
}

void measure(void* result) {
    auto* mine = static_cast<measurement*>(result);
    mine->first_new = stack_used(false);
    stack_used(true);
    mine->later_new = stack_used(false);
    mine->later_delete = stack_used(true);
    mine->deep_new = deep(150);
}
constexpr std::uint64_t objects_measured = 5;

measurement on_a_new_thread() {
    measurement result = {};
    own_thread thread;
    thread.start(measure, &result);
    thread.join();
    return result;
}

[[maybe_unused]] void expect_little_stack(allocscope::recording record, std::size_t limit) {
    const measurement bare = on_a_new_thread();
    allocscope::options wanted;
    wanted.record = record;
    wanted.stack_frames = 128;
    wanted.sample_bytes = narrowest_interval;
    const allocscope::scope window{"stack use", wanted};
    const measurement seen = on_a_new_thread();
    const bool is_sampled = record == allocscope::recording::sampled;
    ALLOCSCOPE_EXPECT_EQUAL(window.stats().info().samples, is_sampled ? objects_measured : 0);
    // The first call of a thread also sets up malloc's own cache for it.
    ALLOCSCOPE_EXPECT_AT_MOST(seen.first_new, bare.first_new + limit);
    ALLOCSCOPE_EXPECT_AT_MOST(seen.later_new, bare.later_new + limit);
    ALLOCSCOPE_EXPECT_AT_MOST(seen.later_delete, bare.later_delete + limit);
    ALLOCSCOPE_EXPECT_AT_MOST(seen.deep_new, bare.deep_new + limit);
    char out[200];
    if (failed_expectations.load() == 0) return;
    say(out, std::snprintf(out, sizeof out,
                           "bytes: first %zu, later %zu, delete %zu, deep %zu;"
                           " without a window %zu, %zu, %zu, %zu\n",
                           seen.first_new, seen.later_new, seen.later_delete, seen.deep_new,
                           bare.first_new, bare.later_new, bare.later_delete, bare.deep_new));
}

constexpr unsigned objects_each = 50;
constexpr std::size_t least_bytes = 16;

void allocate_a_little(void*) {
    for (unsigned i = 0; i < objects_each; ++i) release(allocate_on_path(i, 8, least_bytes + i));
}

void thousand_small_threads(allocscope::recording record) {
    allocscope::options wanted;
    wanted.record = record;
    wanted.sample_bytes = narrow_interval;
    wanted.stack_frames = 128;
    allocscope::scope window{"small stacks", wanted};
    constexpr int at_a_time = 50;
    const long generations = scaled(20);
    for (long i = generations; i > 0; --i) {
        own_thread threads[at_a_time];
        for (own_thread& thread : threads) {
            thread.start(allocate_a_little, nullptr,
                         static_cast<std::size_t>(is_sanitized ? 256 * 1024 : PTHREAD_STACK_MIN));
        }
        for (own_thread& thread : threads) thread.join();
    }
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), 0);
    const auto objects = static_cast<std::uint64_t>(generations) * at_a_time * objects_each;
    if (record == allocscope::recording::sampled) {
        // At least 32 bytes are counted for each; half of what is expected is far out of reach.
        const std::uint64_t counted_bytes = objects * (least_bytes + 16);
        ALLOCSCOPE_EXPECT(window.stats().info().samples >= counted_bytes / narrow_interval / 2);
    } else {
        ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, objects);
        expect_accounted(window.stats(), {objects, objects});
    }
}

}  // namespace

int main() {
    watchdog();
    release(allocate(1));  // binds what is bound lazily, once for all
    thousand_small_threads(allocscope::recording::exact);
    thousand_small_threads(allocscope::recording::sampled);
#if defined(__OPTIMIZE__) && !ALLOCSCOPE_TEST_SANITIZED
    expect_little_stack(allocscope::recording::counters, 1088);
    expect_little_stack(allocscope::recording::exact, 1088);
    expect_little_stack(allocscope::recording::sampled, 4096);
#endif
    return verdict();
}
