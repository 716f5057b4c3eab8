// callgrind_format.hpp - costs by function and call, for KCachegrind and callgrind_annotate.
//
// Room:     formats (floor 11), not malloc-safe
// Called:   by the user, and by formats/format_list.hpp
// Threads:  any
// Memory:   see formats/format_job.hpp; the tree of calls
//
//     allocscope::write_callgrind(window.stats(), "heap.callgrind");
//
// The events are LiveBytes, LiveObjects, AllocBytes and Allocs. A function's own cost is what it
// allocated itself. On each stack a function counts once, where it is entered first: so inclusive
// costs are right also where functions call each other in circles. The count of a call is the
// number of allocations behind it; the line a function begins on is not known.

#ifndef ALLOCSCOPE_FORMATS_CALLGRIND_FORMAT_HPP
#define ALLOCSCOPE_FORMATS_CALLGRIND_FORMAT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/config.hpp>
#include <allocscope/formats/format_job.hpp>
#include <allocscope/formats/frame_text.hpp>
#include <allocscope/formats/summary_lines.hpp>
#include <allocscope/grouping/call_tree.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
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

// A line of a function, and the function that is called there; none: what the line itself costs.
struct callgrind_key {
    std::uint32_t function;
    std::uint32_t line;
    std::uint32_t callee;
};
constexpr std::uint32_t callgrind_no_callee = static_cast<std::uint32_t>(-1);

inline bool operator==(const callgrind_key& a, const callgrind_key& b) noexcept {
    return a.function == b.function && a.line == b.line && a.callee == b.callee;
}
inline std::uint64_t hash_of_key(const callgrind_key& key) noexcept {
    const std::uint64_t hash =
        hash_step(hash_seed, std::uint64_t{key.function} << 32U | key.callee);
    return hash_finish(hash_step(hash, key.line));
}

class callgrind_file {
public:
    explicit callgrind_file(format_job& job)
        : job_(job),
          out_(job.out),
          tree_(job.memory, job.rows, call_direction::top_down),
          texts_(job.memory),
          functions_(job.memory),
          costs_(job.memory),
          is_text_written_(job.memory) {}

    void write() {
        sum_costs();
        write_head();
        using entry = table<callgrind_key, stack_numbers>::entry;
        list<const entry*> order{job_.memory};
        order.reserve(costs_.size());
        for (const entry& each : costs_) order.push_back(&each);
        sort(order,
             [](const entry* a, const entry* b) { return a->key.function < b->key.function; });
        std::uint32_t last = callgrind_no_callee;
        for (const entry* each : order) {
            if (each->key.function != last) {
                last = each->key.function;
                out_ << '\n';
                write_function("fl=", "fn=", last);
            }
            write_cost(each->key, each->value);
            job_.pieces.may_go();
        }
        out_ << "\ntotals: ";
        write_numbers(tree_.root().inclusive);
    }

private:
    struct function_key {
        std::uint32_t name, file;
        bool operator==(const function_key& other) const noexcept {
            return name == other.name && file == other.file;
        }
        friend std::uint64_t hash_of_key(const function_key& key) noexcept {
            return hash_finish(hash_step(hash_seed, std::uint64_t{key.name} << 32U | key.file));
        }
    };

    std::uint32_t function_of(const snapshot::frame& frame) {
        text_out name{job_.memory};
        write_frame_name(name, frame);
        text_out file{job_.memory};
        write_printable(file, is_empty(frame.file) ? "???" : frame.file);
        const auto known = functions_.insert(
            {texts_.number_of_text(name.view()), texts_.number_of_text(file.view())});
        if (known.is_new) known.value = static_cast<std::uint32_t>(functions_.size() - 1);
        return known.value;
    }

    void sum_costs() {
        list<std::uint32_t> of_frame{job_.memory};
        of_frame.reserve(tree_.frames().size());
        for (std::size_t i = 0; i < tree_.frames().size(); ++i) {
            of_frame.push_back(function_of(tree_.frames()[i]));
        }
        const auto of = [&](const call_node& node) { return of_frame[node.frame_number]; };
        const auto line = [](const call_node& node) {
            return static_cast<std::uint32_t>(node.frame->line);
        };
        for (std::size_t i = 1; i < tree_.size(); ++i) {
            const call_node& node = tree_[i];
            if (!node.own.is_nothing()) {
                costs_[{of(node), line(node), callgrind_no_callee}].add(node.own);
            }
            bool is_entered = false;
            for (std::uint32_t at = node.parent; at != 0 && !is_entered; at = tree_[at].parent) {
                is_entered = of(tree_[at]) == of(node);
            }
            if (node.parent == 0 || is_entered) continue;
            const call_node& caller = tree_[node.parent];
            costs_[{of(caller), line(caller), of(node)}].add(node.inclusive);
        }
        // Stacks without a frame.
        if (!tree_.root().own.is_nothing()) {
            const snapshot::frame unknown{"", "", 0, 0, false, 0, "", 0};
            costs_[{function_of(unknown), 0, callgrind_no_callee}].add(tree_.root().own);
        }
    }

    void write_head() {
        const snapshot::window_info& info = job_.rows.info();
        out_ << "# callgrind format\nversion: 1\ncreator: allocscope " ALLOCSCOPE_VERSION_STRING
                "\n";
        if (info.process_id != 0) out_ << "pid: " << decimal{info.process_id} << '\n';
        out_ << "cmd: ";
        write_printable(out_, is_empty(info.command) ? info.name : info.command);
        out_ << '\n';
        for_each_summary_line(job_, [this](text line) { out_ << "desc: " << line << '\n'; });
        out_ << "positions: line\n"
                "event: LiveBytes : bytes alive\n"
                "event: LiveObjects : objects alive\n"
                "event: AllocBytes : bytes allocated\n"
                "event: Allocs : allocations\n"
                "events: LiveBytes LiveObjects AllocBytes Allocs\n";
        is_text_written_.resize(2 * texts_.size());
    }

    // Each name stands in the file once. Files and functions are numbered apart.
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

    void write_cost(const callgrind_key& key, const stack_numbers& cost) {
        if (key.callee != callgrind_no_callee) {
            write_function("cfi=", "cfn=", key.callee);
            out_ << "calls=" << decimal{cost.allocations != 0 ? cost.allocations : 1} << " 0\n";
        }
        out_ << decimal{key.line} << ' ';
        write_numbers(cost);
    }

    void write_numbers(const stack_numbers& numbers) {
        out_ << decimal{numbers.bytes} << ' ' << decimal{numbers.objects} << ' '
             << decimal{numbers.bytes_allocated} << ' ' << decimal{numbers.allocations} << '\n';
    }

    format_job& job_;
    text_out& out_;
    call_tree tree_;
    text_numbers texts_;
    table<function_key, std::uint32_t> functions_;
    table<callgrind_key, stack_numbers> costs_;
    list<bool> is_text_written_;  // for each text as a function's name, and as a file's
};

inline bool write_callgrind_body(format_job& job) {
    if (!has_writable_stacks(job)) return false;
    callgrind_file{job}.write();
    return true;
}

}  // namespace detail

// To a path, a descriptor, a FILE* or a stream, as write_text() does; throws report_error.
template <class Target>
void write_callgrind(const snapshot& rows, Target&& target) {
    detail::write_or_throw(detail::write_callgrind_body, rows, target);
}
// The same without exceptions: false, and why in `error`.
template <class Target>
bool write_callgrind(const snapshot& rows, Target&& target, std::string& error) {
    return detail::try_write(detail::write_callgrind_body, rows, target, error);
}

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_FORMATS_CALLGRIND_FORMAT_HPP
