// Danger: code that a hook runs asks the process for memory: with another allocator, or in the
// middle of the C library, that is a deadlock. Any such call ends this program, which allocates
// under all kinds of windows from many stacks, in threads that begin and end, with all pthread keys
// below ours taken, in forked children, and looks at counts meanwhile.

#include "../support/own_threads.hpp"
#include "../support/process_test.hpp"
#include "../support/stack_tree.hpp"
#include "poison.hpp"
#include "windows_of_all_kinds.hpp"

#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

using namespace allocscope_test;

namespace {

void work_of_a_program() {
    std::map<std::string, std::vector<int>> words;
    for (int i = 0; i < 2000; ++i) {
        std::string word = "a rather long word, number " + std::to_string(i % 300);
        words[word].push_back(i);
    }
    char* text = nullptr;
    std::size_t length = 0;
    FILE* out = open_memstream(&text, &length);
    for (const auto& each : words) std::fprintf(out, "%s\n", each.first.c_str());
    std::fclose(out);
    void* block = nullptr;
    for (std::size_t bytes = 1; bytes < 20'000'000; bytes = bytes * 3 / 2 + 1) {
        block = std::realloc(block, bytes);
    }
    std::free(block);
    std::free(text);
    std::free(std::calloc(1000, 1000));
    std::free(std::aligned_alloc(64, 640));
}

// Tables grow with each new stack.
void many_stacks() {
    for (unsigned path = 0; path < 1U << 12; ++path) release(allocate_on_path(path, 12, 16));
}

void in_threads() {
    for (int round = 0; round < 20; ++round) {
        own_thread threads[3];
        for (own_thread& each : threads) {
            each.start([](void*) { work_of_a_program(); }, nullptr);
        }
        for (own_thread& each : threads) each.join();
    }
}

void in_a_child() {
    const pid_t child = fork();
    if (child == 0) {
        work_of_a_program();
        _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    ALLOCSCOPE_EXPECT_EQUAL(status, 0);
}

// The C library then allocates room for ours in each thread.
void take_keys() {
    for (int i = 0; i < 40; ++i) {
        pthread_key_t key;
        pthread_key_create(&key, nullptr);
    }
}

}  // namespace

int main() {
    watchdog();
    take_keys();
    with_every_kind_of_window([](const char*) {
        allocscope::scope own{"inner"};
        work_of_a_program();
        many_stacks();
        in_threads();
        in_a_child();
        // What is not a snapshot needs no memory at all.
        const auto seen = without_malloc([&own] { return own.counts(); });
        ALLOCSCOPE_EXPECT(seen.allocations != 0);
        without_malloc([] {
            allocscope::scope inner{"opens and closes"};
            return inner.counts().allocations;
        });
    });
    ALLOCSCOPE_EXPECT(calls_through_poison > 100'000);
    return verdict();
}
