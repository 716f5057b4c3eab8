// Danger: a mark that is made while a window is read or begins anew is lost, is in two reports, or
// has the numbers of the other window.

#include <allocscope/allocscope.hpp>
#include <allocscope/time_series.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>

using namespace allocscope;
using detail::after_stats;

namespace {

snapshot::moment at(std::uint64_t at_ns, std::uint64_t allocations) {
    return {at_ns, 0, 0, allocations, 0, ""};
}

// "20:a=3 50:=7": time since the start of the window, mark and allocations of each point.
std::string points(const detail::moment_list& of, std::uint64_t started_ns,
                   const snapshot::moment& last, std::uint64_t asked_ns, after_stats then) {
    detail::arena memory;
    snapshot::window_info info{};
    info.started_ns = started_ns;
    of.copy_to(info, last, asked_ns, then, memory);
    std::string text;
    for (std::size_t i = 0; i < info.moment_count; ++i) {
        const snapshot::moment& each = info.moments[i];
        text += (i == 0 ? "" : " ") + std::to_string(each.at_ns) + ":" + each.mark + "=" +
                std::to_string(each.allocations);
    }
    return text;
}

}  // namespace

TEST_CASE("moment_list: a report has what was counted before it was asked for") {
    detail::moment_list list;
    list.add(at(110, 1), 109, "");
    list.add(at(120, 2), 119, "before");
    list.add(at(125, 3), 121, "");        // asked at 120, read at 130
    list.add(at(128, 3), 126, "during");  // in a later report
    CHECK(points(list, 100, at(30, 4), 120, after_stats::go_on) == "10:=1 20:before=2 30:=4");
    CHECK(points(list, 100, at(90, 9), 140, after_stats::go_on) ==
          "10:=1 20:before=2 25:=3 28:during=3 90:=9");
}

TEST_CASE("moment_list: each mark is in one report when the window begins anew") {
    detail::moment_list list;
    list.add(at(110, 5), 109, "before");
    list.add(at(125, 7), 121, "");
    list.add(at(128, 8), 126, "during");
    list.add(at(131, 0), 129, "across");  // read at 130: counted before or after it
    list.add(at(133, 0), 129, "");
    list.add(at(135, 1), 134, "after");
    list.add(at(136, 1), 135, "");
    CHECK(points(list, 100, at(30, 9), 120, after_stats::forget) ==
          "10:before=5 30:during=9 30:across=9 30:=9");
    list.begin_anew(130);
    list.add(at(138, 2), 137, "later");
    CHECK(points(list, 130, at(9, 3), 138, after_stats::go_on) == "5:after=1 6:=1 8:later=2 9:=3");
    list.begin_anew(139);
    CHECK(points(list, 139, at(1, 0), 140, after_stats::go_on) == "1:=0");
}
