// text_table.hpp - the rows of a text report, in columns.
//
// Room:     report (floor 9), not malloc-safe
// Called:   by report/text_report.hpp
// Threads:  any; the snapshot must outlive the table
// Memory:   the texts of the rows that are shown
//
//     objects        bytes  share  place                           function
//        1000     31.3 KiB  90.9%  quick_start.cpp:9:std::string   main
//         100       3200 B   9.1%  quick_start.cpp:8:std::string   main
//           7         56 B   0.1%  and 3 more places
//
// In a sampled window each number has its 95% interval on its right, and the row its samples:
//
//     objects        95%     bytes            95%   share  samples  place                 function
//       ~2050  797..5268  ~2.0 MiB  0.8..5.1 MiB  100.0%    4 few  parser.cpp:12:node    parse
//
// When a line is too long for the width, the intervals of bytes give way first, then those of
// objects, the function, and last the middle of the place. The numbers are never cut.

#ifndef ALLOCSCOPE_REPORT_TEXT_TABLE_HPP
#define ALLOCSCOPE_REPORT_TEXT_TABLE_HPP

#include <allocscope/base/fixed_text.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/config.hpp>
#include <allocscope/platform/terminal_width.hpp>
#include <allocscope/report/number_units.hpp>
#include <allocscope/report/report_rows.hpp>
#include <allocscope/report/text_columns.hpp>
#include <allocscope/report/text_head.hpp>
#include <allocscope/report/text_options.hpp>
#include <allocscope/snapshot/few_samples.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <algorithm>  // max, min, none_of
#include <cstddef>    // size_t
#include <cstdint>    // uint64_t
#include <string>     // string, to_string
#include <vector>     // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

inline std::string offset_text(std::uint64_t offset) {
    char space[20];
    fixed_text text{space, sizeof space};
    text.append("+0x");
    text.append_hexadecimal(offset);
    return {text.data(), text.size()};
}

// file:line:type, as in the rows of operator<<.
inline std::string place_text(const snapshot::row& row) {
    std::string place = printable(row.file);
    if (place.empty()) place = "?";
    place += row.line != 0 ? ':' + std::to_string(row.line) : offset_text(row.offset);
    return place + ':' + printable(row.type);
}

inline std::string frame_line(const snapshot::frame& frame, const text_form& form) {
    std::string line = printable(frame.function);
    if (line.empty()) {
        const std::string module = printable(frame.module);
        line = (module.empty() ? "?" : module) + offset_text(frame.offset);
    }
    if (frame.file != nullptr && frame.file[0] != '\0') {
        line += " (" + printable(frame.file);
        if (frame.line != 0) line += ':' + std::to_string(frame.line);
        line += ')';
    }
    if (frame.is_inlined) line += " [inlined]";
    line = "            at " + line;
    return form.dim(form.width != 0 ? cut_middle(line, form.width) : line) + '\n';
}

// The frames before the row's own one are the library's way to operator new: not shown.
inline std::string frame_lines(const snapshot::row& row, std::size_t most, const text_form& form) {
    const std::size_t first = row.user_frame < row.frame_count ? row.user_frame : 0;
    const std::size_t count = std::min(most, row.frame_count - first);
    std::string lines;
    for (std::size_t i = first; i < first + count; ++i) lines += frame_line(row.frames[i], form);
    if (most != 0 && first + count < row.frame_count) {
        const std::size_t more = row.frame_count - first - count;
        lines += form.dim("            and " + std::to_string(more) + " more") + '\n';
    }
    return lines;
}

class text_table {
public:
    text_table(const snapshot& rows, const text_options& wanted, const text_form& form)
        : info_(rows.info()), numbers_(rows.info()), wanted_(wanted), form_(form) {
        const row_selection top = select_rows(rows, wanted.sort, wanted.rows);
        lines_.push_back(
            {"objects", "95%", "bytes", "95%", "share", "samples", "place", "function", nullptr});
        for (const snapshot::row* row : top.shown) lines_.push_back(line_of(*row, top));
        if (top.rest.places != 0) lines_.push_back(line_of(top.rest, top));
        align_samples();
        measure();
    }

    std::string text() const {
        std::string all;
        for (const line& each : lines_) {
            const bool is_title = &each == lines_.data();
            const std::string shown = line_text(each);
            all += (is_title ? form_.bold(shown) : shown) + '\n';
            if (each.row != nullptr) all += frame_lines(*each.row, wanted_.frames, form_);
        }
        return all;
    }

private:
    struct line {
        std::string objects;
        std::string objects_interval;
        std::string bytes;
        std::string bytes_interval;
        std::string share;
        std::string samples;
        std::string place;
        std::string function;
        const snapshot::row* row;  // whose stack is shown below; null: none
    };

    bool is_sampled() const { return info_.record == recording::sampled; }

    line line_of(const snapshot::row& row, const row_selection& top) const {
        return {numbers_.count(row.objects),
                numbers_.counts(row.objects_low, row.objects_high),
                numbers_.amount(row.bytes),
                numbers_.amounts(row.bytes_low, row.bytes_high),
                share_text(magnitude(row.bytes, info_.is_difference), top.byte_magnitude),
                std::to_string(row.samples) +
                    (has_few_samples(row, info_.is_difference) ? few_mark : ""),
                place_text(row),
                printable(row.function),
                &row};
    }

    line line_of(const row_selection::remainder& rest, const row_selection& top) const {
        const estimate objects = rest.objects_reach.around(rest.objects);
        const estimate bytes = rest.bytes_reach.around(rest.bytes);
        return {numbers_.count(rest.objects),
                numbers_.counts(objects.low, objects.high),
                numbers_.amount(rest.bytes),
                numbers_.amounts(bytes.low, bytes.high),
                share_text(rest.byte_magnitude, top.byte_magnitude),
                std::to_string(rest.samples),
                "and " + std::to_string(rest.places) +
                    (rest.places == 1 ? " more place" : " more places"),
                "",
                nullptr};
    }

    // Numbers below each other, whether or not they are marked.
    void align_samples() {
        const auto is_marked = [](const line& each) {
            return each.samples.find(few_mark) != std::string::npos;
        };
        if (std::none_of(lines_.begin(), lines_.end(), is_marked)) return;
        for (std::size_t i = 1; i < lines_.size(); ++i) {
            if (!is_marked(lines_[i])) lines_[i].samples += std::string(few_columns, ' ');
        }
    }

    // What the columns of numbers take, with the blanks behind each.
    std::size_t number_columns() const {
        std::size_t columns = objects_ + 2 + bytes_ + 2 + share_columns + 2;
        if (is_sampled()) columns += samples_ + 2;
        if (objects_interval_ != 0) columns += objects_interval_ + 2;
        if (bytes_interval_ != 0) columns += bytes_interval_ + 2;
        return columns;
    }

    void drop_intervals(std::size_t width) {
        if (number_columns() + least_place > width) bytes_interval_ = 0;
        if (number_columns() + least_place > width) objects_interval_ = 0;
    }

    void measure() {
        std::size_t longest_function = 0;
        for (const line& each : lines_) {
            objects_ = std::max(objects_, columns_of(each.objects));
            bytes_ = std::max(bytes_, columns_of(each.bytes));
            samples_ = std::max(samples_, columns_of(each.samples));
            place_ = std::max(place_, columns_of(each.place));
            longest_function = std::max(longest_function, columns_of(each.function));
            if (!is_sampled()) continue;
            objects_interval_ = std::max(objects_interval_, columns_of(each.objects_interval));
            bytes_interval_ = std::max(bytes_interval_, columns_of(each.bytes_interval));
        }
        if (form_.width != 0) drop_intervals(form_.width);
        const std::size_t numbers = number_columns();
        const std::size_t width = form_.width != 0 ? form_.width : usual_width;
        const std::size_t texts = std::max(numbers + 8, width) - numbers;
        if (form_.width == 0) {
            // One long place must not push the functions of all others far to the right.
            const std::size_t least = is_sampled() ? 60 : 40;  // its numbers alone fill most of it
            place_ = std::min(place_, std::max(texts, least) - 20);
        } else if (place_ + 2 + longest_function > texts) {
            const std::size_t beside_function = texts - std::min(texts, longest_function + 2);
            place_ = std::min({place_, texts, std::max(texts * 2 / 3, beside_function)});
            function_ = texts - place_ >= 2 + 8 ? texts - place_ - 2 : 0;
        }
    }

    std::string line_text(const line& each) const {
        std::string shown = pad_left(each.objects, objects_);
        if (objects_interval_ != 0) {
            shown += "  " + pad_left(each.objects_interval, objects_interval_);
        }
        shown += "  " + pad_left(each.bytes, bytes_);
        if (bytes_interval_ != 0) shown += "  " + pad_left(each.bytes_interval, bytes_interval_);
        shown += "  " + pad_left(each.share, share_columns);
        if (is_sampled()) shown += "  " + pad_left(each.samples, samples_);
        shown += "  " + pad_right(cut_place(each), place_);
        if (function_ != 0) shown += "  " + cut_end(each.function, function_);
        return shown.erase(shown.find_last_not_of(' ') + 1);
    }

    std::string cut_place(const line& each) const {
        if (form_.width == 0) return each.place;
        return each.row != nullptr ? cut_middle(each.place, place_) : cut_end(each.place, place_);
    }

    const snapshot::window_info& info_;
    const number_form numbers_;
    const text_options& wanted_;
    const text_form& form_;
    std::vector<line> lines_;
    std::size_t objects_ = row_number_columns;
    std::size_t objects_interval_ = 0;  // no such column
    std::size_t bytes_ = 0;
    std::size_t bytes_interval_ = 0;
    std::size_t samples_ = 0;
    std::size_t place_ = 0;
    std::size_t function_ = static_cast<std::size_t>(-1);  // no limit; 0: no such column
    static constexpr std::size_t row_number_columns = 7;
    static constexpr std::size_t share_columns = 6;
    static constexpr std::size_t least_place = 32;  // else intervals give way
    static constexpr const char* few_mark = " few";
    static constexpr std::size_t few_columns = 4;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_TEXT_TABLE_HPP
