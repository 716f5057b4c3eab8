// Numbers with commas between them, however many and long.
#include <allocscope/plain/number_run.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

using allocscope::detail::arena;
using allocscope::detail::number_run;
using allocscope::detail::text_out;

TEST_CASE("number runs: a comma between, none around, also where a run is longer than its piece") {
    arena memory;
    text_out out{memory};
    number_run run{out};
    std::string expected;
    std::uint64_t number = 1;
    for (int i = 0; i < 1000; ++i) {
        run.add(number);
        expected += (i == 0 ? "" : ",") + std::to_string(number);
        number = number * 7 + 3;  // up to twenty digits
    }
    run.end();
    out << '|';
    run.end();  // a run of none
    out << '|';
    run.add(0);
    run.add(UINT64_MAX);
    run.end();
    expected += "||0,18446744073709551615";
    CHECK(std::string{out.c_str()} == expected);
}

TEST_CASE("number runs: a sign has room, however many numbers of twenty digits come before") {
    for (std::uint64_t first = 1; first < UINT64_MAX / 11; first *= 10) {
        arena memory;
        text_out out{memory};
        number_run run{out};
        run.add(first, true);
        std::string expected = "-" + std::to_string(first);
        for (int i = 0; i < 60; ++i) {
            run.add(UINT64_MAX, true);
            expected += ",-18446744073709551615";
        }
        run.end();
        CHECK(std::string{out.c_str()} == expected);
    }
}
