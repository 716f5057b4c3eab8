// check_message.hpp - what a failed check says about the rows.
//
// Room:     verdict (floor 11), not malloc-safe
// Called:   by the files of verdict/ that write a message
// Threads:  any
// Memory:   of the text that is written to; a second arena for taking names apart
//
//     leak check "session": 3 objects with 96 bytes are still alive, allowed 0
//       src/session.cpp:31: 2 objects of std::string, 64 bytes, in session::login
//         called from src/main.cpp:12 in main
//       src/cache.cpp:70: 1 object of entry, 32 bytes, in cache::add
//         called from src/cache.cpp:81 in cache::grow, 3 times
//         called from src/cache.cpp:95 in cache::load
//         further out, from src/main.cpp:14 in main
//
// Only the user's own frames are shown, each as file:line, so that terminals and editors can open
// it.

#ifndef ALLOCSCOPE_VERDICT_CHECK_MESSAGE_HPP
#define ALLOCSCOPE_VERDICT_CHECK_MESSAGE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/naming/process_names.hpp>
#include <allocscope/places/library_files.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/spelling/function_name.hpp>
#include <allocscope/spelling/name_brackets.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <cstring>  // strcmp

ALLOCSCOPE_COLD_BEGIN

namespace detail {

constexpr std::size_t message_rows = 3;
constexpr std::size_t message_callers = 2;

// The name of a window, if it has one: ` "session"`.
inline void write_quoted(text_out& out, const char* name) {
    if (name[0] == '\0') return;
    out << " \"";
    write_printable(out, name);
    out << '"';
}

// The beginning of a message: `budget "session": `.
inline void write_heading(text_out& out, const char* what, const char* name) {
    out << what;
    write_quoted(out, name);
    out << ": ";
}

// "2 objects with 64 bytes".
inline void write_sums(text_out& out, std::uint64_t objects, std::uint64_t bytes) {
    write_count(out, objects, "object", "objects");
    out << " with ";
    write_count(out, bytes, "byte", "bytes");
}

// " in session::login": without parameters and template arguments, which would make the lines long.
// The evidence file has them.
inline void write_in_function(text_out& out, arena& scratch, const char* function) {
    if (function[0] == '\0') return;
    const borrowed_memory meanwhile{scratch};
    const text plain =
        symbolize::plain_name(scratch, symbolize::parse_function_name(scratch, function));
    out << " in ";
    write_printable(out, plain.empty() ? function : copy_of(scratch, plain).data());
}

inline void write_file_line(text_out& out, const char* file, int line) {
    write_printable(out, file);
    out << ':' << decimal{static_cast<std::uint64_t>(line)};
}

// Writes the whole path, because the shortened path of the row cannot be opened.
inline void write_row_place(text_out& out, const snapshot::row& row) {
    if (row.user_frame < row.frame_count && row.frames[row.user_frame].file[0] != '\0') {
        const snapshot::frame& frame = row.frames[row.user_frame];
        write_file_line(out, frame.file, frame.line);
        return;
    }
    const char* file = row.file[0] != '\0' ? row.file : "(place not recorded)";
    if (row.line != 0) {
        write_file_line(out, file, row.line);
    } else {
        write_printable(out, file);
        if (row.offset != 0) out << "+0x" << hexadecimal{row.offset};
    }
}

ALLOCSCOPE_PURE ALLOCSCOPE_INLINE bool is_same_call(const snapshot::frame& a,
                                                    const snapshot::frame& b) noexcept {
    return a.line == b.line && std::strcmp(a.file, b.file) == 0 &&
           std::strcmp(a.function, b.function) == 0;
}

// `place` is the file of the row.
inline bool is_shown_caller(const snapshot::frame& frame, const text& place, arena& scratch) {
    if (frame.file[0] == '\0') return false;
    symbolize::code_frame plain;
    plain.function = frame.function;
    plain.file = frame.file;
    plain.line = frame.line;
    if (library_rule.is_library(scratch, plain)) return false;
    return library_rule.is_declared_own(scratch, plain) ||
           !symbolize::is_library_file(scratch, plain.file, shared_folder(plain.file, place));
}

// Whether frames further out only run tests or benchmarks. Not every test is called by an adapter
// of ours, which has a frame with that name.
inline bool runs_a_test(const text& function) noexcept {
    constexpr text runners =
        "testing::Test::Run( testing::TestInfo::Run( testing::UnitTest::Run( "
        "doctest::Context::run( Catch::Session::run benchmark::RunSpecifiedBenchmarks(";
    return function.contains("::allocscope_test_boundary") ||
           !symbolize::listed_start(function, runners).empty();
}

// "called from src/main.cpp:12 in main", on a line of its own.
inline void write_caller(text_out& out, arena& scratch, const char* indent, const char* how,
                         const snapshot::frame& frame) {
    out << '\n' << indent << "    " << how;
    write_file_line(out, frame.file, frame.line);
    write_in_function(out, scratch, frame.function);
}

inline void write_times(text_out& out, std::uint64_t times) {
    if (times > 1) out << ", " << decimal{times} << " times";
}

// A recursive function is written as one caller, so that it does not hide the function that called
// it first. Behind the callers comes the outermost call, if its file is not among theirs: where all
// of them are in a library, this one is the user's.
inline void write_callers(text_out& out, arena& scratch, const snapshot::row& row,
                          const char* indent) {
    const bool has_place = row.user_frame < row.frame_count;
    const char* files[message_callers + 1] = {has_place ? row.frames[row.user_frame].file : ""};
    std::size_t shown = 0;
    const snapshot::frame* last = nullptr;
    const snapshot::frame* outermost = nullptr;
    std::uint64_t times = 0;
    for (std::size_t i = row.user_frame + 1; i < row.frame_count; ++i) {
        const snapshot::frame& frame = row.frames[i];
        if (runs_a_test(frame.function)) break;
        if (!is_shown_caller(frame, files[0], scratch)) continue;
        if (outermost != nullptr || (shown == message_callers && !is_same_call(*last, frame))) {
            outermost = &frame;
            continue;
        }
        ++times;
        if (last != nullptr && is_same_call(*last, frame)) continue;
        write_times(out, times - 1);
        times = 1;
        last = &frame;
        files[++shown] = frame.file;
        write_caller(out, scratch, indent, "called from ", frame);
    }
    write_times(out, times);
    if (outermost == nullptr) return;
    for (const char* file : files) {
        if (std::strcmp(file, outermost->file) == 0) return;
    }
    write_caller(out, scratch, indent, "further out, from ", *outermost);
}

// Writes a row without its callers.
inline void write_row(text_out& out, arena& scratch, const snapshot::row& row, const char* mark,
                      const char* indent = "") {
    out << '\n' << indent << "  ";
    write_row_place(out, row);
    out << ": " << mark;
    write_count(out, row.objects, "object", "objects");
    if (row.type[0] != '\0' && row.type[0] != '?') {
        out << " of ";
        write_printable(out, row.type);
    }
    out << ", " << mark;
    write_count(out, row.bytes, "byte", "bytes");
    if (row.function[0] != '\0') out << ',';
    write_in_function(out, scratch, row.function);
}

// Writes a row without its numbers.
inline void write_place_and_callers(text_out& out, arena& scratch, const snapshot::row& row) {
    out << "\n  ";
    write_row_place(out, row);
    if (row.function[0] != '\0') out << ':';
    write_in_function(out, scratch, row.function);
    write_callers(out, scratch, row, "");
}

// Writes the rows that matter most, by bytes or by objects, and how many more there are. Rows with
// fewer objects than `least` are left out, unless there are no others.
inline void write_top_rows(text_out& out, arena& scratch, const snapshot& rows, bool by_bytes,
                           const char* indent = "", std::uint64_t least = 0) {
    struct weighed_row {
        const snapshot::row* row;
        std::uint64_t weight;
    };
    list<weighed_row> order{scratch};
    for (const snapshot::row& row : rows) {
        if (row.objects >= least) order.push_back({&row, by_bytes ? row.bytes : row.objects});
    }
    if (order.empty() && least != 0) return write_top_rows(out, scratch, rows, by_bytes, indent);
    sort(order, [](const weighed_row& a, const weighed_row& b) { return a.weight > b.weight; });
    const char* mark = rows.info().record == recording::sampled ? "~" : "";
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (i == message_rows) {
            out << '\n' << indent << "  and ";
            write_count(out, order.size() - i, "more place", "more places");
            return;
        }
        const snapshot::row& row = *order[i].row;
        write_row(out, scratch, row, mark, indent);
        write_callers(out, scratch, row, indent);
    }
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_VERDICT_CHECK_MESSAGE_HPP
