// html_report.hpp - a snapshot as a page to look at: one file that opens in any browser.
//
// Room:     page (floor 10), not malloc-safe
// Called:   by the user
// Threads:  any
// Memory:   the whole page in an arena, charged to no window
//
//     allocscope::write_html(window.stats(), "heap.html");      // a file, whole or not at all
//     allocscope::write_html(window.stats(), 1);                // a descriptor
//     allocscope::write_html(window.stats(), stdout);           // a stdio file; it is flushed
//     std::string page = allocscope::to_html(window.stats());   // a string
//
// The page holds all that it needs: it is opened from the disk, asks for nothing, and its policy
// would not let it. How to read it: docs/how_to/the_page.md. Errors are those of write_text.

#ifndef ALLOCSCOPE_PAGE_HTML_REPORT_HPP
#define ALLOCSCOPE_PAGE_HTML_REPORT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/measure/scope.hpp>
#include <allocscope/page/frame_of_page_text.hpp>
#include <allocscope/page/page_data.hpp>
#include <allocscope/page/page_escapes.hpp>
#include <allocscope/page/page_without_script.hpp>
#include <allocscope/page/script_of_chart_text.hpp>
#include <allocscope/page/script_of_data_text.hpp>
#include <allocscope/page/script_of_page_text.hpp>
#include <allocscope/page/script_of_views_text.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/report/text_sink.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstdio>     // FILE
#include <exception>  // exception
#include <string>     // string

ALLOCSCOPE_COLD_BEGIN

namespace detail {

inline void write_page(text_out& out, const snapshot& shown) {
    out << page_begin;
    write_page_text(out, shown.info().name);
    out << (shown.info().name[0] != '\0' ? " - allocscope" : "allocscope") << page_after_title
        << page_style << page_after_style;
    write_page_without_script(out, shown);
    out << page_after_noscript;
    page_data_writer{out, shown}.write();
    out << page_after_data << page_script_of_data << page_script_of_chart << page_script_of_views
        << page_script_of_page << page_end;
}

template <class Target>
bool put_page(const snapshot& shown, Target target, std::string& error) {
    arena memory;
    text_out page{memory};
    write_page(page, shown);
    return put_report(page.view(), target, error);
}

// The same, with running out of memory as one more reason not to write.
template <class Target>
bool try_put_page(const snapshot& shown, Target target, std::string& error) {
    const pause_recording quietly;
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    return put_page(shown, target, error);
#else
    try {
        return put_page(shown, target, error);
    } catch (const std::exception& problem) {
        error = problem.what();
        return false;
    }
#endif
}

template <class Target>
void put_page_or_throw(const snapshot& shown, Target target) {
    const pause_recording quietly;
    std::string error;
    if (!put_page(shown, target, error)) raise_report_error(error);
}

}  // namespace detail

// The snapshot as a page.
inline std::string to_html(const snapshot& shown) {
    const pause_recording quietly;
    detail::arena memory;
    detail::text_out page{memory};
    detail::write_page(page, shown);
    return {page.view().data(), page.size()};
}

// To a path, an open descriptor or a stdio file, as write_text does. Throws report_error.
inline void write_html(const snapshot& shown, const char* path) {
    detail::put_page_or_throw(shown, path);
}
inline void write_html(const snapshot& shown, int descriptor) {
    detail::put_page_or_throw(shown, descriptor);
}
inline void write_html(const snapshot& shown, std::FILE* file) {
    detail::put_page_or_throw(shown, file);
}

// The same without exceptions: false, and why in `error`.
inline bool write_html(const snapshot& shown, const char* path, std::string& error) {
    return detail::try_put_page(shown, path, error);
}
inline bool write_html(const snapshot& shown, int descriptor, std::string& error) {
    return detail::try_put_page(shown, descriptor, error);
}
inline bool write_html(const snapshot& shown, std::FILE* file, std::string& error) {
    return detail::try_put_page(shown, file, error);
}

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_PAGE_HTML_REPORT_HPP
