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

// "20:a=3 50:=7": time, mark and allocations of each point.
std::string points(const detail::moment_list& of, const snapshot::moment& last,
                   std::uint64_t asked_ns, after_stats then) {
    detail::arena memory;
    snapshot::window_info info{};
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
    list.add(at(10, 1), 9, "");
    list.add(at(20, 2), 19, "before");
    list.add(at(25, 3), 21, "");        // asked at 20, read at 30
    list.add(at(28, 3), 26, "during");  // in a later report
    CHECK(points(list, at(30, 4), 20, after_stats::go_on) == "10:=1 20:before=2 30:=4");
    CHECK(points(list, at(90, 9), 40, after_stats::go_on) ==
          "10:=1 20:before=2 25:=3 28:during=3 90:=9");
}

TEST_CASE("moment_list: each mark is in one report when the window begins anew") {
    detail::moment_list list;
    list.add(at(10, 5), 9, "before");
    list.add(at(25, 7), 21, "");
    list.add(at(28, 8), 26, "during");
    list.add(at(31, 0), 29, "across");  // read at 30: counted before or after it
    list.add(at(33, 0), 29, "");
    list.add(at(35, 1), 34, "after");
    list.add(at(36, 1), 35, "");
    CHECK(points(list, at(30, 9), 20, after_stats::forget) ==
          "10:before=5 30:during=9 30:across=9 30:=9");
    list.begin_anew(20, 30);
    list.add(at(8, 2), 7, "later");
    CHECK(points(list, at(9, 3), 8, after_stats::go_on) == "5:after=1 6:=1 8:later=2 9:=3");
    list.begin_anew(8, 9);
    CHECK(points(list, at(1, 0), 1, after_stats::go_on) == "1:=0");
}
