// dhat_format.hpp - writes the file of Valgrind's DHAT, for dh_view.html and Firefox Profiler.
//
// Room:     formats (floor 12), not malloc-safe
// Called:   by the user, and by formats/format_list.hpp
// Threads:  any
// Memory:   see formats/format_job.hpp; 100 bytes for each stack and 4 for each of its frames
//
//     allocscope::write_dhat(window.stats(), "heap.dhat.json");
//
// The format is DHAT's file version 2, in its heap mode. "Total" is what was allocated, "At t-end"
// what is alive. A snapshot without details does not know what was alive at other times, nor how
// long objects lived. So "Max" and "At t-gmax" repeat "At t-end", which the viewer says after the
// command, and there are no lifetimes. A snapshot with details has lifetimes and, if it knows the
// peak, "At t-gmax", though not the time; "Max" is then the larger of t-gmax and t-end. Stacks with
// equal frames are merged, because the viewer requires it. They are in the order of the snapshot.

#ifndef ALLOCSCOPE_FORMATS_DHAT_FORMAT_HPP
#define ALLOCSCOPE_FORMATS_DHAT_FORMAT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/formats/format_job.hpp>
#include <allocscope/formats/frame_text.hpp>
#include <allocscope/grouping/frame_book.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/number_run.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/report/json_writer.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t
#include <cstring>  // memcpy
#include <string>   // string

ALLOCSCOPE_COOL_BEGIN

namespace detail {

class dhat_file {
public:
    explicit dhat_file(format_job& job)
        : job_(job),
          out_(job.out),
          frames_(job.memory, frames_differ_by::address),
          points_(job.memory),
          path_(job.memory),
          run_(job.out) {}

    void write() {
        for_each_stack_by_numbers(
            job_, [this](const snapshot::stack& stack, const numbered_frames& frames) {
                add(stack, frames);
            });
        write_head(job_.rows.info());
        const char* separator = "\n";
        for (const auto& point : points_) {
            if (point.value.is_nothing()) continue;
            out_ << separator;
            separator = ",\n";
            write_point(point.key, point.value);
            job_.pieces.may_go();
        }
        out_ << "],\n\"ftbl\": [\"[root]\", \"0x0: ? (in ?)\"";
        text_out label{job_.memory};
        for (std::size_t i = 0; i < frames_.size(); ++i) {
            label.cut(0);
            write_frame_label(label, frames_[i]);
            out_ << ",\n";
            write_json_string(out_, label.c_str());
            job_.pieces.may_go();
        }
        out_ << "]}\n";
    }

private:
    // The table of frames begins with the root and with the frame of stacks that have no frames.
    static constexpr std::uint32_t unknown_frame = 1;
    static constexpr std::uint32_t first_frame = 2;

    // The numbers of the frames, as bytes, are the key: stacks with equal frames are one point.
    void add(const snapshot::stack& stack, const numbered_frames& frames) {
        path_.clear();
        for (std::size_t i = 0; i < frames.count; ++i) {
            path_.push_back(frames_.number_of(frames, i) + first_frame);
        }
        if (path_.empty()) path_.push_back(unknown_frame);
        const text path{reinterpret_cast<const char*>(path_.data()),
                        path_.size() * sizeof(std::uint32_t)};
        stack_numbers* known = points_.find(path);
        if (known == nullptr) known = &points_[copy_of(job_.memory, path)];
        known->add(numbers_of(stack));
    }

    void write_head(const snapshot::window_info& info) {
        const std::uint64_t end = info.duration_ns / 1000;
        text_out command{job_.memory};
        command << (is_empty(info.command) ? info.name : info.command)
                << (info.has_peak_details
                        ? " (allocscope: Max is that of t-gmax or t-end; the time of t-gmax is not"
                          " known)"
                        : " (allocscope: t-gmax and Max are those of t-end)");
        out_ << "{\"dhatFileVersion\": 2, \"mode\": \"heap\", \"verb\": \"Allocated\",\n"
                "\"bklt\": true, \"bkacc\": false,\n";
        if (info.record == recording::sampled) {
            out_ << "\"bu\": \"est. byte\", \"bsu\": \"est. bytes\", \"bksu\": \"est. blocks\",\n";
        }
        out_ << "\"tu\": \"\\u00b5s\", \"Mtu\": \"s\", \"tuth\": 10,\n\"cmd\": ";
        write_json_string(out_, command.c_str());
        out_ << ", \"pid\": " << decimal{info.process_id} << ",\n\"te\": " << decimal{end}
             << ", \"tg\": " << decimal{end} << ",\n\"pps\": [";
    }

    void write_point(const text& path, const stack_numbers& own) {
        const bool has_peak = job_.rows.info().has_peak_details;
        const std::uint64_t peak_bytes = has_peak ? own.peak_bytes : own.bytes;
        const std::uint64_t peak_objects = has_peak ? own.peak_objects : own.objects;
        const bool is_peak_more = peak_bytes > own.bytes;
        out_ << "{\"tb\": " << decimal{own.bytes_allocated}
             << ", \"tbk\": " << decimal{own.allocations};
        if (job_.rows.info().has_details) out_ << ", \"tl\": " << decimal{own.lifetime_us};
        out_ << ", \"mb\": " << decimal{is_peak_more ? peak_bytes : own.bytes}
             << ", \"mbk\": " << decimal{is_peak_more ? peak_objects : own.objects}
             << ", \"gb\": " << decimal{peak_bytes} << ", \"gbk\": " << decimal{peak_objects}
             << ", \"eb\": " << decimal{own.bytes} << ", \"ebk\": " << decimal{own.objects}
             << ", \"fs\": [";
        for (std::size_t at = 0; at < path.size(); at += sizeof(std::uint32_t)) {
            std::uint32_t number = 0;
            std::memcpy(&number, path.data() + at, sizeof number);
            run_.add(number);
        }
        run_.end();
        out_ << "]}";
    }

    format_job& job_;
    text_out& out_;
    frame_book frames_;
    table<text, stack_numbers> points_;
    list<std::uint32_t> path_;
    number_run run_;
};

inline bool write_dhat_body(format_job& job) {
    if (!has_writable_stacks(job)) return false;
    dhat_file{job}.write();
    return true;
}

}  // namespace detail

// Writes to a path, a descriptor, a FILE* or a stream, like write_text(); throws report_error.
template <class Target>
void write_dhat(const snapshot& rows, Target&& target) {
    detail::write_or_throw(detail::write_dhat_body, rows, target);
}
// The same without exceptions: returns false, with the reason in `error`.
template <class Target>
bool write_dhat(const snapshot& rows, Target&& target, std::string& error) {
    return detail::try_write(detail::write_dhat_body, rows, target, error);
}

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_FORMATS_DHAT_FORMAT_HPP
