// evidence_file.hpp - the file that a failed check leaves behind.
//
// Room:     verdict (floor 11), not malloc-safe
// Called:   through the engine table, by verdict/evidence_folder.hpp
// Threads:  any
// Memory:   an arena for the whole text
//
// The file has the message, what was not recorded, and every row with its whole stack. It is not a
// text report: a report has tables, shares and intervals, which few checks need and which every
// program would have to compile.
//
//     leak check "session": 2 objects with 64 bytes are still alive, allowed 0
//       src/session.cpp:31: 2 objects of std::string, 64 bytes, in session::login
//
//     not recorded: 3 events in signal handlers were not recorded: nested too deeply
//
//       src/session.cpp:31: 2 objects of std::string, 64 bytes, in session::login
//                 at session::login(char const*) (src/session.cpp:31)
//                 at main (src/main.cpp:12) [inlined]

#ifndef ALLOCSCOPE_VERDICT_EVIDENCE_FILE_HPP
#define ALLOCSCOPE_VERDICT_EVIDENCE_FILE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/platform/output_file.hpp>
#include <allocscope/snapshot/loss_sentences.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/verdict/check_message.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

inline void write_evidence_frame(text_out& out, const snapshot::frame& frame) {
    out << "\n            at ";
    if (frame.function[0] != '\0') {
        write_printable(out, frame.function);
    } else {
        write_printable(out, frame.module[0] != '\0' ? frame.module : "?");
        out << "+0x" << hexadecimal{frame.offset};
    }
    if (frame.file[0] != '\0') {
        out << " (";
        write_file_line(out, frame.file, frame.line);
        out << ')';
    }
    if (frame.is_inlined) out << " [inlined]";
}

inline void write_evidence(text_out& out, arena& scratch, const snapshot& rows, const char* head) {
    out << head;
    const snapshot::window_info& info = rows.info();
    for (std::size_t i = 0; i < info.loss_count; ++i) {
        out << "\n\nnot recorded: " << decimal{info.losses[i].count} << ' ';
        write_printable(out, sentence_of(info.losses[i]));
    }
    for (const snapshot::row& row : rows) {
        out << '\n';
        write_row(out, scratch, row, "");
        for (std::uint32_t i = 0; i < row.frame_count; ++i) {
            write_evidence_frame(out, row.frames[i]);
        }
    }
    out << '\n';
}

// Returns 0 or an errno value.
inline int save_evidence_file(const snapshot& rows, const char* head, const char* path) {
    arena memory;
    arena scratch;
    text_out all{memory};
    write_evidence(all, scratch, rows, head);
    output_file out;
    int failure = out.open(path);
    if (failure == 0) failure = out.write(all.view().data(), all.size());
    if (failure == 0) failure = out.commit();
    return failure;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_VERDICT_EVIDENCE_FILE_HPP
