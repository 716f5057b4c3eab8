// Before the underlying allocator is known, somebody else's dlsym() may allocate. What it is given
// then is glibc's, goes back to glibc, and can be resized, whichever allocator was found later.
// hooks: malloc
// not with: asan, tsan (they define malloc themselves)
#include <allocscope/hooks/underlying_allocator.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace detail = allocscope::detail;

namespace {

// As while the choice is made, on this thread.
template <class Work>
void while_choosing(Work work) {
    detail::is_choosing = true;
    work();
    detail::is_choosing = false;
}

}  // namespace

TEST_CASE("early blocks: they are remembered until they are given back") {
    void* block = nullptr;
    void* zeroed = nullptr;
    while_choosing([&] {
        block = detail::first_malloc(10);
        zeroed = detail::first_calloc(3, 5);
    });
    CHECK(detail::early.contains(block));
    CHECK(detail::early.contains(zeroed));
    CHECK(static_cast<char*>(zeroed)[14] == 0);
    CHECK(detail::early.release(block));
    CHECK(!detail::early.release(block));
    while_choosing([&] { detail::first_free(zeroed); });
    CHECK(!detail::early.contains(zeroed));
    CHECK(!detail::early.contains(nullptr));
}

TEST_CASE("early blocks: the functions of another allocator never get one") {
    void* block = nullptr;
    while_choosing([&] { block = detail::first_malloc(10); });
    std::memcpy(block, "123456789", 10);
    block = detail::chained_realloc(block, 100'000);
    CHECK(std::memcmp(block, "123456789", 10) == 0);
    CHECK(detail::early.contains(block));
    CHECK(detail::chained_malloc_usable_size(block) >= 10);
    detail::chained_free(block);
    CHECK(!detail::early.contains(block));
}

TEST_CASE("early blocks: one that cannot be resized stays, and stays remembered") {
    void* block = nullptr;
    while_choosing([&] { block = detail::first_malloc(10); });
    std::memcpy(block, "123456789", 10);
    CHECK(detail::chained_realloc(block, SIZE_MAX / 2 + 1) == nullptr);
    CHECK(std::memcmp(block, "123456789", 10) == 0);
    CHECK(detail::early.contains(block));
    CHECK(detail::chained_realloc(block, 0) == nullptr);  // frees it
    CHECK(!detail::early.contains(block));
}

TEST_CASE("early blocks: a name of 200 characters a hundred times is no more than there is room") {
    void* blocks[100] = {};
    int given = 0;
    while_choosing([&] {
        for (void*& block : blocks) {
            errno = 0;
            block = detail::first_malloc(200);
            if (block != nullptr) ++given;
        }
    });
    CHECK(given == static_cast<int>(detail::early_blocks::most));
    CHECK(errno == ENOMEM);
    for (void* block : blocks) detail::early.release(block);
    while_choosing([&] { blocks[0] = detail::first_malloc(1); });
    CHECK(blocks[0] != nullptr);
    detail::early.release(blocks[0]);
}

TEST_CASE("early blocks: aligned ones are aligned") {
    void* block = nullptr;
    int failure = -1;
    while_choosing([&] { failure = detail::first_posix_memalign(&block, 4096, 10); });
    CHECK(failure == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(block) % 4096 == 0);
    CHECK(detail::early.release(block));
}
