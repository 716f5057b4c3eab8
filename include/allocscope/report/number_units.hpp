// number_units.hpp - numbers for people to read: bytes, durations, shares.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by the files of report/ that write text
// Threads:  any
// Memory:   of the text that is written to
//
//     write_bytes(out, 9999);            // "9999 B": exact below 10,000
//     write_bytes(out, 1024 * 1024);     // "1.0 MiB": 1 KiB is 1024 B, 1 MiB is 1024 KiB
//     number_form{memory, true, false}.count(20);    // "+20": of a difference
//     write_share(out, 1, 3);            // "33.3%"
//     write_duration(out, 1500000);      // "1.5 ms"
//     write_interval(out, "1.0 MiB", "2.0 MiB");  // "1.0..2.0 MiB"
//
// Always writes '.', whatever the locale is.

#ifndef ALLOCSCOPE_REPORT_NUMBER_UNITS_HPP
#define ALLOCSCOPE_REPORT_NUMBER_UNITS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t, int64_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// Writes `value` / `unit` with one decimal, rounded half up.
inline void write_one_decimal(text_out& out, std::uint64_t value, std::uint64_t unit) {
    std::uint64_t whole = value / unit;
    std::uint64_t tenths = static_cast<std::uint64_t>(
        static_cast<double>(value % unit) * 10.0 / static_cast<double>(unit) + 0.5);
    if (tenths == 10) {
        tenths = 0;
        ++whole;
    }
    out << decimal{whole} << '.' << decimal{tenths};
}

// Exact below 10,000 B, then KiB, MiB, GiB, TiB, PiB, EiB: each 1024 times the one before.
inline void write_bytes(text_out& out, std::uint64_t bytes) {
    if (bytes < 10000) {
        out << decimal{bytes} << " B";
        return;
    }
    unsigned power = 0;
    // 1023.95 of a unit would be printed as 1024.0, so the next unit is used.
    for (; power < 5; ++power) {
        const unsigned shift = 10 * (power + 1);
        if (bytes < (std::uint64_t{1} << (shift + 10)) - (std::uint64_t{51} << shift >> 10)) break;
    }
    write_one_decimal(out, bytes, std::uint64_t{1} << 10 * (power + 1));
    out << ' ' << "KMGTPE"[power] << "iB";
}

// Writes the sign of a number in a difference (two's complement). Returns its size.
inline std::uint64_t write_sign(text_out& out, std::uint64_t change) {
    const auto value = static_cast<std::int64_t>(change);
    if (value != 0) out << (value < 0 ? '-' : '+');
    return value < 0 ? std::uint64_t{0} - change : change;
}

// In percent with one decimal. A share that rounds to nothing is "<0.1%"; a share of nothing is
// "-".
inline void write_share(text_out& out, std::uint64_t part, std::uint64_t whole) {
    if (whole == 0) {
        out << '-';
        return;
    }
    const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
    const auto tenths = static_cast<std::uint64_t>(percent * 10.0 + 0.5);
    if (tenths == 0 && part != 0) {
        out << "<0.1%";
        return;
    }
    out << decimal{tenths / 10} << '.' << decimal{tenths % 10} << '%';
}

// Writes an interval of two amounts. If both have the same unit, it is written once.
inline void write_interval(text_out& out, const text& low, const text& high) {
    const std::size_t unit = low.find(' ');
    const std::size_t other = high.find(' ');
    const bool is_same_unit =
        unit != text::npos && other != text::npos && low.substr(unit) == high.substr(other);
    out << (is_same_unit ? low.substr(0, unit) : low) << ".." << high;
}

// Numbers as a kind of snapshot needs them: with a sign in a difference, with a '~' if they are
// estimates from samples. The texts lie in `memory`.
class number_form {
public:
    number_form(arena& memory, bool is_difference, bool is_sampled) noexcept
        : memory_(memory), is_difference_(is_difference), is_sampled_(is_sampled) {}

    text count(std::uint64_t objects) const { return made(objects, false, is_sampled_); }
    text amount(std::uint64_t bytes) const { return made(bytes, true, is_sampled_); }

    // Intervals have no '~'.
    text counts(std::uint64_t low, std::uint64_t high) const { return interval(low, high, false); }
    text amounts(std::uint64_t low, std::uint64_t high) const { return interval(low, high, true); }

private:
    text made(std::uint64_t number, bool counts_bytes, bool is_marked) const {
        text_out out{memory_};
        if (is_marked) out << '~';
        const std::uint64_t size = is_difference_ ? write_sign(out, number) : number;
        if (counts_bytes) {
            write_bytes(out, size);
        } else {
            out << decimal{size};
        }
        return out.view();
    }
    text interval(std::uint64_t low, std::uint64_t high, bool counts_bytes) const {
        text_out out{memory_};
        write_interval(out, made(low, counts_bytes, false), made(high, counts_bytes, false));
        return out.view();
    }

    arena& memory_;
    bool is_difference_;
    bool is_sampled_;
};

inline void write_duration(text_out& out, std::uint64_t nanoseconds) {
    if (nanoseconds < 1000) {
        out << decimal{nanoseconds} << " ns";
    } else if (nanoseconds < 999950) {
        write_one_decimal(out, nanoseconds, 1000);
        out << " us";
    } else if (nanoseconds < 999950000) {
        write_one_decimal(out, nanoseconds, 1000000);
        out << " ms";
    } else {
        write_one_decimal(out, nanoseconds, 1000000000);
        out << " s";
    }
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_REPORT_NUMBER_UNITS_HPP
