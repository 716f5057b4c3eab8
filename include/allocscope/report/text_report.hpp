// text_report.hpp - writes a snapshot for people to read: head, rows in columns, losses.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by the user
// Threads:  any
// Memory:   the whole text in an arena, charged to no window
//
//     allocscope::write_text(window.stats(), "heap.txt");       // a file, whole or not at all
//     allocscope::write_text(window.stats(), 2);                // a descriptor
//     allocscope::write_text(window.stats(), stdout);           // a stdio file; it is flushed
//     allocscope::write_text(window.stats(), std::cout);        // a stream
//     std::string text = allocscope::to_text(window.stats());   // a string
//
// An error throws allocscope::report_error. The overload with a std::string& for the message does
// not throw: it returns false, and the message says where the report should go and why it could
// not. (With -fno-exceptions the first overload prints the message to stderr and continues; use the
// second one there.) A stream shows by its state whether it could write.
//
// docs/report_fields.md explains every line and number.

#ifndef ALLOCSCOPE_REPORT_TEXT_REPORT_HPP
#define ALLOCSCOPE_REPORT_TEXT_REPORT_HPP

#include <allocscope/config.hpp>
#include <allocscope/link/pause_recording.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/report/piece_target.hpp>
#include <allocscope/report/text_details.hpp>
#include <allocscope/report/text_memory.hpp>
#include <allocscope/report/text_options.hpp>
#include <allocscope/report/text_sink.hpp>
#include <allocscope/report/text_timeline.hpp>
#include <allocscope/report/whole_report.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // ptrdiff_t
#include <cstdio>   // FILE
#include <iosfwd>   // basic_ostream
#include <string>   // string

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Writes the rows, and after them the parts that only some windows have.
inline void write_text_report(text_out& out, const snapshot& rows, const text_options& wanted,
                              int descriptor) {
    write_report(out, rows, wanted, descriptor);
    write_timeline(out, rows.info(), may_have_utf8_bars(descriptor));
    write_memory(out, rows.info());
    write_text_details(out, rows, wanted, width_for(wanted, descriptor));
}

template <class Target>
bool put_text(const snapshot& rows, Target target, std::string& error, const text_options& wanted) {
    arena memory;
    text_out report{memory};
    write_text_report(report, rows, wanted, target_for(target).descriptor());
    return put_report(report.view(), target, error);
}

template <class Target>
bool try_put_text(const snapshot& rows, Target target, std::string& error,
                  const text_options& wanted) {
    const pause_recording quietly;
    return is_done_or_told(error, [&] { return put_text(rows, target, error, wanted); });
}

template <class Target>
void put_text_or_throw(const snapshot& rows, Target target, const text_options& wanted) {
    const pause_recording quietly;
    std::string error;
    if (!put_text(rows, target, error, wanted)) raise_report_error(error);
}

}  // namespace detail

// Returns the report as it would be in a file: without cuts and colours unless `wanted` asks for
// them.
inline std::string to_text(const snapshot& rows, const text_options& wanted = {}) {
    const pause_recording quietly;
    detail::arena memory;
    detail::text_out report{memory};
    detail::write_text_report(report, rows, wanted, -1);
    return {report.view().data(), report.size()};
}

// Writes to a path: a new file (mode 0600) replaces the old one. If the path is not a regular file
// (/dev/stdout, /dev/null, a FIFO with a reader), it is written to.
inline void write_text(const snapshot& rows, const char* path, const text_options& wanted = {}) {
    detail::put_text_or_throw(rows, path, wanted);
}

inline void write_text(const snapshot& rows, const std::string& path,
                       const text_options& wanted = {}) {
    detail::put_text_or_throw(rows, path.c_str(), wanted);
}

// Writes to an open descriptor, which stays open.
inline void write_text(const snapshot& rows, int descriptor, const text_options& wanted = {}) {
    detail::put_text_or_throw(rows, descriptor, wanted);
}

// Writes to a stdio file, which is flushed and stays open.
inline void write_text(const snapshot& rows, std::FILE* file, const text_options& wanted = {}) {
    detail::put_text_or_throw(rows, file, wanted);
}

// Appends to a stream, as the report would be in a file.
template <class Traits>
void write_text(const snapshot& rows, std::basic_ostream<char, Traits>& stream,
                const text_options& wanted = {}) {
    detail::arena memory;
    detail::text_out report{memory};
    detail::write_text_report(report, rows, wanted, -1);
    stream.write(report.view().data(), static_cast<std::ptrdiff_t>(report.size()));
}

// The same without exceptions: returns false, with the reason in `error`.
inline bool write_text(const snapshot& rows, const char* path, std::string& error,
                       const text_options& wanted = {}) {
    return detail::try_put_text(rows, path, error, wanted);
}
inline bool write_text(const snapshot& rows, const std::string& path, std::string& error,
                       const text_options& wanted = {}) {
    return detail::try_put_text(rows, path.c_str(), error, wanted);
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
