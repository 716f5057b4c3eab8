// Danger: with split debug information the program has lines but does not say what was inlined.
// What the library allocates inside a function of the user would be charged to a line of the
// library. A function that left by a jump is not found, because its unit is in another file.
// about: stacks

#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <cstring>
#include <vector>

using namespace allocscope_test;

__attribute__((noinline)) void fill_table(std::vector<long>& table) {
    table.reserve(100);
    __asm__ volatile("");  // so that it does not leave by a jump
}

// Each of the three is in a unit of its own, and ends with a jump to the next one.
void* ask_first();

static void check_jumps() {
    const allocscope::scope window{"jumps"};
    void* const made = ask_first();
    const allocscope::snapshot seen = window.stats();
    ALLOCSCOPE_EXPECT_EQUAL(seen.size(), 1);
    for (const allocscope::snapshot::row& row : seen) {
        ALLOCSCOPE_EXPECT(std::strstr(row.file, "third.cpp") != nullptr);
        ALLOCSCOPE_EXPECT(std::strcmp(row.type, "item") == 0);
    }
    ::operator delete(made);
}

int main() {
    watchdog();
    check_jumps();
    const allocscope::scope window{"split"};
    std::vector<long> table;
    fill_table(table);
    const allocscope::snapshot seen = window.stats();
    ALLOCSCOPE_EXPECT_EQUAL(seen.live_bytes(), 100 * sizeof(long));
    ALLOCSCOPE_EXPECT_EQUAL(seen.size(), 1);
    for (const allocscope::snapshot::row& row : seen) {
        const bool names_the_user = std::strstr(row.function, "fill_table") != nullptr;
        if (!ALLOCSCOPE_EXPECT(names_the_user)) {
            say(row.function, static_cast<int>(std::strlen(row.function)));
        }
        ALLOCSCOPE_EXPECT(std::strstr(row.file, "/c++/") == nullptr);
    }
    return verdict();
}
