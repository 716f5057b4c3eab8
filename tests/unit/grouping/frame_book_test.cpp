// Frames have one number however often, and wherever their texts, they come.
#include <allocscope/grouping/frame_book.hpp>

#include <doctest/doctest.h>

#include <string>

using allocscope::snapshot;
using allocscope::detail::arena;
using allocscope::detail::frame_book;
using allocscope::detail::frames_differ_by;

namespace {

snapshot::frame made(const char* function, int line, std::uint64_t address) {
    return {function, "/src/a.cpp", line, 3, false, address, "/bin/app", address & 0xfffU};
}

}  // namespace

TEST_CASE("frame book: equal frames have one number, whatever their texts lie in") {
    const std::string there = "run()";
    for (const frames_differ_by identity : {frames_differ_by::address, frames_differ_by::place}) {
        arena memory;
        frame_book book{memory, identity};
        CHECK(book.number_of(made("run()", 1, 0x1000)) == 0);
        CHECK(book.number_of(made("run()", 2, 0x1000)) == 1);
        CHECK(book.number_of(made(there.c_str(), 1, 0x1000)) == 0);
        CHECK(book.number_of(made(there.c_str(), 2, 0x1000)) == 1);
        CHECK(book.number_of(made(there.c_str(), 1, 0x1000)) == 0);
        CHECK(book.size() == 2);
    }
}

TEST_CASE("frame book: two calls on one line differ by their address alone") {
    arena memory;
    frame_book by_address{memory, frames_differ_by::address};
    frame_book by_place{memory, frames_differ_by::place};
    CHECK(by_address.number_of(made("run()", 1, 0x1000)) == 0);
    CHECK(by_address.number_of(made("run()", 1, 0x1008)) == 1);
    CHECK(by_place.number_of(made("run()", 1, 0x1000)) == 0);
    CHECK(by_place.number_of(made("run()", 1, 0x1008)) == 0);
    // Without a name the place is where the code lies.
    CHECK(by_place.number_of(made("", 1, 0x1000)) == 1);
    CHECK(by_place.number_of(made("", 1, 0x1008)) == 2);
    snapshot::frame inlined = made("run()", 1, 0x1000);
    inlined.is_inlined = true;
    CHECK(by_address.number_of(inlined) == 2);
    CHECK(by_place.number_of(inlined) == 0);
}

TEST_CASE("frame book: functions that are called by a number are those of their module") {
    arena memory;
    frame_book book{memory, frames_differ_by::place};
    snapshot::frame frame = {"app+0x10", "", 0, 0, false, 0x1020, "/usr/bin/app", 0x20};
    CHECK(book.number_of(frame) == 0);
    frame.offset = 0x28;
    frame.address = 0x1028;
    CHECK(book.number_of(frame) == 0);
    frame.module = "/opt/bin/app";
    CHECK(book.number_of(frame) == 1);
    frame.module = "/opt/bin/other";  // then it is a name like any other
    CHECK(book.number_of(frame) == 2);
    frame.module = "/opt/bin/third";
    CHECK(book.number_of(frame) == 2);
}

TEST_CASE("frame book: frames may go, their texts may not") {
    arena memory;
    frame_book book{memory, frames_differ_by::place};
    snapshot::frame scratch = made("first()", 1, 0x1000);
    CHECK(book.number_of(scratch) == 0);
    scratch = made("second()", 2, 0x2000);
    CHECK(book.number_of(scratch) == 1);
    scratch = made("first()", 1, 0x1000);
    CHECK(book.number_of(scratch) == 0);
    CHECK(std::string{book[0].function} == "first()");
    CHECK(std::string{book[1].function} == "second()");
}

TEST_CASE("frame book: a frame that has a number already is found by it") {
    arena memory;
    frame_book book{memory, frames_differ_by::place};
    const snapshot::frame all[] = {made("first()", 1, 0x1000), made("second()", 2, 0x2000),
                                   made("first()", 1, 0x1000)};
    const std::uint32_t numbers[] = {1, 2, 0, 1};
    const allocscope::detail::numbered_frames stack{all, numbers, 4, 0};
    CHECK(std::string{stack[0].function} == "second()");
    for (int i = 0; i < 2; ++i) {
        CHECK(book.number_of(stack, 0) == 0);
        CHECK(book.number_of(stack, 1) == 1);
        CHECK(book.number_of(stack, 2) == 1);  // equal, as a file of somebody else may have it
        CHECK(book.number_of(stack, 3) == 0);
    }
    CHECK(book.number_of(made("second()", 2, 0x2000)) == 0);
    CHECK(book.number_of({all, nullptr, 3, 0}, 2) == 1);
}

TEST_CASE(
    "frame book: frames that are known to be different are not compared, but for their place") {
    const snapshot::frame all[] = {made("first()", 1, 0x1000), made("first()", 1, 0x1000)};
    const std::uint32_t numbers[] = {0, 1, 0};
    const allocscope::detail::numbered_frames stack{all, numbers, 3, 0, true};
    arena memory;
    frame_book by_address{memory, frames_differ_by::address};
    CHECK(by_address.number_of(stack, 0) == 0);
    CHECK(by_address.number_of(stack, 1) == 1);
    CHECK(by_address.number_of(stack, 2) == 0);
    CHECK(by_address.size() == 2);
    CHECK(by_address[1].address == 0x1000);
    for (const frames_differ_by identity : {frames_differ_by::place, frames_differ_by::texts}) {
        frame_book book{memory, identity};
        CHECK(book.number_of(stack, 0) == 0);
        CHECK(book.number_of(stack, 1) == 0);
        CHECK(book.size() == 1);
    }
}
