// frame_text.hpp - the names of frames in the formats of other tools.
//
// Room:     formats (floor 12), not malloc-safe
// Called:   by the writers in formats/
// Threads:  any
// Memory:   of the text that is written to
//
//     write_frame_name(out, frame);       // acme::load(int), or libz.so.1+0x4a10 without a symbol
//     write_frame_label(out, frame);      // 0x55d0: acme::load(int) (/src/load.cpp:12)
//     replace_since(out, begin, ";", ':');  // if a name contains what separates names in a format
//
// What is written is printable, valid UTF-8 on one line; other bytes are escaped as in a text
// report.

#ifndef ALLOCSCOPE_FORMATS_FRAME_TEXT_HPP
#define ALLOCSCOPE_FORMATS_FRAME_TEXT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

inline bool is_empty(const char* name) noexcept {
    return name == nullptr || name[0] == '\0';
}

// Writes the function; if there is none, the module with an offset.
inline void write_frame_name(text_out& out, const snapshot::frame& frame) {
    if (!is_empty(frame.function)) {
        write_printable(out, frame.function);
        return;
    }
    write_printable(out, is_empty(frame.module) ? "?" : file_name_of(frame.module).data());
    if (frame.offset != 0) out << "+0x" << hexadecimal{frame.offset};
}

// Writes the frame as Valgrind's tools do.
inline void write_frame_label(text_out& out, const snapshot::frame& frame) {
    out << "0x" << hexadecimal{frame.address} << ": ";
    write_frame_name(out, frame);
    out << " (";
    if (!is_empty(frame.file)) {
        write_printable(out, frame.file);
        out << ':' << decimal{static_cast<std::uint64_t>(frame.line)};
    } else {
        out << "in ";
        write_printable(out, is_empty(frame.module) ? "?" : frame.module);
    }
    out << ')';
}

// Replaces each character of `unwanted` in the text from index `from` on.
inline void replace_since(text_out& out, std::size_t from, const text& unwanted, char instead) {
    // The caller may change its text; only the view of it is constant.
    char* written = const_cast<char*>(out.view().data());
    for (std::size_t i = from; i < out.size(); ++i) {
        if (unwanted.find(written[i]) != text::npos) written[i] = instead;
    }
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_FORMATS_FRAME_TEXT_HPP
