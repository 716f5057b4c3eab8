// text_timeline.hpp - the time series of a window as one line of bars.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by report/text_report.hpp, below the rows
// Threads:  any
// Memory:   of the text that is written to
//
//     alive over time  (bars)  0 B to 2.6 MiB; 21 points in 425.8 ms
//
//             12.3 ms     1.2 MiB  parsed
//
// Sampled numbers carry '~', as everywhere.
//
// Each bar is the largest of the points in its part of the time. A part without a point is as high
// as the part before it.

#ifndef ALLOCSCOPE_REPORT_TEXT_TIMELINE_HPP
#define ALLOCSCOPE_REPORT_TEXT_TIMELINE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/platform/terminal_width.hpp>
#include <allocscope/report/number_units.hpp>
#include <allocscope/report/text_columns.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>           // size_t
#include <cstdint>           // uint64_t
#include <cstdlib>           // secure_getenv
#include <initializer_list>  // for over a list in braces

#include <strings.h>  // strncasecmp

ALLOCSCOPE_COLD_BEGIN

namespace detail {

constexpr std::size_t most_bars = 60;
constexpr std::size_t most_marks = 40;

// The points that have names, one line for each.
inline void write_marks(text_out& out, const snapshot::window_info& info) {
    std::size_t shown = 0;
    std::size_t left_out = 0;
    for (std::size_t i = 0; i < info.moment_count; ++i) {
        const snapshot::moment& each = info.moments[i];
        if (each.mark[0] == '\0') continue;
        if (shown == most_marks) {
            ++left_out;
            continue;
        }
        ++shown;
        arena parts;
        text_out time{parts};
        text_out bytes{parts};
        write_duration(time, each.at_ns);
        if (info.record == recording::sampled) bytes << '~';
        write_bytes(bytes, each.live_bytes);
        write_right(out, time.view(), 15);
        out << "  ";
        write_right(out, bytes.view(), 10);
        out << "  ";
        write_printable(out, each.mark);
        out << '\n';
    }
    if (left_out != 0) out << "  and " << decimal{left_out} << " more marks\n";
}

// Whether a locale, such as en_US.UTF-8, names UTF-8.
inline bool is_utf8_locale(const char* locale) noexcept {
    for (; *locale != '\0'; ++locale) {
        if (::strncasecmp(locale, "utf-8", 5) == 0 || ::strncasecmp(locale, "utf8", 4) == 0) {
            return true;
        }
    }
    return false;
}

// Files and pipes get UTF-8, whatever the locale of this process. A terminal gets what its locale
// says: that of the first of these variables which is set and not empty.
inline bool may_have_utf8_bars(int descriptor) noexcept {
    if (descriptor < 0 || !is_terminal(descriptor)) return true;
    for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* const locale = ::secure_getenv(variable);
        if (locale != nullptr && *locale != '\0') return is_utf8_locale(locale);
    }
    return false;
}

struct timeline_bar {
    std::uint64_t bytes;
    bool has_point;
};

// Writes nothing if there are fewer than two points.
inline void write_timeline(text_out& out, const snapshot::window_info& info, bool has_utf8_bars) {
    if (info.moment_count < 2) return;
    const snapshot::moment* const last = info.moments + info.moment_count - 1;
    timeline_bar bars[most_bars] = {};
    const std::size_t count = info.moment_count < most_bars ? info.moment_count : most_bars;
    const double bars_per_ns =
        static_cast<double>(count) / (static_cast<double>(last->at_ns) + 1.0);
    std::uint64_t least = ~std::uint64_t{0};
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < info.moment_count; ++i) {
        const std::uint64_t bytes = info.moments[i].live_bytes;
        if (bytes < least) least = bytes;
        if (bytes > most) most = bytes;
        auto at =
            static_cast<std::size_t>(static_cast<double>(info.moments[i].at_ns) * bars_per_ns);
        if (at >= count) at = count - 1;
        if (!bars[at].has_point || bytes > bars[at].bytes) bars[at].bytes = bytes;
        bars[at].has_point = true;
    }
    out << "\nalive over time  ";
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (bars[i].has_point) bytes = bars[i].bytes;
        const double share =
            most == 0 ? 0.0 : static_cast<double>(bytes) / static_cast<double>(most);
        const auto eighths = static_cast<unsigned>(share * 7.0 + 0.5);
        if (has_utf8_bars) {
            out << "\xe2\x96" << static_cast<char>(0x81U + eighths);  // U+2581 to U+2588
        } else {
            out << "_.:-=+*#"[eighths];
        }
    }
    const char* const mark = info.record == recording::sampled ? "~" : "";
    out << "  " << mark;
    write_bytes(out, least);
    out << " to " << mark;
    write_bytes(out, most);
    out << "; " << decimal{info.moment_count} << " points in ";
    write_duration(out, last->at_ns);
    out << '\n';
    write_marks(out, info);
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_REPORT_TEXT_TIMELINE_HPP
