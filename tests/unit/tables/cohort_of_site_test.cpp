#include <doctest/doctest.h>
#include <allocscope/tables/cohort_of_site.hpp>

#include <cstdint>
#include <set>

using allocscope::detail::cohort_of_site;
using allocscope::detail::page_arena;
using allocscope::detail::site_table;

TEST_CASE("cohort_of_site: each site has an entry of its own, over the ends of chunks") {
    constexpr std::uint32_t ids = 3 * site_table::chunk_sites + 5;
    cohort_of_site cohorts;
    page_arena arena;
    CHECK(cohorts.existing(1) == nullptr);
    std::set<const cohort_of_site::entry*> seen;
    for (std::uint32_t id = 0; id < ids; ++id) {
        cohort_of_site::entry* entry = cohorts.find(arena, id);
        REQUIRE(entry != nullptr);
        entry->cohort = id + 1;
        seen.insert(entry);
    }
    CHECK(seen.size() == ids);
    for (std::uint32_t id = 0; id < ids; ++id) {
        REQUIRE(cohorts.existing(id) != nullptr);
        CHECK(cohorts.existing(id)->cohort == id + 1);
        CHECK(cohorts.find(arena, id) == cohorts.existing(id));
    }
    CHECK(cohorts.existing(site_table::most_sites - 1) == nullptr);
    REQUIRE(cohorts.find(arena, site_table::most_sites - 1) != nullptr);
    cohorts.release();
    CHECK(cohorts.existing(1) == nullptr);
    arena.release();
}
