// Danger: frees made while the process ends are missed, or use something already destroyed. One
// object is freed at each stage of the end; a window that nobody destroys must have counted every
// one of them.

#include "../../support/escape.hpp"
#include "../../support/forked_child.hpp"

#include <allocscope/allocscope.hpp>

#include <cstdlib>
#include <new>

using namespace allocscope_test;

namespace {

enum stage {
    end_of_main,
    thread_local_object,
    on_exit_handler,
    atexit_handler,
    static_object,
    quick_exit_handler,
    destructor_function,
    stage_count
};

struct report {
    std::uint64_t frees_after[stage_count];  // what the window said after each stage
    std::uint64_t rows_at_end;
    std::uint64_t live_at_end;
};

report* shared = nullptr;
void* blocks[stage_count + 2];
alignas(allocscope::scope) unsigned char storage[sizeof(allocscope::scope)];
allocscope::scope* window = nullptr;

void free_at(stage where) {
    if (window == nullptr) return;  // the parent ends in its own way
    release(blocks[where]);
    shared->frees_after[where] = window->counts().frees;
}

struct frees_when_destroyed {
    explicit frees_when_destroyed(stage where) : where_(where) {}
    ~frees_when_destroyed() { free_at(where_); }
    stage where_;
};

frees_when_destroyed at_static_destruction{static_object};
thread_local frees_when_destroyed at_thread_end{thread_local_object};

__attribute__((destructor(101))) void last_code() {
    if (window == nullptr) return;
    free_at(destructor_function);
    const allocscope::snapshot last = window->stop();
    shared->rows_at_end = last.size();
    shared->live_at_end = last.live_objects();
}

void open_window_and_allocate() {
    window = new (storage) allocscope::scope{"to the very end"};
    for (void*& block : blocks) block = allocate(40);
}

int run_and_exit() {
    open_window_and_allocate();
    at_thread_end.where_ = thread_local_object;  // constructs it
    std::atexit([] { free_at(atexit_handler); });
    on_exit([](int, void*) { free_at(on_exit_handler); }, nullptr);
    free_at(end_of_main);
    return 0;
}

int run_and_quick_exit() {
    open_window_and_allocate();
    std::at_quick_exit([] {
        free_at(quick_exit_handler);
        shared->live_at_end = window->stop().live_objects();
    });
    std::quick_exit(0);
}

}  // namespace

int main() {
    watchdog();
    shared = shared_with_children<report>();
    const child_end ended = in_child(run_and_exit, child_exit::through_exit);
    ALLOCSCOPE_EXPECT(ended.exited_with(0));
    ALLOCSCOPE_EXPECT_EQUAL(shared->frees_after[end_of_main], 1);
    ALLOCSCOPE_EXPECT_EQUAL(shared->frees_after[thread_local_object], 2);
    ALLOCSCOPE_EXPECT_EQUAL(shared->frees_after[on_exit_handler], 3);
    ALLOCSCOPE_EXPECT_EQUAL(shared->frees_after[atexit_handler], 4);
    ALLOCSCOPE_EXPECT_EQUAL(shared->frees_after[static_object], 5);
    ALLOCSCOPE_EXPECT_EQUAL(shared->frees_after[destructor_function], 6);
    ALLOCSCOPE_EXPECT_EQUAL(shared->live_at_end, 3);
    ALLOCSCOPE_EXPECT_EQUAL(shared->rows_at_end, 1);

    *shared = {};
    const child_end quick = in_child(run_and_quick_exit);
    ALLOCSCOPE_EXPECT(quick.exited_with(0));
    ALLOCSCOPE_EXPECT_EQUAL(shared->frees_after[quick_exit_handler], 1);
    ALLOCSCOPE_EXPECT_EQUAL(shared->live_at_end, stage_count + 1);
    return verdict();
}
