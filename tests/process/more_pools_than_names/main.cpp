// Danger: a pool for whose name there was no room reports what it frees, under its name, and the
// objects stay alive in the numbers.

#include "../../support/accounting.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/pools.hpp>

#include <cstdio>

using namespace allocscope_test;

namespace {

constexpr int pools = 70000;
char objects[pools];

struct pool_name {
    char text[24];
    explicit pool_name(int number) { std::snprintf(text, sizeof text, "pool %d", number); }
};

}  // namespace

int main() {
    watchdog();
    const allocscope::scope window{"pools"};
    for (int i = 0; i < pools; ++i) {
        allocscope::report_allocation(objects + i, 1, pool_name{i}.text);
    }
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), pools);
    ALLOCSCOPE_EXPECT_EQUAL(window.stats().live_objects(), pools);
    // A pool does not take the object of another one that has a name.
    allocscope::report_free(objects, pool_name{1}.text);
    allocscope::report_free(objects, pool_name{pools - 1}.text);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().frees, 0);
    for (int i = 0; i < pools; ++i) allocscope::report_free(objects + i, pool_name{i}.text);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), 0);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().frees, pools);
    return verdict();
}
