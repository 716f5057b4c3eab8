// text_table.hpp - the rows of a text report, in columns.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by report/whole_report.hpp
// Threads:  any; the snapshot must outlive the table
// Memory:   the texts of the rows that are shown, in the arena of the form
//
//     objects        bytes  share  place                           function
//        1000     31.3 KiB  90.9%  quick_start.cpp:9:std::string   main
//         100       3200 B   9.1%  quick_start.cpp:8:std::string   main
//           7         56 B   0.1%  and 3 more places
//
// In a sampled window each number has its 95% interval on its right, and each row its samples:
//
//     objects        95%     bytes            95%   share  samples  place                 function
//       ~2050  797..5268  ~2.0 MiB  0.8..5.1 MiB  100.0%    4 few  parser.cpp:12:node    parse
//
// If a line is too long for the width, it loses first the intervals of bytes, then those of
// objects, then directories of the place, then the function, and last the middle of the type.
// Numbers and file:line are never cut, unless the name of the file alone is longer than a place may
// be.

#ifndef ALLOCSCOPE_REPORT_TEXT_TABLE_HPP
#define ALLOCSCOPE_REPORT_TEXT_TABLE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/report/number_units.hpp>
#include <allocscope/report/report_rows.hpp>
#include <allocscope/report/text_columns.hpp>
#include <allocscope/report/text_frames.hpp>
#include <allocscope/report/text_function.hpp>
#include <allocscope/report/text_head.hpp>
#include <allocscope/report/text_options.hpp>
#include <allocscope/snapshot/few_samples.hpp>
#include <allocscope/snapshot/signed_numbers.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// file:line:type, as in the rows of operator<<, and the positions of its parts.
struct row_place {
    text whole;
    std::size_t name = 0;  // position after the directories
    std::size_t type = 0;  // position of the ':' before the type
};

inline row_place place_of(arena& memory, const snapshot::row& row) {
    text_out place{memory};
    write_printable(place, row.file);
    if (place.empty()) place << '?';
    row_place made;
    if (row.line != 0) {
        const std::size_t slash = place.view().rfind('/');
        if (slash != text::npos) made.name = slash + 1;
        place << ':' << decimal{static_cast<std::uint64_t>(row.line)};
    } else {
        place << "+0x" << hexadecimal{row.offset};
    }
    made.type = place.size();
    place << ':';
    write_printable(place, row.type);
    made.whole = place.view();
    return made;
}

// Writes as many of the last directories as there is room for. If there is no room for any, it
// writes the file, its line and as much of the type as fits.
inline void write_place(text_out& out, const row_place& place, std::size_t columns) {
    const std::size_t all = columns_of(place.whole);
    if (all <= columns) {
        out << place.whole;
        return;
    }
    const text bare = place.whole.substr(place.name);
    const std::size_t needed = columns_of(bare);
    if (needed + 1 + cut_mark_columns <= columns) {
        const text directories = place.whole.substr(0, place.name);
        text kept = last_columns(directories, columns - needed - cut_mark_columns);
        kept.remove_prefix(kept.find('/'));
        out << "..." << kept << bare;
        return;
    }
    const text file = bare.substr(0, place.type - place.name);
    const std::size_t taken = columns_of(file);
    if (taken + 1 + cut_mark_columns > columns) {
        write_cut(out, file, columns, columns / 4);  // the line number is at its end
        return;
    }
    out << file;
    write_middle_cut(out, bare.substr(file.size()), columns - taken);
}

class text_table {
public:
    text_table(const snapshot& rows, const text_options& wanted, const text_form& form)
        : info_(rows.info()),
          numbers_(form.parts, rows.info().is_difference, rows.info().record == recording::sampled),
          wanted_(wanted),
          form_(form),
          is_sampled_(rows.info().record == recording::sampled),
          lines_(form.parts) {
        const row_selection top = select_rows(form.parts, rows, wanted.sort, wanted.rows);
        line title;
        title.objects = "objects";
        title.bytes = "bytes";
        title.objects_interval = title.bytes_interval = "95%";
        title.share = "share";
        title.samples = "samples";
        title.place.whole = "place";
        title.function = "function";
        lines_.push_back(title);
        for (const snapshot::row* row : top.shown) add(*row, top.byte_magnitude);
        if (top.rest.places != 0) add(top.rest, top.byte_magnitude);
        align_samples();
        measure();
        if (form.width != 0) {
            fit(form.width);
        } else if (place_ > widest_padding) {
            place_ = widest_padding;  // so one long place does not push all functions to the right
        }
    }

    void write(text_out& out) const {
        for (const line& each : lines_) {
            text_out shown{form_.parts};
            write_line(shown, each);
            shown.cut(shown.view().find_last_not_of(" ") + 1);
            if (&each == lines_.begin()) {
                form_.write(out, bold, shown.view());
            } else {
                out << shown.view();
            }
            out << '\n';
            if (each.row != nullptr) write_frames(out, *each.row, wanted_.frames, form_);
        }
        if (has_row_without_line_) {
            out << '\n';
            write_wrapped(out,
                          "rows with +0x have no line: code shows its lines when it is compiled"
                          " with -g",
                          form_.width, 2);
            out << '\n';
        }
    }

private:
    struct line {
        text objects;
        text objects_interval;
        text bytes;
        text bytes_interval;
        text share;
        text samples;
        row_place place;
        text function;
        const snapshot::row* row = nullptr;  // the row whose stack is shown below; null: none
        bool has_few = false;
    };

    void add(const snapshot::row& row, std::uint64_t all_bytes) {
        line made = line_of({row.objects, row.objects_low, row.objects_high},
                            {row.bytes, row.bytes_low, row.bytes_high},
                            size_of_change(row.bytes, info_.is_difference), all_bytes);
        made.has_few = is_sampled_ && has_few_samples(row, info_.is_difference);
        made.samples = samples_of(row.samples, made.has_few);
        made.place = place_of(form_.parts, row);
        text_out function{form_.parts};
        write_printable(function, row.function);
        made.function = function.view();
        made.row = &row;
        lines_.push_back(made);
        if (row.line == 0 && row.file[0] != '\0' && row.file[0] != '?') {
            has_row_without_line_ = true;
        }
    }

    void add(const row_selection::remainder& rest, std::uint64_t all_bytes) {
        line made = line_of(rest.objects_reach.around(rest.objects),
                            rest.bytes_reach.around(rest.bytes), rest.byte_magnitude, all_bytes);
        made.samples = samples_of(rest.samples, false);
        text_out places{form_.parts};
        places << "and ";
        write_count(places, rest.places, "more place", "more places");
        made.place.whole = places.view();
        made.place.type = places.size();
        lines_.push_back(made);
    }

    line line_of(const estimate& objects, const estimate& bytes, std::uint64_t size,
                 std::uint64_t all_bytes) const {
        line made;
        made.objects = numbers_.count(objects.value);
        made.bytes = numbers_.amount(bytes.value);
        if (is_sampled_) {
            made.objects_interval = numbers_.counts(objects.low, objects.high);
            made.bytes_interval = numbers_.amounts(bytes.low, bytes.high);
        }
        text_out share{form_.parts};
        write_share(share, size, all_bytes);
        made.share = share.view();
        return made;
    }

    text samples_of(std::uint64_t samples, bool has_few) const {
        text_out made{form_.parts};
        made << decimal{samples} << (has_few ? few_mark : "");
        return made.view();
    }

    // Aligns the numbers, whether or not they are marked.
    void align_samples() {
        bool is_any_marked = false;
        for (const line& each : lines_) is_any_marked = is_any_marked || each.has_few;
        if (!is_any_marked) return;
        for (std::size_t i = 1; i < lines_.size(); ++i) {
            if (lines_[i].has_few) continue;
            text_out aligned{form_.parts};
            write_left(aligned, lines_[i].samples, lines_[i].samples.size() + few_columns);
            lines_[i].samples = aligned.view();
        }
    }

    static void widen(std::size_t& columns, const text& shown) {
        const std::size_t wanted = columns_of(shown);
        if (wanted > columns) columns = wanted;
    }

    void measure() {
        for (const line& each : lines_) {
            widen(objects_, each.objects);
            widen(bytes_, each.bytes);
            widen(place_, each.place.whole);
            widen(bare_place_, each.place.whole.substr(each.place.name));
            widen(function_, each.function);
            if (!is_sampled_) continue;
            widen(objects_interval_, each.objects_interval);
            widen(bytes_interval_, each.bytes_interval);
            widen(samples_, each.samples);
        }
    }

    // The width of the columns of numbers, with the blanks after each.
    std::size_t number_columns() const {
        std::size_t columns = objects_ + 2 + bytes_ + 2 + share_columns + 2;
        if (samples_ != 0) columns += samples_ + 2;
        if (objects_interval_ != 0) columns += objects_interval_ + 2;
        if (bytes_interval_ != 0) columns += bytes_interval_ + 2;
        return columns;
    }

    void fit(std::size_t width) {
        if (number_columns() + least_place > width) bytes_interval_ = 0;
        if (number_columns() + least_place > width) objects_interval_ = 0;
        const std::size_t numbers = number_columns();
        const std::size_t texts = width > numbers + 8 ? width - numbers : 8;
        if (place_ + 2 + function_ <= texts) return;
        const std::size_t beside_function = texts > function_ + 2 ? texts - function_ - 2 : 0;
        std::size_t place = beside_function > bare_place_ ? beside_function : bare_place_;
        if (place < place_) place_ = place;
        if (place_ > texts) place_ = texts;
        const std::size_t left = texts - place_;
        function_ = left >= 2 + least_function ? left - 2 : 0;
        if (function_ != 0) return;
        place = bare_place_ > texts ? bare_place_ : texts;  // the columns of the function are free
        place_ = place < texts ? place : texts;
    }

    void write_line(text_out& out, const line& each) const {
        write_right(out, each.objects, objects_);
        if (objects_interval_ != 0) {
            out << "  ";
            write_right(out, each.objects_interval, objects_interval_);
        }
        out << "  ";
        write_right(out, each.bytes, bytes_);
        if (bytes_interval_ != 0) {
            out << "  ";
            write_right(out, each.bytes_interval, bytes_interval_);
        }
        out << "  ";
        write_right(out, each.share, share_columns);
        if (samples_ != 0) {
            out << "  ";
            write_right(out, each.samples, samples_);
        }
        out << "  ";
        text_out place{form_.parts};
        if (form_.width == 0) {
            place << each.place.whole;
        } else {
            write_place(place, each.place, place_);
        }
        write_left(out, place.view(), place_);
        if (function_ == 0) return;
        out << "  ";
        write_function(out, each.function, form_.width == 0 ? each.function.size() : function_);
    }

    const snapshot::window_info& info_;
    const number_form numbers_;
    const text_options& wanted_;
    const text_form& form_;
    const bool is_sampled_;
    list<line> lines_;
    bool has_row_without_line_ = false;
    // The width of each column; 0: the report does not have it.
    std::size_t objects_ = 7;
    std::size_t objects_interval_ = 0;
    std::size_t bytes_ = 0;
    std::size_t bytes_interval_ = 0;
    std::size_t samples_ = 0;
    std::size_t place_ = 0;
    std::size_t bare_place_ = 0;  // without directories
    std::size_t function_ = 0;
    static constexpr std::size_t share_columns = 6;
    static constexpr std::size_t least_place = 32;     // with less room, intervals are left out
    static constexpr std::size_t least_function = 8;   // with less room, the column is left out
    static constexpr std::size_t widest_padding = 80;  // if nothing is cut
    static constexpr const char* few_mark = " few";
    static constexpr std::size_t few_columns = 4;
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_REPORT_TEXT_TABLE_HPP
