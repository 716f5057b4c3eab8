// Paths are told apart by both ends, however many there are.
#include <allocscope/page/page_paths.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <utility>

using allocscope::detail::page_paths;

TEST_CASE("page_paths: each pair has one number, the next one when it is new") {
    allocscope::plain::arena memory;
    page_paths paths{memory};
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;
    std::uint32_t next = 1;
    std::uint64_t state = 1;
    bool is_right = true;
    for (int i = 0; i < 200000; ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        const auto above = static_cast<std::uint32_t>((state >> 33U) % next);
        const auto frame = static_cast<std::uint32_t>((state >> 20U) % 50);
        const auto at = known.insert({{above, frame}, next});
        if (at.second) ++next;
        is_right = is_right && paths.below(above, frame) == at.first->second;
    }
    CHECK(is_right);
    REQUIRE(paths.all().size() == next);
    for (const auto& each : known) {
        is_right = is_right && paths.below(each.first.first, each.first.second) == each.second &&
                   paths.all()[each.second].above == each.first.first &&
                   paths.all()[each.second].frame == each.first.second;
    }
    CHECK(is_right);
}
