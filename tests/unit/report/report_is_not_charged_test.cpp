// What allocscope allocates for a report is charged to no window.

#include "../../support/escape.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/report.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <new>
#include <ostream>
#include <streambuf>
#include <string>

namespace {

bool is_unchanged(const allocscope::allocation_counts& before,
                  const allocscope::allocation_counts& now) {
    return before.allocations == now.allocations && before.frees == now.frees &&
           before.bytes_allocated == now.bytes_allocated && before.bytes_freed == now.bytes_freed &&
           before.peak_bytes == now.peak_bytes;
}

}  // namespace

TEST_CASE("report: writing one changes no number of an open window") {
    std::string error;
    allocscope::scope window{"outer"};
    const auto kept = std::make_unique<std::string>("something that is alive");
    allocscope::snapshot alive = window.stats();
    REQUIRE(alive.live_objects() != 0);
    allocscope::text_options wanted;
    wanted.frames = 10;
    wanted.color = allocscope::text_color::always;
    bool has_written = false;
    // doctest allocates in every CHECK: nothing of it may stand between the two counts.
    const auto is_free_of_charge = [&window](auto work) {
        const auto before = window.counts();
        work();
        return is_unchanged(before, window.counts());
    };

    CHECK(is_free_of_charge([&] { allocscope::write_text(alive, "/dev/null", wanted); }));
    CHECK(is_free_of_charge([&] { has_written = write_text(alive, 777, error, wanted); }));
    CHECK_FALSE(has_written);
    CHECK(is_free_of_charge([&] { has_written = write_text(alive, "/no/x", error, wanted); }));
    CHECK_FALSE(has_written);
    CHECK(is_free_of_charge([&] { has_written = to_text(alive, wanted).empty(); }));
    CHECK(is_free_of_charge([&] {
        const allocscope::snapshot change = alive.difference_from(allocscope::snapshot{});
        has_written = to_text(change, wanted).empty();
    }));
    CHECK(is_free_of_charge([&] { has_written = !alive.filter({}).empty(); }));
    CHECK(is_free_of_charge(
        [&] { has_written = !alive.group_by(allocscope::group_key::type).empty(); }));
    CHECK(has_written);
    CHECK(is_free_of_charge([&] { alive = allocscope::snapshot{}; }));
    // And the check can fail.
    CHECK_FALSE(is_free_of_charge([] { ::operator delete(::operator new(8)); }));
}

TEST_CASE("report: rows on a stream allocate nothing of their own") {
    struct silent_buffer : std::streambuf {
        std::size_t length = 0;
        std::streamsize xsputn(const char*, std::streamsize count) override {
            length += static_cast<std::size_t>(count);
            return count;
        }
        int_type overflow(int_type byte) override { return traits_type::not_eof(byte); }
    };
    allocscope::scope window{"rows"};
    const std::unique_ptr<int> kept{allocscope_test::opaque(new int{5})};
    const allocscope::snapshot alive = window.stats();
    silent_buffer buffer;
    std::ostream out{&buffer};
    const auto before = window.counts();
    out << alive;
    const auto after = window.counts();
    CHECK(is_unchanged(before, after));
    CHECK(buffer.length > 8);
}

TEST_CASE("report: a real window's text has its name, its numbers and its places") {
    allocscope::scope window{"real"};
    const auto kept = std::make_unique<std::string>("x");
    const std::string text = allocscope::to_text(window.stop());
    CHECK(text.find("allocscope report of window \"real\"\n") == 0);
    CHECK(text.find("  alive               1 object           32 B\n") != std::string::npos);
    CHECK(text.find("not recorded") == std::string::npos);
    CHECK(text.find("attention") == std::string::npos);
    CHECK(text.find("      1   32 B  100.0%  ") != std::string::npos);
}
