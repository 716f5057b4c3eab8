// Danger: a size that needs more than 32 bits is cut short, so the bytes of a window are wrong.
// not with: asan, tsan (they refuse such blocks)

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"

#include <allocscope/allocscope.hpp>

#include <initializer_list>
#include <new>

using namespace allocscope_test;

int main() {
    watchdog();
    constexpr std::size_t four_gibibytes = std::size_t{1} << 32;
    allocscope::scope window{"huge"};
    std::uint64_t objects = 0;
    std::uint64_t bytes = 0;
    for (const std::size_t size : {four_gibibytes - 2, four_gibibytes - 1, four_gibibytes,
                                   four_gibibytes + 1, four_gibibytes + four_gibibytes / 4}) {
        void* neighbour = allocate(16);
        void* object = opaque(::operator new(size, std::nothrow));
        objects += 1;
        bytes += 16;
        if (object != nullptr) {  // a small machine may refuse
            objects += 1;
            bytes += size;
        }
        ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, objects);
        ALLOCSCOPE_EXPECT_EQUAL(window.counts().bytes_allocated, bytes);
        ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_bytes(), object == nullptr ? 16 : size + 16);
        ALLOCSCOPE_EXPECT_EQUAL(window.stats().live_bytes(), object == nullptr ? 16 : size + 16);
        release(object);
        ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_bytes(), 16);
        release(neighbour);
        ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), 0);
    }
    // A request that the allocator refuses is no allocation.
    ALLOCSCOPE_EXPECT(opaque(::operator new(static_cast<std::size_t>(-1) / 2, std::nothrow)) ==
                      nullptr);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, objects);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_bytes(), 0);
    expect_accounted(window.stats(), {objects, objects});
    return verdict();
}
