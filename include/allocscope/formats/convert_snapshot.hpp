// convert_snapshot.hpp - a saved snapshot in the format of another tool, with little memory.
//
// Room:     formats (floor 11), not malloc-safe
// Called:   by the command-line program
// Threads:  any
// Memory:   the file and what its rows take; formats that are made of stacks alone get these one
//           after the other, so that the frames of all of them are never there at once
//
//     if (!convert_snapshot("heap.allocscope", "heap.pb.gz", error)) complain(error);
//
// The bytes are those that load_snapshot() and write() make.

#ifndef ALLOCSCOPE_FORMATS_CONVERT_SNAPSHOT_HPP
#define ALLOCSCOPE_FORMATS_CONVERT_SNAPSHOT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/formats/format_job.hpp>
#include <allocscope/formats/format_list.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/saved/load_snapshot.hpp>
#include <allocscope/saved/saved_records.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <string>   // string

ALLOCSCOPE_COOL_BEGIN

namespace detail {

inline void for_each_saved_stack(const void* of, void* visitor, stack_source::visit work) {
    for_each_stack_of_file(*static_cast<const loaded_parts*>(of),
                           [=](const snapshot::stack& stack) { work(visitor, stack); });
}

}  // namespace detail

// In the format that the ending of `to` asks for. False: the file `from` could not be read or `to`
// not be written, and `error` says why.
inline bool convert_snapshot(const char* from, const char* to, std::string& error) {
    const detail::file_format* format = detail::format_of_path(to, error);
    if (format == nullptr) return false;
    snapshot rows;
    const detail::loaded_parts* parts = nullptr;
    detail::wanted_parts wanted;
    if (format->is_of_stacks) wanted.framed_rows = 0;
    if (!detail::load_snapshot(from, rows, error, wanted, &parts)) return false;
    const detail::stack_source source{parts,
                                      &detail::for_each_saved_stack,
                                      parts->modules.data(),
                                      parts->modules.size(),
                                      parts->threads.data(),
                                      parts->threads.size()};
    const bool is_streamed = format->is_of_stacks && parts->has_stacks;
    return detail::try_write(format->body, rows, to, error, stack_value::live_bytes,
                             is_streamed ? &source : nullptr);
}

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_FORMATS_CONVERT_SNAPSHOT_HPP
