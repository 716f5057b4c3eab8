// format_list.hpp - all formats for snapshots, and the choice of one by the ending of a path.
//
// Room:     formats (floor 12), not malloc-safe
// Called:   by the user, and by the command-line program
// Threads:  any
// Memory:   see formats/format_job.hpp
//
//     allocscope::write(window.stats(), "heap.pb.gz");       // the ending chooses pprof
//
// To add a format, add a line to `file_formats`.

#ifndef ALLOCSCOPE_FORMATS_FORMAT_LIST_HPP
#define ALLOCSCOPE_FORMATS_FORMAT_LIST_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/formats/callgrind_format.hpp>
#include <allocscope/formats/csv_format.hpp>
#include <allocscope/formats/dhat_format.hpp>
#include <allocscope/formats/folded_format.hpp>
#include <allocscope/formats/format_job.hpp>
#include <allocscope/formats/heaptrack_format.hpp>
#include <allocscope/formats/html_format.hpp>
#include <allocscope/formats/json_format.hpp>
#include <allocscope/formats/massif_format.hpp>
#include <allocscope/formats/pprof_format.hpp>
#include <allocscope/formats/speedscope_format.hpp>
#include <allocscope/page/page_without_script.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/report/text_options.hpp>
#include <allocscope/report/text_report.hpp>
#include <allocscope/report/text_sink.hpp>
#include <allocscope/saved/save_snapshot.hpp>
#include <allocscope/saved/saved_rows.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <string>   // string

ALLOCSCOPE_COOL_BEGIN

namespace detail {

inline bool write_text_body(format_job& job) {
    write_text_report(job.out, job.rows, text_options{}, job.descriptor);
    return true;
}

inline bool write_saved_body(format_job& job) {
    return save_snapshot_with(job.stacks(), [&job](const text& part) {
        job.out << part;
        job.pieces.may_go();
        return true;
    });
}

// What the body of a format reads from a snapshot, besides its info.
enum class format_reads {
    rows,             // rows without their frames; stacks if there are details
    stacks_and_rows,  // stacks, all rows, and frames, all through format_job::stacks()
    stacks_and_most,  // the same, but only those rows that a page shows without its script
    stacks
};

struct file_format {
    const char* name;    // as in `allocscope run --format`
    const char* ending;  // a path with this ending gets the format
    format_body body;
    bool is_text;     // otherwise a terminal cannot show it
    bool has_totals;  // can hold a window that only counted, and has no stacks
    format_reads reads;
};

ALLOCSCOPE_HIDDEN inline constexpr file_format file_formats[] = {
    {"text", ".txt", write_text_body, true, true, format_reads::rows},
    {"html", ".html", write_html_body, true, true, format_reads::stacks_and_most},
    {"json", ".json", write_json_body, true, true, format_reads::stacks_and_rows},
    {"csv", ".csv", write_csv_body, true, false, format_reads::stacks_and_rows},
    {"snapshot", ".allocscope", write_saved_body, false, true, format_reads::stacks_and_rows},
    {"pprof", ".pb.gz", write_pprof_body, false, false, format_reads::stacks},
    {"folded", ".folded", write_folded_body, true, false, format_reads::stacks},
    {"speedscope", ".speedscope.json", write_speedscope_body, true, false, format_reads::stacks},
    {"dhat", ".dhat.json", write_dhat_body, true, false, format_reads::stacks},
    {"heaptrack", ".heaptrack", write_heaptrack_body, true, false, format_reads::stacks},
    {"massif", ".massif", write_massif_body, true, false, format_reads::stacks},
    {"callgrind", ".callgrind", write_callgrind_body, true, false, format_reads::stacks},
};

// How many rows of a snapshot the format reads, if the rows say no more than the stacks.
inline std::size_t rows_read_by(const file_format& format) noexcept {
    switch (format.reads) {
        case format_reads::stacks:
            return 0;
        case format_reads::stacks_and_most:
            return rows_without_script;
        case format_reads::rows:
        case format_reads::stacks_and_rows:
            break;
    }
    return every_row;
}

// Returns null if there is no such format.
inline const file_format* format_named(const text& name) {
    for (const file_format& each : file_formats) {
        if (name == text{each.name}) return &each;
    }
    return nullptr;
}

// Returns the format with the longest ending that fits, or null: "a.dhat.json" is DHAT's.
inline const file_format* format_of_path(const text& path) {
    const file_format* found = nullptr;
    for (const file_format& each : file_formats) {
        const text ending{each.ending};
        if (!path.ends_with(ending)) continue;
        if (found == nullptr || ending.size() > text{found->ending}.size()) found = &each;
    }
    return found;
}

// "text, json, csv or pprof", and the same for the endings.
inline std::string words_of_formats(const char* file_format::*word) {
    std::string words;
    constexpr std::size_t count = sizeof file_formats / sizeof file_formats[0];
    for (std::size_t i = 0; i < count; ++i) {
        if (i != 0) words += i + 1 == count ? " or " : ", ";
        words += file_formats[i].*word;
    }
    return words;
}
inline std::string format_names() {
    return words_of_formats(&file_format::name);
}
inline std::string format_endings() {
    return words_of_formats(&file_format::ending);
}

// Returns null if no ending fits; `error` then lists the endings.
inline const file_format* format_of_path(const char* path, std::string& error) {
    const file_format* found = path != nullptr ? format_of_path(text{path}) : nullptr;
    if (found == nullptr) {
        is_done_or_told(error, [&] {
            const std::string reason = "its ending must be " + format_endings();
            error = report_problem(path_target{path}.name(), reason);
            return false;
        });
    }
    return found;
}

}  // namespace detail

// Writes in the format that the ending of the path chooses; docs/formats.md has the list. Throws
// report_error, also if no format has this ending.
inline void write(const snapshot& rows, const char* path) {
    std::string error;
    const detail::file_format* format = detail::format_of_path(path, error);
    if (format == nullptr) {
        detail::raise_report_error(error);
        return;
    }
    detail::write_or_throw(format->body, rows, path);
}
inline void write(const snapshot& rows, const std::string& path) {
    write(rows, path.c_str());
}

// The same without exceptions: returns false, with the reason in `error`.
inline bool write(const snapshot& rows, const char* path, std::string& error) {
    const detail::file_format* format = detail::format_of_path(path, error);
    return format != nullptr && detail::try_write(format->body, rows, path, error);
}
inline bool write(const snapshot& rows, const std::string& path, std::string& error) {
    return write(rows, path.c_str(), error);
}

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_FORMATS_FORMAT_LIST_HPP
