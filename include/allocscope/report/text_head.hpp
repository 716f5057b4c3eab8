// text_head.hpp - the lines of a text report above its rows.
//
// Room:     report (floor 9), not malloc-safe
// Called:   by report/text_report.hpp
// Threads:  any
// Memory:   returned strings
//
//     allocscope report of window "load"
//       exact, up to 24 frames of each stack, all threads, open for 1.2 s
//       allocated       1100 objects     52.3 KiB
//       freed             20 objects       1200 B
//       alive           1080 objects     51.1 KiB
//       peak                             52.0 KiB
//       own memory                        1.2 MiB
//       not recorded: 3 stacks were cut because their memory could not be read
//
// In a sampled window each total has its interval beside it, or below it where a line is too short:
//
//       alive           ~2050 objects      ~2.0 MiB   95%: 797..5268 objects, 0.8..5.1 MiB
//
// Each line is explained in docs/report_fields.md.

#ifndef ALLOCSCOPE_REPORT_TEXT_HEAD_HPP
#define ALLOCSCOPE_REPORT_TEXT_HEAD_HPP

#include <allocscope/base/options.hpp>
#include <allocscope/config.hpp>
#include <allocscope/report/number_units.hpp>
#include <allocscope/report/text_columns.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <string>   // string, to_string

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Columns to keep to (0: no limit), and whether escape sequences may be used.
struct text_form {
    std::size_t width = 0;
    bool has_color = false;

    std::string bold(const std::string& text) const { return colored("\x1b[1m", text); }
    std::string warning(const std::string& text) const { return colored("\x1b[33m", text); }
    std::string dim(const std::string& text) const { return colored("\x1b[2m", text); }

private:
    std::string colored(const char* begin, const std::string& text) const {
        return has_color && !text.empty() ? begin + text + "\x1b[0m" : text;
    }
};

inline std::string window_title(const snapshot::window_info& info, const text_form& form) {
    const std::string name = printable(info.name);
    std::string title = info.is_difference ? "allocscope difference" : "allocscope report";
    title += name.empty() ? " of an unnamed window" : " of window \"" + name + '"';
    return form.bold(form.width != 0 ? cut_end(title, form.width) : title) + '\n';
}

inline std::string window_mode(const snapshot::window_info& info) {
    std::string mode = "  ";
    switch (info.record) {
        case recording::exact:
            mode += "exact";
            break;
        case recording::sampled:
            mode += "sampled";
            break;
        case recording::counters:
            mode += "counters only";
            break;
    }
    if (info.record == recording::sampled && info.sample_bytes != 0) {
        mode += " every " + bytes_text(info.sample_bytes) +
                " on average: " + std::to_string(info.samples) +
                (info.samples == 1 ? " sample" : " samples");
    }
    if (info.record != recording::counters) {
        mode += ", up to " + std::to_string(info.stack_frames) + " frames of each stack";
    }
    mode += info.from == threads::all ? ", all threads" : ", one thread";
    const std::string duration = duration_text(info.duration_ns);
    return mode + (info.is_difference ? ", " + duration + " apart" : ", open for " + duration);
}

// Numbers as this kind of snapshot has them: signed in a difference, marked '~' when they are
// estimated from samples.
class number_form {
public:
    explicit number_form(const snapshot::window_info& info)
        : is_difference_(info.is_difference), mark_(info.record == recording::sampled ? "~" : "") {}

    std::string count(std::uint64_t objects) const {
        return mark_ + (is_difference_ ? change_text(objects) : std::to_string(objects));
    }
    std::string amount(std::uint64_t bytes) const {
        return mark_ + (is_difference_ ? bytes_change_text(bytes) : bytes_text(bytes));
    }
    // Intervals, without a mark.
    std::string counts(std::uint64_t low, std::uint64_t high) const {
        return is_difference_ ? interval_text(change_text(low), change_text(high))
                              : interval_text(std::to_string(low), std::to_string(high));
    }
    std::string amounts(std::uint64_t low, std::uint64_t high) const {
        return is_difference_ ? interval_text(bytes_change_text(low), bytes_change_text(high))
                              : interval_text(bytes_text(low), bytes_text(high));
    }

private:
    bool is_difference_;
    std::string mark_;
};

// One line of the totals.
class total_line {
public:
    total_line(const snapshot::window_info& info, const text_form& form)
        : numbers_(info), form_(form), is_sampled_(info.record == recording::sampled) {}

    std::string both(const char* name, std::uint64_t objects, std::uint64_t bytes) const {
        return "  " + pad_right(name, 11) + pad_left(numbers_.count(objects), 10) +
               (objects == 1 ? " object " : " objects") + pad_left(numbers_.amount(bytes), 14);
    }
    std::string both(const char* name, const estimate& objects, const estimate& bytes) const {
        std::string line = both(name, objects.value, bytes.value);
        if (!is_sampled_) return line + '\n';
        const std::string interval = "   95%: " + numbers_.counts(objects.low, objects.high) +
                                     " objects, " + numbers_.amounts(bytes.low, bytes.high);
        const std::size_t columns = columns_of(line) + columns_of(interval);
        if (form_.width == 0 || columns <= form_.width) return line + form_.dim(interval) + '\n';
        return line + '\n' + form_.dim(wrap("          " + interval, form_.width, 18)) + '\n';
    }
    std::string bytes_only(const char* name, std::uint64_t bytes) const {
        return "  " + pad_right(name, 29) + pad_left(numbers_.amount(bytes), 14) + '\n';
    }

private:
    number_form numbers_;
    const text_form& form_;
    bool is_sampled_;
};

inline std::string window_totals(const snapshot& rows, const text_form& form) {
    const snapshot::window_info& info = rows.info();
    const allocation_counts& totals = info.totals;
    const snapshot::window_estimates& known = info.estimates;
    const total_line line{info, form};
    std::string text = line.both("allocated", known.allocations, known.bytes_allocated);
    text += line.both("freed", known.frees, known.bytes_freed);
    text += line.both("alive", known.live_objects, known.live_bytes);
    // Exact rows add up to what is alive, unless something was lost on the way.
    const bool is_complete =
        totals.live_objects() == rows.live_objects() && totals.live_bytes() == rows.live_bytes();
    if (info.record == recording::exact && !is_complete) {
        text += line.both("in rows", rows.live_objects(), rows.live_bytes()) + '\n';
    }
    text += line.bytes_only("peak", totals.peak_bytes);
    text += "  " + pad_right("own memory", 29) + pad_left(bytes_text(info.own_memory_bytes), 14);
    return text + '\n';
}

inline std::string window_head(const snapshot& rows, const text_form& form) {
    const snapshot::window_info& info = rows.info();
    const bool has_recorded = info.not_recording[0] == '\0';
    std::string head = window_title(info, form);
    if (!has_recorded) {
        const std::string sentence = "  attention: " + printable(info.not_recording);
        head += form.warning(wrap(sentence, form.width, 4)) + '\n';
    }
    if (!rows.empty() || has_totals(info)) {
        head += wrap(window_mode(info), form.width, 4) + '\n' + window_totals(rows, form);
    }
    for (std::size_t i = 0; i < info.loss_count; ++i) {
        const std::string sentence = "  not recorded: " + std::to_string(info.losses[i].count) +
                                     ' ' + printable(info.losses[i].reason);
        head += form.warning(wrap(sentence, form.width, 4)) + '\n';
    }
    return head;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_TEXT_HEAD_HPP
