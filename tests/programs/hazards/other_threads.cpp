// other_threads.cpp - in each round 20 blocks of 72 bytes are allocated by one thread and freed by
// another that never allocated; threads come and go, their number is the same in every run.
// 20 allocations, 20 frees, 1,440 bytes.
#include <pthread.h>

#include "rounds.hpp"

namespace {

constexpr int most_rounds = 4000;
void* blocks[most_rounds][20];
int begin = 0, end = 0;

void* allocate(void*) {
    for (int i = begin; i < end; ++i) {
        for (void*& each : blocks[i]) each = block_of(72);
    }
    return nullptr;
}

void* free_all(void*) {
    for (int i = begin; i < end; ++i) {
        for (void* each : blocks[i]) std::free(each);
    }
    return nullptr;
}

void in_thread(void* (*work)(void*)) {
    pthread_t thread;
    ::pthread_create(&thread, nullptr, work, nullptr);
    ::pthread_join(thread, nullptr);
}

}  // namespace

int main() {
    for (int part = 0; part < 200; ++part) {
        begin = rounds() * part / 200;
        end = rounds() * (part + 1) / 200;
        in_thread(allocate);
        in_thread(free_all);
    }
    return 0;
}
