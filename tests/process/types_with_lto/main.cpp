// Danger: with -flto a function is inlined in one of another file; its types are looked up there.
// not with: asan, tsan, noframe
// The sanitizers need their own libraries in front of what -flto makes; lld, which links noframe,
// cannot read what g++ -flto makes.
// about: stacks

#include "../../support/escape.hpp"
#include "../../support/process_test.hpp"
#include "../../support/rows_by_type.hpp"
#include "parts.hpp"

#include <allocscope/allocscope.hpp>

using namespace allocscope_test;

int main() {
    watchdog();
    const allocscope::scope window{"types"};
    const auto made = shop::make_part();
    opaque(made.get());  // clang++ would leave out the object
    shop::number_parts();
    opaque(shop::make_piece());
    opaque(known.numbers);
    const allocscope::snapshot seen = window.stats();
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::part"), 1);
#if !defined(__clang__)  // does not describe the class then
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::piece"), 1);
#endif
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "short"), 1);
    return verdict();
}
