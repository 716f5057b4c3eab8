// Danger: the first allocation of the process comes while the loader still fills in the program's
// own table of calls, and the hooks call what is not there yet. The program is bound at once.
// hooks: malloc
// not with: asan, tsan (they define malloc themselves)

#include "../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <cstdlib>

extern "C" int picked();
extern "C" void* kept_by_resolver();

int main() {
    ALLOCSCOPE_EXPECT_EQUAL(picked(), 1);
    void* block = kept_by_resolver();
    ALLOCSCOPE_EXPECT(block != nullptr);
    allocscope::scope window{"resolver"};
    block = std::realloc(block, 100);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, 1);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().frees, 0);
    std::free(block);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), 0);
    return allocscope_test::verdict();
}
