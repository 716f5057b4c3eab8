// speedscope_format.hpp - writes the flame graphs of speedscope.app: one file with four of them.
//
// Room:     formats (floor 12), not malloc-safe
// Called:   by the user, and by formats/format_list.hpp
// Threads:  any
// Memory:   see formats/format_job.hpp; 48 bytes for each stack and 4 for each of its frames
//
//     allocscope::write_speedscope(window.stats(), "heap.speedscope.json");
//
// The profiles are live bytes, live objects, bytes allocated and allocations, in this order. Frames
// with the same place are one frame. An inlined call is a frame, too.

#ifndef ALLOCSCOPE_FORMATS_SPEEDSCOPE_FORMAT_HPP
#define ALLOCSCOPE_FORMATS_SPEEDSCOPE_FORMAT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/formats/format_job.hpp>
#include <allocscope/formats/frame_text.hpp>
#include <allocscope/grouping/frame_book.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/number_run.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/report/json_writer.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/version.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t
#include <string>   // string

ALLOCSCOPE_COOL_BEGIN

namespace detail {

constexpr stack_value speedscope_values[] = {stack_value::live_bytes, stack_value::live_objects,
                                             stack_value::bytes_allocated,
                                             stack_value::allocations};
constexpr std::size_t speedscope_profiles = sizeof speedscope_values / sizeof speedscope_values[0];

// Reads all stacks once, because each of the profiles needs them. The numbers of the frames are
// outermost first.
class speedscope_stacks {
public:
    speedscope_stacks(format_job& job, frame_book& book) : stacks_(job.memory) {
        for_each_stack_by_numbers(
            job, [&](const snapshot::stack& stack, const numbered_frames& frames) {
                const std::size_t bytes = frames.count * sizeof(std::uint32_t);
                auto* path = static_cast<std::uint32_t*>(job.memory.allocate(bytes));
                for (std::size_t i = 0; i < frames.count; ++i) {
                    path[i] = book.number_of(frames, frames.count - 1 - i);
                }
                const stack_numbers numbers = numbers_of(stack);
                known_stack made{path, frames.count, {}};
                for (std::size_t i = 0; i < speedscope_profiles; ++i) {
                    made.values[i] = numbers[speedscope_values[i]];
                }
                stacks_.push_back(made);
            });
    }

    void write_profile(format_job& job, std::size_t number) const {
        const stack_value which = speedscope_values[number];
        const bool is_bytes =
            which == stack_value::live_bytes || which == stack_value::bytes_allocated;
        const bool is_sampled = job.rows.info().record == recording::sampled;
        text_out& out = job.out;
        out << "{\"type\": \"sampled\", \"name\": \"" << name_of(which)
            << (is_sampled ? ", estimated from samples" : "") << "\", \"unit\": \""
            << (is_bytes ? "bytes" : "none") << "\", \"startValue\": 0,\n\"samples\": [";
        number_run run{out};
        const char* separator = "\n[";
        std::uint64_t sum = 0;
        for (const known_stack& stack : stacks_) {
            if (stack.values[number] == 0) continue;
            sum += stack.values[number];
            out << separator;
            separator = ",\n[";
            for (std::size_t i = 0; i < stack.frame_count; ++i) run.add(stack.path[i]);
            run.end();
            out << ']';
            job.pieces.may_go();
        }
        out << "],\n\"weights\": [";
        separator = "\n";
        for (const known_stack& stack : stacks_) {
            if (stack.values[number] == 0) continue;
            out << separator << decimal{stack.values[number]};
            separator = ",\n";
            job.pieces.may_go();
        }
        out << "],\n\"endValue\": " << decimal{sum} << '}';
    }

private:
    struct known_stack {
        const std::uint32_t* path;
        std::size_t frame_count;
        std::uint64_t values[speedscope_profiles];
    };
    list<known_stack> stacks_;
};

inline void write_speedscope_frames(format_job& job, const frame_book& book) {
    text_out& out = job.out;
    arena scratch;
    out << "\"shared\": {\"frames\": [";
    for (std::size_t i = 0; i < book.size(); ++i) {
        const snapshot::frame& frame = book[i];
        const borrowed_memory meanwhile{scratch};
        text_out name{scratch};
        write_frame_name(name, frame);
        out << (i == 0 ? "\n" : ",\n") << "{\"name\": ";
        write_json_string(out, name.c_str());
        if (!is_empty(frame.file)) {
            out << ", \"file\": ";
            write_json_string(out, frame.file);
            if (frame.line > 0) {
                out << ", \"line\": " << decimal{static_cast<std::uint64_t>(frame.line)};
            }
        }
        out << '}';
        job.pieces.may_go();
    }
    out << "]}";
}

inline bool write_speedscope_body(format_job& job) {
    if (!has_writable_stacks(job)) return false;
    text_out& out = job.out;
    frame_book book{job.memory, frames_differ_by::place};
    const speedscope_stacks stacks{job, book};
    out << "{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n"
           "\"exporter\": \"allocscope " ALLOCSCOPE_VERSION_STRING "\", \"name\": ";
    write_json_string(out, job.rows.info().name);
    out << ", \"activeProfileIndex\": 0,\n\"profiles\": [";
    for (std::size_t i = 0; i < speedscope_profiles; ++i) {
        if (i != 0) out << ",\n";
        stacks.write_profile(job, i);
    }
    out << "],\n";
    write_speedscope_frames(job, book);
    out << "}\n";
    return true;
}

}  // namespace detail

// Writes to a path, a descriptor, a FILE* or a stream, like write_text(); throws report_error.
template <class Target>
void write_speedscope(const snapshot& rows, Target&& target) {
    detail::write_or_throw(detail::write_speedscope_body, rows, target);
}
// The same without exceptions: returns false, with the reason in `error`.
template <class Target>
bool write_speedscope(const snapshot& rows, Target&& target, std::string& error) {
    return detail::try_write(detail::write_speedscope_body, rows, target, error);
}

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_FORMATS_SPEEDSCOPE_FORMAT_HPP
