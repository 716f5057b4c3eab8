// text_frames.hpp - the stack below a row of a text report.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by report/text_table.hpp
// Threads:  any
// Memory:   of the text that is written to; of an arena for the parts of a line
//
//                 at acme::load_sessions(int) (src/sessions.cpp:14)
//                 at main (src/main.cpp:7) [inlined]
//                 at git+0x2897a0 (/usr/bin/git+0x2897d0)     // a function without a name
//                 and 3 more

#ifndef ALLOCSCOPE_REPORT_TEXT_FRAMES_HPP
#define ALLOCSCOPE_REPORT_TEXT_FRAMES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/report/text_columns.hpp>
#include <allocscope/report/text_function.hpp>
#include <allocscope/report/text_head.hpp>
#include <allocscope/snapshot/numbered_function.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// Whether a frame belongs to what calls main() or a thread's function, which is below every stack.
inline bool is_start_of_thread(const snapshot::frame& frame) {
    const text function{frame.function};
    if (function.empty() || is_numbered(frame)) {
        text module{frame.module};
        const std::size_t slash = module.rfind('/');
        if (slash != text::npos) module.remove_prefix(slash + 1);
        return module.starts_with("libc.so") || module.starts_with("libstdc++.so") ||
               module.starts_with("ld-linux");
    }
    return function == "_start" || function == "start_thread" || function == "clone" ||
           function == "clone3" || function.starts_with("__clone") ||
           function.starts_with("__libc_start_");
}

// Whether the second of two frames is _start, which has no name in a stripped program.
inline bool is_start_of_program(const snapshot::frame* frames) {
    return text{frames[0].function}.starts_with("__libc_start_") &&
           (*frames[1].function == '\0' || is_numbered(frames[1]));
}

// If there is too little room, the function gives way first, then the directories, but
// never file:line.
inline void write_frame(text_out& out, const snapshot::frame& frame, const text_form& form) {
    text_out function{form.parts};
    if (frame.function[0] != '\0') {
        write_printable(function, frame.function);
    } else {
        write_printable(function, frame.module[0] != '\0' ? frame.module : "?");
        function << "+0x" << hexadecimal{frame.offset};
    }
    text_out place{form.parts};
    if (frame.file[0] != '\0') {
        write_printable(place, frame.file);
        if (frame.line != 0) place << ':' << decimal{static_cast<std::uint64_t>(frame.line)};
    } else if (is_numbered(frame)) {
        write_printable(place, frame.module);
        place << "+0x" << hexadecimal{frame.offset};
    }
    constexpr text at = "            at ";
    constexpr text inlined = " [inlined]";
    constexpr std::size_t least_function = 8;
    std::size_t room = ~std::size_t{0} / 2;
    if (form.width != 0) {
        const std::size_t taken = at.size() + (frame.is_inlined ? inlined.size() : 0) + 3;
        room = form.width > taken + 2 * least_function ? form.width - taken : 2 * least_function;
    }
    text_out line{form.parts};
    line << at;
    const std::size_t wanted = columns_of(place.view());
    const bool has_room = wanted + least_function <= room;
    write_function(line, function.view(), has_room ? room - wanted : least_function);
    if (!place.empty()) {
        line << " (";
        write_path(line, place.view(), has_room ? wanted : room - least_function);
        line << ')';
    }
    if (frame.is_inlined) line << inlined;
    form.write(out, dim, line.view());
    out << '\n';
}

// The frames before the row's own frame lead from the library to operator new; they are not shown.
inline void write_frames(text_out& out, const snapshot::row& row, std::size_t most,
                         const text_form& form) {
    if (most == 0) return;
    const std::size_t first = row.user_frame < row.frame_count ? row.user_frame : 0;
    std::size_t end = row.frame_count;
    if (end > first + 1 && is_start_of_program(row.frames + end - 2)) --end;
    while (end > first + 1 && is_start_of_thread(row.frames[end - 1])) --end;
    for (std::size_t i = first; i < end; ++i) {
        if (i - first == most) {
            text_out rest{form.parts};
            rest << "            and " << decimal{end - i} << " more";
            form.write(out, dim, rest.view());
            out << '\n';
            return;
        }
        write_frame(out, row.frames[i], form);
    }
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_REPORT_TEXT_FRAMES_HPP
