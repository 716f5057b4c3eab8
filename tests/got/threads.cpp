// Hooks are attached and detached while threads allocate, and while others load and unload.
//
//     threads ROUNDS LIBRARY LIBRARY LIBRARY LIBRARY STOPPING_LIBRARY
//
// Each thread makes its first calls through words that the loader has still to fill, because it
// loads a library anew each time. In the end hooks stay attached, and each call is counted that a
// thread makes of a library after its dlsym().

#include "expectations.hpp"
#include "known_library.h"

#include <allocscope/hooks.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

namespace {

std::atomic<bool> is_over{false}, may_begin{false};
std::atomic<std::size_t> have_loaded{0};
std::atomic<std::uint64_t> works{0}, loads{0};

void allocate() {
    while (!is_over.load(std::memory_order_relaxed)) {
        known_work();
        delete new int(1);
        works.fetch_add(1, std::memory_order_relaxed);
    }
}

void load_and_unload(const char* path) {
    void* const library = ::dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
        std::printf("%s\n", ::dlerror());
        std::abort();
    }
    reinterpret_cast<void (*)()>(::dlsym(library, "known_work"))();
    ::dlclose(library);
}

void load_until_it_is_over(char** libraries, std::size_t first) {
    for (std::size_t i = first; !is_over.load(std::memory_order_relaxed); i += 2) {
        load_and_unload(libraries[i % 4]);
        loads.fetch_add(1, std::memory_order_relaxed);
    }
}

void load_so_often(char** libraries, std::size_t first, std::size_t rounds) {
    while (!may_begin) std::this_thread::yield();
    for (std::size_t i = 0; i < rounds; ++i) load_and_unload(libraries[(first + i) % 4]);
    ++have_loaded;
}

void expect_each_call_while_others_load(char** libraries, std::size_t rounds) {
    constexpr std::size_t loading = 4;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < loading; ++i) {
        threads.emplace_back(load_so_often, libraries, i, rounds);
    }
    const std::uint64_t times = loading * rounds;
    expect_counts(times * known_allocations, times * known_bytes, "others load", [] {
        may_begin = true;
        while (have_loaded < loading) std::this_thread::yield();
    });
    for (std::thread& each : threads) each.join();
}

void must(bool is_done, const char* what) {
    if (is_done) return;
    std::perror(what);
    std::abort();
}

// Somebody looks for libraries while this one is being relocated, and nothing is loaded afterwards.
void expect_found_after_its_relocation(const char* path) {
    int says[2];
    int waits[2];
    must(::pipe(says) == 0 && ::pipe(waits) == 0, "pipe");
    must(::dup2(says[1], descriptor_that_says_so) >= 0, "dup2");
    must(::dup2(waits[0], descriptor_that_waits) >= 0, "dup2");
    std::thread loads_it{[path] {
        void* const library = ::dlopen(path, RTLD_LAZY | RTLD_LOCAL);
        must(library != nullptr, path);
        const auto work = reinterpret_cast<void (*)()>(::dlsym(library, "known_work"));
        expect_counts(known_allocations, known_bytes, "found after its relocation", work);
    }};
    char byte = 0;
    must(::read(says[0], &byte, 1) == 1, "read");
    allocscope::scope{"looks for libraries when it opens"}.stop();
    must(::write(waits[1], &byte, 1) == 1, "write");
    loads_it.join();
}

}  // namespace

int main(int, char** arguments) {
    const int rounds = std::atoi(arguments[1]);
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) threads.emplace_back(allocate);
    for (std::size_t i = 0; i < 2; ++i)
        threads.emplace_back(load_until_it_is_over, arguments + 2, i);
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
    expect_each_call_while_others_load(arguments + 2, static_cast<std::size_t>(rounds));
    expect_found_after_its_relocation(arguments[6]);
    allocscope::detach_hooks();
    expect_counts(0, 0, "detached in the end", known_work);
    expect_equal(works.load() > 0 && loads.load() > 0, 1, "threads were at work");
    return failures == 0 ? 0 : 1;
}
