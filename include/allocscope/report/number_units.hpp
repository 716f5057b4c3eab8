// number_units.hpp - numbers as a person reads them: bytes, durations, shares.
//
// Room:     report (floor 9), not malloc-safe
// Called:   by the writers whose output is read by people
// Threads:  any
// Memory:   returned strings
//
//     bytes_text(9999);            // "9999 B": exact below 10,000
//     bytes_text(1024 * 1024);     // "1.0 MiB": 1 KiB is 1024 B, 1 MiB is 1024 KiB
//     change_text(-20);            // "-20"; 20 becomes "+20"
//     share_text(1, 3);            // "33.3%"
//     duration_text(1500000);      // "1.5 ms"
//     interval_text("1.0 MiB", "2.0 MiB");  // "1.0..2.0 MiB"
//
// Integer arithmetic and '.' whatever the locale.

#ifndef ALLOCSCOPE_REPORT_NUMBER_UNITS_HPP
#define ALLOCSCOPE_REPORT_NUMBER_UNITS_HPP

#include <allocscope/config.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t, int64_t
#include <string>   // string, to_string

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// `value` units of which one is worth `unit`, with one decimal, rounded half up.
inline std::string with_one_decimal(std::uint64_t value, std::uint64_t unit) {
    std::uint64_t whole = value / unit;
    // The rest is below the unit, and no unit is so large that ten of it overflow twice over.
    std::uint64_t tenths = static_cast<std::uint64_t>(
        static_cast<double>(value % unit) * 10.0 / static_cast<double>(unit) + 0.5);
    if (tenths == 10) {
        tenths = 0;
        ++whole;
    }
    return std::to_string(whole) + '.' + static_cast<char>('0' + tenths);
}

// Exact below 10,000 B, then KiB, MiB, GiB, TiB, PiB, EiB: each 1024 times the one before.
inline std::string bytes_text(std::uint64_t bytes) {
    if (bytes < 10000) return std::to_string(bytes) + " B";
    const char* const names[] = {" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    unsigned shift = 10;
    unsigned name = 0;
    // 1023.95 of a unit would be printed as 1024.0: the next unit is meant.
    while (name < 5 &&
           bytes >= (std::uint64_t{1} << (shift + 10)) - (std::uint64_t{51} << shift >> 10)) {
        shift += 10;
        ++name;
    }
    return with_one_decimal(bytes, std::uint64_t{1} << shift) + names[name];
}

// The number of a difference: two's complement, with its sign.
inline std::string change_text(std::uint64_t change) {
    const auto value = static_cast<std::int64_t>(change);
    return (value > 0 ? "+" : "") + std::to_string(value);
}

inline std::string bytes_change_text(std::uint64_t change) {
    const auto value = static_cast<std::int64_t>(change);
    if (value < 0) return '-' + bytes_text(std::uint64_t{0} - change);
    return (value > 0 ? "+" : "") + bytes_text(change);
}

// In percent with one decimal. What is there but rounds to nothing is "<0.1%"; of nothing, "-".
inline std::string share_text(std::uint64_t part, std::uint64_t whole) {
    if (whole == 0) return "-";
    const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
    const auto tenths = static_cast<std::uint64_t>(percent * 10.0 + 0.5);
    if (tenths == 0 && part != 0) return "<0.1%";
    return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + '%';
}

// From one amount to another; a unit that both have is said once.
inline std::string interval_text(std::string low, const std::string& high) {
    const std::size_t unit = low.find(' ');
    const std::size_t other = high.find(' ');
    if (unit != std::string::npos && other != std::string::npos &&
        low.compare(unit, low.size() - unit, high, other, high.size() - other) == 0) {
        low.erase(unit);
    }
    return low + ".." + high;
}

inline std::string duration_text(std::uint64_t nanoseconds) {
    if (nanoseconds < 1000) return std::to_string(nanoseconds) + " ns";
    if (nanoseconds < 999950) return with_one_decimal(nanoseconds, 1000) + " us";
    if (nanoseconds < 999950000) return with_one_decimal(nanoseconds, 1000000) + " ms";
    return with_one_decimal(nanoseconds, 1000000000) + " s";
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_NUMBER_UNITS_HPP
