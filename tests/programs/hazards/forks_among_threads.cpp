// forks_among_threads.cpp - eight threads allocate and free without end, while main forks as often
// as there are rounds, with atfork handlers that allocate in the parent and in the child. A child
// allocates in every way, loads a library and ends. The program counts for itself.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "rounds.hpp"

namespace {

std::atomic<long> allocations{0}, bytes{0};
std::atomic<bool> is_over{false};
pthread_barrier_t all_there;

void one(std::size_t size) {
    std::free(block_of(size));
    allocations.fetch_add(1, std::memory_order_relaxed);
    bytes.fetch_add(static_cast<long>(size), std::memory_order_relaxed);
}

void* allocate_without_end(void*) {
    ::pthread_barrier_wait(&all_there);
    while (rounds() > 0 && !is_over) {
        for (std::size_t size = 16; size < 3000; size += 100) one(size);
    }
    ::pthread_barrier_wait(&all_there);
    return nullptr;
}

void handler() {
    one(60);
}

int in_child() {
    delete new std::string(100, 'c');
    void* grown = std::realloc(block_of(10), 10'000);
    std::free(grown);
    ::setenv("SET_IN_CHILD", "1", 1);
    void* library = ::dlopen("libm.so.6", RTLD_NOW);
    return grown != nullptr && library != nullptr ? 0 : 1;
}

}  // namespace

int main() {
    ::pthread_atfork(handler, handler, handler);
    ::pthread_barrier_init(&all_there, nullptr, 9);
    pthread_t threads[8];
    for (pthread_t& each : threads) {
        ::pthread_create(&each, nullptr, allocate_without_end, nullptr);
    }
    ::pthread_barrier_wait(&all_there);
    int failures = 0;
    for (int i = 0; i < rounds(); ++i) {
        const pid_t child = ::fork();
        if (child == 0) ::_exit(in_child());
        int status = 0;
        ::waitpid(child, &status, 0);
        failures += status != 0;
    }
    is_over = true;
    ::pthread_barrier_wait(&all_there);
    for (pthread_t each : threads) ::pthread_join(each, nullptr);
    print_answer(allocations, allocations, bytes);
    return failures == 0 ? 0 : 1;
}
