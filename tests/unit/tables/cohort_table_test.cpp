#include <doctest/doctest.h>
#include <allocscope/tables/cohort_table.hpp>

#include <cstdint>

using allocscope::detail::cohort_table;

TEST_CASE("cohort_table: pages up to its limit, none behind, and all again after release") {
    static cohort_table table;
    REQUIRE(table.prepare());
    constexpr std::uint32_t pages = 20;  // the first is never given out
    table.limit.store(pages);
    for (int round = 0; round < 2; ++round) {
        for (std::uint32_t page = 1; page < pages; ++page) {
            const std::uint32_t first = table.add_page();
            REQUIRE(first == page * cohort_table::page_ids);
            for (std::uint32_t id = first; id < first + cohort_table::page_cohorts; ++id) {
                CHECK(table.by_id(id)->births.events() == 0);
                table.by_id(id)->births.add(1);
                table.by_id(id)->facts().site.store(id);
            }
        }
        CHECK(table.add_page() == 0);
        CHECK(table.add_page() == 0);
        for (std::uint32_t id = cohort_table::page_ids; id < pages * cohort_table::page_ids; ++id) {
            if (id % cohort_table::page_ids >= cohort_table::page_cohorts) continue;
            CHECK(table.by_id(id)->births.events() == 1);
            CHECK(table.by_id(id)->facts().site.load() == id);
        }
        table.release();
    }
}
