// Danger: an object dies without the hooks seeing it (given straight to free(), or deleted while no
// window was open). Its record is then stale: the next object at that address must replace it, and
// no count may go below zero.
// not with: asan, tsan (giving operator new's memory to free() is what they report)

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"

#include <allocscope/allocscope.hpp>

#include <cstdlib>

using namespace allocscope_test;

namespace {

constexpr int object_count = 1000;
constexpr std::size_t size = 120;
void* objects[object_count];

void allocate_all() {
    for (void*& object : objects) object = allocate(size);
}
void release_all() {
    for (void* object : objects) release(object);
}

// When an address is handed out again, the old object there has died.
void freed_behind_our_back_and_reused() {
    allocscope::scope window{"stale"};
    allocate_all();
    std::uint64_t reused = 0;
    for (int i = 0; i < object_count; i += 100) {
        void* const address = objects[i];
        std::free(opaque(objects[i]));
        objects[i] = allocate(size - 1);
        if (objects[i] == address) ++reused;
    }
    ALLOCSCOPE_EXPECT_EQUAL(reused, object_count / 100);  // or the test tests nothing
    const allocscope::allocation_counts seen = window.counts();
    ALLOCSCOPE_EXPECT_EQUAL(seen.allocations, object_count + reused);
    ALLOCSCOPE_EXPECT_EQUAL(seen.live_objects(), object_count);
    ALLOCSCOPE_EXPECT_EQUAL(seen.live_bytes(), object_count * size - reused);
    ALLOCSCOPE_EXPECT_EQUAL(window.stats().live_objects(), object_count);
    release_all();
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), 0);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_bytes(), 0);
    ALLOCSCOPE_EXPECT(window.stats().empty());
    expect_accounted(window.stats(), {object_count + reused, object_count + reused});
}

// What the first window recorded is forgotten with it, whatever happened to the objects since.
void died_between_two_windows() {
    {
        const allocscope::scope first{"first"};
        allocate_all();
    }
    for (int i = 0; i < object_count; i += 2) release(objects[i]);  // no window is open
    allocscope::scope second{"second"};
    for (int i = 0; i < object_count; i += 2) objects[i] = allocate(size);
    ALLOCSCOPE_EXPECT_EQUAL(second.counts().allocations, object_count / 2);
    ALLOCSCOPE_EXPECT_EQUAL(second.counts().frees, 0);
    for (int i = 1; i < object_count; i += 2) release(objects[i]);  // born in the first
    ALLOCSCOPE_EXPECT_EQUAL(second.counts().frees, 0);
    ALLOCSCOPE_EXPECT_EQUAL(second.counts().live_objects(), object_count / 2);
    for (int i = 0; i < object_count; i += 2) release(objects[i]);
    ALLOCSCOPE_EXPECT_EQUAL(second.counts().live_objects(), 0);
    ALLOCSCOPE_EXPECT(second.stats().empty());
    expect_accounted(second.stats(), {object_count / 2, object_count / 2});
}

// A record carries a short number for its session. The number must not be used again while the
// object lives: each of these objects dies in a later window of its own.
void long_after_their_window() {
    static void* old_objects[70000];
    {
        const allocscope::scope first{"first"};
        for (void*& object : old_objects) object = allocate(24);
    }
    std::uint64_t wrong = 0;
    for (void* object : old_objects) {
        allocscope::scope later{"later"};
        void* young = allocate(24);
        release(object);
        const allocscope::allocation_counts seen = later.counts();
        if (seen.allocations != 1 || seen.frees != 0) ++wrong;
        release(young);
        if (later.counts().frees != 1) ++wrong;
    }
    ALLOCSCOPE_EXPECT_EQUAL(wrong, 0);
}

// An object is born uncharged at the address of a stale record. Its death must not be counted as
// that of the old object.
void reused_while_paused() {
    allocscope::scope window{"paused"};
    void* object = allocate(size);
    std::free(opaque(object));
    {
        const allocscope::pause_recording pause;
        object = allocate(size);
    }
    const std::uint64_t frees_before = window.counts().frees;
    ALLOCSCOPE_EXPECT(frees_before <= 1);  // the stale one may be found dead here
    release(object);
    ALLOCSCOPE_EXPECT(window.counts().frees <= 1);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, 1);
    object = allocate(size);
    release(object);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, 2);
    ALLOCSCOPE_EXPECT(window.counts().frees <= 2);
}

void born_before_the_window() {
    allocate_all();
    allocscope::scope window{"later"};
    release_all();
    const allocscope::allocation_counts seen = window.counts();
    ALLOCSCOPE_EXPECT_EQUAL(seen.allocations, 0);
    ALLOCSCOPE_EXPECT_EQUAL(seen.frees, 0);
    ALLOCSCOPE_EXPECT_EQUAL(seen.bytes_freed, 0);
    ALLOCSCOPE_EXPECT(window.stats().empty());
}

}  // namespace

int main() {
    watchdog();
    for (int i = 0; i < 20; ++i) {
        freed_behind_our_back_and_reused();
        died_between_two_windows();
        reused_while_paused();
        born_before_the_window();
    }
    long_after_their_window();
    return verdict();
}
