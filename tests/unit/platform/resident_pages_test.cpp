#include <allocscope/platform/resident_pages.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

using namespace allocscope::detail;

TEST_CASE("resident_pages: the pages that were written are visited, in order") {
    constexpr std::size_t page_count = 1300;  // the kernel is asked three times
    constexpr std::size_t bytes = page_count * page_bytes;
    auto* const pages = static_cast<char*>(reserve_pages(bytes));
    REQUIRE(pages != nullptr);
    const std::vector<std::size_t> written{0, 511, 512, 700, 1023, 1024, 1299};
    for (const std::size_t each : written) pages[each * page_bytes + 77] = 1;
    std::vector<std::size_t> visited;
    resident_pages resident{pages, bytes};
    while (void* page = resident.next()) {
        visited.push_back(static_cast<std::size_t>(static_cast<char*>(page) - pages) / page_bytes);
    }
    CHECK(visited == written);
    CHECK(resident.next() == nullptr);
    CHECK(resident_bytes(pages, bytes) == written.size() * page_bytes);
    return_reservation(pages, bytes);
    CHECK(resident_bytes(pages, bytes) == 0);  // the kernel has no answer
}
