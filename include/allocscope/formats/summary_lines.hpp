// summary_lines.hpp - facts for which a format of another tool has no field, in sentences.
//
// Room:     formats (floor 12), not malloc-safe
// Called:   by the writers whose format has comments or a description
// Threads:  any
// Memory:   one line at a time
//
//     allocscope 0.1.0, window 'request', process 4711: ./server --port 80
//     sampled, one sample about every 524288 bytes: all numbers are estimates, of 4 samples
//     allocations: 2048 (95%: 797 to 5268), bytes allocated: ...
//     lost: 3 events in signal handlers were not recorded: nested too deeply

#ifndef ALLOCSCOPE_FORMATS_SUMMARY_LINES_HPP
#define ALLOCSCOPE_FORMATS_SUMMARY_LINES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/formats/format_job.hpp>
#include <allocscope/formats/frame_text.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/report/unplaced_allocations.hpp>
#include <allocscope/snapshot/loss_sentences.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/version.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

inline void write_estimate(text_out& out, const char* name, const estimate& number,
                           bool is_difference) {
    out << name << ": ";
    out << signed_decimal{number.value, is_difference};
    if (number.low == number.high) return;
    out << " (95%: ";
    out << signed_decimal{number.low, is_difference};
    out << " to ";
    out << signed_decimal{number.high, is_difference};
    out << ')';
}

inline void write_origin(text_out& out, const snapshot::window_info& info) {
    out << "allocscope " ALLOCSCOPE_VERSION_STRING;
    if (!is_empty(info.name)) {
        out << ", window '";
        write_printable(out, info.name);
        out << '\'';
    }
    if (info.process_id != 0) out << ", process " << decimal{info.process_id};
    if (!is_empty(info.command)) {
        out << ": ";
        write_printable(out, info.command);
    }
}

inline void write_totals(text_out& out, const snapshot::window_info& info) {
    const snapshot::window_estimates& about = info.estimates;  // or the totals themselves
    const bool is_signed = info.is_difference;
    write_estimate(out, "allocations", about.allocations, is_signed);
    write_estimate(out, ", bytes allocated", about.bytes_allocated, is_signed);
    write_estimate(out, ", live objects", about.live_objects, is_signed);
    write_estimate(out, ", live bytes", about.live_bytes, is_signed);
    if (!is_signed) out << ", peak bytes: " << decimal{info.totals.peak_bytes};
}

// Calls work(line) for each line, without the end of the line. `sum` is the sum of all stacks.
template <class Work>
void for_each_summary_line(format_job& job, const stack_numbers& sum, const Work& work) {
    const snapshot::window_info& info = job.rows.info();
    arena memory;
    text_out line{memory};
    const auto end_line = [&line, &work] {
        work(line.view());
        line.cut(0);
    };
    write_origin(line, info);
    end_line();
    if (info.record == recording::sampled) {
        line << "sampled, one sample about every " << decimal{info.sample_bytes}
             << " bytes: all numbers are estimates, of ";
        write_count(line, info.samples, "sample", "samples");
        end_line();
    }
    if (info.is_difference) {
        work(info.is_backwards ? "a difference: what this snapshot has more than a later one"
                               : "a difference: what this snapshot has more than an earlier one");
    }
    if (info.is_filtered) {
        work("filtered: the stacks are a part, the totals are those of the whole window");
    }
    write_totals(line, info);
    end_line();
    if (info.uncertain_objects != 0) {
        line << "in doubt: ";
        write_count(line, info.uncertain_objects, "object", "objects");
        line << " of " << decimal{info.uncertain_bytes}
             << " bytes may have been freed by other threads while this was read";
        end_line();
    }
    if (write_unplaced(line, info, sum)) end_line();
    for (std::size_t i = 0; i < info.loss_count; ++i) {
        line << "lost: " << decimal{info.losses[i].count} << ' ';
        write_printable(line, sentence_of(info.losses[i]));
        end_line();
    }
}
// The same for writers that have not added up the stacks yet.
template <class Work>
void for_each_summary_line(format_job& job, const Work& work) {
    for_each_summary_line(job, sum_of_stacks(job), work);
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_FORMATS_SUMMARY_LINES_HPP
