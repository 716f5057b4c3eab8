// json_format.hpp - writes a snapshot to a file as JSON; report/json_report.hpp has the format.
//
// Room:     formats (floor 12), not malloc-safe
// Called:   by the user, and by formats/format_list.hpp
// Threads:  any
// Memory:   see formats/format_job.hpp and report/place_sums.hpp
//
//     allocscope::write_json(window.stats(), "heap.json");      // a file, whole or not at all

#ifndef ALLOCSCOPE_FORMATS_JSON_FORMAT_HPP
#define ALLOCSCOPE_FORMATS_JSON_FORMAT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/formats/format_job.hpp>
#include <allocscope/report/json_report.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <string>  // string

ALLOCSCOPE_COOL_BEGIN

namespace detail {

inline bool write_json_body(format_job& job) {
    write_json_report(job.out, job.stacks(), job.flow());
    return true;
}

}  // namespace detail

// Writes to a path, a descriptor, a FILE* or a stream, like write_text(); throws report_error.
template <class Target>
void write_json(const snapshot& rows, Target&& target) {
    detail::write_or_throw(detail::write_json_body, rows, target);
}
// The same without exceptions: returns false, with the reason in `error`.
template <class Target>
bool write_json(const snapshot& rows, Target&& target, std::string& error) {
    return detail::try_write(detail::write_json_body, rows, target, error);
}

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_FORMATS_JSON_FORMAT_HPP
