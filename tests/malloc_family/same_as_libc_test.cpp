// Whether a call succeeds, its errno and its alignment are those of the function that is replaced,
// for thousands of random and extreme arguments, whatever window is open.
// hooks: malloc
// not with: asan, tsan (they define malloc themselves)
#include "../support/dice.hpp"
#include "../support/escape.hpp"
#include "../support/scale.hpp"
#include "next_malloc.hpp"
#include "windows_of_all_kinds.hpp"

#include <doctest/doctest.h>

#include <malloc.h>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace allocscope_test;

namespace {

const int tuples = static_cast<int>(scaled(6024, 12048));
constexpr int untouched_errno = 77;
const auto untouched_block = reinterpret_cast<void*>(std::uintptr_t{0x1234});

struct outcome {
    void* block = nullptr;
    int result = 0;  // of posix_memalign
    int error = 0;
    std::size_t usable = 0;
};

template <class Call>
outcome outcome_of(Call call) {
    outcome seen;
    errno = untouched_errno;
    seen.block = opaque(call(seen));
    seen.error = errno;
    return seen;
}

bool is_block(const outcome& seen) {
    return seen.block != nullptr && seen.block != untouched_block;
}

// Those that other allocators than glibc would really touch, or look for a long time, are left out.
std::size_t extreme(dice& roll) {
    constexpr std::size_t one = 1;
    constexpr std::size_t around[] = {0,         one << 12U, one << 16U, one << 17U,
                                      one << 20, one << 25U, one << 47U, PTRDIFF_MAX,
                                      SIZE_MAX,  one << 63U, one << 31U, one << 33U};
    static const std::size_t most = next_malloc::is_glibc() ? 12 : 9;
    return around[roll.below(most)] + roll.below(97) - 48;
}

std::size_t random_size(dice& roll) {
    switch (roll.below(8)) {
        case 0:
            return extreme(roll);
        case 1:
            return roll.below(300000);
        case 2:
            return roll.below(5000);
        default:
            return roll.below(200);
    }
}

std::size_t random_alignment(dice& roll) {
    switch (roll.below(4)) {
        case 0:
            return roll.below(70);
        case 1:
            return extreme(roll);
        case 2:
            return (std::size_t{1} << roll.below(64)) + roll.below(3) - 1;
        default:
            return std::size_t{8} << roll.below(14);
    }
}

// A block from the function that is ours, and one from the next: both may differ only in address.
class comparison {
public:
    comparison(const char* function, const char* window) : function_(function), window_(window) {}

    // `bytes`: what must be usable. The reference's block is freed before ours is asked for, so
    // that the heap is the same for both.
    template <class Theirs, class Ours>
    void run(std::size_t bytes, std::size_t alignment, Theirs theirs, Ours ours) {
        outcome wanted = outcome_of(theirs);
        if (is_block(wanted)) wanted.usable = next_malloc::malloc_usable_size(wanted.block);
        if (is_block(wanted)) next_malloc::free(wanted.block);
        outcome seen = outcome_of(ours);
        if (is_block(seen)) seen.usable = malloc_usable_size(seen.block);
        check(seen, wanted, bytes, alignment);
        errno = untouched_errno;
        if (is_block(seen)) std::free(seen.block);
        if (errno != untouched_errno) CHECK(errno == untouched_errno);
    }

    void check(const outcome& seen, const outcome& wanted, std::size_t bytes,
               std::size_t alignment) {
        bool is_same = (seen.block == nullptr) == (wanted.block == nullptr) &&
                       is_block(seen) == is_block(wanted) && seen.result == wanted.result &&
                       seen.error == wanted.error;
        if (is_block(seen)) {
            is_same = is_same && seen.usable >= bytes && is_usable_size_same(seen, wanted);
            const bool is_power = (alignment & (alignment - 1)) == 0;
            const std::size_t least = is_power && alignment > 16 ? alignment : 16;
            is_same = is_same && reinterpret_cast<std::uintptr_t>(seen.block) % least == 0;
        }
        if (is_same) return;
        CAPTURE(function_);
        CAPTURE(window_);
        CAPTURE(bytes);
        CAPTURE(alignment);
        CHECK(is_block(seen) == is_block(wanted));
        CHECK(seen.result == wanted.result);
        CHECK(seen.error == wanted.error);
        CHECK(seen.usable == wanted.usable);
        CHECK(seen.block == wanted.block);  // to be seen; it may differ
    }

private:
    // The same block has the same room; another one may be a larger piece of the heap. A sample
    // begins at a page and may have more, and an aligned one is cut out of what is at hand.
    bool is_usable_size_same(const outcome& seen, const outcome& wanted) const {
        const bool may_be_sample = window_.compare(0, 7, "sampled") == 0;
        const bool is_aligned = function_.find("align") != std::string::npos;
        return may_be_sample || is_aligned || seen.block != wanted.block ||
               seen.usable == wanted.usable;
    }

    const std::string function_;
    const std::string window_;
};

}  // namespace

TEST_CASE("malloc: results and errno are the C library's") {
    with_every_kind_of_window([](const char* window) {
        comparison compare{"malloc", window};
        dice roll{1};
        for (int i = 0; i < tuples; ++i) {
            const std::size_t bytes = random_size(roll);
            compare.run(
                bytes, 1, [=](outcome&) { return next_malloc::malloc(bytes); },
                [=](outcome&) { return std::malloc(bytes); });
        }
    });
}

TEST_CASE("calloc: results and errno are the C library's, and all is zero") {
    with_every_kind_of_window([](const char* window) {
        comparison compare{"calloc", window};
        dice roll{2};
        for (int i = 0; i < tuples; ++i) {
            const std::size_t count = random_size(roll);
            const std::size_t bytes = roll.one_in(2) ? 1 + roll.below(40) : random_size(roll);
            std::size_t whole = 0;
            if (__builtin_mul_overflow(count, bytes, &whole)) whole = 0;
            bool is_zero = true;
            compare.run(
                whole, 1, [=](outcome&) { return next_malloc::calloc(count, bytes); },
                [=, &is_zero](outcome&) {
                    void* block = opaque(std::calloc(count, bytes));
                    const auto* read = static_cast<const unsigned char*>(block);
                    const std::size_t read_bytes = whole < 1000000 ? whole : 1000000;
                    for (std::size_t k = 0; block != nullptr && k < read_bytes; ++k) {
                        if (read[k] != 0) is_zero = false;
                    }
                    // What comes next at this address must not be zero by chance.
                    if (block != nullptr) std::memset(block, 0x5a, read_bytes);
                    return block;
                });
            if (!is_zero) CHECK(is_zero);
        }
    });
}

TEST_CASE("realloc: results and errno are the C library's, and the content stays") {
    with_every_kind_of_window([](const char* window) {
        comparison compare{"realloc", window};
        dice roll{3};
        for (int i = 0; i < tuples; ++i) {
            const bool has_old = !roll.one_in(16);
            const std::size_t old_bytes = roll.one_in(8) ? roll.below(300000) : roll.below(2000);
            const std::size_t bytes = random_size(roll);
            const std::size_t kept = old_bytes < bytes ? old_bytes : bytes;
            bool is_kept = true;
            const auto old_by = [=](void* block) {
                if (has_old) std::memset(block, i & 0xff, old_bytes);
                return has_old ? block : nullptr;
            };
            compare.run(
                bytes, 1,
                [=](outcome&) {
                    void* old = old_by(has_old ? next_malloc::malloc(old_bytes) : nullptr);
                    void* block = next_malloc::realloc(old, bytes);
                    const int error = errno;
                    if (block == nullptr && bytes != 0) next_malloc::free(old);
                    errno = error;
                    return block;
                },
                [&, old_by](outcome&) {
                    void* old = old_by(has_old ? opaque(std::malloc(old_bytes)) : nullptr);
                    void* block = opaque(std::realloc(opaque(old), bytes));
                    const int error = errno;
                    const void* left = block != nullptr ? block : old;
                    const auto* read = static_cast<const unsigned char*>(left);
                    const std::size_t readable = block != nullptr ? kept : old_bytes;
                    const bool is_gone = block == nullptr && bytes == 0;
                    for (std::size_t k = 0; has_old && !is_gone && k < readable; ++k) {
                        if (read[k] != static_cast<unsigned char>(i)) is_kept = false;
                    }
                    if (block == nullptr && bytes != 0) std::free(old);
                    errno = error;
                    return block;
                });
            if (!is_kept) CHECK(is_kept);
        }
    });
}

TEST_CASE("reallocarray: results and errno are the C library's") {
    using function = void* (*)(void*, std::size_t, std::size_t);
    // It calls realloc by its name, which is ours; without a window that is nothing else.
    const auto theirs = reinterpret_cast<function>(dlsym(RTLD_NEXT, "reallocarray"));
    with_every_kind_of_window([theirs](const char* window) {
        comparison compare{"reallocarray", window};
        dice roll{4};
        for (int i = 0; i < tuples; ++i) {
            const std::size_t count = random_size(roll);
            const std::size_t bytes = roll.one_in(2) ? 1 + roll.below(40) : random_size(roll);
            std::size_t whole = 0;
            if (__builtin_mul_overflow(count, bytes, &whole)) whole = 0;
            const bool has_old = roll.one_in(2);
            const auto call = [=](function resize) {
                return [=](outcome&) {
                    void* old = has_old ? opaque(std::malloc(33)) : nullptr;
                    void* block = resize(old, count, bytes);
                    const int error = errno;
                    // What stands here is no overflow, and zero bytes: the old block is gone.
                    const bool is_gone = count == 0 || bytes == 0;
                    if (block == nullptr && !is_gone) std::free(old);
                    errno = error;
                    return block;
                };
            };
            compare.run(whole, 1, call(theirs), call(&::reallocarray));
        }
    });
}

TEST_CASE("posix_memalign: results, errno and the untouched pointer are the C library's") {
    with_every_kind_of_window([](const char* window) {
        comparison compare{"posix_memalign", window};
        dice roll{5};
        for (int i = 0; i < tuples; ++i) {
            const std::size_t alignment = random_alignment(roll);
            const std::size_t bytes = random_size(roll);
            const auto call = [=](int (*align)(void**, std::size_t, std::size_t)) {
                return [=](outcome& seen) {
                    void* block = untouched_block;
                    seen.result = align(&block, alignment, bytes);
                    return block;
                };
            };
            compare.run(bytes, alignment, call(&next_malloc::posix_memalign),
                        call(&::posix_memalign));
        }
    });
}

namespace {

void compare_aligning(const char* name, std::uint64_t seed,
                      void* (*theirs)(std::size_t, std::size_t),
                      void* (*ours)(std::size_t, std::size_t)) {
    with_every_kind_of_window([=](const char* window) {
        comparison compare{name, window};
        dice roll{seed};
        for (int i = 0; i < tuples; ++i) {
            const std::size_t alignment = random_alignment(roll);
            const std::size_t bytes = random_size(roll);
            compare.run(
                bytes, alignment, [=](outcome&) { return theirs(alignment, bytes); },
                [=](outcome&) { return ours(alignment, bytes); });
        }
    });
}

void compare_page_aligning(const char* name, std::uint64_t seed, void* (*theirs)(std::size_t),
                           void* (*ours)(std::size_t)) {
    with_every_kind_of_window([=](const char* window) {
        comparison compare{name, window};
        dice roll{seed};
        for (int i = 0; i < tuples; ++i) {
            const std::size_t bytes = random_size(roll);
            compare.run(
                bytes, 4096, [=](outcome&) { return theirs(bytes); },
                [=](outcome&) { return ours(bytes); });
        }
    });
}

}  // namespace

TEST_CASE("aligned_alloc and memalign: results and errno are the C library's") {
    compare_aligning("aligned_alloc", 6, &next_malloc::aligned_alloc, &::aligned_alloc);
    compare_aligning("memalign", 7, &next_malloc::memalign, &::memalign);
}

TEST_CASE("valloc and pvalloc: results and errno are the C library's") {
    compare_page_aligning("valloc", 8, &next_malloc::valloc, &::valloc);
    compare_page_aligning("pvalloc", 9, &next_malloc::pvalloc, &::pvalloc);
}
