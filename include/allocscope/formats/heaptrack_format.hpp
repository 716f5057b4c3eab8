// heaptrack_format.hpp - makes a recording for heaptrack_print and heaptrack_gui from sums.
//
// Room:     formats (floor 12), not malloc-safe
// Called:   by the user, and by formats/format_list.hpp
// Threads:  any
// Memory:   see formats/format_job.hpp; the tables of strings, locations and traces
//
//     allocscope::write_heaptrack(window.stats(), "heap.heaptrack");
//
// The format is version 3 of heaptrack's text. It is a list of events, but a snapshot has only
// their sums. So the writer invents events that have the right sums. Calls, bytes and leaks (what
// is alive) are correct for each stack. Each object has the mean size of its stack's objects.
// Objects that were freed come first, and each is freed soon after its birth. So heaptrack's peak
// is what is alive at the end, unless one freed object was larger. Objects count as temporary only
// if the window has details. A sampled window is refused, because an estimate is not a number of
// events. More than 100 million allocations are refused, because each is a line.

#ifndef ALLOCSCOPE_FORMATS_HEAPTRACK_FORMAT_HPP
#define ALLOCSCOPE_FORMATS_HEAPTRACK_FORMAT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/formats/format_job.hpp>
#include <allocscope/formats/frame_text.hpp>
#include <allocscope/formats/location_book.hpp>
#include <allocscope/formats/summary_lines.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/page/page_paths.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_numbers.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t
#include <string>   // string

ALLOCSCOPE_COOL_BEGIN

namespace detail {

constexpr std::uint64_t most_heaptrack_events = 100000000;

constexpr std::size_t longest_hexadecimal = 16;

inline char* put_hexadecimal(char* at, std::uint64_t value) noexcept {
    int shift = 0;
    while (shift < 60 && value >> (shift + 4) != 0) shift += 4;
    for (; shift >= 0; shift -= 4) *at++ = "0123456789abcdef"[value >> shift & 15U];
    return at;
}

class heaptrack_file {
public:
    explicit heaptrack_file(format_job& job)
        : job_(job),
          out_(job.out),
          strings_(job.memory),
          locations_(job.memory),
          written_location_(job.memory),
          traces_(job.memory),
          path_(job.memory),
          trace_of_stack_(job.memory),
          line_(job.memory) {}

    void write() {
        const snapshot::window_info& info = job_.rows.info();
        out_ << "v 10400 3\nX ";
        write_printable(out_, is_empty(info.command) ? info.name : info.command);
        out_ << "\nI 1000 0\n";
        for_each_summary_line(job_, [this](const text& line) { out_ << "# " << line << '\n'; });
        out_ << "c 0\n";
        for_each_stack_by_numbers(
            job_, [this](const snapshot::stack& stack, const numbered_frames& frames) {
                write_temporary(stack, frames);
            });
        begin_again();
        for_each_stack_by_numbers(
            job_, [this](const snapshot::stack& stack, const numbered_frames& frames) {
                write_freed(stack, frames);
            });
        begin_again();
        for_each_stack_by_numbers(
            job_, [this](const snapshot::stack& stack, const numbered_frames& frames) {
                write_live(stack, frames);
            });
        if (has_waiting_) write_free(waiting_);
        out_ << "c " << hexadecimal{info.duration_ns / 1000000} << '\n';
    }

private:
    // --- what the events refer to; it is written before its first use ---

    std::uint32_t string(const char* shown) {
        text_out printable{job_.memory};
        write_printable(printable, shown);
        if (printable.empty()) return 0;
        const std::uint32_t number = strings_.number_of_text(printable.view()) + 1;
        if (number > written_strings_) {
            written_strings_ = number;
            out_ << "s " << hexadecimal{printable.size()} << ' ' << printable.view() << '\n';
        }
        return number;
    }

    // The file numbers locations in the order in which they are written.
    std::uint32_t written(std::uint32_t location) {
        if (location >= written_location_.size()) written_location_.resize(location + 1);
        std::uint32_t& number = written_location_[location];
        if (number != 0) return number;
        const snapshot::frame& outermost = locations_.outermost(location);
        const std::uint32_t module = string(is_empty(outermost.module) ? "?" : outermost.module);
        line_.cut(0);
        line_ << "i " << hexadecimal{outermost.address} << ' ' << hexadecimal{module};
        text_out name{job_.memory};
        locations_.for_each_frame(location, [this, &name](const snapshot::frame& frame) {
            name.cut(0);
            write_frame_name(name, frame);
            const std::uint32_t function = string(name.c_str());
            const std::uint32_t file = string(frame.file);
            line_ << ' ' << hexadecimal{function} << ' ' << hexadecimal{file} << ' '
                  << hexadecimal{static_cast<std::uint64_t>(frame.line)};
        });
        out_ << line_.view() << '\n';
        number = ++location_count_;
        return number;
    }

    // All stacks are passed three times, but the trace of each is found only once.
    void begin_again() noexcept { next_stack_ = 0; }

    // The trace of the next stack: 0 if it has not been written yet.
    std::uint32_t& known_trace() {
        if (next_stack_ == trace_of_stack_.size()) trace_of_stack_.push_back(0);
        return trace_of_stack_[next_stack_++];
    }

    std::uint32_t trace_of(const numbered_frames& frames, std::uint32_t& known) {
        if (known == 0) known = written_trace(frames);
        return known;
    }

    std::uint32_t written_trace(const numbered_frames& frames) {
        path_.clear();
        for (std::size_t i = 0; i < frames.count;) {
            path_.push_back(locations_.next_location(frames, i));
        }
        std::uint32_t trace = 0;
        for (std::size_t i = path_.size(); i > 0; --i) {
            const std::uint32_t location = written(path_[i - 1]);
            const std::uint32_t before = trace;
            const std::size_t count = traces_.all().size();
            trace = traces_.below(before, location);
            if (trace == count) write_line("t ", location, before);
        }
        return trace;
    }

    // Writes two letters and one or two numbers; most lines of the file are of this kind.
    void write_line(const char (&letters)[3], std::uint64_t number) {
        char line[2 + longest_hexadecimal + 1] = {letters[0], letters[1]};
        char* end = put_hexadecimal(line + 2, number);
        *end++ = '\n';
        out_ << text{line, static_cast<std::size_t>(end - line)};
    }
    void write_line(const char (&letters)[3], std::uint64_t first, std::uint64_t second) {
        char line[2 + 2 * longest_hexadecimal + 2] = {letters[0], letters[1]};
        char* end = put_hexadecimal(line + 2, first);
        *end++ = ' ';
        end = put_hexadecimal(end, second);
        *end++ = '\n';
        out_ << text{line, static_cast<std::size_t>(end - line)};
    }

    std::uint64_t allocation(std::uint64_t size, std::uint32_t trace) {
        write_line("a ", size, trace);
        return allocation_count_++;
    }

    // --- events ---

    void write_birth(std::uint64_t allocation) {
        write_line("+ ", allocation);
        if (has_waiting_) write_free(waiting_);
        has_waiting_ = false;
        job_.pieces.may_go();
    }
    void write_free(std::uint64_t allocation) { write_line("- ", allocation); }

    // The freed objects of a stack: `count` objects of `size` bytes, but `larger` of them have one
    // byte more.
    struct freed_objects {
        std::uint64_t count, size, larger, temporary;
        // How many of the larger objects are temporary, and how many of the others.
        std::uint64_t temporary_larger() const noexcept {
            return temporary < larger ? temporary : larger;
        }
        std::uint64_t temporary_others() const noexcept { return temporary - temporary_larger(); }
    };
    static freed_objects freed_of(const snapshot::stack& stack) noexcept {
        // A damaged file may have more alive than was allocated.
        if (stack.allocations <= stack.objects) return {0, 0, 0, 0};
        const std::uint64_t count = stack.allocations - stack.objects;
        const std::uint64_t bytes = stack.bytes_allocated - stack.bytes;
        const std::uint64_t known = stack.details != nullptr ? stack.details->temporary : 0;
        return {count, bytes / count, bytes % count, known < count ? known : count};
    }

    // heaptrack calls an object temporary that is freed right after its birth.
    void write_temporary(const snapshot::stack& stack, const numbered_frames& frames) {
        std::uint32_t& known = known_trace();
        const freed_objects freed = freed_of(stack);
        if (freed.temporary == 0) return;
        const std::uint32_t trace = trace_of(frames, known);
        write_temporary_objects(freed.size + 1, freed.temporary_larger(), trace);
        write_temporary_objects(freed.size, freed.temporary_others(), trace);
    }
    void write_temporary_objects(std::uint64_t size, std::uint64_t count, std::uint32_t trace) {
        if (count == 0) return;
        const std::uint64_t described = allocation(size, trace);
        for (std::uint64_t i = 0; i < count; ++i) {
            write_birth(described);
            write_free(described);
        }
    }

    // The other objects must not look temporary, because it is not known whether they were. So
    // each is freed only after the birth of the next one, and objects of the same size take turns
    // with two descriptions.
    void write_freed(const snapshot::stack& stack, const numbered_frames& frames) {
        std::uint32_t& known = known_trace();
        const freed_objects freed = freed_of(stack);
        if (freed.count == freed.temporary) return;
        const std::uint32_t trace = trace_of(frames, known);
        write_freed_objects(freed.size + 1, freed.larger - freed.temporary_larger(), trace);
        write_freed_objects(freed.size, freed.count - freed.larger - freed.temporary_others(),
                            trace);
    }
    void write_freed_objects(std::uint64_t size, std::uint64_t count, std::uint32_t trace) {
        if (count == 0) return;
        const std::uint64_t turns[] = {allocation(size, trace),
                                       count > 1 ? allocation(size, trace) : 0};
        for (std::uint64_t i = 0; i < count; ++i) {
            write_birth(turns[i % 2]);
            waiting_ = turns[i % 2];
            has_waiting_ = true;
        }
    }

    void write_live(const snapshot::stack& stack, const numbered_frames& frames) {
        std::uint32_t& known = known_trace();
        if (stack.objects == 0) return;
        const std::uint32_t trace = trace_of(frames, known);
        const std::uint64_t size = stack.bytes / stack.objects;
        const std::uint64_t larger = stack.bytes % stack.objects;
        write_live_objects(size + 1, larger, trace);
        write_live_objects(size, stack.objects - larger, trace);
    }
    void write_live_objects(std::uint64_t size, std::uint64_t count, std::uint32_t trace) {
        if (count == 0) return;
        const std::uint64_t described = allocation(size, trace);
        for (std::uint64_t i = 0; i < count; ++i) write_birth(described);
    }

    format_job& job_;
    text_out& out_;
    text_numbers strings_;
    std::uint32_t written_strings_ = 0;
    location_book locations_;
    list<std::uint32_t> written_location_;
    std::uint32_t location_count_ = 0;
    page_paths traces_;
    list<std::uint32_t> path_;
    list<std::uint32_t> trace_of_stack_;
    std::size_t next_stack_ = 0;
    text_out line_;
    std::uint64_t allocation_count_ = 0;
    std::uint64_t waiting_ = 0;  // the last object that was born and must still be freed
    bool has_waiting_ = false;
};

// The numbers may be those of a damaged file, so they are not simply added up.
inline bool has_too_many_events(format_job& job) {
    std::uint64_t left = most_heaptrack_events;
    const shown_stacks stacks = job.stacks();
    for (std::size_t i = 0; i < stacks.count(); ++i) {
        const stack_numbers numbers = stacks.numbers(i);
        const std::uint64_t births =
            numbers.allocations > numbers.objects ? numbers.allocations : numbers.objects;
        if (births > left) return true;
        left -= births;
    }
    return false;
}

inline bool write_heaptrack_body(format_job& job) {
    if (!has_stacks_to_write(job)) return false;
    if (job.rows.info().record == recording::sampled) {
        return job.refuse(
            "heaptrack's format is a list of events, and a sampled window has estimates only;"
            " pprof, speedscope and others can hold those");
    }
    if (job.rows.info().is_difference) {
        return job.refuse(
            "heaptrack's format is a list of events, and a difference has none; pprof can hold it");
    }
    if (has_too_many_events(job)) {
        return job.refuse(
            "heaptrack's format has a line for each allocation, and there are more than"
            " 100 million; the other formats hold sums");
    }
    heaptrack_file{job}.write();
    return true;
}

}  // namespace detail

// Writes to a path, a descriptor, a FILE* or a stream, like write_text(); throws report_error.
template <class Target>
void write_heaptrack(const snapshot& rows, Target&& target) {
    detail::write_or_throw(detail::write_heaptrack_body, rows, target);
}
// The same without exceptions: returns false, with the reason in `error`.
template <class Target>
bool write_heaptrack(const snapshot& rows, Target&& target, std::string& error) {
    return detail::try_write(detail::write_heaptrack_body, rows, target, error);
}

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_FORMATS_HEAPTRACK_FORMAT_HPP
