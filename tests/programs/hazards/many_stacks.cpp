// many_stacks.cpp - in each round 64 blocks of 40 bytes are allocated and freed, each from a stack
// of its own, by threads that end: what they have counted is summed while the program goes on. The
// number of threads is the same in every run. 64 allocations, 64 frees, 2,560 bytes.
#include <pthread.h>

#include "rounds.hpp"

namespace {

int begin = 0, end = 0;

void left(int steps, unsigned way);

__attribute__((noinline)) void right(int steps, unsigned way) {
    left(steps, way);
    asm volatile("");  // the call above is not the last act
}

__attribute__((noinline)) void left(int steps, unsigned way) {
    if (steps == 0) {
        std::free(block_of(40));
    } else if (way % 2 != 0) {
        left(steps - 1, way / 2);
    } else {
        right(steps - 1, way / 2);
    }
    asm volatile("");
}

void* walk_all_ways(void*) {
    for (int i = begin; i < end; ++i) {
        for (unsigned way = 0; way < 64; ++way) left(6, way);
    }
    return nullptr;
}

}  // namespace

int main() {
    for (int part = 0; part < 100; ++part) {
        begin = rounds() * part / 100;
        end = rounds() * (part + 1) / 100;
        pthread_t thread;
        ::pthread_create(&thread, nullptr, &walk_all_ways, nullptr);
        ::pthread_join(thread, nullptr);
    }
    return 0;
}
