#include <allocscope/unwind/known_rules.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace {

using namespace allocscope::detail;

unwind_rule numbered(std::uintptr_t pc) {
    return {rule_kind::frame_pointer, true, -16, static_cast<std::int32_t>(pc * 8)};
}

bool has_its_own(const known_rules& rules, std::uintptr_t pc, bool& is_known) {
    unwind_rule found;
    is_known = rules.find(pc, found);
    return !is_known || found.leads_like(numbered(pc));
}

}  // namespace

TEST_CASE(
    "a rule is found under its own address only, and lines that are full keep what they have") {
    known_rules rules;
    unwind_rule none;
    rules.add(4, numbered(4));
    CHECK_FALSE(rules.find(4, none));  // nobody has prepared it
    rules.prepare();
    CHECK_FALSE(rules.find(0x1000, none));
    std::uintptr_t kept = 0;
    for (std::uintptr_t pc = 1; pc <= 100000; ++pc) rules.add(pc * 4, numbered(pc * 4));
    for (std::uintptr_t pc = 1; pc <= 100000; ++pc) {
        bool is_known = false;
        REQUIRE(has_its_own(rules, pc * 4, is_known));
        kept += is_known;
        CHECK_FALSE(rules.find(pc * 4 + 2, none));
    }
    CHECK(kept > 30000);  // of 32,768 elements
    CHECK(kept <= 32768);
    rules.add(4, numbered(8));  // the first one stays
    REQUIRE(rules.find(4, none));
    CHECK(none.leads_like(numbered(4)));
}

TEST_CASE("threads add and find at the same time") {
    known_rules rules;
    rules.prepare();
    std::vector<std::thread> threads;
    std::atomic<bool> is_right{true};
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (std::uintptr_t pc = 1; pc <= 20000; ++pc) {
                rules.add(pc * 2, numbered(pc * 2));
                bool is_known = false;
                if (!has_its_own(rules, (20001 - pc) * 2, is_known)) is_right = false;
            }
        });
    }
    for (std::thread& each : threads) each.join();
    CHECK(is_right);
}
