// call_tree.hpp - all stacks of a snapshot as one tree: from main() in, or from operator new out.
//
// Room:     grouping (floor 9), not malloc-safe
// Called:   by formats/massif_format.hpp, callgrind_format.hpp and dhat_format.hpp
// Threads:  any; the snapshot must outlive the tree
// Memory:   96 bytes for each node, in the arena that is given, and a table of them
//
//     call_tree tree{memory, rows, call_direction::top_down};
//     for (const call_node* child : tree.children_of(tree.root())) ...
//     child->inclusive.bytes;      // of every stack that goes through here
//     child->own.bytes;            // of the stacks that end here
//
// Top-down the root's children are where threads begin, and a stack ends at who called operator
// new. Bottom-up it is the other way round. Children are in the order of their live bytes, then of
// their allocated ones; in a difference the largest change comes first.

#ifndef ALLOCSCOPE_GROUPING_CALL_TREE_HPP
#define ALLOCSCOPE_GROUPING_CALL_TREE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/config.hpp>
#include <allocscope/grouping/frame_book.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int64_t, uint32_t, uint64_t

ALLOCSCOPE_WARM_BEGIN

namespace detail {

enum class call_direction { top_down, bottom_up };

struct call_node {
    const snapshot::frame* frame;  // null: the root
    std::uint32_t number;          // of the node; a parent's is less than its children's
    std::uint32_t frame_number;    // equal in all nodes of equal frames
    std::uint32_t parent;          // its number; the root's is its own
    std::uint32_t child_count;
    std::uint32_t first_child;  // in the tree's order of children
    stack_numbers inclusive;
    stack_numbers own;
};

// The children of a node, in the order of the tree.
struct call_children {
    const call_node* const* first;
    std::size_t count;
    std::size_t size() const noexcept { return count; }
    const call_node* const* begin() const noexcept { return first; }
    const call_node* const* end() const noexcept { return first + count; }
    const call_node* operator[](std::size_t index) const noexcept { return first[index]; }
};

struct call_edge_key {
    std::uint32_t parent;
    std::uint32_t frame_number;
};

inline bool operator==(call_edge_key a, call_edge_key b) noexcept {
    return a.parent == b.parent && a.frame_number == b.frame_number;
}
inline std::uint64_t hash_of_key(call_edge_key key) noexcept {
    return hash_finish(hash_step(hash_seed, std::uint64_t{key.parent} << 32U | key.frame_number));
}

class call_tree {
public:
    call_tree(arena& memory, const snapshot& rows, call_direction direction,
              frames_differ_by identity = frames_differ_by::place)
        : frames_(memory, identity),
          nodes_(memory),
          edges_(memory),
          order_(memory),
          is_difference_(rows.info().is_difference) {
        nodes_.push_back({nullptr, 0, 0, 0, 0, 0, {}, {}});
        for (const snapshot::stack& stack : rows.stacks()) {
            add(stack, direction == call_direction::top_down);
        }
        sort_children();
    }

    const call_node& root() const noexcept { return nodes_[0]; }
    std::size_t size() const noexcept { return nodes_.size(); }
    const call_node& operator[](std::size_t number) const noexcept { return nodes_[number]; }
    // The different frames of the tree, by their numbers.
    const frame_book& frames() const noexcept { return frames_; }

    call_children children_of(const call_node& node) const noexcept {
        return {order_.data() + node.first_child, node.child_count};
    }

private:
    void add(const snapshot::stack& stack, bool is_top_down) {
        const stack_numbers numbers = numbers_of(stack);
        std::uint32_t at = 0;
        nodes_[0].inclusive.add(numbers);
        for (std::size_t i = 0; i < stack.frame_count; ++i) {
            const std::size_t index = is_top_down ? stack.frame_count - 1 - i : i;
            at = child(at, stack.frames[index]);
            nodes_[at].inclusive.add(numbers);
        }
        nodes_[at].own.add(numbers);
    }

    std::uint32_t child(std::uint32_t parent, const snapshot::frame& frame) {
        const std::uint32_t frame_number = frames_.number_of(frame);
        const auto edge = edges_.insert({parent, frame_number});
        if (edge.is_new) {
            edge.value = static_cast<std::uint32_t>(nodes_.size());
            nodes_.push_back({&frame, edge.value, frame_number, parent, 0, 0, {}, {}});
        }
        return edge.value;
    }

    std::uint64_t size_of(std::uint64_t number) const noexcept {
        const bool is_negative = is_difference_ && static_cast<std::int64_t>(number) < 0;
        return is_negative ? 0 - number : number;
    }

    void sort_children() {
        order_.reserve(nodes_.size());
        for (const call_node& node : nodes_) {
            if (node.number != 0) order_.push_back(&node);
        }
        sort(order_, [this](const call_node* a, const call_node* b) {
            if (a->parent != b->parent) return a->parent < b->parent;
            const std::uint64_t a_bytes = size_of(a->inclusive.bytes);
            const std::uint64_t b_bytes = size_of(b->inclusive.bytes);
            if (a_bytes != b_bytes) return a_bytes > b_bytes;
            return size_of(a->inclusive.bytes_allocated) > size_of(b->inclusive.bytes_allocated);
        });
        for (std::uint32_t i = 0; i < order_.size(); ++i) {
            call_node& parent = nodes_[order_[i]->parent];
            if (parent.child_count++ == 0) parent.first_child = i;
        }
    }

    frame_book frames_;
    list<call_node> nodes_;
    table<call_edge_key, std::uint32_t> edges_;
    list<const call_node*> order_;  // siblings side by side
    bool is_difference_;
};

}  // namespace detail

ALLOCSCOPE_WARM_END

#endif  // ALLOCSCOPE_GROUPING_CALL_TREE_HPP
