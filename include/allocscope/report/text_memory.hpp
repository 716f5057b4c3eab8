// text_memory.hpp - shows where the resident memory is, as lines of a text report.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by report/text_report.hpp, below the rows
// Threads:  any
// Memory:   of the text that is written to
//
//     resident memory  6.4 MiB, 12.1 ms after the window began
//       recorded objects          1.5 MiB   23.4%
//       rounding, headers       781.3 KiB   11.9%
//       ...
//
// Parts that have no bytes are left out.

#ifndef ALLOCSCOPE_REPORT_TEXT_MEMORY_HPP
#define ALLOCSCOPE_REPORT_TEXT_MEMORY_HPP

#include <allocscope/base/memory_use.hpp>
#include <allocscope/config.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/report/number_units.hpp>
#include <allocscope/report/text_columns.hpp>
#include <allocscope/snapshot/shown_memory.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

inline void write_memory(text_out& out, const snapshot::window_info& info) {
    const memory_use* const memory = shown_memory(info);
    if (memory == nullptr) return;
    if (memory->resident_bytes == 0) {
        out << "\nresident memory  not known: /proc/self/smaps cannot be read\n";
        return;
    }
    out << "\nresident memory  ";
    write_bytes(out, memory->resident_bytes);
    if (memory->at_ns != info.duration_ns) {
        out << ", ";
        write_duration(out, memory->at_ns);
        out << " after the window began";
    }
    if (memory->swapped_bytes != 0) {
        out << "; swapped out, and in no part: ";
        write_bytes(out, memory->swapped_bytes);
    }
    out << '\n';
    arena parts;
    for (std::size_t i = 0; i < memory_part_count; ++i) {
        const std::uint64_t bytes = memory->parts[i];
        if (bytes == 0) continue;
        text_out amount{parts};
        text_out share{parts};
        write_bytes(amount, bytes);
        write_share(share, bytes, memory->resident_bytes);
        out << "  ";
        write_left(out, words_of(static_cast<memory_part>(i)).name, 26);
        write_right(out, amount.view(), 11);
        write_right(out, share.view(), 8);
        out << '\n';
    }
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_TEXT_MEMORY_HPP
