// call_tree.hpp - all stacks of a snapshot as one tree, from main() or from operator new.
//
// Room:     grouping (floor 8), not malloc-safe
// Called:   by formats/massif_format.hpp and report/text_tree.hpp
// Threads:  any; the snapshot must outlive the tree
// Memory:   184 bytes for each node and 12 for each stack, in the arena that is passed in
//
//     call_tree tree{memory, rows, call_direction::top_down};
//     for (const call_node& child : tree.children_of(tree.root())) ...
//     child.inclusive.bytes;      // of all stacks that go through this call
//     child.own.bytes;            // of the stacks that end with this call
//
// In a top-down tree, the children of the root are the functions in which threads begin, and a
// stack ends with the caller of operator new. In a bottom-up tree it is the other way round.
// Children are ordered by their live bytes, then by their allocated bytes; in a difference the
// largest change comes first.
//
// The tree is made level by level: the stacks of a node are divided among its children. Nodes that
// nobody will look at get no children: those with fewer than `least_bytes`, and those whose
// children cannot be among the `most_nodes` largest nodes, because no child is larger than its
// parent. So a million stacks that share only their last caller do not become a million branches.

#ifndef ALLOCSCOPE_GROUPING_CALL_TREE_HPP
#define ALLOCSCOPE_GROUPING_CALL_TREE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/grouping/frame_book.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/snapshot/signed_numbers.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <algorithm>  // pop_heap, push_heap
#include <cstddef>    // size_t
#include <cstdint>    // int64_t, uint32_t, uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

enum class call_direction { top_down, bottom_up };

struct call_node {
    const snapshot::frame* frame;  // null: the root
    std::uint32_t number;          // of the node; a parent's is less than its children's
    std::uint32_t frame_number;    // the same in all nodes with equal frames
    std::uint32_t parent;          // the number of its parent; that of the root is its own
    std::uint32_t depth;           // 0 for the root
    std::uint32_t child_count;
    std::uint32_t first_child;  // the numbers of the children follow each other
    std::uint32_t first_stack;  // where the stacks of the node begin in the order of the tree
    std::uint32_t stack_count;
    stack_numbers inclusive;
    stack_numbers own;
    bool is_cut;  // too small or too deep for children; then `own` is not known either
};

struct call_tree_options {
    frames_differ_by identity = frames_differ_by::place;
    // A node with fewer live bytes has no children; in a difference, a node with a smaller change.
    std::uint64_t least_bytes = 0;
    // How many nodes the caller will look at, the largest by `value`; 0: all. In a difference every
    // node gets its children, because they may be larger than the node.
    std::size_t most_nodes = 0;
    // A node at this depth has no children; 0: any depth.
    std::uint32_t most_depth = 0;
    stack_value value = stack_value::live_bytes;
};

// The children of a node, in the order of the tree.
struct call_children {
    const call_node* first;
    std::size_t count;
    std::size_t size() const noexcept { return count; }
    const call_node* begin() const noexcept { return first; }
    const call_node* end() const noexcept { return first + count; }
    const call_node& operator[](std::size_t index) const noexcept { return first[index]; }
};

class call_tree {
public:
    call_tree(arena& memory, const shown_stacks& stacks, call_direction direction,
              const call_tree_options& wanted = {})
        : stacks_(stacks),
          frames_(memory, wanted.identity),
          nodes_(memory),
          order_(memory),
          divided_(memory),
          child_of_stack_(memory),
          child_of_frame_(memory),
          largest_(memory),
          is_top_down_(direction == call_direction::top_down),
          is_difference_(stacks.rows().info().is_difference),
          wanted_(wanted) {
        nodes_.push_back({});
        nodes_[0].stack_count = static_cast<std::uint32_t>(stacks.count());
        order_.resize(stacks.count());
        divided_.resize(stacks.count());
        child_of_stack_.resize(stacks.count());
        for (std::uint32_t i = 0; i < stacks.count(); ++i) {
            order_[i] = i;
            nodes_[0].inclusive.add(stacks_.numbers(i));
        }
        meet_size(0);
        for (std::uint32_t i = 0; i < nodes_.size(); ++i) grow(i);
    }

    call_tree(arena& memory, const snapshot& rows, call_direction direction,
              const call_tree_options& wanted = {})
        : call_tree(memory, shown_stacks{rows}, direction, wanted) {}

    const call_node& root() const noexcept { return nodes_[0]; }
    std::size_t size() const noexcept { return nodes_.size(); }
    const call_node& operator[](std::size_t number) const noexcept { return nodes_[number]; }

    call_children children_of(const call_node& node) const noexcept {
        return {nodes_.data() + node.first_child, node.child_count};
    }

private:
    static constexpr std::uint32_t no_child = static_cast<std::uint32_t>(-1);

    void grow(std::uint32_t number) {
        if (number != 0 && (is_deep(nodes_[number]) || is_small(nodes_[number]))) {
            nodes_[number].is_cut = true;
            return;
        }
        nodes_[number].first_child = static_cast<std::uint32_t>(nodes_.size());
        const std::uint32_t begin = nodes_[number].first_stack;
        const std::uint32_t end = begin + nodes_[number].stack_count;
        for (std::uint32_t i = begin; i < end; ++i) {
            child_of_stack_[i] = add_to_child(number, order_[i]);
        }
        const std::uint32_t first = nodes_[number].first_child;
        nodes_[number].child_count = static_cast<std::uint32_t>(nodes_.size()) - first;
        if (nodes_[number].child_count != 0) divide(number, begin, end);
        for (std::size_t i = first; i < nodes_.size(); ++i) meet_size(i);
    }

    // Too deep to have its children shown.
    bool is_deep(const call_node& node) const noexcept {
        return wanted_.most_depth != 0 && node.depth == wanted_.most_depth;
    }

    // Too small for that.
    bool is_small(const call_node& node) const noexcept {
        if (size_of(node.inclusive.bytes) < wanted_.least_bytes) return true;
        return is_choosing() && largest_.size() == wanted_.most_nodes &&
               node.inclusive[wanted_.value] <= largest_.front();
    }

    bool is_choosing() const noexcept { return wanted_.most_nodes != 0 && !is_difference_; }

    // Notes the size of a node. Of equal nodes, the first ones count as larger.
    void meet_size(std::size_t number) {
        if (!is_choosing()) return;
        const std::uint64_t size = nodes_[number].inclusive[wanted_.value];
        const auto is_larger = [](std::uint64_t a, std::uint64_t b) { return a > b; };
        if (largest_.size() == wanted_.most_nodes) {
            if (size <= largest_.front()) return;
            std::pop_heap(largest_.begin(), largest_.end(), is_larger);
            largest_.pop_back();
        }
        largest_.push_back(size);
        std::push_heap(largest_.begin(), largest_.end(), is_larger);
    }

    std::uint32_t add_to_child(std::uint32_t number, std::uint32_t stack) {
        const std::uint32_t depth = nodes_[number].depth;
        const stack_numbers numbers = stacks_.numbers(stack);
        const snapshot::frame* const frame = stacks_.frame_at(stack, depth, is_top_down_);
        if (frame == nullptr) {
            nodes_[number].own.add(numbers);
            return no_child;
        }
        const std::uint32_t child = child_with(number, *frame);
        nodes_[child].inclusive.add(numbers);
        ++nodes_[child].stack_count;
        return child;
    }

    std::uint32_t child_with(std::uint32_t parent, const snapshot::frame& frame) {
        const std::uint32_t frame_number = frames_.number_of(frame);
        if (frame_number >= child_of_frame_.size()) child_of_frame_.resize(frame_number + 1);
        std::uint32_t& known = child_of_frame_[frame_number];
        // An entry that belongs to another node has a smaller number.
        if (known < nodes_[parent].first_child) {
            known = static_cast<std::uint32_t>(nodes_.size());
            const std::uint32_t depth = nodes_[parent].depth + 1;
            nodes_.push_back(
                {&frame, known, frame_number, parent, depth, 0, 0, 0, 0, {}, {}, false});
        }
        return known;
    }

    // Puts the children in their order, and the stacks of each child side by side.
    void divide(std::uint32_t number, std::uint32_t begin, std::uint32_t end) {
        const std::uint32_t first = nodes_[number].first_child;
        const std::uint32_t count = nodes_[number].child_count;
        if (count == 1) {
            keep_stacks_of_child(first, begin, end);
            return;
        }
        const borrowed_memory meanwhile{scratch_};
        sort(
            nodes_.data() + first, count,
            [this](const call_node& a, const call_node& b) { return comes_before(a, b); },
            scratch_);
        list<std::uint32_t> next{scratch_};  // by old number: where the next stack of a child goes
        next.resize(count);
        std::uint32_t at = begin;
        for (std::uint32_t i = first; i < first + count; ++i) {
            next[nodes_[i].number - first] = nodes_[i].first_stack = at;
            at += nodes_[i].stack_count;
            nodes_[i].number = i;
        }
        for (std::uint32_t i = begin; i < end; ++i) {
            if (child_of_stack_[i] == no_child) continue;
            divided_[next[child_of_stack_[i] - first]++] = order_[i];
        }
        for (std::uint32_t i = begin; i < at; ++i) order_[i] = divided_[i];
    }

    // Keeps the stacks of the child, without those that end with its parent.
    void keep_stacks_of_child(std::uint32_t child, std::uint32_t begin, std::uint32_t end) {
        nodes_[child].first_stack = begin;
        std::uint32_t at = begin;
        for (std::uint32_t i = begin; i < end; ++i) {
            if (child_of_stack_[i] != no_child) order_[at++] = order_[i];
        }
    }

    bool comes_before(const call_node& a, const call_node& b) const noexcept {
        const std::uint64_t a_bytes = size_of(a.inclusive.bytes);
        const std::uint64_t b_bytes = size_of(b.inclusive.bytes);
        if (a_bytes != b_bytes) return a_bytes > b_bytes;
        return size_of(a.inclusive.bytes_allocated) > size_of(b.inclusive.bytes_allocated);
    }

    std::uint64_t size_of(std::uint64_t number) const noexcept {
        return size_of_change(number, is_difference_);
    }

    const shown_stacks stacks_;
    arena scratch_;
    frame_book frames_;
    list<call_node> nodes_;
    list<std::uint32_t> order_;  // the stacks; those of a node are side by side
    list<std::uint32_t> divided_;
    list<std::uint32_t> child_of_stack_;  // while a node grows: for each place in `order_`
    list<std::uint32_t> child_of_frame_;  // the child that was made last with a frame
    list<std::uint64_t> largest_;         // sizes of the largest nodes so far; first the smallest
    bool is_top_down_;
    bool is_difference_;
    call_tree_options wanted_;
};

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_GROUPING_CALL_TREE_HPP
