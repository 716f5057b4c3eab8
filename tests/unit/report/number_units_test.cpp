#include <allocscope/report/number_units.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>

using namespace allocscope::detail;

namespace {

// What `write` appends.
template <class... Parameters, class... Values>
std::string written(void (*write)(text_out&, Parameters...), Values... values) {
    arena memory;
    text_out out{memory};
    out << "|";
    write(out, values...);
    return {out.view().data() + 1, out.size() - 1};
}

std::string bytes_text(std::uint64_t bytes) {
    return written(&write_bytes, bytes);
}
std::string text_of(text shown) {
    return {shown.data(), shown.size()};
}
std::string change_text(std::uint64_t change) {
    arena memory;
    return text_of(number_form{memory, true, false}.count(change));
}
std::string bytes_change_text(std::uint64_t change) {
    arena memory;
    return text_of(number_form{memory, true, false}.amount(change));
}
std::string share_text(std::uint64_t part, std::uint64_t whole) {
    return written(&write_share, part, whole);
}
std::string interval_text(const char* low, const char* high) {
    return written(&write_interval, text{low}, text{high});
}
std::string duration_text(std::uint64_t nanoseconds) {
    return written(&write_duration, nanoseconds);
}

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint64_t gib = 1024 * mib;

std::uint64_t minus(std::uint64_t number) {
    return std::uint64_t{0} - number;
}

}  // namespace

TEST_CASE("number_units: bytes are exact below ten thousand") {
    CHECK(bytes_text(0) == "0 B");
    CHECK(bytes_text(1) == "1 B");
    CHECK(bytes_text(9999) == "9999 B");
    CHECK(bytes_text(10000) == "9.8 KiB");
}

TEST_CASE("number_units: an interval says a unit once when both ends have it") {
    CHECK(interval_text("1.0 MiB", "2.0 MiB") == "1.0..2.0 MiB");
    CHECK(interval_text("900.0 KiB", "2.0 MiB") == "900.0 KiB..2.0 MiB");
    CHECK(interval_text("5", "12") == "5..12");
    CHECK(interval_text("-3", "+4 B") == "-3..+4 B");
}

TEST_CASE("number_units: larger numbers have one decimal of the unit that fits") {
    CHECK(bytes_text(100 * kib) == "100.0 KiB");
    CHECK(bytes_text(mib) == "1.0 MiB");
    CHECK(bytes_text(3 * mib / 2) == "1.5 MiB");
    CHECK(bytes_text(5 * gib) == "5.0 GiB");
    CHECK(bytes_text(kib * gib) == "1.0 TiB");
    CHECK(bytes_text(mib * gib) == "1.0 PiB");
    CHECK(bytes_text(gib * gib) == "1.0 EiB");
    CHECK(bytes_text(std::numeric_limits<std::uint64_t>::max()) == "16.0 EiB");
}

TEST_CASE("number_units: no unit is printed 1024 times") {
    CHECK(bytes_text(1023 * kib) == "1023.0 KiB");
    CHECK(bytes_text(mib - 1) == "1.0 MiB");
    CHECK(bytes_text(gib - 1) == "1.0 GiB");
    std::uint64_t unit = kib;
    for (int power = 0; power < 5; ++power, unit *= kib) {
        for (std::uint64_t below = 1; below < unit * kib / 8; below = below * 3 + 1) {
            const std::string text = bytes_text(unit * kib - below);
            CHECK(text.find("1024") == std::string::npos);
        }
    }
}

TEST_CASE("number_units: a change has a sign, no change has none") {
    CHECK(change_text(5) == "+5");
    CHECK(change_text(0) == "0");
    CHECK(change_text(minus(5)) == "-5");
    CHECK(change_text(std::uint64_t{1} << 63U) == "-9223372036854775808");
    CHECK(bytes_change_text(2 * mib) == "+2.0 MiB");
    CHECK(bytes_change_text(minus(2 * mib)) == "-2.0 MiB");
    CHECK(bytes_change_text(0) == "0 B");
    CHECK(bytes_change_text(std::uint64_t{1} << 63U) == "-8.0 EiB");
}

TEST_CASE("number_units: an estimate is marked, and its interval is not") {
    arena memory;
    const number_form estimated{memory, false, true};
    CHECK(text_of(estimated.count(2050)) == "~2050");
    CHECK(text_of(estimated.amount(2 * mib)) == "~2.0 MiB");
    CHECK(text_of(estimated.counts(797, 5268)) == "797..5268");
    CHECK(text_of(number_form{memory, true, true}.amounts(minus(2 * mib), mib)) ==
          "-2.0..+1.0 MiB");
}

TEST_CASE("number_units: a share has one decimal; something is never nothing") {
    CHECK(share_text(1, 1) == "100.0%");
    CHECK(share_text(1, 3) == "33.3%");
    CHECK(share_text(2, 3) == "66.7%");
    CHECK(share_text(1, 1000000) == "<0.1%");
    CHECK(share_text(0, 1000000) == "0.0%");
    CHECK(share_text(0, 0) == "-");
    CHECK(share_text(std::numeric_limits<std::uint64_t>::max(),
                     std::numeric_limits<std::uint64_t>::max()) == "100.0%");
}

TEST_CASE("number_units: durations") {
    CHECK(duration_text(0) == "0 ns");
    CHECK(duration_text(999) == "999 ns");
    CHECK(duration_text(1000) == "1.0 us");
    CHECK(duration_text(999949) == "999.9 us");
    CHECK(duration_text(999950) == "1.0 ms");
    CHECK(duration_text(1500000) == "1.5 ms");
    CHECK(duration_text(999949999) == "999.9 ms");
    CHECK(duration_text(999950000) == "1.0 s");
    CHECK(duration_text(86400000000000) == "86400.0 s");
}
