// The modules that were at an address, against a look at all of them.

#include <allocscope/naming/met_search.hpp>
#include <allocscope/platform/met_modules.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <random>

using allocscope::detail::met_module;
using allocscope::detail::met_modules;
using allocscope::detail::met_search;
using allocscope::detail::modules_met;

namespace {

const met_module* last_of_all(std::uint32_t& count, std::uintptr_t address) {
    for (std::uint32_t n = count; n > 0; --n) {
        const met_module* each = modules_met.at(n - 1);
        if (each == nullptr || !each->holds(address)) continue;
        count = n - 1;
        return each;
    }
    return nullptr;
}

// Up to 50 modules at 40 places, so that most addresses had several, one after the other.
void note_modules(std::mt19937& random, std::uint32_t wanted) {
    while (modules_met.count() < wanted) {
        met_module made{};
        made.start = 0x10000 + random() % 40 * 0x1000;
        made.size = 0x800 + random() % 4 * 0x1000;
        made.fingerprint = random();
        made.path = "plugin.so";
        modules_met.note(made);
    }
}

}  // namespace

TEST_CASE("met_search: finds the modules of an address, the last one first") {
    std::mt19937 random{7};
    met_search search;
    search.refresh();
    CHECK(search.empty());
    for (std::uint32_t wanted = 10; wanted <= 50; wanted += 20) {
        note_modules(random, wanted);
        search.refresh();
        std::uint32_t met_several = 0;
        for (std::uintptr_t address = 0xf000; address < 0x3c000; address += 0x400) {
            std::uint32_t left = met_modules::most;
            std::uint32_t expected_left = modules_met.count();
            std::uint32_t found = 0;
            for (;; ++found) {
                const met_module* expected = last_of_all(expected_left, address);
                REQUIRE(search.last_of(left, address) == expected);
                if (expected == nullptr) break;
            }
            CHECK(search.has(address) == (found != 0));
            if (found > 1) ++met_several;
        }
        CHECK(met_several > 0);
    }
}
