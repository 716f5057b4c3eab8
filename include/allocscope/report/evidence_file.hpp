// evidence_file.hpp - the file that a check which failed leaves behind.
//
// Room:     report (floor 9), not malloc-safe
// Called:   through the engine table, by verdict/evidence_folder.hpp
// Threads:  any
// Memory:   an arena for the whole text

#ifndef ALLOCSCOPE_REPORT_EVIDENCE_FILE_HPP
#define ALLOCSCOPE_REPORT_EVIDENCE_FILE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/platform/output_file.hpp>
#include <allocscope/report/text_options.hpp>
#include <allocscope/report/whole_report.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// The message, an empty line, and every row with its whole stack. 0 or an errno value.
inline int save_evidence_file(const snapshot& rows, const char* head, const char* path) {
    arena memory;
    text_out all{memory};
    all << head << "\n\n";
    text_options whole;
    whole.rows = ~std::size_t{0};
    whole.frames = ~std::uint32_t{0};
    write_report(all, rows, whole, -1);
    output_file out;
    int failure = out.open(path);
    if (failure == 0) failure = out.write(all.view().data(), all.size());
    if (failure == 0) failure = out.commit();
    return failure;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_REPORT_EVIDENCE_FILE_HPP
