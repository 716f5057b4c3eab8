// Danger: memory stands in the wrong part, or in none. Memory of known kinds and sizes is made, and
// each is found in its part, and in no other, also where the kernel makes one mapping of several.
// not with: asan, tsan
// They keep memory of their own beside each page of the program, and replace malloc.

#include "../../support/escape.hpp"
#include "../../support/process_test.hpp"
#include "../../support/resident_memory.hpp"

#include <allocscope/report.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

using namespace allocscope_test;
using allocscope::explain_memory;
using allocscope::memory_part;
using allocscope::memory_use;

namespace {

constexpr std::size_t tolerance = 192 * 1024;  // what the program's own doings take meanwhile

std::uint64_t sum_of(const memory_use& use) {
    std::uint64_t sum = 0;
    for (const std::uint64_t part : use.parts) sum += part;
    return sum;
}

void print(const char* what, const memory_use& use) {
    std::fprintf(stderr, "%s: %llu", what, static_cast<unsigned long long>(use.resident_bytes));
    for (std::size_t i = 0; i < allocscope::memory_part_count; ++i) {
        std::fprintf(stderr, " %s=%llu", name_of(static_cast<memory_part>(i)),
                     static_cast<unsigned long long>(use.parts[i]));
    }
    std::fprintf(stderr, "\n");
}

bool is_near(std::uint64_t is, std::uint64_t expected) {
    return is + tolerance >= expected && is <= expected + tolerance;
}

// What has come between two moments is in one part, and the others are as they were.
void check_growth(const char* what, const memory_use& before, memory_part part,
                  std::uint64_t bytes) {
    const memory_use after = explain_memory();
    bool is_right = sum_of(after) == after.resident_bytes;
    for (std::size_t i = 0; i < allocscope::memory_part_count; ++i) {
        const std::uint64_t grown = static_cast<memory_part>(i) == part ? bytes : 0;
        is_right = is_right && is_near(after.parts[i], before.parts[i] + grown);
    }
    if (!is_right) {
        print("before", before);
        print("after", after);
    }
    expect(is_right, what, __FILE__, __LINE__);
}

void* map_anonymous(std::size_t bytes) {
    void* const mapped =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ALLOCSCOPE_EXPECT(mapped != MAP_FAILED);
    return mapped;
}

void touch(void* from, std::size_t bytes) {
    std::memset(from, 1, bytes);
    __asm__ volatile("" : : "r"(from) : "memory");  // else clang leaves it out
}

void mapped_and_large_blocks() {
    const memory_use before = explain_memory();
    void* const mapped = map_anonymous(64 * mebibyte);
    touch(mapped, 64 * mebibyte);
    check_growth("64 MiB from mmap", before, memory_part::anonymous, 64 * mebibyte);

    // The kernel puts them side by side, and makes one mapping of all.
    const memory_use then = explain_memory();
    void* const large = std::malloc(32 * mebibyte);
    void* const between = map_anonymous(4 * mebibyte);
    void* const other = std::malloc(16 * mebibyte);
    touch(large, 5 * mebibyte);
    touch(other, 3 * mebibyte);
    check_growth("8 of 48 MiB from malloc", then, memory_part::other_blocks, 8 * mebibyte);
    const memory_use used = explain_memory();
    touch(between, 4 * mebibyte);
    check_growth("4 MiB from mmap between", used, memory_part::anonymous, 4 * mebibyte);
    std::free(large);
    std::free(other);
    ::munmap(between, 4 * mebibyte);
    ::munmap(mapped, 64 * mebibyte);
    check_growth("all given back", before, memory_part::anonymous, 0);
}

// A page that was only read is the kernel's page of zeros, and counts as no memory.
void pages_that_were_read() {
    constexpr std::size_t bytes = 32 * mebibyte;
    const memory_use before = explain_memory();
    char* const zeros = static_cast<char*>(std::calloc(1, bytes));
    std::size_t sum = 0;
    for (std::size_t i = 0; i < bytes; i += 4096) sum += static_cast<unsigned char>(zeros[i]);
    ALLOCSCOPE_EXPECT_EQUAL(sum, 0);
    check_growth("32 MiB that were read", before, memory_part::other_blocks, 0);
    std::free(opaque(zeros));
}

void files_and_shared_memory() {
    std::FILE* const file = std::tmpfile();
    ALLOCSCOPE_EXPECT(file != nullptr);
    const std::vector<char> contents(16 * mebibyte, 'x');
    ALLOCSCOPE_EXPECT(std::fwrite(contents.data(), 1, contents.size(), file) == contents.size());
    std::fflush(file);
    const memory_use before = explain_memory();
    void* const mapped =
        ::mmap(nullptr, contents.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE, ::fileno(file), 0);
    ALLOCSCOPE_EXPECT(mapped != MAP_FAILED);
    touch(mapped, contents.size());
    check_growth("16 MiB of a file", before, memory_part::files, contents.size());
    ::munmap(mapped, contents.size());

    const memory_use then = explain_memory();
    void* const shared =
        ::mmap(nullptr, 8 * mebibyte, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    touch(shared, 8 * mebibyte);
    check_growth("8 MiB that are shared", then, memory_part::shared, 8 * mebibyte);
    ::munmap(shared, 8 * mebibyte);
}

char variables[12 * mebibyte];

void variables_of_the_program() {
    const memory_use before = explain_memory();
    touch(variables, sizeof variables);
    check_growth("12 MiB of variables", before, memory_part::program, sizeof variables);
}

struct sleeper {
    pthread_barrier_t* all;
    std::size_t stack_used;
    std::size_t allocated;
};

void* sleep_deeply(void* given) {
    auto& own = *static_cast<sleeper*>(given);
    std::vector<void*> kept;
    char* const used = static_cast<char*>(__builtin_alloca(own.stack_used + 1));
    touch(used, own.stack_used + 1);
    for (std::size_t done = 0; done < own.allocated; done += 1000) {
        void* const block = std::malloc(1000 - 8);
        touch(block, 1000 - 8);
        *static_cast<void**>(block) = kept.empty() ? nullptr : kept[0];
        kept.assign(1, block);
    }
    ::pthread_barrier_wait(own.all);
    ::pthread_barrier_wait(own.all);
    for (void* block = kept.empty() ? nullptr : kept[0]; block != nullptr;) {
        void* const next = *static_cast<void**>(block);
        std::free(block);
        block = next;
    }
    return nullptr;
}

// From 2.42 on, glibc asks the kernel (Linux 6.13) to guard pages of the stack's own mapping; a
// stack is then not told from other memory (docs/limits.md).
bool are_guards_mappings() {
#if __GLIBC_PREREQ(2, 42)
    constexpr int install_guard = 102;  // MADV_GUARD_INSTALL
    void* const page = map_anonymous(4096);
    const bool can_guard = ::madvise(page, 4096, install_guard) == 0;
    ::munmap(page, 4096);
    return !can_guard;
#else
    return true;
#endif
}

void in_threads(std::size_t count, const sleeper& each, const char* what, memory_part part,
                std::uint64_t bytes) {
    pthread_barrier_t all;
    ::pthread_barrier_init(&all, nullptr, static_cast<unsigned>(count + 1));
    sleeper own = each;
    own.all = &all;
    const memory_use before = explain_memory();
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back([&own] { sleep_deeply(&own); });
    ::pthread_barrier_wait(&all);
    check_growth(what, before, part, bytes);
    ::pthread_barrier_wait(&all);
    for (std::thread& thread : threads) thread.join();
}

struct large_arena {
    pthread_barrier_t all;
    std::vector<void*> blocks;
};

void* fill_arenas(void* given) {
    auto& own = *static_cast<large_arena*>(given);
    for (void*& block : own.blocks) block = std::malloc(100000);
    ::pthread_barrier_wait(&own.all);
    ::pthread_barrier_wait(&own.all);
    for (void* block : own.blocks) std::free(block);
    return nullptr;
}

std::uint64_t heap_of(const memory_use& use) {
    return use[memory_part::other_blocks] + use[memory_part::free_blocks];
}

// A full arena ends with a few pages that cannot be used, like the guard of a stack; and memory
// that malloc has and nobody has touched is not to be found elsewhere.
void full_arenas() {
    constexpr std::uintptr_t arena = 64 * mebibyte;
    constexpr std::size_t bytes = 4 * mebibyte;
    void* const mapped = map_anonymous(64 * mebibyte);
    touch(mapped, 64 * mebibyte);
    large_arena own;
    own.blocks.resize(2500);
    ::pthread_barrier_init(&own.all, nullptr, 2);
    const memory_use before = explain_memory();
    pthread_t thread;
    ::pthread_create(&thread, nullptr, &fill_arenas, &own);
    ::pthread_barrier_wait(&own.all);
    constexpr std::size_t heads = 4096 * 2500;  // each block has a header in a page of its own
    const memory_use full = explain_memory();
    ALLOCSCOPE_EXPECT(is_near(full[memory_part::anonymous], before[memory_part::anonymous]));
    ALLOCSCOPE_EXPECT(is_near(full[memory_part::stacks], before[memory_part::stacks]));
    ALLOCSCOPE_EXPECT_AT_MOST(heap_of(full), heap_of(before) + heads + tolerance);
    void* behind = MAP_FAILED;
    std::uintptr_t last = 0;
    for (void* const block : own.blocks) {
        const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(block) | (arena - 1)) + 1;
        if (end == last || behind != MAP_FAILED) continue;
        last = end;
        behind = ::mmap(reinterpret_cast<void*>(end), bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    if (behind != MAP_FAILED) {
        const memory_use then = explain_memory();
        touch(behind, bytes);
        check_growth("4 MiB behind an arena", then, memory_part::anonymous, bytes);
        ::munmap(behind, bytes);
    } else {
        std::fputs("there is no room behind any arena\n", stderr);
    }
    ::pthread_barrier_wait(&own.all);
    ::pthread_join(thread, nullptr);
    ::munmap(mapped, 64 * mebibyte);
}

struct node {
    char content[40];
};

void recorded_objects() {
    constexpr std::size_t count = 100000;
    std::vector<node*> nodes(count);
    allocscope::scope window{"nodes"};
    for (node*& each : nodes) each = opaque(new node);
    const memory_use full = *allocscope::with_memory(window.stats()).info().memory;
    ALLOCSCOPE_EXPECT(sum_of(full) == full.resident_bytes);
    ALLOCSCOPE_EXPECT(full[memory_part::recorded] == count * sizeof(node));
    ALLOCSCOPE_EXPECT(full[memory_part::rounding] == count * 8);
    for (std::size_t i = 0; i < count; i += 2) delete nodes[i];
    const allocscope::snapshot half = allocscope::with_memory(window.stats());
    const memory_use& now = *half.info().memory;
    ALLOCSCOPE_EXPECT(now[memory_part::recorded] == count / 2 * sizeof(node));
    ALLOCSCOPE_EXPECT(now[memory_part::rounding] == count / 2 * 8);
    ALLOCSCOPE_EXPECT(is_near(now[memory_part::free_blocks],
                              full[memory_part::free_blocks] + count / 2 * (sizeof(node) + 8)));
    ALLOCSCOPE_EXPECT(is_near(now[memory_part::other_blocks], full[memory_part::other_blocks]));
    ALLOCSCOPE_EXPECT(half.size() == 1 && half[0].objects == count / 2);
    ALLOCSCOPE_EXPECT(half.stacks().size() == 1);
    print("half", now);
    // Its tables: each object has a record of at least 8 bytes.
    const std::uint64_t own = half.info().own_memory_bytes;
    std::fprintf(stderr, "own memory %llu\n", static_cast<unsigned long long>(own));
    ALLOCSCOPE_EXPECT(now[memory_part::allocscope] >= own / 2 &&
                      now[memory_part::allocscope] < 3 * own);
    const std::string text = allocscope::to_text(half);
    ALLOCSCOPE_EXPECT(text.find("\nresident memory  ") != std::string::npos);
    for (std::size_t i = 1; i < count; i += 2) delete nodes[i];
}

void nothing_is_charged() {
    allocscope::scope window{"quiet"};
    const memory_use now = explain_memory();
    ALLOCSCOPE_EXPECT(is_near(now.resident_bytes, resident_bytes()));
    const allocscope::snapshot with = allocscope::with_memory(window.stats());
    ALLOCSCOPE_EXPECT(window.counts().allocations == 0);
    ALLOCSCOPE_EXPECT(with.info().memory != nullptr && with.info().memory->resident_bytes != 0);
    ALLOCSCOPE_EXPECT(window.stats().info().memory == nullptr);
    ALLOCSCOPE_EXPECT(with.difference_from(with).empty());
}

}  // namespace

int main() {
    watchdog();
    ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);  // a touched page is then one page
    static_cast<void>(explain_memory());
    nothing_is_charged();
    mapped_and_large_blocks();
    pages_that_were_read();
    files_and_shared_memory();
    variables_of_the_program();
    in_threads(4, {nullptr, 1 * mebibyte, 0}, "4 stacks of 1 MiB",
               are_guards_mappings() ? memory_part::stacks : memory_part::anonymous, 4 * mebibyte);
    in_threads(1, {nullptr, 0, 10 * mebibyte}, "10 MiB in the arena of a thread",
               memory_part::other_blocks, 10 * mebibyte);
    full_arenas();
    recorded_objects();
    return verdict();
}
