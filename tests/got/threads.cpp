// Hooks are attached and detached while threads allocate, and while others load and unload.
//
//     threads ROUNDS LIBRARY...
//
// Each thread makes its first calls through words that the loader has still to fill, because it
// loads a library anew each time.

#include "expectations.hpp"
#include "known_library.h"

#include <allocscope/hooks.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <dlfcn.h>

namespace {

std::atomic<bool> is_over{false};
std::atomic<std::uint64_t> works{0}, loads{0};

void allocate() {
    while (!is_over.load(std::memory_order_relaxed)) {
        known_work();
        delete new int(1);
        works.fetch_add(1, std::memory_order_relaxed);
    }
}

void load_and_unload(char** libraries, std::size_t first) {
    for (std::size_t i = first; !is_over.load(std::memory_order_relaxed); i += 2) {
        void* const library = ::dlopen(libraries[i % 4], RTLD_LAZY | RTLD_LOCAL);
        if (library == nullptr) {
            std::printf("%s\n", ::dlerror());
            std::abort();
        }
        reinterpret_cast<void (*)()>(::dlsym(library, "known_work"))();
        ::dlclose(library);
        loads.fetch_add(1, std::memory_order_relaxed);
    }
}

}  // namespace

int main(int, char** arguments) {
    const int rounds = std::atoi(arguments[1]);
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) threads.emplace_back(allocate);
    for (std::size_t i = 0; i < 2; ++i) threads.emplace_back(load_and_unload, arguments + 2, i);
    for (int i = 0; i < rounds; ++i) {
        allocscope::attach_hooks();
        if (i % 8 == 0) {
            allocscope::scope window{"round"};
            known_work();
            if (i % 64 == 0) window.stats();
        }
        allocscope::detach_hooks();
    }
    // All words of all libraries lead to us, whatever was written meanwhile.
    allocscope::attach_hooks();
    is_over = true;
    for (std::thread& each : threads) each.join();
    expect_counts(known_allocations, known_bytes, "attached in the end", known_work);
    allocscope::detach_hooks();
    expect_counts(0, 0, "detached in the end", known_work);
    expect_equal(works.load() > 0 && loads.load() > 0, 1, "threads were at work");
    return failures == 0 ? 0 : 1;
}
