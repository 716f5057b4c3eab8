// page_writer.hpp - writes a snapshot as a page: one file that opens in any browser.
//
// Room:     page (floor 10), not malloc-safe
// Called:   by formats/html_format.hpp
// Threads:  one for each text that is written to
// Memory:   of that text, and an arena of its own while it is written
//
// The page contains everything that it needs. It is opened from the disk and makes no requests; its
// content security policy forbids them. Its source is in tools/page/; here it gets its data.

#ifndef ALLOCSCOPE_PAGE_PAGE_WRITER_HPP
#define ALLOCSCOPE_PAGE_PAGE_WRITER_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/page/frame_of_page_text.hpp>
#include <allocscope/page/page_data.hpp>
#include <allocscope/page/page_escapes.hpp>
#include <allocscope/page/page_without_script.hpp>
#include <allocscope/page/script_of_chart_text.hpp>
#include <allocscope/page/script_of_data_text.hpp>
#include <allocscope/page/script_of_page_text.hpp>
#include <allocscope/page/script_of_views_text.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_flow.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/snapshot.hpp>

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// `head` is the lines of a text report above its rows, shown if scripts do not run.
inline void write_page(text_out& out, const shown_stacks& stacks, const text& head,
                       text_flow flow) {
    const snapshot& shown = stacks.rows();
    out << page_begin;
    write_page_text(out, shown.info().name);
    out << (shown.info().name[0] != '\0' ? " - allocscope" : "allocscope") << page_after_title
        << page_style << page_after_style;
    write_page_without_script(out, stacks, head);
    out << page_after_noscript;
    page_data_writer{out, stacks, flow}.write();
    out << page_after_data << page_script_of_data << page_script_of_chart << page_script_of_views
        << page_script_of_page << page_end;
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_PAGE_PAGE_WRITER_HPP
