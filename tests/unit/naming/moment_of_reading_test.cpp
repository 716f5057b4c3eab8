#include <allocscope/allocscope.hpp>
#include <allocscope/naming/moment_of_reading.hpp>
#include <allocscope/platform/clocks.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

using allocscope::detail::end_of_program_ns;
using allocscope::detail::monotonic_ns;

namespace {

constexpr std::uint64_t millisecond = 1'000'000;

void let_pass(std::uint64_t ns) {
    const std::uint64_t until = monotonic_ns() + ns;
    while (monotonic_ns() < until) {
    }
}

}  // namespace

TEST_CASE("moment_of_reading: after the end of a program its times stand still") {
    allocscope::options wanted;
    wanted.details = true;
    allocscope::scope window{"ended", wanted};
    const int* const kept = new int{1};
    let_pass(2 * millisecond);
    const std::uint64_t ended_ns = monotonic_ns();
    end_of_program_ns = ended_ns;
    const allocscope::snapshot first = window.stats();
    let_pass(20 * millisecond);
    const allocscope::snapshot second = window.stats();
    // Two clocks are read one after the other, and the thread may have to wait in between.
    std::uint64_t lifetime_us = ~std::uint64_t{0};
    for (int i = 0; i < 10; ++i) {
        const allocscope::snapshot again = window.stats();
        REQUIRE(again.stacks().begin()->details != nullptr);
        lifetime_us = std::min(lifetime_us, again.stacks().begin()->details->lifetime_us);
    }
    end_of_program_ns = 0;
    const std::uint64_t late_ns = monotonic_ns() - ended_ns;
    delete kept;
    REQUIRE(first.size() == 1);
    CHECK(first.info().duration_ns == second.info().duration_ns);
    const std::int64_t apart_ns = second.info().taken_unix_ns - first.info().taken_unix_ns;
    CHECK(apart_ns < static_cast<std::int64_t>(late_ns - 10 * millisecond));
    CHECK(lifetime_us < first.info().duration_ns / 1000 + 10'000);
    CHECK(window.stats().info().duration_ns > first.info().duration_ns);
}
