// json_report.hpp - writes a snapshot as JSON, for other programs to read.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by the user, and by formats/json_format.hpp
// Threads:  any
// Memory:   of the text, and of an arena while it is written (see report/place_sums.hpp)
//
//     std::string text = allocscope::to_json(window.stats());   // in a file: write_json()
//
// The format is RFC 8259 in UTF-8; later versions only add fields. json_report.schema.json is a
// schema:
//
//     {"allocscope": version, "window": name, "record": "exact" | "sampled" | "counters",
//      "duration_ns": n, "process_id": n, "command": "...", "taken_unix_ns": n,
//      "totals": {"allocations", "frees", "bytes_allocated", "bytes_freed", "live_objects",
//                 "live_bytes", "peak_bytes", "uncertain_objects", "uncertain_bytes"},
//      "families": [{"name", "allocations", "frees", "bytes_allocated", "bytes_freed"}],
//      "moments": [{"at_ns", "live_objects", "live_bytes", "allocations", "bytes_allocated",
//                   "mark"}],
//      "memory": {"resident_bytes", "swapped_bytes", "at_ns", "parts": {name: bytes, ...}},
//     "lost": {reason: n, ...},                as in snapshot/loss_sentences.hpp, each of them
//      "threads": [{"number", "name", "process_id", "objects", "bytes", "allocations",
//                   "bytes_allocated"}],
//      "ages": [{"least_ns", "most_ns", "objects", "bytes", "allocations", "bytes_allocated"}],
//      "rows": [{"objects", "bytes", "allocations", "bytes_allocated", "file", "line", "offset",
//                "type", "type_source", "function", "sites",
//                "details": {"peak_objects", "peak_bytes", "temporary", "lifetime_us", "sizes"},
//                "frames": [{"function", "file", "line", "module", "offset", "inlined"}]}],
//     "freed_rows": [...]}                     the same for places where all objects are gone
//
// "file" is as in the rows of a report: a path, or the function or module if there is no line
// information; "line" is then 0. If the snapshot knows no stacks, there are no freed_rows, and rows
// do not say what they allocated. There are families if not everything was allocated by operator
// new, and moments if the window kept a time series, and ages if it has age marks: what was born
// between two of them, the oldest first. There is "memory" after with_memory(); its parts add up to
// "resident_bytes". Totals have "uncertain_..." if so many of what is alive may have been freed by
// other threads meanwhile. The numbers of a sampled snapshot are estimates: it has "sample_bytes"
// and "samples", its totals and rows have "..._low" and "..._high" (95%), and its rows have
// "samples". In a difference numbers may be negative, and "is_difference" is true; so is
// "is_backwards" if the snapshot that was subtracted is the later one. Only a difference made by
// difference() has threads, families and details: see report/whole_difference.hpp. After filter()
// "is_filtered" is true: rows and threads are a part, the totals are not. A merged snapshot has
// "merged_windows", the number of windows. A window with options::details has "details", with
// "peak_..." if its peak was followed. Text that is not valid UTF-8 or may not be shown is escaped
// as in a text report.

#ifndef ALLOCSCOPE_REPORT_JSON_REPORT_HPP
#define ALLOCSCOPE_REPORT_JSON_REPORT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/loss_reason.hpp>
#include <allocscope/base/memory_use.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/grouping/thread_parts.hpp>
#include <allocscope/link/pause_recording.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_flow.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/report/json_writer.hpp>
#include <allocscope/report/place_sums.hpp>
#include <allocscope/snapshot/loss_sentences.hpp>
#include <allocscope/snapshot/shown_memory.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/version.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t
#include <string>   // string

ALLOCSCOPE_COLD_BEGIN

namespace detail {

inline const char* name_of(recording how) noexcept {
    return how == recording::exact ? "exact" : how == recording::sampled ? "sampled" : "counters";
}

inline void write_json_interval(json_writer& json, const char* low, const char* high,
                                std::uint64_t low_value, std::uint64_t high_value) {
    json.field(low, low_value);
    json.field(high, high_value);
}

inline void write_json_totals(json_writer& json, const snapshot::window_info& info) {
    const snapshot::window_estimates& about = info.estimates;  // or the totals themselves
    json.begin("totals", '{');
    json.field("allocations", about.allocations.value);
    json.field("frees", about.frees.value);
    json.field("bytes_allocated", about.bytes_allocated.value);
    json.field("bytes_freed", about.bytes_freed.value);
    json.field("live_objects", about.live_objects.value);
    json.field("live_bytes", about.live_bytes.value);
    json.field("peak_bytes", info.totals.peak_bytes);
    if (info.uncertain_objects != 0) {
        json.field("uncertain_objects", info.uncertain_objects);
        json.field("uncertain_bytes", info.uncertain_bytes);
    }
    if (info.record == recording::sampled) {
        write_json_interval(json, "allocations_low", "allocations_high", about.allocations.low,
                            about.allocations.high);
        write_json_interval(json, "bytes_allocated_low", "bytes_allocated_high",
                            about.bytes_allocated.low, about.bytes_allocated.high);
        write_json_interval(json, "live_objects_low", "live_objects_high", about.live_objects.low,
                            about.live_objects.high);
        write_json_interval(json, "live_bytes_low", "live_bytes_high", about.live_bytes.low,
                            about.live_bytes.high);
    }
    json.end('}');
}

inline void write_json_frame(json_writer& json, const snapshot::frame& frame) {
    json.begin('{');
    json.field("function", frame.function);
    json.field("file", frame.file);
    json.field("line", static_cast<std::uint64_t>(frame.line));
    json.field("module", frame.module);
    json.field("offset", frame.offset);
    json.field("inlined", frame.is_inlined);
    json.end('}');
}

inline void write_json_details(json_writer& json, const snapshot::stack_details* known,
                               bool has_peak) {
    const snapshot::stack_details details = known != nullptr ? *known : snapshot::stack_details{};
    json.begin("details", '{');
    if (has_peak) {
        json.field("peak_objects", details.peak_objects);
        json.field("peak_bytes", details.peak_bytes);
    }
    json.field("temporary", details.temporary);
    json.field("lifetime_us", details.lifetime_us);
    json.begin("sizes", '[');
    for (const std::uint64_t count : details.sizes) json.amount(count);
    json.end(']');
    json.end('}');
}

inline void write_json_row(json_writer& json, const place& here, const numbered_frames& frames,
                           bool has_stacks, const snapshot::window_info& info) {
    const bool is_sampled = info.record == recording::sampled;
    const snapshot::row& row = here.row();
    json.begin('{');
    json.field("objects", row.objects);
    json.field("bytes", row.bytes);
    if (has_stacks) {
        json.field("allocations", here.allocations);
        json.field("bytes_allocated", here.bytes_allocated);
    }
    json.field("file", row.file);
    json.field("line", static_cast<std::uint64_t>(row.line));
    json.field("offset", row.offset);
    json.field("type", row.type);
    json.field("type_source", row.type_source);
    json.field("function", row.function);
    json.field("sites", row.sites);
    if (is_sampled) {
        json.field("samples", row.samples);
        write_json_interval(json, "objects_low", "objects_high", row.objects_low, row.objects_high);
        write_json_interval(json, "bytes_low", "bytes_high", row.bytes_low, row.bytes_high);
    }
    if (info.has_details) write_json_details(json, here.details, info.has_peak_details);
    json.begin("frames", '[');
    for (std::size_t i = 0; i < frames.count; ++i) write_json_frame(json, frames[i]);
    json.end(']');
    json.end('}');
}

inline void write_json_rows(json_writer& json, const place_sums& places, const shown_stacks& stacks,
                            bool are_freed, text_flow flow) {
    arena memory;
    const place* const end = are_freed ? places.end() : places.first_freed();
    json.begin(are_freed ? "freed_rows" : "rows", '[');
    for (const place* each = are_freed ? places.first_freed() : places.begin(); each != end;
         ++each) {
        const borrowed_memory meanwhile{memory};
        json.line();
        write_json_row(json, *each, places.frames_of(*each, stacks, memory), stacks.are_known(),
                       stacks.rows().info());
        flow.may_go(flow.whom);
    }
    json.end(']');
}

inline void write_json_families(json_writer& json, const snapshot::window_info& info) {
    json.begin("families", '[');
    for (std::size_t i = 0; i < info.family_count; ++i) {
        const snapshot::family& family = info.families[i];
        json.begin('{');
        json.field("name", family.name);
        json.field("allocations", family.allocations);
        json.field("frees", family.frees);
        json.field("bytes_allocated", family.bytes_allocated);
        json.field("bytes_freed", family.bytes_freed);
        json.end('}');
    }
    json.end(']');
}

inline void write_json_moments(json_writer& json, const snapshot::window_info& info) {
    json.begin("moments", '[');
    for (std::size_t i = 0; i < info.moment_count; ++i) {
        const snapshot::moment& moment = info.moments[i];
        json.begin('{');
        json.field("at_ns", moment.at_ns);
        json.field("live_objects", moment.live_objects);
        json.field("live_bytes", moment.live_bytes);
        json.field("allocations", moment.allocations);
        json.field("bytes_allocated", moment.bytes_allocated);
        json.field("mark", moment.mark);
        json.end('}');
    }
    json.end(']');
}

inline void write_json_memory(json_writer& json, const snapshot::window_info& info) {
    const memory_use* const memory = shown_memory(info);
    if (memory == nullptr) return;
    json.begin("memory", '{');
    json.field("resident_bytes", memory->resident_bytes);
    json.field("swapped_bytes", memory->swapped_bytes);
    json.field("at_ns", memory->at_ns);
    json.begin("parts", '{');
    for (std::size_t i = 0; i < memory_part_count; ++i) {
        json.field(name_of(static_cast<memory_part>(i)), memory->parts[i]);
    }
    json.end('}');
    json.end('}');
}

inline void write_json_losses(json_writer& json, const snapshot::window_info& info) {
    constexpr auto reason_count = static_cast<std::uint32_t>(loss_reason::count);
    std::uint64_t counts[reason_count] = {};
    json.begin("lost", '{');
    for (std::size_t i = 0; i < info.loss_count; ++i) {
        const snapshot::loss& loss = info.losses[i];
        const loss_reason reason = reason_of(loss);
        if (reason == loss_reason::count) {
            json.field(loss.reason, loss.count);
        } else {
            counts[static_cast<std::uint32_t>(reason)] += loss.count;
        }
    }
    for (std::uint32_t i = 0; i < reason_count; ++i) {
        json.field(words_of_losses[i].name, counts[i]);
    }
    json.end('}');
}

inline void write_json_head(json_writer& json, const snapshot::window_info& info) {
    json.field("allocscope", ALLOCSCOPE_VERSION_STRING);
    json.field("window", info.name);
    json.field("record", name_of(info.record));
    if (info.is_difference) json.field("is_difference", true);
    if (info.is_backwards) json.field("is_backwards", true);
    if (info.is_filtered) json.field("is_filtered", true);
    if (info.merged_windows != 0) json.field("merged_windows", info.merged_windows);
    if (info.record == recording::sampled) {
        json.field("sample_bytes", info.sample_bytes);
        json.field("samples", info.samples);
    }
    json.field("duration_ns", info.duration_ns);
    json.field("process_id", info.process_id);
    json.field("command", info.command);
    json.field("taken_unix_ns", static_cast<std::uint64_t>(info.taken_unix_ns));
    if (info.not_recording[0] != '\0') json.field("not_recording", info.not_recording);
    write_json_totals(json, info);
    write_json_families(json, info);
    write_json_moments(json, info);
    write_json_memory(json, info);
    write_json_losses(json, info);
}

inline void write_json_sum(json_writer& json, const stack_numbers& sum) {
    json.field("objects", sum.objects);
    json.field("bytes", sum.bytes);
    json.field("allocations", sum.allocations);
    json.field("bytes_allocated", sum.bytes_allocated);
}

inline void write_json_threads(json_writer& json, const snapshot::thread* threads,
                               std::size_t count, const shown_stacks& stacks) {
    arena memory;
    const auto sums = sums_of_parts(memory, stacks, &snapshot::thread_part::thread, count);
    json.begin("threads", '[');
    for (std::size_t i = 0; i < count; ++i) {
        json.begin('{');
        json.field("number", threads[i].number);
        json.field("name", threads[i].name);
        json.field("process_id", threads[i].process_id);
        write_json_sum(json, sums[i]);
        json.end('}');
    }
    json.end(']');
}

inline void write_json_ages(json_writer& json, const shown_stacks& stacks) {
    const snapshot::window_info& info = stacks.rows().info();
    if (info.age_count == 0) return;
    arena memory;
    const auto sums = sums_of_parts(memory, stacks, &snapshot::thread_part::age, info.age_count);
    json.begin("ages", '[');
    for (std::size_t i = 0; i < info.age_count; ++i) {
        json.begin('{');
        json.field("least_ns", info.ages[i].least_ns);
        json.field("most_ns", info.ages[i].most_ns);
        write_json_sum(json, sums[i]);
        json.end('}');
    }
    json.end(']');
}

inline void write_json_report(text_out& out, const shown_stacks& stacks, text_flow flow) {
    const snapshot::window_info& info = stacks.rows().info();
    arena memory;
    const place_sums places{memory, stacks};
    json_writer json{out, info.is_difference};
    json.begin('{');
    write_json_head(json, info);
    if (stacks.are_known()) {
        stacks.with_threads([&](const snapshot::thread* threads, std::size_t count) {
            write_json_threads(json, threads, count, stacks);
        });
        write_json_ages(json, stacks);
    }
    write_json_rows(json, places, stacks, false, flow);
    if (stacks.are_known()) write_json_rows(json, places, stacks, true, flow);
    json.end('}');
    json.line();
}

}  // namespace detail

// Returns the snapshot as a JSON text.
inline std::string to_json(const snapshot& rows) {
    const pause_recording quietly;
    detail::arena memory;
    detail::text_out out{memory};
    detail::write_json_report(out, detail::shown_stacks{rows}, detail::kept_text());
    return {out.view().data(), out.size()};
}

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_REPORT_JSON_REPORT_HPP
