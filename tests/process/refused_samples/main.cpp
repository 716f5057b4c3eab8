// Danger: memory at a page, which a sample needs, is refused where malloc has enough. The program
// gets its object, with errno as it was, and the window says that it lost samples.
// not with: asan, tsan (an allocator of their own)

#include "../../support/escape.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <cerrno>
#include <cstring>
#include <new>

using namespace allocscope_test;

namespace {

bool is_refusing = false;
long refusals = 0;

}  // namespace

// In place of the C library's. It says ENOMEM in both ways, which the real one may do.
extern "C" int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) noexcept {
    if (!is_refusing) {
        *block = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
        return *block == nullptr ? ENOMEM : 0;
    }
    ++refusals;
    errno = ENOMEM;
    return ENOMEM;
}

namespace {

std::uint64_t losses(const allocscope::snapshot& seen) {
    std::uint64_t lost = 0;
    for (std::size_t i = 0; i < seen.info().loss_count; ++i) lost += seen.info().losses[i].count;
    return lost;
}

// Where there is no memory at all, there is no object that could be missing.
void request_too_much(const allocscope::options& wanted) {
    const allocscope::scope window{"too much", wanted};
    const volatile std::size_t too_much = std::size_t{1} << 62U;
    for (int i = 0; i < 20; ++i) {
        ALLOCSCOPE_EXPECT(::operator new(too_much, std::nothrow) == nullptr);
        ALLOCSCOPE_EXPECT(::operator new (too_much, std::align_val_t{64}, std::nothrow) == nullptr);
    }
    ALLOCSCOPE_EXPECT_EQUAL(losses(window.stats()), 0);
}

}  // namespace

int main() {
    watchdog();
    allocscope::options wanted;
    wanted.record = allocscope::recording::sampled;
    wanted.sample_bytes = 1000;
    request_too_much(wanted);
    allocscope::scope window{"refused samples", wanted};
    is_refusing = true;
    long changed = 0;
    for (int i = 0; i < 2000; ++i) {
        errno = 77;
        void* object = allocate(100);
        if (errno != 77) ++changed;
        release(object);
    }
    is_refusing = false;
    ALLOCSCOPE_EXPECT_AT_MOST(50, refusals);
    ALLOCSCOPE_EXPECT_EQUAL(changed, 0);
    const allocscope::snapshot seen = window.stats();
    ALLOCSCOPE_EXPECT_EQUAL(seen.info().samples, 0);
    // A sample stands for several allocations, and so does its loss: here for 1000 / 116 and one.
    ALLOCSCOPE_EXPECT_EQUAL(losses(seen), 9 * static_cast<std::uint64_t>(refusals));
    return verdict();
}
