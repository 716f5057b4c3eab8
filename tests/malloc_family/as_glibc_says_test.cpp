// What a program hears of its heap is what glibc says: how it ends after a second free, the numbers
// of mallinfo2, the bytes of M_PERTURB, and all of the room that malloc_usable_size promises.
// hooks: malloc
// not with: asan, tsan (they define malloc themselves)
#include "../support/escape.hpp"
#include "../support/forked_child.hpp"
#include "next_malloc.hpp"
#include "windows_of_all_kinds.hpp"

#include <doctest/doctest.h>

#include <malloc.h>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace allocscope_test;

namespace {

using free_function = void (*)(void*);

child_end after_two_frees(free_function release, bool has_window) {
    return in_child([=] {
        std::signal(SIGABRT, SIG_DFL);  // doctest has one of its own
        allocscope::options wanted;
        wanted.record = allocscope::recording::counters;
        static allocscope::scope* window = nullptr;
        if (has_window) window = new allocscope::scope{"twice", wanted};
        void* block = opaque(std::malloc(100));
        release(block);
        release(opaque(block));
        return window == nullptr ? 0 : 1;
    });
}

}  // namespace

TEST_CASE("malloc family: a second free is glibc's to tell") {
    if (!next_malloc::is_glibc()) return;
    const child_end wanted = after_two_frees(&next_malloc::free, false);
    const child_end idle = after_two_frees(&std::free, false);
    const child_end open = after_two_frees(&std::free, true);
    CHECK(wanted.was_killed_by(SIGABRT));
    CHECK(wanted.text.find("double free") != std::string::npos);
    CHECK(idle.was_killed_by(SIGABRT));
    CHECK(open.was_killed_by(SIGABRT));
    CHECK(idle.text == wanted.text);
    CHECK(open.text == wanted.text);
}

TEST_CASE("malloc family: all the room of a block may be used") {
    with_every_kind_of_window([](const char*) {
        static void* blocks[10'000];
        static std::size_t rooms[10'000];
        for (int i = 0; i < 10'000; ++i) {
            blocks[i] = opaque(std::malloc(static_cast<std::size_t>(i) % 1111));
            rooms[i] = ::malloc_usable_size(blocks[i]);
            std::memset(blocks[i], i & 0xff, rooms[i]);
        }
        int wrong = 0;
        for (int i = 0; i < 10'000; ++i) {
            const auto* bytes = static_cast<const unsigned char*>(blocks[i]);
            for (std::size_t k = 0; k < rooms[i]; ++k) {
                if (bytes[k] != static_cast<unsigned char>(i)) ++wrong;
            }
            std::free(blocks[i]);
        }
        if (wrong != 0) CHECK(wrong == 0);
    });
}

TEST_CASE("malloc family: what mallopt sets and mallinfo2 says are glibc's") {
    if (!next_malloc::is_glibc()) return;
    const child_end end = in_child([] {
        allocscope::scope window{"glibc"};
        const std::size_t before = mallinfo2().uordblks;
        void* block = opaque(std::malloc(100'000));
        const std::size_t more = mallinfo2().uordblks - before;
        std::free(block);
        mallopt(M_PERTURB, 0x33);
        block = opaque(std::malloc(3000));  // from no thread's own cache, which sets nothing
        const int first = static_cast<unsigned char*>(block)[0];
        void* zeroed = opaque(std::calloc(64, 1));
        const int zero = static_cast<unsigned char*>(zeroed)[0];
        malloc_trim(0);
        return more >= 100'000 && more < 110'000 && first == 0xcc && zero == 0 ? 0 : 1;
    });
    CHECK(end.exited_with(0));
}

TEST_CASE("malloc family: a large calloc that is a sample is zero where M_PERTURB fills blocks") {
    if (!next_malloc::is_glibc()) return;
    const child_end end = in_child([] {
        constexpr std::size_t bytes = std::size_t{64} << 20U;  // straight from the kernel
        mallopt(M_PERTURB, 0x33);
        allocscope::scope window{"filled", sampling_with(4096)};
        const auto* block = static_cast<const unsigned char*>(opaque(std::calloc(bytes, 1)));
        const bool is_sample = reinterpret_cast<std::uintptr_t>(block) % 4096 == 0;
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < bytes; ++i) wrong += block[i] != 0 ? 1 : 0;
        return is_sample && wrong == 0 ? 0 : 1;
    });
    CHECK(end.exited_with(0));
}

TEST_CASE("malloc family: a large calloc that is a sample takes no memory before it is written") {
    constexpr std::size_t bytes = std::size_t{1} << 30U;
    allocscope::scope window{"large", sampling_with(4096)};
    const auto resident_kib = [] {
        std::FILE* file = std::fopen("/proc/self/statm", "r");
        unsigned long total = 0;
        unsigned long resident = 0;
        if (std::fscanf(file, "%lu %lu", &total, &resident) != 2) resident = 0;
        std::fclose(file);
        return resident * 4;
    };
    const unsigned long before = resident_kib();
    char* block = static_cast<char*>(opaque(std::calloc(bytes, 1)));
    const unsigned long after = resident_kib();
    REQUIRE(block != nullptr);
    const bool is_sample = reinterpret_cast<std::uintptr_t>(block) % 4096 == 0;
    const bool is_zero = block[0] == 0 && block[bytes / 2] == 0 && block[bytes - 1] == 0;
    std::free(block);
    CHECK(is_sample);
    CHECK(is_zero);
    CHECK(after < before + 16 * 1024);
}
