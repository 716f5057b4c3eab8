#include <allocscope/platform/kept_pages.hpp>

#include <doctest/doctest.h>

#include <cstddef>

using namespace allocscope::detail;

TEST_CASE("kept_pages: what was given back is handed out again, by its size") {
    kept_pages pages;
    pages.begin();
    void* const small = pages.take(kept_pages::smallest);
    void* const large = pages.take(kept_pages::largest);
    REQUIRE(small != nullptr);
    REQUIRE(large != nullptr);
    CHECK(small != large);
    pages.give_back(small, kept_pages::smallest);
    pages.give_back(large, kept_pages::largest);
    CHECK(pages.take(kept_pages::largest) == large);
    CHECK(pages.take(kept_pages::smallest) == small);
    void* const another = pages.take(kept_pages::smallest);
    CHECK(another != small);
    return_reservation(small, kept_pages::smallest);
    return_reservation(large, kept_pages::largest);
    return_reservation(another, kept_pages::smallest);
}

TEST_CASE("kept_pages: nothing is kept before begin(), and never more than there is room for") {
    constexpr std::size_t more_than_kept = 8;
    void* taken[more_than_kept];
    const auto give_back_all = [&taken](kept_pages& pages) {
        for (void*& each : taken) each = pages.take(kept_pages::largest);
        for (void* each : taken) pages.give_back(each, kept_pages::largest);
        std::size_t mapped = 0;
        for (void* each : taken) {
            unsigned char present[kept_pages::largest / page_bytes];
            if (::mincore(each, kept_pages::largest, present) == 0) ++mapped;
        }
        return mapped;
    };
    kept_pages pages;
    CHECK(give_back_all(pages) == 0);
    pages.begin();
    CHECK(give_back_all(pages) == 1);
    return_reservation(pages.take(kept_pages::largest), kept_pages::largest);
}

TEST_CASE("kept_pages: a refused mapping is refused although pages are kept, and they stay") {
    kept_pages pages;
    pages.begin();
    void* const kept = pages.take(kept_pages::smallest);
    pages.give_back(kept, kept_pages::smallest);
    mappings_until_refusal = 0;
    CHECK(pages.take(kept_pages::smallest) == nullptr);
    mappings_until_refusal = -1;
    CHECK(pages.take(kept_pages::smallest) == kept);
    return_reservation(kept, kept_pages::smallest);
}

TEST_CASE("kept_pages: what can be kept is asked for in its three sizes, the rest in pages") {
    constexpr std::size_t KiB = 1024;
    CHECK(kept_pages::rounded_up(1) == 64 * KiB);
    CHECK(kept_pages::rounded_up(64 * KiB) == 64 * KiB);
    CHECK(kept_pages::rounded_up(64 * KiB + 1) == 128 * KiB);
    CHECK(kept_pages::rounded_up(200 * KiB) == 256 * KiB);
    CHECK(kept_pages::rounded_up(256 * KiB) == 256 * KiB);
    CHECK(kept_pages::rounded_up(256 * KiB + 1) == 260 * KiB);
}
