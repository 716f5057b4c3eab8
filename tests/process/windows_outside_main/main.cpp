// Danger: a window that begins before main or ends after it meets an engine that does not exist
// yet, or no longer exists. Static scopes of every kind must count like any other.

#include "../../support/escape.hpp"
#include "../../support/forked_child.hpp"

#include <allocscope/allocscope.hpp>

#include <new>

using namespace allocscope_test;

namespace {

struct report {
    std::uint64_t checked;
    std::uint64_t wrong;
};
report* shared = nullptr;

void check(std::uint64_t seen, std::uint64_t wanted) {
    if (shared == nullptr) return;
    shared->checked += 1;
    if (seen != wanted) shared->wrong += 1;
    ALLOCSCOPE_EXPECT_EQUAL(seen, wanted);
}

// Constructed before everything below, so destroyed after it.
struct last_word {
    ~last_word() {
        allocscope::scope late{"opened after main"};
        void* object = allocate(8);
        check(late.counts().allocations, 1);
        release(object);
        check(late.stop().info().totals.frees, 1);
    }
};
__attribute__((init_priority(150))) last_word speaks_last;

__attribute__((init_priority(200))) allocscope::scope whole_program{"static"};

struct early_bird {
    early_bird() : object(allocate(16)), in_window(whole_program.counts().allocations) {}
    ~early_bird() {
        release(object);
        check(whole_program.counts().frees, 3);
        check(whole_program.stats().live_objects(), 0);
    }
    void* object;
    std::uint64_t in_window;
} bird;

allocscope::scope& local_static() {
    static allocscope::scope window{"local static"};
    return window;
}

alignas(allocscope::scope) unsigned char storage[sizeof(allocscope::scope)];
allocscope::scope* ended_at_exit = nullptr;
void* object_of_main = nullptr;

int body() {
    check(bird.in_window, 1);
    allocscope::scope& function_window = local_static();
    object_of_main = allocate(32);
    check(whole_program.counts().allocations, 2);
    check(function_window.counts().allocations, 1);

    ended_at_exit = new (storage) allocscope::scope{"ends in atexit"};
    std::atexit([] {
        void* object = allocate(64);
        check(ended_at_exit->counts().allocations, 1);
        release(object);
        release(object_of_main);
        check(ended_at_exit->counts().frees, 1);
        ended_at_exit->~scope();
    });
    return 0;
}

}  // namespace

int main() {
    watchdog();
    // The parent's own end runs the destructors too; only the child's is looked at.
    report* numbers = shared_with_children<report>();
    const child_end ended = in_child(
        [numbers] {
            shared = numbers;
            return body();
        },
        child_exit::through_exit);
    ALLOCSCOPE_EXPECT(ended.exited_with(0));
    ALLOCSCOPE_EXPECT_EQUAL(numbers->checked, 9);
    ALLOCSCOPE_EXPECT_EQUAL(numbers->wrong, 0);
    if (!ended.text.empty()) say(ended.text.c_str(), static_cast<int>(ended.text.size()));
    return verdict();
}
