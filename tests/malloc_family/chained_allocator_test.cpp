// Another malloc is asked for what the program asks, but never for less than keeps two blocks out
// of one slot of the live object map. What it does not define is told by its posix_memalign.
// hooks: malloc
// not with: asan, tsan (they define malloc themselves)
#include "../support/escape.hpp"
#include "windows_of_all_kinds.hpp"

#include <allocscope/hooks/chained_allocator.hpp>
#include <allocscope/hooks/malloc_entry.hpp>
#include <allocscope/hooks/underlying_allocator.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace detail = allocscope::detail;

namespace {

// What the other malloc was last asked for. It hands out one place, whatever that was.
struct {
    std::size_t count;
    std::size_t alignment;
    std::size_t bytes;
} asked;

char place[64];

void* take(std::size_t bytes) noexcept {
    asked = {0, 0, bytes};
    return place;
}

void* take_aligned(std::size_t alignment, std::size_t bytes) noexcept {
    asked = {0, alignment, bytes};
    return place;
}

int take_into(void** where, std::size_t alignment, std::size_t bytes) noexcept {
    if (bytes > PTRDIFF_MAX || alignment > PTRDIFF_MAX || alignment == 0) return ENOMEM;
    *where = take_aligned(alignment, bytes);
    return 0;
}

// In place of the next definitions. glibc's own functions are called past those.
class another_malloc {
public:
    another_malloc() {
        auto& next = detail::next_definitions;
        next.malloc = &take;
        next.calloc = [](std::size_t count, std::size_t bytes) noexcept -> void* {
            asked = {count, 0, bytes};
            return place;
        };
        next.realloc = [](void*, std::size_t bytes) noexcept { return take(bytes); };
        next.posix_memalign = &take_into;
        next.aligned_alloc = &take_aligned;
        next.memalign = &take_aligned;
        next.valloc = &take;
        next.pvalloc = &take;
    }
};

}  // namespace

TEST_CASE("chained: small requests are raised to what one slot needs, others stay") {
    const another_malloc installed;
    detail::chained_malloc(0);
    CHECK(asked.bytes == 24);
    detail::chained_malloc(23);
    CHECK(asked.bytes == 24);
    detail::chained_malloc(25);
    CHECK(asked.bytes == 25);
    detail::chained_realloc(nullptr, 1);
    CHECK(asked.bytes == 24);
    detail::chained_realloc(place, 1);
    CHECK(asked.bytes == 24);
    detail::chained_memalign(64, 3);
    CHECK(asked.bytes == 24);
    detail::chained_valloc(3);
    CHECK(asked.bytes == 24);
    detail::chained_pvalloc(3);
    CHECK(asked.bytes == 24);
    void* block = nullptr;
    CHECK(detail::chained_posix_memalign(&block, 64, 3) == 0);
    CHECK(asked.bytes == 24);
    CHECK(asked.alignment == 64);
}

TEST_CASE("chained: aligned_alloc of a multiple of the alignment asks for one, and else for none") {
    const another_malloc installed;
    const auto bytes_for = [](std::size_t alignment, std::size_t bytes) {
        detail::chained_aligned_alloc(alignment, bytes);
        CHECK(asked.alignment == alignment);
        return asked.bytes;
    };
    CHECK(bytes_for(8, 8) == 24);
    CHECK(bytes_for(16, 16) == 32);
    CHECK(bytes_for(16, 0) == 32);
    CHECK(bytes_for(64, 0) == 64);
    CHECK(bytes_for(16, 10) == 26);
    CHECK(bytes_for(64, 3) == 67);
    CHECK(bytes_for(64, 64) == 64);
    CHECK(bytes_for(16, 30) == 30);
    CHECK(bytes_for(0, 3) == 24);
    CHECK(bytes_for(3, 3) == 24);
}

TEST_CASE("chained: realloc to no bytes is theirs to understand") {
    const another_malloc installed;
    detail::chained_realloc(place, 0);
    CHECK(asked.bytes == 0);
}

TEST_CASE("chained: calloc is raised as a whole, and an overflow is theirs to refuse") {
    const another_malloc installed;
    detail::chained_calloc(3, 4);
    CHECK(asked.count * asked.bytes == 24);
    detail::chained_calloc(0, 4);
    CHECK(asked.count * asked.bytes == 24);
    detail::chained_calloc(30, 4);
    CHECK(asked.count == 30);
    CHECK(asked.bytes == 4);
    detail::chained_calloc(SIZE_MAX, 4);
    CHECK(asked.count == SIZE_MAX);
    CHECK(asked.bytes == 4);
}

TEST_CASE("chained: what they do not define is told by posix_memalign") {
    const another_malloc installed;
    CHECK(detail::replaced_memalign(0, 100) == place);
    CHECK(asked.alignment == sizeof(void*));
    CHECK(detail::replaced_memalign(48, 100) == place);
    CHECK(asked.alignment == 64);
    CHECK(detail::replaced_valloc(100) == place);
    CHECK(asked.alignment == 4096);
    CHECK(asked.bytes == 100);
    CHECK(detail::replaced_pvalloc(100) == place);
    CHECK(asked.bytes == 4096);
    errno = 0;
    CHECK(detail::replaced_pvalloc(SIZE_MAX) == nullptr);
    CHECK(errno == ENOMEM);
    errno = 0;
    CHECK(detail::replaced_memalign(SIZE_MAX, 1) == nullptr);
    CHECK(errno == ENOMEM);
}

TEST_CASE("chained: what another malloc asks for while it prepares itself is no sample") {
    const another_malloc installed;
    const auto aligns_by_itself = detail::underlying.posix_memalign.load();
    detail::underlying.posix_memalign = &detail::chained_posix_memalign;
    // As oneTBB opens files in its first call, whichever that is.
    static void* given;
    static const auto prepare = [] {
        detail::chained_malloc(200);
        given = detail::block_at_page(200);
    };
    auto& next = detail::next_definitions;
    next.malloc = [](std::size_t bytes) noexcept {
        if (bytes == 100) prepare();
        return take(bytes);
    };
    next.calloc = [](std::size_t, std::size_t bytes) noexcept {
        prepare();
        return take(bytes);
    };
    next.realloc = [](void*, std::size_t bytes) noexcept {
        prepare();
        return take(bytes);
    };
    next.aligned_alloc = [](std::size_t alignment, std::size_t bytes) noexcept {
        prepare();
        return take_aligned(alignment, bytes);
    };
    next.memalign = next.aligned_alloc.load();
    next.valloc = [](std::size_t bytes) noexcept {
        prepare();
        return take(bytes);
    };
    next.pvalloc = next.valloc.load();
    const auto given_in = [](auto&& first_call) {
        given = place;
        detail::is_other_preparing = true;
        first_call();
        CHECK(detail::block_at_page(200) == place);  // now it is prepared
        return given;
    };
    CHECK(given_in([] { detail::chained_malloc(100); }) == nullptr);
    CHECK(given_in([] { detail::chained_calloc(1, 100); }) == nullptr);
    CHECK(given_in([] { detail::chained_realloc(nullptr, 100); }) == nullptr);
    CHECK(given_in([] { detail::chained_aligned_alloc(64, 128); }) == nullptr);
    CHECK(given_in([] { detail::chained_memalign(64, 100); }) == nullptr);
    CHECK(given_in([] { detail::chained_valloc(100); }) == nullptr);
    CHECK(given_in([] { detail::chained_pvalloc(100); }) == nullptr);
    next.posix_memalign = [](void** where, std::size_t alignment, std::size_t bytes) noexcept {
        if (bytes == 100) prepare();
        return take_into(where, alignment, bytes);
    };
    void* block = nullptr;
    CHECK(given_in([&] { detail::chained_posix_memalign(&block, 64, 100); }) == nullptr);
    detail::is_other_preparing = true;
    CHECK(detail::block_at_page(200) == place);  // nothing is asked of it yet
    detail::underlying.posix_memalign = aligns_by_itself;
}

TEST_CASE("chained: a sampled realloc keeps the content also where the old room is not known") {
    const auto told_by_glibc = detail::underlying.malloc_usable_size.load();
    detail::underlying.malloc_usable_size = &detail::replaced_malloc_usable_size;
    detail::is_glibc_underlying = false;
    int wrong = 0;
    {
        allocscope::scope window{"resized", allocscope_test::sampling_with(2)};
        for (std::size_t bytes = 1000; bytes < 50'000; bytes += 1000) {
            char* block = static_cast<char*>(allocscope_test::opaque(std::malloc(bytes)));
            std::memset(block, 'x', bytes);
            block = static_cast<char*>(allocscope_test::opaque(std::realloc(block, 2 * bytes)));
            for (std::size_t i = 0; i < bytes; ++i) {
                if (block[i] != 'x') ++wrong;
            }
            std::free(block);
        }
    }
    detail::underlying.malloc_usable_size = told_by_glibc;
    detail::is_glibc_underlying = true;
    CHECK(wrong == 0);
}
