// html_format.hpp - writes a snapshot as a page: one file that opens in any browser.
//
// Room:     formats (floor 12), not malloc-safe
// Called:   by the user, and by formats/format_list.hpp
// Threads:  any
// Memory:   see formats/format_job.hpp; 100 bytes for each different frame, place and path
//
//     allocscope::write_html(window.stats(), "heap.html");      // a file, whole or not at all
//     std::string page = allocscope::to_html(window.stats());   // a string
//
// The page makes no requests and needs no other file. docs/how_to/the_page.md says how to read it.

#ifndef ALLOCSCOPE_FORMATS_HTML_FORMAT_HPP
#define ALLOCSCOPE_FORMATS_HTML_FORMAT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/formats/format_job.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/link/pause_recording.hpp>
#include <allocscope/page/page_writer.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text_flow.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/report/text_head.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <string>  // string

ALLOCSCOPE_COOL_BEGIN

namespace detail {

inline void write_page_with_head(text_out& out, const shown_stacks& stacks, text_flow flow) {
    arena parts;
    text_out head{parts};
    write_head(head, stacks.rows(), text_form{parts});
    write_page(out, stacks, head.view(), flow);
}

// Never refuses: if there is nothing to show, the page says why.
inline bool write_html_body(format_job& job) {
    write_page_with_head(job.out, job.stacks(), job.flow());
    return true;
}

}  // namespace detail

// Returns the page as a text.
inline std::string to_html(const snapshot& rows) {
    const pause_recording quietly;
    detail::arena memory;
    detail::text_out page{memory};
    detail::write_page_with_head(page, detail::shown_stacks{rows}, detail::kept_text());
    return {page.view().data(), page.size()};
}

// Writes to a path, a descriptor, a FILE* or a stream, like write_text(); throws report_error.
template <class Target>
void write_html(const snapshot& rows, Target&& target) {
    detail::write_or_throw(detail::write_html_body, rows, target);
}
// The same without exceptions: returns false, with the reason in `error`.
template <class Target>
bool write_html(const snapshot& rows, Target&& target, std::string& error) {
    return detail::try_write(detail::write_html_body, rows, target, error);
}

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_FORMATS_HTML_FORMAT_HPP
