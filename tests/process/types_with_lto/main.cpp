// Danger: with -flto a function is inlined in one of another file; its types are looked up there.
// not with: asan, tsan, noframe
// The sanitizers need their own libraries in front of what -flto makes; lld, which links noframe,
// cannot read what g++ -flto makes.
// about: stacks

#include "../../support/escape.hpp"
#include "../../support/process_test.hpp"
#include "parts.hpp"

#include <allocscope/allocscope.hpp>

#include <cstring>

using namespace allocscope_test;

int main() {
    watchdog();
    const allocscope::scope window{"types"};
    const auto made = shop::make_part();
    opaque(made.get());  // clang++ would leave out the object
    for (const allocscope::snapshot::row& row : window.stats()) {
        ALLOCSCOPE_EXPECT(std::strcmp(row.type, "shop::part") == 0);
        return verdict();
    }
    ALLOCSCOPE_EXPECT(false);
    return verdict();
}
