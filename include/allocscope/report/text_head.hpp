// text_head.hpp - the lines of a text report above its rows.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by report/text_table.hpp, report/text_frames.hpp, report/whole_report.hpp and
//           formats/html_format.hpp
// Threads:  any
// Memory:   of the text that is written to; of an arena for the parts of a line
//
//     allocscope report of window "load"
//       exact, up to 24 frames of each stack, all threads, open for 1.2 s
//       allocated       1100 objects     52.3 KiB
//       freed             20 objects       1200 B
//       alive           1080 objects     51.1 KiB
//       peak                             52.0 KiB
//       own memory                        1.2 MiB
//       operator new: 100 objects with 2.3 KiB allocated, 80 with 1.1 KiB alive
//       arena: 1000 objects with 50.0 KiB allocated, 1000 with 50.0 KiB alive
//       ages known to 1.2 s, from 11 age marks
//       not recorded: 3 events in signal handlers were not recorded: nested too deeply
//       cut short: 2 rows are at lines of libraries, because their stacks have more than 24 frames;
//         --frames or options::stack_frames records up to 128
//
// In a sampled window each total has its interval on its right, or below it if a line is too short:
//
//       alive           ~2050 objects      ~2.0 MiB   95%: 797..5268 objects, 0.8..5.1 MiB
//
// docs/report_fields.md explains each line.

#ifndef ALLOCSCOPE_REPORT_TEXT_HEAD_HPP
#define ALLOCSCOPE_REPORT_TEXT_HEAD_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/report/cut_stacks.hpp>
#include <allocscope/report/number_units.hpp>
#include <allocscope/report/text_columns.hpp>
#include <allocscope/snapshot/loss_sentences.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// The escape sequences of a terminal.
constexpr const char* bold = "\x1b[1m";
constexpr const char* dim = "\x1b[2m";
constexpr const char* yellow = "\x1b[33m";

// The layout of a report, and the memory in which the parts of its lines are put together.
struct text_form {
    arena& parts;
    std::size_t width = 0;  // the most columns of a line; 0: no limit
    bool has_color = false;

    void write(text_out& out, const char* color, const text& shown) const {
        if (has_color) out << color;
        out << shown;
        if (has_color) out << "\x1b[0m";
    }
    void write_sentence(text_out& out, const text& sentence) const {
        text_out wrapped{parts};
        write_wrapped(wrapped, sentence, width, 4);
        write(out, yellow, wrapped.view());
        out << '\n';
    }
};

inline void write_title(text_out& out, const snapshot::window_info& info, const text_form& form) {
    text_out title{form.parts};
    title << (info.is_difference ? "allocscope difference" : "allocscope report");
    if (info.merged_windows != 0) {
        title << " of ";
        write_count(title, info.merged_windows, "window", "windows");
    }
    if (info.name[0] == '\0') {
        if (info.merged_windows == 0) title << " of an unnamed window";
    } else if (info.merged_windows != 0) {
        title << " named \"";
        write_printable(title, info.name);
        title << '"';
    } else {
        title << " of window \"";
        write_printable(title, info.name);
        title << '"';
    }
    text_out cut{form.parts};
    write_end_cut(cut, title.view(), form.width != 0 ? form.width : title.size());
    form.write(out, bold, cut.view());
    out << '\n';
}

// How the window was recorded.
inline void write_mode(text_out& out, const snapshot::window_info& info, const text_form& form) {
    const bool is_sampled = info.record == recording::sampled;
    const bool has_stacks = info.record != recording::counters;
    text_out mode{form.parts};
    mode << "  " << (is_sampled ? "sampled" : has_stacks ? "exact" : "counters only");
    if (is_sampled && info.sample_bytes != 0) {
        mode << " every ";
        write_bytes(mode, info.sample_bytes);
        mode << " on average: ";
        write_count(mode, info.samples, "sample", "samples");
    }
    if (has_stacks) {
        mode << ", up to ";
        write_count(mode, info.stack_frames, "frame", "frames");
        mode << " of each stack";
    }
    mode << (info.from == threads::all ? ", all threads" : ", one thread");
    if (!info.is_of_two_windows) {
        mode << (info.is_difference ? ", " : ", open for ");
        write_duration(mode, info.duration_ns);
        if (info.is_difference) mode << (info.is_backwards ? " back in time" : " apart");
    }
    write_wrapped(out, mode.view(), form.width, 4);
    out << '\n';
}

// The totals, one line for each.
class total_lines {
public:
    total_lines(text_out& out, const snapshot::window_info& info, const text_form& form)
        : out_(out),
          numbers_(form.parts, info.is_difference, info.record == recording::sampled),
          form_(form),
          is_sampled_(info.record == recording::sampled) {}

    void add(const char* name, std::uint64_t objects, std::uint64_t bytes) {
        out_ << "  ";
        write_left(out_, name, 11);
        write_right(out_, numbers_.count(objects), 10);
        out_ << (objects == 1 ? " object " : " objects");
        write_right(out_, numbers_.amount(bytes), 14);
    }
    void add(const char* name, const estimate& objects, const estimate& bytes) {
        const std::size_t begin = out_.size();
        add(name, objects.value, bytes.value);
        if (is_sampled_) {
            const std::size_t taken = columns_of(out_.view().substr(begin));
            add_interval(objects, bytes, taken);
        }
        out_ << '\n';
    }
    void add(const char* name, const text& bytes) {
        out_ << "  ";
        write_left(out_, name, 29);
        write_right(out_, bytes, 14);
        out_ << '\n';
    }
    text amount(std::uint64_t bytes) const { return numbers_.amount(bytes); }

private:
    void add_interval(const estimate& objects, const estimate& bytes, std::size_t taken) {
        text_out interval{form_.parts};
        interval << "   95%: " << numbers_.counts(objects.low, objects.high) << " objects, "
                 << numbers_.amounts(bytes.low, bytes.high);
        if (form_.width == 0 || taken + columns_of(interval.view()) <= form_.width) {
            form_.write(out_, dim, interval.view());
            return;
        }
        text_out below{form_.parts};
        below << "          " << interval.view();
        text_out wrapped{form_.parts};
        write_wrapped(wrapped, below.view(), form_.width, 18);
        out_ << '\n';
        form_.write(out_, dim, wrapped.view());
    }

    text_out& out_;
    number_form numbers_;
    const text_form& form_;
    bool is_sampled_;
};

inline void write_totals(text_out& out, const snapshot& rows, const text_form& form) {
    const snapshot::window_info& info = rows.info();
    const snapshot::window_estimates& known = info.estimates;
    total_lines lines{out, info, form};
    lines.add("allocated", known.allocations, known.bytes_allocated);
    lines.add("freed", known.frees, known.bytes_freed);
    lines.add("alive", known.live_objects, known.live_bytes);
    // Exact rows add up to what is alive, unless events were lost.
    const bool is_complete = info.totals.live_objects() == rows.live_objects() &&
                             info.totals.live_bytes() == rows.live_bytes();
    if (info.record == recording::exact && !is_complete) {
        lines.add("in rows", rows.live_objects(), rows.live_bytes());
        out << '\n';
    }
    lines.add(info.merged_windows != 0 ? "peak, at most" : "peak",
              lines.amount(info.totals.peak_bytes));
    text_out own{form.parts};
    write_bytes(own, info.own_memory_bytes);
    lines.add("own memory", own.view());
}

// What each family allocated, if there is more than one.
inline void write_families(text_out& out, const snapshot::window_info& info,
                           const text_form& form) {
    const number_form numbers{form.parts, info.is_difference, info.record == recording::sampled};
    for (std::size_t i = 0; i < info.family_count; ++i) {
        const snapshot::family& each = info.families[i];
        text_out line{form.parts};
        line << "  ";
        write_printable(line, each.name);
        line << ": " << numbers.count(each.allocations)
             << (each.allocations == 1 ? " object with " : " objects with ")
             << numbers.amount(each.bytes_allocated) << " allocated, "
             << numbers.count(each.live_objects()) << " with " << numbers.amount(each.live_bytes())
             << " alive";
        text_out wrapped{form.parts};
        write_wrapped(wrapped, line.view(), form.width, 4);
        out << wrapped.view() << '\n';
    }
}

// How precisely the ages of objects are known: the longest time between two marks.
inline void write_ages(text_out& out, const snapshot::window_info& info, const text_form& form) {
    if (info.age_count == 0) return;
    std::uint64_t longest = 0;
    for (std::size_t i = 0; i < info.age_count; ++i) {
        const snapshot::age& each = info.ages[i];
        if (each.most_ns - each.least_ns > longest) longest = each.most_ns - each.least_ns;
    }
    text_out line{form.parts};
    line << "  ages known to ";
    write_duration(line, longest);
    line << ", from ";
    // Each window has one mark less than ages.
    const std::uint64_t windows = info.merged_windows != 0 ? info.merged_windows : 1;
    const std::uint64_t marks = info.age_count > windows ? info.age_count - windows : 0;
    write_count(line, marks, "age mark", "age marks");
    write_wrapped(out, line.view(), form.width, 4);
    out << '\n';
}

// How to get rows at the user's own lines, where too few frames were recorded.
inline void write_cut_stacks(text_out& out, const snapshot& rows, const text_form& form) {
    const std::size_t count = rows_cut_in_libraries(form.parts, rows);
    if (count == 0) return;
    text_out sentence{form.parts};
    sentence << "  cut short: ";
    write_count(sentence, count, "row is at a line", "rows are at lines");
    sentence << " of libraries, because " << (count == 1 ? "its stack has" : "their stacks have")
             << " more than ";
    write_count(sentence, rows.info().stack_frames, "frame", "frames");
    sentence << "; --frames or options::stack_frames records up to 128";
    form.write_sentence(out, sentence.view());
}

inline void write_head(text_out& out, const snapshot& rows, const text_form& form) {
    const snapshot::window_info& info = rows.info();
    write_title(out, info, form);
    if (info.not_recording[0] != '\0') {
        text_out sentence{form.parts};
        sentence << "  attention: ";
        write_printable(sentence, info.not_recording);
        form.write_sentence(out, sentence.view());
    }
    if (info.is_of_two_windows) {
        form.write_sentence(out, "  attention: the two snapshots are of different windows");
    }
    if (info.is_backwards) {
        form.write_sentence(out,
                            "  attention: the snapshot that was subtracted is the later one: + has"
                            " gone since, - has come");
    }
    if (!rows.empty() || has_totals(info)) {
        write_mode(out, info, form);
        write_totals(out, rows, form);
        write_families(out, info, form);
        write_ages(out, info, form);
    }
    if (info.is_filtered) {
        form.write_sentence(out,
                            "  filtered: the rows are a part, the totals are those of the whole"
                            " window");
    }
    if (info.uncertain_objects != 0) {
        text_out sentence{form.parts};
        sentence << "  in doubt: ";
        write_count(sentence, info.uncertain_objects, "object", "objects");
        sentence << " with ";
        write_bytes(sentence, info.uncertain_bytes);
        sentence << " may have been freed by other threads while this was read";
        form.write_sentence(out, sentence.view());
    }
    for (std::size_t i = 0; i < info.loss_count; ++i) {
        text_out sentence{form.parts};
        sentence << "  not recorded: " << decimal{info.losses[i].count} << ' ';
        write_printable(sentence, sentence_of(info.losses[i]));
        form.write_sentence(out, sentence.view());
    }
    write_cut_stacks(out, rows, form);
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_REPORT_TEXT_HEAD_HPP
