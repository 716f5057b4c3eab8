// Every function that hands out memory is one allocation of as many bytes as were asked for, every
// one that takes it back is one free, and an operator's is the operator's alone.
// hooks: malloc
// not with: asan, tsan (they define malloc themselves)
#include "../support/escape.hpp"
#include "next_malloc.hpp"
#include "windows_of_all_kinds.hpp"

#include <allocscope/hooks/malloc_entry.hpp>
#include <allocscope/hooks/underlying_allocator.hpp>

#include <doctest/doctest.h>

#include <dlfcn.h>
#include <malloc.h>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>
#include <optional>

using namespace allocscope_test;

extern "C" void free_sized(void* block, std::size_t bytes) noexcept;
extern "C" void free_aligned_sized(void* block, std::size_t alignment, std::size_t bytes) noexcept;

namespace {

constexpr std::initializer_list<allocscope::recording> exact_kinds{allocscope::recording::exact,
                                                                   allocscope::recording::counters};

struct births_and_deaths {
    allocscope::allocation_counts born;
    allocscope::allocation_counts died;
};

template <class Make, class Unmake>
births_and_deaths count(allocscope::recording record, Make make, Unmake unmake) {
    allocscope::scope window{"once", recording_as(record)};
    void* block = opaque(make());
    births_and_deaths seen;
    seen.born = window.counts();
    unmake(block);
    seen.died = window.counts();
    return seen;
}

template <class Make, class Unmake>
void expect_once(std::uint64_t bytes, Make make, Unmake unmake) {
    for (const auto record : exact_kinds) {
        const births_and_deaths seen = count(record, make, unmake);
        CHECK(seen.born.allocations == 1);
        CHECK(seen.born.bytes_allocated == bytes);
        CHECK(seen.born.frees == 0);
        CHECK(seen.died.allocations == 1);
        CHECK(seen.died.frees == 1);
        CHECK(seen.died.bytes_freed == bytes);
    }
}

template <class Make>
void expect_once(std::uint64_t bytes, Make make) {
    expect_once(bytes, make, [](void* block) { std::free(block); });
}

// Calls that glibc refuses, and leave nothing behind.
template <class Call>
void expect_nothing(int error, Call call) {
    if (!next_malloc::is_glibc()) return;
    for (const auto record : exact_kinds) {
        allocscope::scope window{"nothing", recording_as(record)};
        errno = 0;
        void* block = opaque(call());
        const int seen = errno;
        const allocscope::allocation_counts counts = window.counts();
        CHECK(block == nullptr);
        CHECK(seen == error);
        CHECK(counts.allocations == 0);
        CHECK(counts.frees == 0);
    }
}

volatile std::size_t one = 1;            // what the compiler must not know
volatile std::size_t huge = 1UL << 33U;  // of which the square is more than there is

}  // namespace

TEST_CASE("malloc family: each birth is counted once, with the bytes asked for") {
    expect_once(5, [] { return std::malloc(5 * one); });
    expect_once(0, [] { return std::malloc(0 * one); });
    expect_once(91, [] { return std::calloc(7 * one, 13); });
    expect_once(33, [] { return std::realloc(nullptr, 33 * one); });
    expect_once(60, [] { return ::reallocarray(nullptr, 20 * one, 3); });
    expect_once(100, [] {
        void* block = nullptr;
        return ::posix_memalign(&block, 64, 100 * one) == 0 ? block : nullptr;
    });
    expect_once(128, [] { return ::aligned_alloc(64, 128 * one); });
    expect_once(17, [] { return ::memalign(256, 17 * one); });
    expect_once(10, [] { return ::valloc(10 * one); });
    expect_once(5000, [] { return ::pvalloc(5000 * one); });
    expect_once(40'000'000, [] { return std::malloc(40'000'000 * one); });
    expect_once(100'000'000, [] { return std::calloc(1000, 100'000 * one); });
}

TEST_CASE("malloc family: each death is counted once") {
    const auto make = [] { return std::malloc(64 * one); };
    if (next_malloc::is_glibc()) {  // others hand out an empty block
        expect_once(64, make, [](void* block) { std::free(opaque(std::realloc(block, 0 * one))); });
    }
    expect_once(64, make, [](void* block) { ::free_sized(block, 64); });
    expect_once(
        64, [] { return ::aligned_alloc(64, 64 * one); },
        [](void* block) { ::free_aligned_sized(block, 64, 64); });
}

TEST_CASE("malloc family: a C23 free that was looked up by name is ours") {
    const auto found =
        reinterpret_cast<void (*)(void*, std::size_t)>(dlsym(RTLD_DEFAULT, "free_sized"));
    REQUIRE((found == nullptr || found == &::free_sized));
}

TEST_CASE("malloc family: what an operator allocates is counted once, as the operator's") {
    for (const auto record : exact_kinds) {
        allocscope::scope window{"operators", recording_as(record)};
        int* one_int = opaque(new int{1});
        int* some = opaque(new int[10 * one]);
        void* aligned = opaque(::operator new (100, std::align_val_t{64}));
        void* silent = opaque(::operator new(3, std::nothrow));
        const allocscope::allocation_counts born = window.counts();
        delete one_int;
        delete[] some;
        ::operator delete (aligned, std::align_val_t{64});
        ::operator delete(silent, std::nothrow);
        const allocscope::allocation_counts died = window.counts();
        CHECK(born.allocations == 4);
        CHECK(born.bytes_allocated == 147);
        CHECK(died.frees == 4);
        CHECK(died.allocations == 4);
        CHECK(died.bytes_freed == 147);
    }
}

TEST_CASE("malloc family: new may be freed by free, and malloc'ed memory by delete") {
    expect_once(4, [] { return static_cast<void*>(new int{7}); });
    expect_once(
        9, [] { return std::malloc(9 * one); }, [](void* block) { ::operator delete(block); });
}

TEST_CASE("malloc family: a realloc that succeeds is one death and one birth") {
    for (const auto record : exact_kinds) {
        for (const std::size_t bytes : {16U, 24U, 1000U, 300'000U, 70'000'000U, 90'000'000U}) {
            allocscope::scope window{"realloc", recording_as(record)};
            void* block = opaque(std::malloc(40 * one));
            block = opaque(std::realloc(block, bytes));
            const allocscope::allocation_counts seen = window.counts();
            std::free(block);
            const allocscope::allocation_counts end = window.counts();
            CHECK(seen.allocations == 2);
            CHECK(seen.frees == 1);
            CHECK(seen.live_bytes() == bytes);
            CHECK(seen.bytes_allocated == 40 + bytes);
            CHECK(end.frees == 2);
            CHECK(end.live_bytes() == 0);
        }
    }
}

TEST_CASE("malloc family: the hooks hand on what the next malloc in the search order gives") {
    void* block = opaque(std::malloc(100 * one));
    const std::size_t theirs = next_malloc::malloc_usable_size(block);
    const std::size_t ours = ::malloc_usable_size(block);
    next_malloc::free(block);
    block = opaque(std::malloc(5 * one));
    const std::size_t small = ::malloc_usable_size(block);
    std::free(block);
    CHECK(theirs == ours);
    CHECK(allocscope::detail::is_glibc_underlying.load() == next_malloc::is_glibc());
    // While it checks, glibc says what was asked for.
    const std::size_t expected = next_malloc::checking("malloc") != nullptr ? 5 : 24;
    if (next_malloc::is_glibc()) CHECK(small == expected);
}

TEST_CASE("malloc family: what is refused is not counted") {
    expect_nothing(ENOMEM, [] { return std::malloc(SIZE_MAX * one); });
    expect_nothing(ENOMEM, [] { return std::malloc((std::size_t{PTRDIFF_MAX} + 1) * one); });
    expect_nothing(ENOMEM, [] { return std::calloc(huge, huge); });
    expect_nothing(ENOMEM, [] { return ::reallocarray(nullptr, huge, huge); });
    expect_nothing(ENOMEM, [] { return ::pvalloc(SIZE_MAX * one); });
    expect_nothing(ENOMEM, [] { return std::realloc(nullptr, SIZE_MAX * one); });
}

TEST_CASE("malloc family: posix_memalign refuses without touching pointer or errno") {
    if (!next_malloc::is_glibc()) return;
    allocscope::scope window{"posix_memalign"};
    int wrong = 0;
    for (const std::size_t alignment : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, 12U, 24U}) {
        void* untouched = &wrong;
        errno = 77;
        if (::posix_memalign(&untouched, alignment * one, 10) != EINVAL) ++wrong;
        if (untouched != &wrong || errno != 77) ++wrong;
    }
    void* untouched = &wrong;
    if (::posix_memalign(&untouched, 64, SIZE_MAX * one) != ENOMEM || untouched != &wrong) ++wrong;
    const allocscope::allocation_counts seen = window.counts();
    CHECK(wrong == 0);
    CHECK(seen.allocations == 0);
}

// The memory for a sample is refused, and an exact window opens before the program gets its block.
TEST_CASE("malloc family: a window that opens while a sample is refused records the object") {
    namespace detail = allocscope::detail;
    allocscope::scope sampled{"before", sampling_with(2)};
    std::optional<allocscope::scope> exact;
    bool was_sample = false;
    void* block = detail::obtain_watched(24, detail::hook_frame(), [&](bool is_sample) {
        was_sample = is_sample;
        exact.emplace("meanwhile");
        return detail::underlying_malloc(24);
    });
    const allocscope::allocation_counts born = exact->counts();
    std::free(block);
    const allocscope::allocation_counts died = exact->counts();
    const std::uint64_t losses = sampled.stats().info().loss_count;

    CHECK(was_sample);
    CHECK(born.allocations == 1);
    CHECK(born.bytes_allocated == 24);
    CHECK(died.live_objects() == 0);
    CHECK(losses == 0);
}

TEST_CASE("malloc family: ten thousand blocks of no bytes are ten thousand objects") {
    constexpr int many = 10'000;
    static void* blocks[many];
    allocscope::scope window{"nothing each"};
    for (void*& block : blocks) block = opaque(std::malloc(0 * one));
    const allocscope::snapshot alive = window.stats();
    for (void* block : blocks) std::free(block);
    CHECK(alive.live_objects() == many);
    CHECK(alive.live_bytes() == 0);
    CHECK(window.counts().live_objects() == 0);
}

TEST_CASE("malloc family: blocks from before the window change nothing when they are freed") {
    constexpr int many = 100'000;
    static void* blocks[many];
    for (void*& block : blocks) block = opaque(std::malloc(20 * one));
    for (const auto record : exact_kinds) {
        allocscope::scope window{"later", recording_as(record)};
        const int first = record == allocscope::recording::exact ? 0 : 1;
        for (int i = first; i < many; i += 2) std::free(blocks[i]);
        const allocscope::allocation_counts seen = window.counts();
        CHECK(seen.allocations == 0);
        CHECK(seen.frees == 0);
    }
}

TEST_CASE("malloc family: what the C library allocates for itself is seen") {
    allocscope::scope window{"strdup"};
    char* copy = opaque(::strdup("twelve chars"));
    const allocscope::allocation_counts born = window.counts();
    std::free(copy);
    const allocscope::allocation_counts died = window.counts();
    CHECK(born.allocations == 1);
    CHECK(born.bytes_allocated == 13);
    CHECK(died.frees == 1);
}

TEST_CASE("malloc family: a row has the line of the call") {
    allocscope::scope window{"rows"};
    void* block = opaque(std::malloc(11 * one));
    const int line = __LINE__ - 1;
    const allocscope::snapshot alive = window.stats();
    std::free(block);
    REQUIRE(alive.size() == 1);
    CHECK(alive[0].line == line);
}

TEST_CASE("malloc family: a realloc'ed object is where it was realloc'ed") {
    allocscope::scope window{"rows"};
    void* block = opaque(std::malloc(11 * one));
    block = opaque(std::realloc(block, 12 * one));
    const int line = __LINE__ - 1;
    const allocscope::snapshot alive = window.stats();
    std::free(block);
    REQUIRE(alive.size() == 1);
    CHECK(alive[0].line == line);
    CHECK(alive[0].bytes == 12);
}
