// massif_format.hpp - writes the heap over time, with details at its end, like Valgrind's massif.
//
// Room:     formats (floor 12), not malloc-safe
// Called:   by the user, and by formats/format_list.hpp
// Threads:  any
// Memory:   see formats/format_job.hpp; the tree of calls
//
//     allocscope::write_massif(window.stats(), "heap.massif");      // then: ms_print heap.massif
//
// The file begins with a massif snapshot of 0 bytes, because a window begins empty. It has one for
// each moment of the time series, if the window kept one, and one for the end. The last one has the
// tree of callers; the callers of operator new are at its root. Callers with less than a thousandth
// of all bytes are summed up, where massif does it below a hundredth. A `#` in a name becomes `@`,
// because ms_print takes the text after `#` for a comment.

#ifndef ALLOCSCOPE_FORMATS_MASSIF_FORMAT_HPP
#define ALLOCSCOPE_FORMATS_MASSIF_FORMAT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/formats/format_job.hpp>
#include <allocscope/formats/frame_text.hpp>
#include <allocscope/formats/summary_lines.hpp>
#include <allocscope/grouping/call_tree.hpp>
#include <allocscope/grouping/frame_book.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <string>   // string

ALLOCSCOPE_COOL_BEGIN

namespace detail {

class massif_file {
public:
    explicit massif_file(format_job& job)
        : job_(job),
          out_(job.out),
          least_shown_(sum_of_stacks(job).bytes / 1000),
          tree_(job.memory, job.stacks(), call_direction::bottom_up,
                {frames_differ_by::place, least_shown_}) {}

    void write() {
        const snapshot::window_info& info = job_.rows.info();
        write_head(info);
        const std::uint64_t end_ms = info.duration_ns / 1000000;
        write_point(0, 0, "empty");
        for (std::size_t i = 0; i < info.moment_count; ++i) {
            const std::uint64_t at_ms = info.moments[i].at_ns / 1000000;
            if (at_ms < end_ms) write_point(at_ms, info.moments[i].live_bytes, "empty");
        }
        const std::uint64_t bytes = tree_.root().inclusive.bytes;
        write_point(end_ms, bytes, "detailed");
        write_node(tree_.root(), 0);
    }

private:
    void write_head(const snapshot::window_info& info) {
        for_each_summary_line(job_, [this](const text& line) {
            const std::size_t begin = out_.size();
            out_ << "desc: " << line;
            replace_since(out_, begin, "#", '@');
            out_ << '\n';
        });
        write_marks(info);
        const std::size_t begin = out_.size();
        out_ << "cmd: ";
        write_printable(out_, is_empty(info.command) ? info.name : info.command);
        replace_since(out_, begin, "#", '@');
        out_ << "\ntime_unit: ms\n";
    }

    // The format has no field for marks, so they become lines of the description.
    void write_marks(const snapshot::window_info& info) {
        for (std::size_t i = 0; i < info.moment_count; ++i) {
            const snapshot::moment& each = info.moments[i];
            if (is_empty(each.mark)) continue;
            const std::size_t begin = out_.size();
            out_ << "desc: mark at " << decimal{each.at_ns / 1000000} << " ms: ";
            write_printable(out_, each.mark);
            replace_since(out_, begin, "#", '@');
            out_ << '\n';
        }
    }

    void write_point(std::uint64_t at_ms, std::uint64_t bytes, const char* heap_tree) {
        out_ << "#-----------\nsnapshot=" << decimal{point_count_++}
             << "\n#-----------\ntime=" << decimal{at_ms} << "\nmem_heap_B=" << decimal{bytes}
             << "\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=" << heap_tree << '\n';
        job_.pieces.may_go();
    }

    // The children are in the order of their bytes, so those that are summed up come last.
    std::size_t shown_children(const call_node& node) const {
        std::size_t shown = 0;
        for (const call_node& child : tree_.children_of(node)) {
            if (child.inclusive.bytes == 0 || child.inclusive.bytes < least_shown_) break;
            ++shown;
        }
        return shown;
    }

    void write_node(const call_node& node, std::size_t depth) {
        const auto children = tree_.children_of(node);
        const std::size_t shown = shown_children(node);
        std::uint64_t rest = 0;
        for (std::size_t i = shown; i < children.size(); ++i) rest += children[i].inclusive.bytes;
        out_.fill(depth, ' ');
        out_ << 'n' << decimal{shown + (rest != 0 ? 1 : 0)} << ": " << decimal{node.inclusive.bytes}
             << ' ';
        if (node.frame == nullptr) {
            out_ << "(heap allocation functions) malloc/new/new[], --alloc-fns, etc.";
        } else {
            const std::size_t begin = out_.size();
            write_frame_label(out_, *node.frame);
            replace_since(out_, begin, "#", '@');
        }
        out_ << '\n';
        job_.pieces.may_go();
        for (std::size_t i = 0; i < shown; ++i) write_node(children[i], depth + 1);
        if (rest != 0) write_rest(children.size() - shown, rest, depth + 1);
    }

    // Uses massif's words, because viewers recognise them.
    void write_rest(std::size_t places, std::uint64_t bytes, std::size_t depth) {
        out_.fill(depth, ' ');
        out_ << "n0: " << decimal{bytes} << " in " << decimal{places}
             << (places == 1 ? " place, below" : " places, all below")
             << " massif's threshold (0.10%)\n";
    }

    format_job& job_;
    text_out& out_;
    std::uint64_t least_shown_;
    call_tree tree_;
    std::uint64_t point_count_ = 0;
};

inline bool write_massif_body(format_job& job) {
    if (!has_writable_stacks(job)) return false;
    massif_file{job}.write();
    return true;
}

}  // namespace detail

// Writes to a path, a descriptor, a FILE* or a stream, like write_text(); throws report_error.
template <class Target>
void write_massif(const snapshot& rows, Target&& target) {
    detail::write_or_throw(detail::write_massif_body, rows, target);
}
// The same without exceptions: returns false, with the reason in `error`.
template <class Target>
bool write_massif(const snapshot& rows, Target&& target, std::string& error) {
    return detail::try_write(detail::write_massif_body, rows, target, error);
}

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_FORMATS_MASSIF_FORMAT_HPP
