#include <doctest/doctest.h>
#include <allocscope/tables/live_object_map.hpp>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

using allocscope::detail::live_object;
using allocscope::detail::live_object_map;

namespace {

struct object {
    std::uint32_t cohort;
    std::uint64_t bytes;
};

void put(live_object_map& map, std::uintptr_t address, std::uint32_t session, object what) {
    live_object_map::slot* slot = map.slot_for(address);
    REQUIRE(slot != nullptr);
    live_object_map::put(slot, address, live_object_map::record_head(session, what.cohort),
                         what.bytes);
}

std::map<std::uintptr_t, object> all_of(live_object_map& map, std::uint32_t session) {
    std::map<std::uintptr_t, object> found;
    map.for_each(session, [&found](const live_object& each) {
        found[each.address] = {each.cohort, each.bytes};
        return true;
    });
    return found;
}

}  // namespace

TEST_CASE("live_object_map: what was put is found, at its exact address, until it is taken") {
    live_object_map map;
    REQUIRE(map.prepare());
    std::mt19937_64 dice{1};
    std::map<std::uintptr_t, object> model;
    for (int step = 0; step < 20000; ++step) {
        // Two regions far apart, blocks at multiples of 16 that are 32 bytes apart at least.
        const std::uintptr_t region = dice() % 2 == 0 ? 0x7f1200000000U : 0x5555e0000000U;
        const std::uintptr_t address = region + (dice() % 5000) * 48 + 16;
        live_object_map::slot* slot = map.slot_for(address);
        if (model.count(address) != 0) {
            const std::uint64_t record = slot->load();
            CHECK(live_object_map::session_of(record) == 7);
            CHECK(live_object_map::cohort_of(record) == model[address].cohort);
            CHECK(live_object_map::bytes_of(slot, record) == model[address].bytes);
            slot->store(0);
            model.erase(address);
        } else {
            const object what{static_cast<std::uint32_t>(dice() % 0xffffff) + 1, dice() % 100000};
            put(map, address, 7, what);
            model[address] = what;
        }
    }
    const auto found = all_of(map, 7);
    REQUIRE(found.size() == model.size());
    for (const auto& [address, what] : model) {
        REQUIRE(found.count(address) == 1);
        CHECK(found.at(address).cohort == what.cohort);
        CHECK(found.at(address).bytes == what.bytes);
    }
}

TEST_CASE("live_object_map: sizes up to the largest are kept whole") {
    live_object_map map;
    REQUIRE(map.prepare());
    std::uintptr_t address = 0x7f0000000010U;
    for (const std::uint64_t bytes :
         {std::uint64_t{0}, std::uint64_t{1}, (std::uint64_t{1} << 26) - 2,
          (std::uint64_t{1} << 26) - 1, std::uint64_t{1} << 26, std::uint64_t{1} << 32,
          (std::uint64_t{1} << 46) + 5}) {
        put(map, address, 3, {9, bytes});
        live_object_map::slot* slot = map.slot_for(address);
        CHECK(live_object_map::bytes_of(slot, slot->load()) == bytes);
        address += 4096;
    }
    CHECK(all_of(map, 3).size() == 7);
}

TEST_CASE("live_object_map: a huge block in the last granule of a region keeps its size") {
    live_object_map map;
    REQUIRE(map.prepare());
    const std::uintptr_t address = 0x7f0004000000U - 32;
    put(map, address, 3, {9, std::uint64_t{1} << 40});
    live_object_map::slot* slot = map.slot_for(address);
    CHECK(live_object_map::bytes_of(slot, slot->load()) == std::uint64_t{1} << 40);
}

// The leaves of neighbouring regions are made one after the other, so they are likely to be
// neighbours in memory: the size of a huge block must not lie in the first slot of another leaf.
TEST_CASE("live_object_map: huge blocks at the ends of regions leave other regions alone") {
    live_object_map map;
    REQUIRE(map.prepare());
    constexpr std::uintptr_t region_bytes = std::uintptr_t{1} << 26;
    std::map<std::uintptr_t, object> model;
    for (std::uintptr_t i = 0; i < 16; ++i) {
        const std::uintptr_t begin = 0x7f0000000000U + i * region_bytes;
        model[begin] = {7, 100 + i};
        model[begin + region_bytes - 32] = {9, (std::uint64_t{1} << 40) + i};
    }
    for (const auto& [address, what] : model) put(map, address, 3, what);
    const auto found = all_of(map, 3);
    CHECK(found.size() == model.size());
    for (const auto& [address, what] : model) {
        REQUIRE(found.count(address) == 1);
        CHECK(found.at(address).cohort == what.cohort);
        CHECK(found.at(address).bytes == what.bytes);
    }
}

TEST_CASE("live_object_map: records of another session are none") {
    live_object_map map;
    REQUIRE(map.prepare());
    put(map, 0x7f0000001000U, 1, {5, 10});
    put(map, 0x7f0000002000U, 2, {6, 20});
    CHECK(all_of(map, 1).size() == 1);
    CHECK(all_of(map, 2).size() == 1);
    CHECK(all_of(map, 4095).empty());
}

TEST_CASE("live_object_map: wiping forgets all and gives the memory back") {
    live_object_map map;
    REQUIRE(map.prepare());
    for (std::uintptr_t i = 0; i < 100000; ++i) put(map, 0x7f0000000000U + i * 32, 1, {5, 10});
    CHECK(map.resident() >= 100000 * 8);
    map.wipe();
    CHECK(map.resident() == allocscope::detail::page_bytes);  // which says where the leaf is
    CHECK(all_of(map, 1).empty());
}

TEST_CASE("live_object_map: addresses it cannot hold have no slot") {
    live_object_map map;
    REQUIRE(map.prepare());
    CHECK(map.slot_for(std::uintptr_t{1} << 47) == nullptr);
    CHECK(map.slot_for(~std::uintptr_t{15}) == nullptr);
    CHECK(map.existing_slot(0x7f0000001000U) == nullptr);  // nothing was ever put near it
}
