// ways_to_end.cpp WAY - allocates 100 bytes three times and frees one in each round, then ends as
// it is told. 3 allocations, 1 free, 300 bytes; nothing more is freed on any way.
#include <pthread.h>
#include <unistd.h>
#include <csignal>
#include <cstring>
#include <exception>

#include "rounds.hpp"

namespace {

void* volatile kept = nullptr;

void work() {
    for (int i = 0; i < rounds(); ++i) {
        void* first = block_of(100);
        kept = block_of(100);
        kept = block_of(100);
        std::free(first);
    }
}

void* work_and_exit(void*) {
    work();
    std::exit(5);
}

void in_thread(void* (*run)(void*)) {
    pthread_t thread;
    ::pthread_create(&thread, nullptr, run, nullptr);
    ::pthread_join(thread, nullptr);
}

void* wait_and_exit(void*) {
    ::usleep(100'000);
    work();
    std::exit(5);
}

void end(const char* way) {
    const auto is = [way](const char* name) { return std::strcmp(way, name) == 0; };
    if (is("thread_exits")) in_thread(work_and_exit);
    if (is("main_thread_ends")) {
        pthread_t thread;
        ::pthread_create(&thread, nullptr, wait_and_exit, nullptr);
        ::pthread_exit(nullptr);
    }
    work();
    if (is("exit")) std::exit(5);
    if (is("exit_in_exit")) {
        std::atexit([] { std::exit(5); });
        std::exit(4);
    }
    if (is("quick_exit")) std::quick_exit(5);
    if (is("_exit")) ::_exit(5);
    if (is("abort")) std::abort();
    if (is("terminate")) std::terminate();
    if (is("kill")) ::kill(::getpid(), SIGKILL);
    if (is("term")) ::raise(SIGTERM);
    if (is("segfault")) *static_cast<volatile int*>(nullptr) = 1;
    if (is("trap")) __builtin_trap();
    if (is("handler")) {
        std::signal(SIGUSR1, [](int) { ::_exit(5); });
        ::raise(SIGUSR1);
    }
    if (is("exec_static")) ::execl("./static_end", "static_end", nullptr);
    if (is("exec_dynamic")) ::execl("./dynamic_end", "dynamic_end", nullptr);
    if (is("exec_fails")) {
        ::execl("./nowhere", "nowhere", nullptr);
        std::exit(5);
    }
}

}  // namespace

int main(int, char** arguments) {
    end(arguments[1]);
    return 5;
}
