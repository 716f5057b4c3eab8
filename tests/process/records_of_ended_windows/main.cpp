// Danger: records of ended windows are not wiped. An object that lies where one of an earlier
// window lay is not counted, or the death of an older object is counted in a window that does not
// own it.
// not with: tsan (it sees nothing where there is one thread)

#include "../../support/escape.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <initializer_list>

using namespace allocscope_test;

namespace {

constexpr int object_count = 8;
constexpr int rounds = 300;

// One object at a place in the code, of a size that nothing else here has: malloc gives the address
// of the last one again.
struct objects {
    void* each[object_count] = {};

    void allocate_all(std::size_t bytes) {
        for (void*& object : each) object = allocate(bytes);
    }
    void release_all() {
        for (void*& object : each) release(object);
    }
};

allocscope::options recorded(allocscope::recording record) {
    allocscope::options wanted;
    wanted.record = record;
    return wanted;
}

// Born in one window, freed when none is open; the next ones are born at the same addresses.
int born_where_others_lay(const allocscope::options& wanted) {
    objects living;
    void* before[object_count];
    int met_again = 0;
    for (int round = 0; round < rounds; ++round) {
        {
            const allocscope::scope window{"earlier", wanted};
            living.allocate_all(72);
            for (int i = 0; i < object_count; ++i) before[i] = living.each[i];
        }
        living.release_all();
        {
            const allocscope::scope window{"later", wanted};
            living.allocate_all(72);
            for (void* object : living.each) {
                for (void* other : before) met_again += object == other ? 1 : 0;
            }
            ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, object_count);
            ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), object_count);
            living.release_all();
            ALLOCSCOPE_EXPECT_EQUAL(window.counts().frees, object_count);
            ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_bytes(), 0);
            // What lay there was of no concern any more: its record was not replaced.
            ALLOCSCOPE_EXPECT_EQUAL(window.stats().info().loss_count, 0);
        }
    }
    return met_again;
}

// Born in one window, freed in the next: not the first event there, and as the first.
void freed_in_the_next_window(const allocscope::options& wanted) {
    for (int round = 0; round < rounds; ++round) {
        objects older;
        {
            const allocscope::scope window{"earlier", wanted};
            older.allocate_all(88);
        }
        const allocscope::scope window{"later", wanted};
        void* own = round % 2 == 0 ? allocate(24) : nullptr;
        older.release_all();
        ALLOCSCOPE_EXPECT_EQUAL(window.counts().frees, 0);
        if (own == nullptr) own = allocate(24);
        ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_bytes(), 24);
        release(own);
        ALLOCSCOPE_EXPECT_EQUAL(window.counts().frees, 1);
    }
}

}  // namespace

int main() {
    watchdog();
    for (const allocscope::recording record :
         {allocscope::recording::exact, allocscope::recording::counters}) {
        const int met_again = born_where_others_lay(recorded(record));
        // A sanitizer's allocator keeps freed blocks back.
        if (!is_sanitized) ALLOCSCOPE_EXPECT_AT_MOST(rounds, met_again);
        freed_in_the_next_window(recorded(record));
    }
    return verdict();
}
