#include <doctest/doctest.h>
#include <allocscope/tables/cohort_of_site.hpp>

#include <cstdint>
#include <set>
#include <vector>

using allocscope::detail::cohort_of_site;
using allocscope::detail::page_arena;
using allocscope::detail::site;
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

namespace {

// Stacks of one frame each, with a site and an entry in the order of their numbers.
struct some_stacks {
    static constexpr std::uint64_t hash = 7;

    cohort_of_site cohorts;
    page_arena arena;
    site_table sites;
    std::vector<std::uintptr_t> frames;
    std::vector<const site*> made;

    explicit some_stacks(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            frames.push_back(0x1000 + 16 * i);
            made.push_back(sites.intern(arena, hash, &frames[i], 1));
        }
    }
    ~some_stacks() {
        cohorts.release();
        sites.release();
        arena.release();
    }
    void meet(std::size_t number) {
        cohorts.meet(*cohorts.find(arena, made[number]->id), *made[number]);
    }
    // As found without a table, that is, as the follower.
    const site* expected(std::size_t number) const {
        const site_table empty;
        return cohorts.known(empty, hash, &frames[number], 1, 0);
    }
};

}  // namespace

TEST_CASE("cohort_of_site: after a site comes the one that followed it the last time") {
    some_stacks stacks{3};
    stacks.meet(0);
    CHECK(stacks.expected(1) == nullptr);  // nothing has ever followed
    stacks.meet(1);
    stacks.meet(0);
    CHECK(stacks.expected(1) == stacks.made[1]);
    CHECK(stacks.expected(0) == nullptr);
    CHECK(stacks.expected(2) == nullptr);
    stacks.meet(2);
    stacks.meet(0);
    CHECK(stacks.expected(2) == stacks.made[2]);
    CHECK(stacks.expected(1) == nullptr);
    const auto* const before = stacks.cohorts.find(stacks.arena, stacks.made[0]->id);
    stacks.cohorts.release();
    CHECK(stacks.expected(2) == nullptr);
    stacks.meet(1);
    CHECK(before->follower == stacks.made[2]);  // what was released is not written to
}

TEST_CASE("cohort_of_site: a stack that was not expected is found in the table") {
    some_stacks stacks{2};
    stacks.meet(0);
    stacks.meet(0);
    for (std::size_t i = 0; i < 2; ++i) {
        const site* const found =
            stacks.cohorts.known(stacks.sites, some_stacks::hash, &stacks.frames[i], 1, 0);
        CHECK(found == stacks.made[i]);
    }
    const std::uintptr_t unknown = 0x2000;
    CHECK(stacks.cohorts.known(stacks.sites, some_stacks::hash, &unknown, 1, 0) == nullptr);
    // Another family allocates at the same place.
    CHECK(stacks.cohorts.known(stacks.sites, some_stacks::hash, &stacks.frames[0], 1, 1) ==
          nullptr);
}
