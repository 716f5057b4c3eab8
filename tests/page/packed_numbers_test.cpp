// The characters of a list of numbers. html_report_test.cpp and browser_test.py read them back.
#include <allocscope/page/packed_numbers.hpp>
#include <allocscope/plain/arena.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

using allocscope::detail::packed_numbers;
using allocscope::detail::text_flow;
using allocscope::plain::arena;
using allocscope::plain::text_out;

TEST_CASE("packed numbers: five bits in a character, and the last one of a number says so") {
    arena memory;
    text_out out{memory};
    packed_numbers list{out, allocscope::detail::kept_text()};
    for (const std::uint64_t number : {0, 25, 26, 31, 32, 1023, 1024}) list.add(number);
    list.add(1, true);
    list.add(~std::uint64_t{0});
    list.end();
    CHECK(std::string{out.c_str()} == "\"AZafgB/fggB-B////////////P\"");
}

TEST_CASE("packed numbers: an empty list is an empty string") {
    arena memory;
    text_out out{memory};
    packed_numbers{out, allocscope::detail::kept_text()}.end();
    CHECK(std::string{out.c_str()} == "\"\"");
}

TEST_CASE("packed numbers: a long list may be taken away piece by piece") {
    struct taken_text {
        text_out& out;
        std::string all;
        int pieces = 0;
    };
    arena memory;
    text_out out{memory};
    taken_text taken{out, "", 0};
    const text_flow flow{[](void* whom) {
                             auto& here = *static_cast<taken_text*>(whom);
                             here.all += here.out.c_str();
                             here.out.cut(0);
                             ++here.pieces;
                         },
                         &taken};
    packed_numbers list{out, flow};
    std::string wanted = "\"";
    for (int i = 0; i < 10000; ++i) {
        list.add(33, true);
        wanted += "-hB";
    }
    list.end();
    CHECK(taken.all == wanted + '"');
    CHECK(taken.pieces > 5);
}
