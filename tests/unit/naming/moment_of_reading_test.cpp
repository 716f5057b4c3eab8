#include <allocscope/allocscope.hpp>
#include <allocscope/naming/moment_of_reading.hpp>
#include <allocscope/platform/clocks.hpp>

#include <doctest/doctest.h>

#include <cstdint>

using allocscope::detail::end_of_program_ns;
using allocscope::detail::monotonic_ns;

TEST_CASE("moment_of_reading: after the end of a program its times stand still") {
    allocscope::options wanted;
    wanted.details = true;
    wanted.age_step = 1;
    allocscope::scope window{"ended", wanted};
    const int* const kept = new int{1};
    end_of_program_ns = monotonic_ns();
    const allocscope::snapshot first = window.stats();
    const std::uint64_t later = end_of_program_ns + 5'000'000;
    while (monotonic_ns() < later) {
    }
    const allocscope::snapshot second = window.stats();
    end_of_program_ns = 0;
    delete kept;
    REQUIRE(first.size() == 1);
    CHECK(first.info().duration_ns == second.info().duration_ns);
    const std::int64_t apart_ns = second.info().taken_unix_ns - first.info().taken_unix_ns;
    CHECK(apart_ns < 5'000'000);
    REQUIRE(first.stacks().begin()->details != nullptr);
    CHECK(second.stacks().begin()->details->lifetime_us < 5000);
    CHECK(window.stats().info().duration_ns > first.info().duration_ns);
}
