// snapshot_block.hpp - the memory of one snapshot: its rows in order, and the data they point to.
//
// Room:     snapshot (floor 7), not malloc-safe
// Called:   by everything that makes a snapshot: in naming/, saved/, grouping/, report/ and
//           snapshot/, and by tests that make their own rows
// Threads:  one thread makes it; the last owner, on any thread, frees it
// Memory:   its own pages; everything else that it points to is kept alive by references
//
//     head {snapshot_data, name, losses} | rows | texts of this snapshot alone
//       |                                   |
//       +-- keeps --> the name book <-------+   texts and frames of stats()
//       +-- keeps --> two snapshots <-------+   texts and frames of a difference
//
//     snapshot_block block;                       // allocated before the window forgets anything
//     block.add_rows(rows, info, scratch);        // throws std::bad_alloc; then there are no rows
//     return block.finish(info);                  // needs no more memory

#ifndef ALLOCSCOPE_SNAPSHOT_SNAPSHOT_BLOCK_HPP
#define ALLOCSCOPE_SNAPSHOT_SNAPSHOT_BLOCK_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/cut_text.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/snapshot/estimates.hpp>
#include <allocscope/snapshot/signed_numbers.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t
#include <cstring>  // strcmp

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// Rows of one file share one text.
ALLOCSCOPE_INLINE int order_of_texts(const char* a, const char* b) noexcept {
    return a == b ? 0 : std::strcmp(a, b);
}

// Most objects first (in a difference: the largest change), then most bytes. Rows that are still
// equal are ordered by their texts, so that the order does not depend on how the rows were found.
inline bool row_comes_before(const snapshot::row& a, const snapshot::row& b, bool is_difference) {
    if (a.objects != b.objects) {
        const std::uint64_t a_objects = size_of_change(a.objects, is_difference);
        const std::uint64_t b_objects = size_of_change(b.objects, is_difference);
        if (a_objects != b_objects) return a_objects > b_objects;
    }
    if (a.bytes != b.bytes) {
        const std::uint64_t a_bytes = size_of_change(a.bytes, is_difference);
        const std::uint64_t b_bytes = size_of_change(b.bytes, is_difference);
        if (a_bytes != b_bytes) return a_bytes > b_bytes;
    }
    if (const int order = order_of_texts(a.file, b.file)) return order < 0;
    if (a.line != b.line) return a.line < b.line;
    if (a.offset != b.offset) return a.offset < b.offset;
    if (const int order = order_of_texts(a.type, b.type)) return order < 0;
    if (const int order = order_of_texts(a.function, b.function)) return order < 0;
    if (a.objects != b.objects) return a.objects < b.objects;  // the signs differ
    return a.bytes < b.bytes;
}

// What nearly always decides the order of rows, so that most comparisons need not read the rows.
struct placed_row {
    std::uint64_t objects;
    std::uint64_t bytes;
    const char* file;
    int line;
    std::uint32_t number;  // of the row
};

struct placed_rows_order {
    const snapshot::row* rows;
    bool is_difference;

    bool operator()(const placed_row& a, const placed_row& b) const {
        if (!is_difference && a.objects != b.objects) return a.objects > b.objects;
        if (!is_difference && a.bytes != b.bytes) return a.bytes > b.bytes;
        const bool is_same_size = a.objects == b.objects && a.bytes == b.bytes;
        if (is_same_size && a.file == b.file && a.line != b.line) return a.line < b.line;
        return row_comes_before(rows[a.number], rows[b.number], is_difference);
    }
};

// Sorts the rows where they are, because a hundred thousand of them take 14 MiB. They are moved
// ring by ring; the first row of a ring is saved to make room.
inline void put_in_order(list<snapshot::row>& rows, bool is_difference, arena& scratch) {
    list<placed_row> order{scratch};
    order.reserve(rows.size());
    for (const snapshot::row& row : rows) {
        order.push_back(
            {row.objects, row.bytes, row.file, row.line, static_cast<std::uint32_t>(order.size())});
    }
    sort(order, placed_rows_order{rows.data(), is_difference});
    for (std::uint32_t first = 0; first < order.size(); ++first) {
        if (order[first].number == first) continue;  // it is there
        const snapshot::row saved = rows[first];
        std::uint32_t place = first;
        while (order[place].number != first) {
            const std::uint32_t from = order[place].number;
            rows[place] = rows[from];
            order[place].number = place;
            place = from;
        }
        rows[place] = saved;
        order[place].number = place;
    }
}

}  // namespace detail

ALLOCSCOPE_COOL_END

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// Defined in snapshot/snapshot_difference.hpp; every block carries it as its `difference`.
ALLOCSCOPE_HIDDEN snapshot_data* difference_of(const snapshot_data& later,
                                               const snapshot_data& earlier);

// Something that must live as long as its keeper, which at its own end calls `let_go(what)`.
struct kept_thing {
    void* what;
    void (*let_go)(void* what);
};

// Stacks that were found after the block was finished, with their memory.
struct later_stacks {
    stack_table table;  // first: a pointer to it is a pointer to this
    kept_thing kept;    // what their frames point into
    arena memory;       // where all this lies
};

class snapshot_block {
public:
    // Finds the stacks of a block. `source` is the argument of set_stacks(). Throws std::bad_alloc.
    using stack_finder = void (*)(const snapshot_data& of, const void* source, later_stacks& made);

    snapshot_block() {
        is_done_with_memory([this] { head_ = memory_.make<head>(); });
    }
    ~snapshot_block() {
        if (head_ != nullptr) let_go(*head_);
    }
    snapshot_block(const snapshot_block&) = delete;
    snapshot_block& operator=(const snapshot_block&) = delete;

    ALLOCSCOPE_INLINE bool has_memory() const noexcept { return head_ != nullptr; }

    // For texts and frames that belong to this snapshot alone.
    ALLOCSCOPE_INLINE arena& memory() noexcept { return memory_; }

    // Keeps what the rows point to as long as this snapshot: one thing, and up to two snapshots.
    ALLOCSCOPE_INLINE void keep(const kept_thing& thing) noexcept { head_->kept = thing; }
    void keep(const snapshot_data& parent) noexcept {
        auto* kept = const_cast<snapshot_data*>(&parent);
        add_reference(kept);
        head_->parents[head_->parents[0] != nullptr ? 1 : 0] = kept;
    }

    // Adds the rows, in any order; `info` says how they were recorded. Call it once. Throws
    // std::bad_alloc.
    void add_rows(const list<snapshot::row>& rows, const snapshot::window_info& info,
                  arena& scratch) {
        list<snapshot::row> placed{memory_};
        placed.append(rows);
        sort_rows(placed, info, scratch);
    }

    // The same for rows that lie in memory().
    void sort_rows(list<snapshot::row>& rows, const snapshot::window_info& info, arena& scratch) {
        put_in_order(rows, info.is_difference, scratch);
        set_rows(rows, info);
    }

    // The same for rows that lie in memory() and are already in order.
    void set_rows(const list<snapshot::row>& rows, const snapshot::window_info& info) noexcept {
        snapshot_data& data = head_->data;
        for (snapshot::row& row : rows) {
            if (info.record != recording::sampled) set_exact(row);
            if (row.user_frame > row.frame_count) row.user_frame = row.frame_count;
            data.live_objects += row.objects;
            data.live_bytes += row.bytes;
        }
        data.rows = rows.data();
        data.row_count = rows.size();
    }

    // Sets the sums of a snapshot that has only some rows of its window.
    void set_live(std::uint64_t objects, std::uint64_t bytes) noexcept {
        head_->data.live_objects = objects;
        head_->data.live_bytes = bytes;
    }

    // Adds the totals by family. Call it once. Throws std::bad_alloc.
    void add_families(const list<snapshot::family>& families) {
        list<snapshot::family> placed{memory_};
        placed.append(families);
        head_->families = placed.data();
        head_->family_count = placed.size();
    }

    // Sets how the stacks are found at the first call of stacks(). `source` lies in memory().
    void set_stacks(stack_finder find, const void* source) noexcept {
        head_->find_stacks = find;
        head_->source = source;
        head_->data.stacks = &stacks_in;
    }
    // Sets the stacks themselves; the table and what it points to lie in memory().
    void set_stacks(const stack_table& table) noexcept {
        head_->stacks.store(&table, memory_order::relaxed);
        head_->data.stacks = &stacks_in;
    }

    // Returns the finished block, with one reference. Copies the name (the first 63 bytes) and the
    // losses. not_recording and the reasons of losses must be constants, or be kept.
    snapshot_data* finish(const snapshot::window_info& info) noexcept {
        head& made = *head_;
        head_ = nullptr;
        made.data.references = 1;
        made.data.release = &release;
        made.data.difference = &difference_of;
        made.data.info = info;
        copy_cut(made.name, name_bytes, info.name);
        made.data.info.name = made.name;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < info.loss_count; ++i) {
            if (info.losses[i].count == 0 || kept == most_losses) continue;
            made.losses[kept++] = info.losses[i];
        }
        made.data.info.losses = made.losses;
        made.data.info.loss_count = kept;
        made.data.info.families = made.families;
        made.data.info.family_count = made.family_count;
        if (info.record != recording::sampled) {
            made.data.info.estimates = exact_estimates(info.totals);
        }
        made.memory.take(memory_);
        return &made.data;
    }

    // For a finished block: the snapshots that keep() was given. 0 is the later one, 1 the earlier
    // one.
    static ALLOCSCOPE_INLINE const snapshot_data* parent_of(const snapshot_data& of,
                                                            std::size_t which) noexcept {
        return head_of(of).parents[which];
    }

    // A difference has the losses of both snapshots; equal reasons are listed once.
    static constexpr std::size_t most_losses = 32;
    static constexpr std::size_t name_bytes = 64;

private:
    struct head {
        snapshot_data data;  // first: a pointer to it is a pointer to the block
        arena memory;        // where this head lies
        kept_thing kept;
        snapshot_data* parents[2];
        const snapshot::family* families;
        std::size_t family_count;
        stack_finder find_stacks;  // null: the stacks lie in the block
        const void* source;
        atomic<const stack_table*> stacks;
        snapshot::loss losses[most_losses];
        char name[name_bytes];
    };

    ALLOCSCOPE_INLINE static head& head_of(const snapshot_data& of) noexcept {
        return *reinterpret_cast<head*>(const_cast<snapshot_data*>(&of));
    }

    // Two threads may find the stacks at the same time; the slower one's result is dropped.
    static const stack_table* stacks_in(const snapshot_data& of) {
        head& block = head_of(of);
        const stack_table* known = block.stacks.load(memory_order::acquire);
        if (known != nullptr) return known;
        later_stacks* made = nullptr;
        const bool is_made = is_done_with_memory([&] {
            arena memory;
            made = memory.make<later_stacks>();
            made->memory.take(memory);
            block.find_stacks(of, block.source, *made);
        });
        if (is_made &&
            block.stacks.compare_exchange_strong(known, &made->table, memory_order::acq_rel)) {
            return &made->table;
        }
        if (made != nullptr) let_go(*made);
        return known;
    }

    static void let_go(later_stacks& stacks) noexcept {
        if (stacks.kept.let_go != nullptr) stacks.kept.let_go(stacks.kept.what);
        arena last;
        last.take(stacks.memory);
    }

    static void let_go(head& of) noexcept {
        const stack_table* stacks = of.stacks.load(memory_order::acquire);
        if (of.find_stacks != nullptr && stacks != nullptr) {
            let_go(*reinterpret_cast<later_stacks*>(const_cast<stack_table*>(stacks)));
        }
        if (of.kept.let_go != nullptr) of.kept.let_go(of.kept.what);
        for (snapshot_data* parent : of.parents) drop_reference(parent);
    }

    static void release(snapshot_data* data) {
        head& block = head_of(*data);
        let_go(block);
        arena last;
        last.take(block.memory);  // this frees the block
    }

    arena memory_;
    head* head_ = nullptr;
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SNAPSHOT_SNAPSHOT_BLOCK_HPP
