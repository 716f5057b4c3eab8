// Marks that divide objects by their age: how many are kept, and when the next one is due.
#include <allocscope/state/age_marks.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>

using allocscope::detail::age_mark;
using allocscope::detail::age_marks;

namespace {

constexpr std::uint64_t started = 1000;

// Zeroed, as the kernel's pages are.
std::unique_ptr<age_marks> no_marks() {
    return std::unique_ptr<age_marks>{new age_marks()};
}

bool add_when_due(age_marks& to, std::uint64_t now, std::uint64_t step) {
    if (!to.is_due(now, started, step)) return false;
    to.add({now, now, now});
    return true;
}

}  // namespace

TEST_CASE("age marks: they are a step apart, or nearly") {
    const auto marks = no_marks();
    CHECK(!add_when_due(*marks, started + 874, 1000));
    CHECK(add_when_due(*marks, started + 875, 1000));  // an eighth less will do
    CHECK(!add_when_due(*marks, started + 1749, 1000));
    CHECK(add_when_due(*marks, started + 2000, 1000));
    age_mark read[age_marks::most];
    REQUIRE(marks->copy_to(read) == 2);
    CHECK(read[0].clock == started + 875);
    CHECK(read[1].clock == started + 2000);
    marks->clear();
    CHECK(marks->count() == 0);
    CHECK(!add_when_due(*marks, started + 100, 1000));
}

TEST_CASE("age marks: when they are full, every second one goes, and the step doubles") {
    const auto marks = no_marks();
    std::uint64_t now = started;
    for (std::uint32_t i = 0; i < age_marks::most; ++i) CHECK(add_when_due(*marks, now += 10, 10));
    CHECK(marks->count() == 64);
    CHECK(!add_when_due(*marks, now + 10, 10));  // 20 is the step now
    CHECK(marks->count() == 32);
    CHECK(add_when_due(*marks, now + 20, 10));
    age_mark read[age_marks::most];
    REQUIRE(marks->copy_to(read) == 33);
    for (std::uint32_t i = 0; i < 33; ++i) CHECK(read[i].clock == started + 20 * (i + 1));
    // The next time the marks go back to the first list.
    for (std::uint32_t i = 33; i < age_marks::most; ++i) {
        CHECK(add_when_due(*marks, started + 20 * (i + 1), 10));
    }
    CHECK(!add_when_due(*marks, started + 20 * 65, 10));
    CHECK(add_when_due(*marks, started + 40 * 33, 10));
    REQUIRE(marks->copy_to(read) == 33);
    for (std::uint32_t i = 0; i < 33; ++i) CHECK(read[i].clock == started + 40 * (i + 1));
    marks->clear();
    CHECK(add_when_due(*marks, started + 10, 10));  // as in the beginning
}

TEST_CASE("age marks: a window that is open for a day makes a few hundred marks") {
    const auto marks = no_marks();
    std::uint32_t made = 0;
    constexpr std::uint64_t second = 1'000'000'000;
    for (std::uint64_t now = 0; now < 24 * 3600; ++now) {
        made += add_when_due(*marks, started + now * second, second) ? 1 : 0;
    }
    CHECK(made < 450);
    age_mark read[age_marks::most];
    const std::uint32_t kept = marks->copy_to(read);
    REQUIRE(kept > 32);
    // Two of them are never much further apart than a 32nd of the time.
    for (std::uint32_t i = 1; i < kept; ++i) {
        CHECK(read[i].clock - read[i - 1].clock <= 24 * 3600 * second / 28);
    }
}
