#include <allocscope/naming/live_window.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>

using allocscope::detail::hash_of_names;
using allocscope::detail::live_site;

namespace {

constexpr std::uintptr_t frames[] = {0x401136, 0x401200, 0x7f0000001234};

live_site site_with(std::uint32_t frame_count, std::uint32_t tag) {
    live_site site{};
    site.frame_count = frame_count;
    site.all_frames = 3;
    site.site_hash = 0x123456789abcdef1;  // the same for all tags
    site.tag = tag;
    return site;
}

}  // namespace

TEST_CASE("live_window: pools that report from one stack have different hashes") {
    for (const std::uint32_t frame_count : {2U, 3U}) {
        CAPTURE(frame_count);
        const auto hash_with = [&](std::uint32_t tag) {
            return static_cast<std::uint32_t>(hash_of_names(site_with(frame_count, tag), frames));
        };
        CHECK(hash_with(1) != hash_with(0));
        CHECK(hash_with(1) != hash_with(2));
    }
    // A part of a stack and the whole are different stacks.
    CHECK(hash_of_names(site_with(2, 0), frames) != hash_of_names(site_with(3, 0), frames));
}

TEST_CASE("live_window: a stack of a site without a hash has one of its frames") {
    live_site site = site_with(3, 0);
    site.site_hash = 0;
    const std::uint64_t hash = hash_of_names(site, frames);
    const std::uintptr_t others[] = {0x401136, 0x401201, 0x7f0000001234};
    CHECK(hash != hash_of_names(site, others));
    CHECK(hash == allocscope::detail::hash_of_stack(frames, 3, 0));
}
