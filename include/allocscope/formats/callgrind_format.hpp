// callgrind_format.hpp - costs by function and call, for KCachegrind and callgrind_annotate.
//
// Room:     formats (floor 12), not malloc-safe
// Called:   by the user, and by formats/format_list.hpp
// Threads:  any
// Memory:   see formats/format_job.hpp; 80 bytes for each call from one line to a function
//
//     allocscope::write_callgrind(window.stats(), "heap.callgrind");
//
// The events are LiveBytes, LiveObjects, AllocBytes and Allocs. A function's own cost is what it
// allocated itself. In each stack a function counts once, where it is entered first, so inclusive
// costs are right even if functions call each other in circles. The count of a call is the number
// of allocations that it led to. The first line of a function is unknown and written as 0.
// Functions, lines and calls stand in the order in which they first occur in the stacks.

#ifndef ALLOCSCOPE_FORMATS_CALLGRIND_FORMAT_HPP
#define ALLOCSCOPE_FORMATS_CALLGRIND_FORMAT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/formats/format_job.hpp>
#include <allocscope/formats/frame_text.hpp>
#include <allocscope/formats/summary_lines.hpp>
#include <allocscope/grouping/frame_book.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/number_run.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_numbers.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/version.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t
#include <string>   // string

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// A line of a function, and the function that is called there. If there is no callee, the cost is
// that of the line itself.
struct callgrind_key {
    std::uint32_t function;
    std::uint32_t line;
    std::uint32_t callee;
};
constexpr std::uint32_t callgrind_no_callee = static_cast<std::uint32_t>(-1);

class callgrind_file {
public:
    explicit callgrind_file(format_job& job)
        : job_(job),
          out_(job.out),
          frames_(job.memory, frames_differ_by::place),
          texts_(job.memory),
          functions_(job.memory),
          function_of_frame_(job.memory),
          last_stack_of_(job.memory),
          costs_(job.memory),
          is_text_written_(job.memory) {}

    void write() {
        sum_costs();
        write_head();
        std::uint32_t last = callgrind_no_callee;
        for (const std::uint32_t number : costs_by_function()) {
            const auto& each = costs_.begin()[number];
            if (each.key.function != last) {
                last = each.key.function;
                out_ << '\n';
                write_function("fl=", "fn=", last);
            }
            write_cost(each.key, each.value);
            job_.pieces.may_go();
        }
        out_ << "\ntotals: ";
        write_numbers(totals_);
    }

private:
    // The members are in the order of the file.
    struct cost {
        std::uint64_t bytes, objects, bytes_allocated, allocations;
        void add(const cost& more) noexcept {
            bytes += more.bytes;
            objects += more.objects;
            bytes_allocated += more.bytes_allocated;
            allocations += more.allocations;
        }
        bool is_nothing() const noexcept {
            return (bytes | objects | bytes_allocated | allocations) == 0;
        }
    };
    struct function_key {
        std::uint32_t name, file;
    };

    std::uint32_t made_function(const snapshot::frame& frame) {
        text_out name{job_.memory};
        write_frame_name(name, frame);
        text_out file{job_.memory};
        write_printable(file, is_empty(frame.file) ? "???" : frame.file);
        const auto known = functions_.insert(
            {{texts_.number_of_text(name.view()), texts_.number_of_text(file.view())}});
        if (known.is_new) {
            known.value = static_cast<std::uint32_t>(functions_.size() - 1);
            last_stack_of_.push_back(0);
        }
        return known.value;
    }

    std::uint32_t function_of(const numbered_frames& frames, std::size_t at) {
        const std::uint32_t number = frames_.number_of(frames, at);
        if (number == function_of_frame_.size()) {
            function_of_frame_.push_back(made_function(frames[at]));
        }
        return function_of_frame_[number];
    }

    void sum_costs() {
        for_each_stack_by_numbers(
            job_, [this](const snapshot::stack& stack, const numbered_frames& frames) {
                add(stack, frames);
            });
    }

    // Walks the stack from main() inwards. A call that enters a function again is not counted.
    void add(const snapshot::stack& stack, const numbered_frames& frames) {
        ++stack_number_;
        const cost numbers{stack.bytes, stack.objects, stack.bytes_allocated, stack.allocations};
        totals_.add(numbers);
        std::uint32_t caller = callgrind_no_callee;
        std::uint32_t line = 0;
        for (std::size_t i = frames.count; i > 0; --i) {
            const std::uint32_t function = function_of(frames, i - 1);
            std::uint64_t& last_stack = last_stack_of_[function];
            if (caller != callgrind_no_callee && last_stack != stack_number_) {
                costs_[{{caller, line, function}}].add(numbers);
            }
            last_stack = stack_number_;
            caller = function;
            line = static_cast<std::uint32_t>(frames[i - 1].line);
        }
        if (numbers.is_nothing()) return;
        if (caller == callgrind_no_callee) {
            const snapshot::frame unknown{"", "", 0, 0, false, 0, "", 0};
            caller = function_of({&unknown, nullptr, 1, 0}, 0);
        }
        costs_[{{caller, line, callgrind_no_callee}}].add(numbers);
    }

    // The numbers of the costs, sorted by function.
    list<std::uint32_t> costs_by_function() {
        list<std::uint32_t> next{job_.memory};
        next.resize(functions_.size() + 1);
        for (const auto& each : costs_) ++next[each.key.function + 1];
        for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
        list<std::uint32_t> order{job_.memory};
        order.resize(costs_.size());
        std::uint32_t number = 0;
        for (const auto& each : costs_) order[next[each.key.function]++] = number++;
        return order;
    }

    void write_head() {
        const snapshot::window_info& info = job_.rows.info();
        out_ << "# callgrind format\nversion: 1\ncreator: allocscope " ALLOCSCOPE_VERSION_STRING
                "\n";
        if (info.process_id != 0) out_ << "pid: " << decimal{info.process_id} << '\n';
        out_ << "cmd: ";
        write_printable(out_, is_empty(info.command) ? info.name : info.command);
        out_ << '\n';
        for_each_summary_line(job_, [this](const text& line) { out_ << "desc: " << line << '\n'; });
        out_ << "positions: line\n"
                "event: LiveBytes : bytes alive\n"
                "event: LiveObjects : objects alive\n"
                "event: AllocBytes : bytes allocated\n"
                "event: Allocs : allocations\n"
                "events: LiveBytes LiveObjects AllocBytes Allocs\n";
        is_text_written_.resize(2 * texts_.size());
    }

    // Each name is written once. Files and functions are numbered separately.
    void write_name(std::uint32_t number, bool is_file) {
        out_ << '(' << decimal{std::uint64_t{number} + 1} << ')';
        bool& is_written = is_text_written_[2 * std::size_t{number} + (is_file ? 1 : 0)];
        if (!is_written) out_ << ' ' << texts_[number];
        is_written = true;
        out_ << '\n';
    }

    void write_function(const char* file_key, const char* name_key, std::uint32_t number) {
        const function_key& wanted = functions_.begin()[number].key;
        out_ << file_key;
        write_name(wanted.file, true);
        out_ << name_key;
        write_name(wanted.name, false);
    }

    void write_cost(const callgrind_key& key, const cost& own) {
        if (key.callee != callgrind_no_callee) {
            write_function("cfi=", "cfn=", key.callee);
            out_ << "calls=" << decimal{own.allocations != 0 ? own.allocations : 1} << " 0\n";
        }
        out_ << decimal{key.line} << ' ';
        write_numbers(own);
    }

    void write_numbers(const cost& numbers) {
        char line[4 * (longest_decimal + 1)];
        char* end = put_decimal(line, numbers.bytes);
        *end++ = ' ';
        end = put_decimal(end, numbers.objects);
        *end++ = ' ';
        end = put_decimal(end, numbers.bytes_allocated);
        *end++ = ' ';
        end = put_decimal(end, numbers.allocations);
        *end++ = '\n';
        out_ << text{line, static_cast<std::size_t>(end - line)};
    }

    format_job& job_;
    text_out& out_;
    frame_book frames_;
    text_numbers texts_;
    table<by_bytes<function_key>, std::uint32_t> functions_;
    list<std::uint32_t> function_of_frame_;
    list<std::uint64_t> last_stack_of_;  // for each function: the last stack that had it, from 1
    std::uint64_t stack_number_ = 0;
    table<by_bytes<callgrind_key>, cost> costs_;
    cost totals_{};
    list<bool> is_text_written_;  // for each text as a function's name, and as a file's
};

inline bool write_callgrind_body(format_job& job) {
    if (!has_writable_stacks(job)) return false;
    callgrind_file{job}.write();
    return true;
}

}  // namespace detail

// Writes to a path, a descriptor, a FILE* or a stream, like write_text(); throws report_error.
template <class Target>
void write_callgrind(const snapshot& rows, Target&& target) {
    detail::write_or_throw(detail::write_callgrind_body, rows, target);
}
// The same without exceptions: returns false, with the reason in `error`.
template <class Target>
bool write_callgrind(const snapshot& rows, Target&& target, std::string& error) {
    return detail::try_write(detail::write_callgrind_body, rows, target, error);
}

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_FORMATS_CALLGRIND_FORMAT_HPP
