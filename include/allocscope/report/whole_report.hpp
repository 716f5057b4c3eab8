// whole_report.hpp - writes a text report from its first line to its last.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by report/text_report.hpp
// Threads:  any
// Memory:   of the text that is written to, and of an arena while it is written

#ifndef ALLOCSCOPE_REPORT_WHOLE_REPORT_HPP
#define ALLOCSCOPE_REPORT_WHOLE_REPORT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/platform/terminal_width.hpp>
#include <allocscope/report/number_units.hpp>
#include <allocscope/report/text_columns.hpp>
#include <allocscope/report/text_head.hpp>
#include <allocscope/report/text_options.hpp>
#include <allocscope/report/text_table.hpp>
#include <allocscope/snapshot/few_samples.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

constexpr std::uint32_t least_text_width = 60;

// A descriptor of -1 means that the text goes to no terminal.
inline std::uint32_t width_for(const text_options& wanted, int descriptor) {
    std::uint32_t width = wanted.width;
    if (width == 0) {
        if (descriptor < 0 || !is_terminal(descriptor)) return 0;
        width = terminal_columns(descriptor);
    }
    return width < least_text_width ? least_text_width : width;
}

// Writes what replaces the rows if there are none. "Nothing is alive" is written only if that is
// known.
inline void write_instead_of_rows(text_out& out, const snapshot& rows) {
    const snapshot::window_info& info = rows.info();
    const std::uint64_t alive = info.totals.live_objects();
    if (is_all_unsampled(rows)) {
        out << "no sample is alive: up to ";
        write_bytes(out, info.estimates.live_bytes.high);
        out << " may be alive (95%)";
    } else if (info.record == recording::counters && alive != 0) {
        out << "counters only: there are no rows";
    } else if (info.is_filtered) {
        out << "no row matches the request";
    } else if (info.is_difference) {
        out << "no row has changed";
    } else if (alive != 0) {
        out << "the places of the live objects were not recorded";
    } else {
        out << (info.loss_count == 0 ? "nothing is alive" : "nothing that was recorded is alive");
    }
}

inline void write_report(text_out& out, const snapshot& rows, const text_options& wanted,
                         int descriptor) {
    arena parts;
    const bool has_color =
        wanted.color == text_color::always || (wanted.color == text_color::automatic &&
                                               descriptor >= 0 && terminal_wants_color(descriptor));
    const text_form form{parts, width_for(wanted, descriptor), has_color};
    write_head(out, rows, form);
    if (!rows.empty()) {
        out << '\n';
        const text_table table{rows, wanted, form};
        table.write(out);
    } else if (rows.info().not_recording[0] == '\0') {
        text_out sentence{parts};
        write_instead_of_rows(sentence, rows);
        out << '\n';
        write_wrapped(out, sentence.view(), form.width, 0);
        out << '\n';
    }
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_REPORT_WHOLE_REPORT_HPP
