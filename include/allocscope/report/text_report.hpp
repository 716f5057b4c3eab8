// text_report.hpp - a snapshot for a person to read: head, rows in columns, what was lost.
//
// Room:     report (floor 9), not malloc-safe
// Called:   by the user, and by integrations/ when a test fails
// Threads:  any
// Memory:   the text in one string, charged to no window
//
//     allocscope::write_text(window.stats(), "heap.txt");       // a file, whole or not at all
//     allocscope::write_text(window.stats(), 2);                // a descriptor
//     allocscope::write_text(window.stats(), stdout);           // a stdio file; it is flushed
//     std::string text = allocscope::to_text(window.stats());   // a string
//
// What fails throws allocscope::report_error. With a std::string& for the message nothing is
// thrown: false is returned and the message says where to and why. (With -fno-exceptions the first
// form prints the message to stderr and goes on; the second is the one to use.)
//
// Every line and number is explained in docs/report_fields.md.

#ifndef ALLOCSCOPE_REPORT_TEXT_REPORT_HPP
#define ALLOCSCOPE_REPORT_TEXT_REPORT_HPP

#include <allocscope/config.hpp>
#include <allocscope/measure/scope.hpp>
#include <allocscope/platform/terminal_width.hpp>
#include <allocscope/report/text_head.hpp>
#include <allocscope/report/text_options.hpp>
#include <allocscope/report/text_sink.hpp>
#include <allocscope/report/text_table.hpp>
#include <allocscope/snapshot/few_samples.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <algorithm>  // max
#include <cstddef>    // size_t
#include <cstdint>    // uint32_t
#include <cstdio>     // FILE, fileno
#include <exception>  // exception
#include <string>     // string, to_string

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr std::uint32_t least_text_width = 60;

// -1: the text goes to no descriptor, so to no terminal.
inline text_form form_for(const text_options& wanted, int descriptor) {
    text_form form;
    if (wanted.width != 0) {
        form.width = std::max(wanted.width, least_text_width);
    } else if (descriptor >= 0 && is_terminal(descriptor)) {
        form.width = std::max(terminal_columns(descriptor), least_text_width);
    }
    form.has_color =
        wanted.color == text_color::always || (wanted.color == text_color::automatic &&
                                               descriptor >= 0 && terminal_wants_color(descriptor));
    return form;
}

// What stands in the place of the rows when there are none. "Nothing is alive" is said only when
// that is known.
inline std::string instead_of_rows(const snapshot& rows) {
    const snapshot::window_info& info = rows.info();
    if (info.not_recording[0] != '\0') return "";
    if (is_all_unsampled(rows)) {
        return "no sample is alive: up to " + bytes_text(info.estimates.live_bytes.high) +
               " may be alive (95%)\n";
    }
    const std::uint64_t alive = info.totals.live_objects();
    if (info.record == recording::counters && alive != 0) {
        return "counters only: there are no rows\n";
    }
    if (info.is_difference) return "no row has changed\n";
    if (alive == 0 && info.loss_count == 0) return "nothing is alive\n";
    if (alive == 0) return "nothing that was recorded is alive\n";
    return "where the objects that are alive were allocated was not recorded\n";
}

inline std::string text_for(const snapshot& rows, const text_options& wanted, int descriptor) {
    const text_form form = form_for(wanted, descriptor);
    std::string text = window_head(rows, form);
    if (!rows.empty()) return text + '\n' + text_table{rows, wanted, form}.text();
    const std::string sentence = instead_of_rows(rows);
    return sentence.empty() ? text : text + '\n' + wrap(sentence, form.width, 0);
}

// A path names a descriptor (/dev/stdout), or something that is not laid out for a terminal.
inline int descriptor_of(const char* path) {
    return path != nullptr ? descriptor_named_by(path) : -1;
}
inline int descriptor_of(int descriptor) {
    return descriptor;
}
inline int descriptor_of(std::FILE* file) {
    return file != nullptr ? ::fileno(file) : -1;
}

template <class Target>
bool put_text(const snapshot& rows, Target target, std::string& error, const text_options& wanted) {
    return put_report(text_for(rows, wanted, descriptor_of(target)), target, error);
}

// The same, with running out of memory as one more reason not to write.
template <class Target>
bool try_put_text(const snapshot& rows, Target target, std::string& error,
                  const text_options& wanted) {
    const pause_recording quietly;
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    return put_text(rows, target, error, wanted);
#else
    try {
        return put_text(rows, target, error, wanted);
    } catch (const std::exception& problem) {
        error = problem.what();
        return false;
    }
#endif
}

template <class Target>
void put_text_or_throw(const snapshot& rows, Target target, const text_options& wanted) {
    const pause_recording quietly;
    std::string error;
    if (!put_text(rows, target, error, wanted)) raise_report_error(error);
}

}  // namespace detail

// The report as it would stand in a file: not cut and not coloured unless `wanted` says so.
inline std::string to_text(const snapshot& rows, const text_options& wanted = {}) {
    const pause_recording quietly;
    return detail::text_for(rows, wanted, -1);
}

// To a path: a new file (mode 0600) takes the place of what was there. A path that is not a file
// (/dev/stdout, /dev/null, a FIFO with a reader) is written to.
inline void write_text(const snapshot& rows, const char* path, const text_options& wanted = {}) {
    detail::put_text_or_throw(rows, path, wanted);
}

// To an open descriptor, which stays open.
inline void write_text(const snapshot& rows, int descriptor, const text_options& wanted = {}) {
    detail::put_text_or_throw(rows, descriptor, wanted);
}

// To a stdio file, which is flushed and stays open.
inline void write_text(const snapshot& rows, std::FILE* file, const text_options& wanted = {}) {
    detail::put_text_or_throw(rows, file, wanted);
}

// The same without exceptions: false, and why in `error`.
inline bool write_text(const snapshot& rows, const char* path, std::string& error,
                       const text_options& wanted = {}) {
    return detail::try_put_text(rows, path, error, wanted);
}
inline bool write_text(const snapshot& rows, int descriptor, std::string& error,
                       const text_options& wanted = {}) {
    return detail::try_put_text(rows, descriptor, error, wanted);
}
inline bool write_text(const snapshot& rows, std::FILE* file, std::string& error,
                       const text_options& wanted = {}) {
    return detail::try_put_text(rows, file, error, wanted);
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_TEXT_REPORT_HPP
