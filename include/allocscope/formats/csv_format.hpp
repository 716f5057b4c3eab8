// csv_format.hpp - writes a line for each place, for spreadsheets and data frames.
//
// Room:     formats (floor 12), not malloc-safe
// Called:   by the user, and by formats/format_list.hpp
// Threads:  any
// Memory:   see formats/format_job.hpp and report/place_sums.hpp
//
//     allocscope::write_csv(window.stats(), "heap.csv");
//
// The format is RFC 4180 with a line of names, in UTF-8. A column never changes its meaning; new
// columns are added at the end. The rows come first, then the places where everything was freed.
// If the line is unknown, "line" is empty, and "offset" is the offset in the function or module
// that "file" names. The columns "allocations" and "bytes_allocated" are empty if the snapshot has
// no stacks. If a window was not sampled, both ends of an interval are the number itself. The last
// four columns are empty unless the window has options::details. A difference may have negative
// numbers.
//
// A name that begins with = + - or @ gets a ' before it: a spreadsheet takes such a cell for a
// formula, and names come from the files of the program. A program that reads the file should
// remove one leading '.

#ifndef ALLOCSCOPE_FORMATS_CSV_FORMAT_HPP
#define ALLOCSCOPE_FORMATS_CSV_FORMAT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/formats/format_job.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/report/place_sums.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstdint>  // uint64_t
#include <string>   // string

ALLOCSCOPE_COOL_BEGIN

namespace detail {

class csv_line {
public:
    csv_line(text_out& out, arena& scratch, bool is_signed) noexcept
        : out_(out), scratch_(scratch), is_signed_(is_signed) {}

    void field(const char* shown) {
        separate();
        const borrowed_memory meanwhile{scratch_};
        text_out printable{scratch_};
        if (is_formula(shown)) printable << '\'';
        write_printable(printable, shown);
        if (printable.view().find_first_of("\",") == text::npos) {
            out_ << printable.view();
            return;
        }
        out_ << '"';
        for (const char c : printable.view()) {
            if (c == '"') out_ << '"';
            out_ << c;
        }
        out_ << '"';
    }
    void field(std::uint64_t number) {
        separate();
        out_ << signed_decimal{number, is_signed_};
    }
    void empty_field() { separate(); }
    void end() {
        out_ << "\r\n";
        is_first_ = true;
    }

private:
    static bool is_formula(const char* shown) noexcept {
        return shown != nullptr && shown[0] != '\0' && text{"=+-@"}.find(shown[0]) != text::npos;
    }

    void separate() {
        if (!is_first_) out_ << ',';
        is_first_ = false;
    }

    text_out& out_;
    arena& scratch_;
    bool is_signed_;
    bool is_first_ = true;
};

inline void write_csv_place(csv_line& line, const place& here, bool has_stacks,
                            const snapshot::window_info& info) {
    const snapshot::row& row = here.row();
    line.field(row.file);
    if (row.line != 0) {
        line.field(static_cast<std::uint64_t>(row.line));
        line.empty_field();
    } else {
        line.empty_field();
        line.field(row.offset);
    }
    line.field(row.type);
    line.field(row.function);
    line.field(row.objects);
    line.field(row.bytes);
    if (has_stacks) {
        line.field(here.allocations);
        line.field(here.bytes_allocated);
    } else {
        line.empty_field();
        line.empty_field();
    }
    line.field(row.sites);
    line.field(row.samples);
    line.field(row.objects_low);
    line.field(row.objects_high);
    line.field(row.bytes_low);
    line.field(row.bytes_high);
    line.field(row.type_source);
    const snapshot::stack_details details =
        here.details != nullptr ? *here.details : snapshot::stack_details{};
    if (info.has_peak_details) {
        line.field(details.peak_objects);
        line.field(details.peak_bytes);
    } else {
        line.empty_field();
        line.empty_field();
    }
    if (info.has_details) {
        line.field(details.temporary);
        line.field(details.lifetime_us);
    } else {
        line.empty_field();
        line.empty_field();
    }
    line.end();
}

inline bool write_csv_body(format_job& job) {
    const shown_stacks stacks = job.stacks();
    const bool has_stacks = stacks.are_known();
    if (!has_stacks && job.rows.empty() && !has_stacks_to_write(job)) return false;
    const place_sums places{job.memory, stacks};
    arena scratch;
    csv_line line{job.out, scratch, job.rows.info().is_difference};
    job.out << "file,line,offset,type,function,objects,bytes,allocations,bytes_allocated,sites,"
               "samples,objects_low,objects_high,bytes_low,bytes_high,type_source,"
               "peak_objects,peak_bytes,temporary,lifetime_us\r\n";
    for (const place& here : places) {
        write_csv_place(line, here, has_stacks, job.rows.info());
        job.pieces.may_go();
    }
    return true;
}

}  // namespace detail

// Writes to a path, a descriptor, a FILE* or a stream, like write_text(); throws report_error.
template <class Target>
void write_csv(const snapshot& rows, Target&& target) {
    detail::write_or_throw(detail::write_csv_body, rows, target);
}
// The same without exceptions: returns false, with the reason in `error`.
template <class Target>
bool write_csv(const snapshot& rows, Target&& target, std::string& error) {
    return detail::try_write(detail::write_csv_body, rows, target, error);
}

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_FORMATS_CSV_FORMAT_HPP
