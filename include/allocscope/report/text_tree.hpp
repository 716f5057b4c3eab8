// text_tree.hpp - shows the calls that lead to allocations, as an indented tree for people to read.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by the user and by the command-line program
// Threads:  any
// Memory:   the tree and the whole text, charged to no window
//
//     std::string calls = allocscope::to_tree(snapshot);  // from main()
//     std::string callers = allocscope::to_tree(snapshot, allocscope::tree_from::allocation);
//
//        bytes   share  objects  allocated  allocations  call
//     51.1 KiB  100.0%     1100   53.4 KiB         1200  (all)
//     51.1 KiB  100.0%     1100   53.4 KiB         1200   main  quick_start.cpp:9
//     50.0 KiB   97.7%     1000   50.0 KiB         1000    std::string::_M_create  string.tcc:153
//
// Each line has the sums of all stacks that go through it. The lines are those with the largest
// values of the chosen number, and the lines that lead to them.

#ifndef ALLOCSCOPE_REPORT_TEXT_TREE_HPP
#define ALLOCSCOPE_REPORT_TEXT_TREE_HPP

#include <allocscope/base/options.hpp>
#include <allocscope/config.hpp>
#include <allocscope/grouping/call_tree.hpp>
#include <allocscope/grouping/group_by.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/link/pause_recording.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/report/number_columns.hpp>
#include <allocscope/report/text_options.hpp>
#include <allocscope/snapshot/signed_numbers.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t
#include <string>   // string

ALLOCSCOPE_NAMESPACE_BEGIN

enum class tree_from {
    main,       // what each function called
    allocation  // who called each function that allocated
};

namespace detail {

class tree_table {
public:
    tree_table(arena& memory, const shown_stacks& stacks, tree_from from, stack_value order,
               const text_options& wanted)
        : memory_(memory),
          tree_(memory, stacks,
                from == tree_from::main ? call_direction::top_down : call_direction::bottom_up,
                shown_part(order, wanted)),
          is_difference_(stacks.rows().info().is_difference),
          order_(order),
          wanted_(wanted),
          is_shown_(memory),
          columns_(memory, kind_of(stacks.rows().info()), "call") {
        choose();
        const stack_numbers& all = tree_.root().inclusive;
        columns_.set_whole(size_of_change(all.bytes, is_difference_),
                           size_of_change(all.peak_bytes, is_difference_));
        add(tree_.root(), 0);
    }

    void write(text_out& out) const { columns_.write(out, wanted_.width, order_); }

private:
    static number_kind kind_of(const snapshot::window_info& info) noexcept {
        return {info.is_difference, info.record == recording::sampled, info.has_details};
    }

    static call_tree_options shown_part(stack_value order, const text_options& wanted) noexcept {
        call_tree_options part;
        part.most_nodes = wanted.rows != 0 ? wanted.rows : 1;
        part.most_depth = wanted.frames;
        part.value = order;
        return part;
    }

    // The largest nodes, and whatever leads to them.
    void choose() {
        list<std::uint32_t> largest{memory_};
        largest.reserve(tree_.size());
        for (std::size_t i = 0; i < tree_.size(); ++i) {
            largest.push_back(static_cast<std::uint32_t>(i));
        }
        // Among equal nodes, those come first that lead to the others.
        sort(largest, [this](std::uint32_t a, std::uint32_t b) { return size_of(a) > size_of(b); });
        if (largest.size() > wanted_.rows) largest.cut(wanted_.rows);
        is_shown_.resize(tree_.size());
        is_shown_[0] = true;
        for (const std::uint32_t node : largest) is_shown_[node] = true;
        for (std::size_t i = tree_.size(); i > 1; --i) {  // children come after their parents
            if (is_shown_[i - 1]) is_shown_[tree_[i - 1].parent] = true;
        }
    }

    std::uint64_t size_of(std::size_t node) const noexcept {
        return size_of_change(tree_[node].inclusive[order_], is_difference_);
    }

    void add(const call_node& node, std::size_t depth) {
        text_out indent{memory_};
        indent.fill(depth, ' ');
        text_out name{memory_};
        write_name(name, node);
        text_out place{memory_};
        write_place(place, node);
        columns_.add(node.inclusive, {indent.view(), name.view(), place.view(), true});
        list<const call_node*> shown{memory_};
        for (const call_node& child : tree_.children_of(node)) {
            if (is_shown_[child.number]) shown.push_back(&child);
        }
        sort(shown, [this](const call_node* a, const call_node* b) {
            return size_of(a->number) > size_of(b->number);
        });
        for (const call_node* child : shown) add(*child, depth + 1);
    }

    static void write_name(text_out& out, const call_node& node) {
        if (node.frame == nullptr) {
            out << "(all)";
            return;
        }
        const snapshot::frame& frame = *node.frame;
        if (frame.function[0] != '\0') {
            write_printable(out, frame.function);
        } else {
            write_printable(out, file_name_of(frame.module).data());
            out << "+0x" << hexadecimal{frame.offset};
        }
    }

    static void write_place(text_out& out, const call_node& node) {
        if (node.frame == nullptr || node.frame->line == 0) return;
        const snapshot::frame& frame = *node.frame;
        out << "  ";
        write_printable(out, file_name_of(frame.file).data());
        out << ':' << decimal{static_cast<std::uint64_t>(frame.line)};
    }

    arena& memory_;
    const call_tree tree_;
    const bool is_difference_;
    const stack_value order_;
    const text_options& wanted_;
    list<bool> is_shown_;
    number_columns columns_;
};

inline std::string tree_of(const shown_stacks& stacks, tree_from from, stack_value order,
                           const text_options& wanted) {
    const pause_recording quietly;
    arena memory;
    text_out out{memory};
    tree_table{memory, stacks, from, order, wanted}.write(out);
    return {out.view().data(), out.size()};
}

}  // namespace detail

// Returns a text of about `wanted.rows` lines: the largest by `order`, of no more than
// `wanted.frames` calls in each other (0: of any number). Nothing is cut if no width is set.
inline std::string to_tree(const snapshot& rows, tree_from from = tree_from::main,
                           stack_value order = stack_value::live_bytes,
                           const text_options& wanted = {}) {
    return detail::tree_of(detail::shown_stacks{rows}, from, order, wanted);
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_TEXT_TREE_HPP
