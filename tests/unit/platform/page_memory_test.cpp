#include <allocscope/platform/page_memory.hpp>
#include <allocscope/platform/smaps_reader.hpp>

#include <doctest/doctest.h>

#include <unistd.h>
#include <cstddef>
#include <cstdint>

using allocscope::detail::mapping;

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t mebibyte = std::size_t{1} << 20U;

// What the kernel knows of the mapping at an address; its size is 0 if there is none.
mapping mapping_at(const void* address) {
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    allocscope::detail::smaps_reader reader{"/proc/self/smaps"};
    mapping found;
    while (reader.next(found)) {
        if (found.low <= wanted && wanted < found.high) return found;
    }
    return mapping{};
}

// Whatever the machine makes of large mappings, ours stay sparse and out of core dumps. A kernel
// without huge pages has no flag for it.
void check_kept_apart(const void* pages) {
    const mapping seen = mapping_at(pages);
    REQUIRE(seen.size() != 0);
    CHECK(seen.is_not_dumped);
    if (::access("/sys/kernel/mm/transparent_hugepage", F_OK) == 0) CHECK(seen.is_never_huge);
}

}  // namespace

TEST_CASE("reserved pages are never huge, and in no core dump; also after they were extended") {
    void* pages = allocscope::detail::reserve_pages(3 * mebibyte);
    REQUIRE(pages != nullptr);
    CHECK(mapping_at(pages).is_writable);
    check_kept_apart(pages);
    pages = allocscope::detail::lengthen_reservation(pages, 3 * mebibyte, 7 * mebibyte);
    REQUIRE(pages != nullptr);
    check_kept_apart(static_cast<char*>(pages) + 5 * mebibyte);
    allocscope::detail::return_reservation(pages, 7 * mebibyte);
}

TEST_CASE("reserved addresses are never huge, and in no core dump; also when pages are open") {
    auto* const addresses = static_cast<char*>(allocscope::detail::reserve_addresses(8 * mebibyte));
    REQUIRE(addresses != nullptr);
    CHECK(!mapping_at(addresses).is_readable);
    check_kept_apart(addresses);

    REQUIRE(allocscope::detail::open_pages(addresses + 2 * mebibyte, 4 * mebibyte));
    char* const opened = addresses + 2 * mebibyte;
    CHECK(mapping_at(opened).is_writable);
    CHECK(!mapping_at(addresses).is_readable);
    CHECK(!mapping_at(opened + 4 * mebibyte).is_readable);
    check_kept_apart(opened);
    opened[0] = 1;
    opened[4 * mebibyte - 1] = 1;
    const mapping seen = mapping_at(opened);
    CHECK(seen.resident + seen.swapped == 2 * page);
    allocscope::detail::return_reservation(addresses, 8 * mebibyte);
}
