// late_frees.cpp [quick] - blocks of 40 bytes are freed at each stage of the end of a process: by
// the thread_local object of main, a function of atexit, one of on_exit, a static object, a
// destructor(101) of the program, one of its library; and by a thread that never allocated, which
// a static object starts. Each round: 7 allocations, 7 frees, 280 bytes. With `quick` only what
// at_quick_exit registered runs: 7 allocations, 1 free, 280 bytes.
#include <pthread.h>
#include <cstring>

#include "rounds.hpp"

struct stage {
    void* blocks[4000];
    void free_all() {
        for (int i = 0; i < rounds(); ++i) std::free(blocks[i]);
    }
};

extern stage of_library;

namespace {

stage of_thread_local, of_atexit, of_on_exit, of_object, of_destructor, of_other_thread;

struct frees_with_thread {
    ~frees_with_thread() { of_thread_local.free_all(); }
    int used = 0;
};
thread_local frees_with_thread ends_with_main;

struct frees_as_object {
    ~frees_as_object() {
        of_object.free_all();
        pthread_t thread;
        ::pthread_create(
            &thread, nullptr,
            [](void*) -> void* {
                of_other_thread.free_all();
                return nullptr;
            },
            nullptr);
        ::pthread_join(thread, nullptr);
    }
} object;

[[gnu::destructor(101)]] void at_the_very_end() {
    of_destructor.free_all();
}

}  // namespace

int main(int count, char** arguments) {
    ends_with_main.used = 1;
    std::atexit([] { of_atexit.free_all(); });
    ::on_exit([](int, void*) { of_on_exit.free_all(); }, nullptr);
    stage* const all[] = {&of_thread_local, &of_atexit,       &of_on_exit, &of_object,
                          &of_destructor,   &of_other_thread, &of_library};
    for (stage* each : all) {
        for (int i = 0; i < rounds(); ++i) each->blocks[i] = block_of(40);
    }
    if (count > 1 && std::strcmp(arguments[1], "quick") == 0) {
        std::at_quick_exit([] { of_atexit.free_all(); });
        std::quick_exit(0);
    }
    return 0;
}
