// json_report.hpp - a snapshot as JSON, for other programs to read.
//
// Room:     report (floor 9), not malloc-safe
// Called:   by the user, and by the command-line program
// Threads:  any
// Memory:   the whole text in an arena, charged to no window
//
//     allocscope::write_json(window.stats(), "heap.json");      // a file, whole or not at all
//     std::string text = allocscope::to_json(window.stats());
//
// The format (RFC 8259; UTF-8; fields are only ever added):
//
//     {"allocscope": version, "window": name, "record": "exact" | "sampled" | "counters",
//      "duration_ns": n,
//      "totals": {"allocations", "frees", "bytes_allocated", "bytes_freed", "live_objects",
//                 "live_bytes", "peak_bytes"},
//      "lost": {reason: n, ...},                only those that happened
//      "rows": [{"objects", "bytes", "file", "line", "type", "function", "sites",
//                "frames": [{"function", "file", "line", "module", "offset", "inlined"}]}]}
//
// "file" is as in the rows of a report: a path, or where there is no line information the function
// or module, and "line" is then 0. A sampled snapshot's numbers are estimates: it has
// "sample_bytes" and "samples", its totals and rows have "..._low" and "..._high" (95%), and its
// rows "samples". In a difference numbers may be negative. Text that is not valid UTF-8 or may not
// be shown is escaped as in a text report.

#ifndef ALLOCSCOPE_REPORT_JSON_REPORT_HPP
#define ALLOCSCOPE_REPORT_JSON_REPORT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/config.hpp>
#include <allocscope/measure/scope.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/report/text_sink.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/version.hpp>

#include <cstdint>  // int64_t, uint64_t
#include <string>   // string

ALLOCSCOPE_COLD_BEGIN

namespace detail {

class json_writer {
public:
    json_writer(text_out& out, arena& scratch, bool is_signed) noexcept
        : out_(out), scratch_(scratch), is_signed_(is_signed) {}

    void begin(char bracket) {
        separate();
        out_ << bracket;
        is_first_ = true;
    }
    void end(char bracket) {
        out_ << bracket;
        is_first_ = false;
    }
    void key(const char* name) {
        separate();
        write_string(name);
        out_ << ": ";
        is_first_ = true;  // the value needs no comma
    }
    void value(const char* shown) {
        separate();
        write_string(shown);
    }
    void value(bool is_true) {
        separate();
        out_ << (is_true ? "true" : "false");
    }
    // May be negative in a difference.
    void amount(std::uint64_t number) {
        separate();
        const bool is_negative = is_signed_ && static_cast<std::int64_t>(number) < 0;
        if (is_negative) out_ << '-';
        out_ << decimal{is_negative ? 0 - number : number};
    }
    void field(const char* name, const char* shown) {
        key(name);
        value(shown);
    }
    void field(const char* name, std::uint64_t number) {
        key(name);
        amount(number);
    }
    void line() { out_ << '\n'; }

private:
    void separate() {
        if (!is_first_) out_ << ", ";
        is_first_ = false;
    }
    void write_string(const char* shown) {
        const borrowed_memory meanwhile{scratch_};
        text_out printable{scratch_};
        write_printable(printable, shown);
        out_ << '"';
        for (const char c : printable.view()) {
            if (c == '"' || c == '\\') out_ << '\\';
            out_ << c;
        }
        out_ << '"';
    }

    text_out& out_;
    arena& scratch_;
    bool is_signed_;
    bool is_first_ = true;
};

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
    json.key("totals");
    json.begin('{');
    json.field("allocations", about.allocations.value);
    json.field("frees", about.frees.value);
    json.field("bytes_allocated", about.bytes_allocated.value);
    json.field("bytes_freed", about.bytes_freed.value);
    json.field("live_objects", about.live_objects.value);
    json.field("live_bytes", about.live_bytes.value);
    json.field("peak_bytes", info.totals.peak_bytes);
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
    json.key("inlined");
    json.value(frame.is_inlined);
    json.end('}');
}

inline void write_json_row(json_writer& json, const snapshot::row& row, bool is_sampled) {
    json.begin('{');
    json.field("objects", row.objects);
    json.field("bytes", row.bytes);
    json.field("file", row.file);
    json.field("line", static_cast<std::uint64_t>(row.line));
    json.field("type", row.type);
    json.field("function", row.function);
    json.field("sites", row.sites);
    if (is_sampled) {
        json.field("samples", row.samples);
        write_json_interval(json, "objects_low", "objects_high", row.objects_low, row.objects_high);
        write_json_interval(json, "bytes_low", "bytes_high", row.bytes_low, row.bytes_high);
    }
    json.key("frames");
    json.begin('[');
    for (std::size_t i = 0; i < row.frame_count; ++i) write_json_frame(json, row.frames[i]);
    json.end(']');
    json.end('}');
}

inline void write_json_report(text_out& out, const snapshot& rows) {
    const snapshot::window_info& info = rows.info();
    const bool is_sampled = info.record == recording::sampled;
    arena scratch;
    json_writer json{out, scratch, info.is_difference};
    json.begin('{');
    json.field("allocscope", ALLOCSCOPE_VERSION_STRING);
    json.field("window", info.name);
    json.field("record", name_of(info.record));
    if (is_sampled) {
        json.field("sample_bytes", info.sample_bytes);
        json.field("samples", info.samples);
    }
    json.field("duration_ns", info.duration_ns);
    if (info.not_recording[0] != '\0') json.field("not_recording", info.not_recording);
    write_json_totals(json, info);
    json.key("lost");
    json.begin('{');
    for (std::size_t i = 0; i < info.loss_count; ++i) {
        json.field(info.losses[i].reason, info.losses[i].count);
    }
    json.end('}');
    json.key("rows");
    json.begin('[');
    for (const snapshot::row& row : rows) {
        json.line();
        write_json_row(json, row, is_sampled);
    }
    json.end(']');
    json.end('}');
    json.line();
}

}  // namespace detail

// The snapshot as a text.
inline std::string to_json(const snapshot& rows) {
    const pause_recording quietly;
    detail::arena memory;
    detail::text_out out{memory};
    detail::write_json_report(out, rows);
    return {out.view().data(), out.size()};
}

// To a path, as write_text does. Throws report_error.
inline void write_json(const snapshot& rows, const char* path) {
    const pause_recording quietly;
    detail::arena memory;
    detail::text_out out{memory};
    detail::write_json_report(out, rows);
    std::string error;
    if (!detail::put_report(out.view(), path, error)) detail::raise_report_error(error);
}

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_REPORT_JSON_REPORT_HPP
