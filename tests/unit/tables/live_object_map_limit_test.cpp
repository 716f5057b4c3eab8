// Where data is limited, the maps leave half of it to the program.
// not with: asan, tsan (they have more data themselves)
#include "../../support/forked_child.hpp"

#include <doctest/doctest.h>
#include <allocscope/tables/live_object_map.hpp>

#include <sys/mman.h>
#include <sys/resource.h>
#include <cstddef>
#include <cstdint>

namespace {

using allocscope::detail::live_object_map;
using allocscope::detail::sampled_object_map;

constexpr std::size_t mebibyte = std::size_t{1} << 20U;

bool is_mapped_for_data(std::size_t bytes) {
    return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
           MAP_FAILED;
}

// What earlier tests have taken comes on top.
bool limit_data(std::size_t bytes) {
    const std::size_t taken = allocscope::detail::map_bytes_taken.load();
    const rlimit limit = {bytes + 2 * taken, bytes + 2 * taken};
    return setrlimit(RLIMIT_DATA, &limit) == 0;
}

int fill_the_maps() {
    if (!limit_data(128 * mebibyte)) return 2;
    static live_object_map map;
    static sampled_object_map samples;
    if (!map.prepare() || !samples.prepare()) return 3;
    std::size_t places = 0;
    for (std::uintptr_t address = 0; address < 1024 * mebibyte; address += 64 * mebibyte) {
        places += map.slot_for(address) != nullptr ? 1U : 0U;
    }
    if (places != 1) return 4;
    return is_mapped_for_data(56 * mebibyte) ? 0 : 5;
}

int find_no_room() {
    if (!limit_data(24 * mebibyte)) return 2;
    static live_object_map map;
    if (map.prepare()) return 3;
    return is_mapped_for_data(16 * mebibyte) ? 0 : 5;
}

}  // namespace

TEST_CASE("live_object_map: all maps together leave half of the limit for data to the program") {
    CHECK(allocscope_test::in_child(fill_the_maps).status == 0);
    CHECK(allocscope_test::in_child(find_no_room).status == 0);
}
