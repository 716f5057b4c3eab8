// convert_snapshot.hpp - converts a saved snapshot to another format with little memory.
//
// Room:     formats (floor 12), not malloc-safe
// Called:   by the command-line program
// Threads:  any
// Memory:   the file and its rows; the formats get one stack after the other, so the frames of all
//           stacks are never in memory at once
//
//     if (!convert_snapshot("heap.allocscope", "heap.pb.gz", error)) complain(error);
//
// The file has the same bytes as the one that load_snapshot() and write() make.

#ifndef ALLOCSCOPE_FORMATS_CONVERT_SNAPSHOT_HPP
#define ALLOCSCOPE_FORMATS_CONVERT_SNAPSHOT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/formats/format_job.hpp>
#include <allocscope/formats/format_list.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/saved/load_snapshot.hpp>
#include <allocscope/saved/saved_records.hpp>
#include <allocscope/saved/saved_stack_source.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <string>  // string

ALLOCSCOPE_COOL_BEGIN

// Converts to the format that the ending of `to` names. Returns false, with the reason in `error`,
// if `from` could not be read or `to` could not be written.
inline bool convert_snapshot(const char* from, const char* to, std::string& error) {
    const detail::file_format* format = detail::format_of_path(to, error);
    if (format == nullptr) return false;
    snapshot rows;
    const detail::loaded_parts* parts = nullptr;
    detail::wanted_parts wanted;
    wanted.framed_rows = 0;
    wanted.has_stacks = format->reads != detail::format_reads::rows;
    wanted.kept_rows = detail::rows_read_by(*format);
    if (!detail::load_snapshot(from, rows, error, wanted, &parts)) return false;
    const bool stand_for_stacks = !detail::can_be_source(*parts) || parts->sums.empty();
    if (parts->rows_left_out != 0 && stand_for_stacks) {
        wanted.kept_rows = detail::every_row;
        if (!detail::load_snapshot(from, rows, error, wanted, &parts)) return false;
    }
    const detail::stack_source source = detail::source_of(*parts);
    const bool is_streamed = wanted.has_stacks && detail::can_be_source(*parts);
    return detail::try_write(format->body, rows, to, error, stack_value::live_bytes,
                             is_streamed ? &source : nullptr);
}

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_FORMATS_CONVERT_SNAPSHOT_HPP
