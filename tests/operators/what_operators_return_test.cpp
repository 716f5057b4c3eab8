// The blocks themselves: alignment, size zero, sizes nobody has, errno.
#include "opaque.hpp"
#include "operator_pairs.hpp"

#include <allocscope/allocscope.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace {

constexpr std::size_t sizes_around_the_steps[] = {1, 15, 16, 17, 100, 4096, 70000};

bool is_multiple_of(const void* block, std::size_t alignment) {
    return reinterpret_cast<std::uintptr_t>(block) % alignment == 0;
}

void free_like(testing::family kind, void* block, std::align_val_t alignment) {
    for (const auto& unmake : testing::freeing_forms) {
        if (unmake.kind == kind) return unmake.free(block, 0, alignment);
    }
}

// What a window that records in the given way must not change. Sampling every byte takes the
// slowest path of the recorder for each allocation.
template <class Check>
void under_every_kind_of_recording(Check check) {
    SUBCASE("without a window") {
        check();
    }
    SUBCASE("exact") {
        allocscope::scope window;
        check();
    }
    SUBCASE("counters") {
        allocscope::options wanted;
        wanted.record = allocscope::recording::counters;
        allocscope::scope window{"", wanted};
        check();
    }
    SUBCASE("every event sampled") {
        allocscope::options wanted;
        wanted.record = allocscope::recording::sampled;
        wanted.sample_bytes = 1;
        allocscope::scope window{"", wanted};
        check();
    }
    SUBCASE("few events sampled") {
        allocscope::options wanted;
        wanted.record = allocscope::recording::sampled;
        wanted.sample_bytes = 20000;
        allocscope::scope window{"", wanted};
        check();
    }
}

}  // namespace

TEST_CASE("operators: blocks are aligned to 16, aligned blocks to what was asked for") {
    under_every_kind_of_recording([] {
        for (const auto& make : testing::allocating_forms) {
            CAPTURE(make.name);
            for (std::size_t alignment = 1; alignment <= 65536; alignment *= 2) {
                for (std::size_t size : sizes_around_the_steps) {
                    void* block = make.allocate(size, std::align_val_t{alignment});
                    REQUIRE(block != nullptr);
                    const bool is_aligned_form = testing::is_aligned_form(make.kind);
                    CHECK(is_multiple_of(block, is_aligned_form ? alignment : 16));
                    std::memset(block, 0x33, size);
                    free_like(make.kind, block, std::align_val_t{alignment});
                }
            }
        }
    });
}

TEST_CASE("operators: blocks of size zero are distinct and can be freed") {
    under_every_kind_of_recording([] {
        for (const auto& make : testing::allocating_forms) {
            CAPTURE(make.name);
            void* first = make.allocate(0, std::align_val_t{64});
            void* second = make.allocate(0, std::align_val_t{64});
            CHECK(first != nullptr);
            CHECK(second != nullptr);
            CHECK(first != second);
            free_like(make.kind, first, std::align_val_t{64});
            free_like(make.kind, second, std::align_val_t{64});
        }
    });
}

TEST_CASE("operators: size zero is one object of zero bytes") {
    allocscope::scope window;
    for (const auto& make : testing::allocating_forms) {
        free_like(make.kind, make.allocate(0, std::align_val_t{32}), std::align_val_t{32});
    }
    const allocscope::allocation_counts counts = window.counts();
    CHECK(counts.allocations == 8);
    CHECK(counts.frees == 8);
    CHECK(counts.bytes_allocated == 0);
    CHECK(counts.bytes_freed == 0);
}

TEST_CASE("operators: a size that nobody has throws bad_alloc or returns null, counted nowhere") {
    under_every_kind_of_recording([] {
        allocscope::scope window;
        const std::size_t sizes[] = {std::numeric_limits<std::size_t>::max(),
                                     std::numeric_limits<std::size_t>::max() / 2 + 1,
                                     std::numeric_limits<std::size_t>::max() / 2,
                                     std::numeric_limits<std::size_t>::max() - 4096};
        for (std::size_t size : sizes) {
            CAPTURE(size);
            int thrown = 0;
            int null = 0;
            for (const auto& make : testing::allocating_forms) {
                try {
                    if (make.allocate(size, std::align_val_t{64}) == nullptr) ++null;
                } catch (const std::bad_alloc&) {
                    ++thrown;
                }
            }
            CHECK(thrown == 4);
            CHECK(null == 4);
        }
        CHECK(window.counts().allocations == 0);
        CHECK(window.counts().bytes_allocated == 0);
    });
}

TEST_CASE("operators: an array length that no size can hold throws, and is counted nowhere") {
    allocscope::scope window;
    struct element {
        double values[100];
    };
    volatile std::size_t length = std::numeric_limits<std::size_t>::max() / 8;
    element* array = nullptr;
    // g++ throws bad_array_new_length itself; clang++ asks operator new for the largest size.
    CHECK(testing::throws<std::bad_alloc>([&] { array = new element[length]; }));
    CHECK(array == nullptr);
    CHECK(window.counts().allocations == 0);
}

TEST_CASE("operators: errno stays as it was, however much the recorder has to do") {
    under_every_kind_of_recording([] {
        int changed = 0;
        for (const auto& make : testing::allocating_forms) {
            for (const auto& unmake : testing::freeing_forms) {
                if (make.kind != unmake.kind) continue;
                std::vector<void*> blocks(5000);
                errno = 77;
                for (void*& block : blocks) {
                    block = make.allocate(200, std::align_val_t{64});
                    if (errno != 77) ++changed;
                }
                for (void* block : blocks) {
                    unmake.free(block, 200, std::align_val_t{64});
                    if (errno != 77) ++changed;
                }
            }
        }
        CHECK(changed == 0);
    });
}

TEST_CASE("operators: errno stays as it was when windows open, are read and close") {
    errno = 77;
    {
        allocscope::scope window;
        CHECK(errno == 77);
        allocscope::scope inner;
        (void)window.counts();
        CHECK(errno == 77);
    }
    CHECK(errno == 77);
}
