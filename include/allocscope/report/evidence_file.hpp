// evidence_file.hpp - the file that a check which failed leaves behind.
//
// Room:     report (floor 9), not malloc-safe
// Called:   through the engine table, by verdict/evidence_folder.hpp
// Threads:  any
// Memory:   the text in one string, charged to no window

#ifndef ALLOCSCOPE_REPORT_EVIDENCE_FILE_HPP
#define ALLOCSCOPE_REPORT_EVIDENCE_FILE_HPP

#include <allocscope/platform/output_file.hpp>
#include <allocscope/report/text_options.hpp>
#include <allocscope/report/text_report.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <string>  // string

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The message, an empty line, and every row with its whole stack. 0 or an errno value.
inline int save_evidence_file(const snapshot& rows, const char* head, const char* path) {
    text_options whole;
    whole.rows = ~std::size_t{0};
    whole.frames = ~std::uint32_t{0};
    const std::string text = std::string{head} + "\n\n" + to_text(rows, whole);
    output_file out;
    int failure = out.open(path);
    if (failure == 0) failure = out.write(text.data(), text.size());
    if (failure == 0) failure = out.commit();
    return failure;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_EVIDENCE_FILE_HPP
