// Danger: a snapshot depends on its window. It must outlive the window, be repeated after stop(),
// and be comparable with an earlier one.

#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <cstring>
#include <sstream>
#include <string>
#include <utility>

using namespace allocscope_test;

namespace {

__attribute__((noinline)) void* first_place() {
    return opaque(::operator new(10));
}
__attribute__((noinline)) void* second_place() {
    return opaque(::operator new(1000));
}

std::string text_of(const allocscope::snapshot& seen) {
    std::ostringstream text;
    text << seen;
    return text.str();
}

void repeats_after_stop() {
    allocscope::scope window{"stopped"};
    void* first = first_place();
    void* second = second_place();
    const allocscope::snapshot last = window.stop();
    ALLOCSCOPE_EXPECT_EQUAL(last.live_objects(), 2);
    ALLOCSCOPE_EXPECT_EQUAL(last.live_bytes(), 1010);
    release(first);
    void* third = first_place();
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, 2);  // what came later is not counted
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().frees, 0);
    ALLOCSCOPE_EXPECT(text_of(window.stats()) == text_of(last));
    ALLOCSCOPE_EXPECT(text_of(window.stop()) == text_of(last));
    ALLOCSCOPE_EXPECT(text_of(window.stats_and_forget()) == text_of(last));
    ALLOCSCOPE_EXPECT_EQUAL(window.stats().info().totals.allocations, 2);
    release(second);
    release(third);
}

void outlives_its_window() {
    allocscope::snapshot kept;
    ALLOCSCOPE_EXPECT(kept.empty());
    ALLOCSCOPE_EXPECT(kept.info().not_recording[0] != 0);
    void* object = nullptr;
    std::string before;
    {
        allocscope::scope window{"short-lived name"};
        object = first_place();
        kept = window.stats();
        before = text_of(kept);
    }
    release(object);
    ALLOCSCOPE_EXPECT(text_of(kept) == before);
    ALLOCSCOPE_EXPECT(std::strcmp(kept.info().name, "short-lived name") == 0);
    ALLOCSCOPE_EXPECT_EQUAL(kept.live_objects(), 1);
    allocscope::snapshot moved = std::move(kept);
    allocscope::snapshot copied = moved;
    const allocscope::snapshot& itself = copied;
    copied = itself;
    moved = allocscope::snapshot();
    ALLOCSCOPE_EXPECT(text_of(copied) == before);
    kept = std::move(copied);  // a moved-from snapshot may be given a new value
    ALLOCSCOPE_EXPECT(text_of(kept) == before);
}

void copied_on_many_threads() {
    allocscope::scope window{"shared"};
    void* object = first_place();
    const allocscope::snapshot seen = window.stop();
    own_thread threads[4];
    for (own_thread& thread : threads) {
        thread.start(
            [](void* shared) {
                for (int i = 0; i < 20000; ++i) {
                    const allocscope::snapshot mine =
                        *static_cast<const allocscope::snapshot*>(shared);
                    ALLOCSCOPE_EXPECT_EQUAL(mine.live_objects(), 1);
                }
            },
            const_cast<allocscope::snapshot*>(&seen));
    }
    for (own_thread& thread : threads) thread.join();
    release(object);
}

void differences() {
    allocscope::scope window{"difference"};
    void* stays = opaque(::operator new(7));
    void* goes[3] = {first_place(), first_place(), first_place()};
    const allocscope::snapshot early = window.stats();
    release(goes[0]);
    release(goes[1]);
    void* comes[5];
    for (void*& object : comes) object = second_place();
    const allocscope::snapshot late = window.stats();

    const allocscope::snapshot change = late.difference_from(early);
    ALLOCSCOPE_EXPECT(change.info().is_difference);
    ALLOCSCOPE_EXPECT_EQUAL(change.size(), 2);
    std::int64_t added = 0;
    std::int64_t went = 0;
    for (const allocscope::snapshot::row& row : change) {
        const auto objects = static_cast<std::int64_t>(row.objects);
        const auto bytes = static_cast<std::int64_t>(row.bytes);
        if (objects > 0) {
            added += objects;
            ALLOCSCOPE_EXPECT_EQUAL(bytes, objects * 1000);
        } else {
            went += objects;
            ALLOCSCOPE_EXPECT_EQUAL(bytes, objects * 10);
        }
    }
    ALLOCSCOPE_EXPECT_EQUAL(added, 5);
    ALLOCSCOPE_EXPECT_EQUAL(went, -2);
    ALLOCSCOPE_EXPECT(late.difference_from(late).empty());
    ALLOCSCOPE_EXPECT(early.difference_from(early).empty());

    for (void* object : comes) release(object);
    release(goes[2]);
    release(stays);
    ALLOCSCOPE_EXPECT_EQUAL(window.stats().live_objects(), 0);
}

void forgetting() {
    allocscope::scope window{"forget"};
    void* old = first_place();
    ALLOCSCOPE_EXPECT_EQUAL(window.stats_and_forget().live_objects(), 1);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, 0);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().peak_bytes, 0);
    ALLOCSCOPE_EXPECT(window.stats().empty());
    release(old);  // it is not this window's any more
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().frees, 0);
    void* young = second_place();
    ALLOCSCOPE_EXPECT_EQUAL(window.stats().live_bytes(), 1000);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().peak_bytes, 1000);
    release(young);
}

}  // namespace

int main() {
    watchdog();
    repeats_after_stop();
    outlives_its_window();
    copied_on_many_threads();
    differences();
    forgetting();
    return verdict();
}
