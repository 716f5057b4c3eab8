// snapshot_block.hpp - the memory of one snapshot: its rows in order, and what they point to.
//
// Room:     naming (floor 9), not malloc-safe
// Called:   by naming/rows_of_window.hpp and naming/snapshot_difference.hpp; by tests with rows of
//           their own
// Threads:  made by one; the last owner, on any thread, frees it
// Memory:   pages of its own; what it only points to it keeps alive
//
//     head {snapshot_data, name, losses} | rows | texts of this snapshot alone
//       |                                   |
//       +-- keeps --> the name book <-------+   texts and frames of stats()
//       +-- keeps --> two snapshots <-------+   texts and frames of a difference
//
//     snapshot_block block;                       // had before the window forgets anything
//     block.add_rows(rows, info, scratch);        // throws std::bad_alloc; then there are no rows
//     return block.finish(info);                  // needs no more memory

#ifndef ALLOCSCOPE_NAMING_SNAPSHOT_BLOCK_HPP
#define ALLOCSCOPE_NAMING_SNAPSHOT_BLOCK_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/naming/live_window.hpp>
#include <allocscope/naming/name_book.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/snapshot/estimates.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/windows/window_control.hpp>

#include <atomic>   // atomic
#include <cstddef>  // size_t
#include <cstdint>  // int64_t, uint64_t, uintptr_t
#include <cstring>  // strcmp

ALLOCSCOPE_WARM_BEGIN

namespace detail {

// Of a number that counts up in a plain snapshot and up or down in a difference.
inline std::uint64_t size_of_change(std::uint64_t value, bool is_difference) noexcept {
    const bool is_negative = is_difference && static_cast<std::int64_t>(value) < 0;
    return is_negative ? std::uint64_t{0} - value : value;
}

// Most objects first (in a difference: the largest change), then most bytes. What is still equal
// goes by its texts, so that the order does not depend on how the rows were found.
inline bool row_comes_before(const snapshot::row& a, const snapshot::row& b, bool is_difference) {
    const std::uint64_t a_objects = size_of_change(a.objects, is_difference);
    const std::uint64_t b_objects = size_of_change(b.objects, is_difference);
    if (a_objects != b_objects) return a_objects > b_objects;
    const std::uint64_t a_bytes = size_of_change(a.bytes, is_difference);
    const std::uint64_t b_bytes = size_of_change(b.bytes, is_difference);
    if (a_bytes != b_bytes) return a_bytes > b_bytes;
    if (const int order = std::strcmp(a.file, b.file)) return order < 0;
    if (a.line != b.line) return a.line < b.line;
    if (a.offset != b.offset) return a.offset < b.offset;
    if (const int order = std::strcmp(a.type, b.type)) return order < 0;
    if (const int order = std::strcmp(a.function, b.function)) return order < 0;
    if (a.objects != b.objects) return a.objects < b.objects;  // the signs differ
    return a.bytes < b.bytes;
}

}  // namespace detail

ALLOCSCOPE_WARM_END

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// Defined in naming/snapshot_difference.hpp; every block carries it as its `difference`.
ALLOCSCOPE_HIDDEN snapshot_data* difference_of(const snapshot_data& later,
                                               const snapshot_data& earlier);

// Defined in naming/stacks_of_window.hpp and naming/stacks_of_difference.hpp.
ALLOCSCOPE_HIDDEN const stack_table* stacks_of_window(const snapshot_data& of);
ALLOCSCOPE_HIDDEN const stack_table* stacks_of_difference(const snapshot_data& of);

// Of a path in the rows, the name that they show.
struct file_name {
    const char* path;
    const char* file;
};

// The stacks of a window, until somebody asks for them. All lie in the snapshot's block.
struct kept_stacks {
    const live_site* sites;  // with live objects
    named_stack** names;     // of these
    std::size_t site_count;
    const live_site* gone;
    std::size_t gone_count;
    const std::uintptr_t* frames;
    const file_name* files;
    std::size_t file_count;
    bool is_sampled;
    std::atomic<bool> is_named;  // the table is there
    stack_table table;
};

class snapshot_block {
public:
    snapshot_block() {
        is_done_with_memory([this] { head_ = memory_.make<head>(); });
    }
    ~snapshot_block() {
        if (head_ != nullptr) let_go(*head_);
    }
    snapshot_block(const snapshot_block&) = delete;
    snapshot_block& operator=(const snapshot_block&) = delete;

    bool has_memory() const noexcept { return head_ != nullptr; }

    // For texts and frames that nobody else keeps.
    arena& memory() noexcept { return memory_; }

    // What the rows point to stays as long as this snapshot. At most one book and two snapshots.
    void keep(name_book& book) noexcept {
        hold_book(book);
        head_->book = &book;
    }
    void keep(const snapshot_data& parent) noexcept {
        auto* kept = const_cast<snapshot_data*>(&parent);
        add_reference(kept);
        head_->parents[head_->parents[0] != nullptr ? 1 : 0] = kept;
    }

    // The rows, in any order; `info` says how they were recorded. Once. Throws std::bad_alloc.
    void add_rows(const list<snapshot::row>& rows, const snapshot::window_info& info,
                  arena& scratch) {
        list<const snapshot::row*> order{scratch};
        order.reserve(rows.size());
        for (const snapshot::row& row : rows) order.push_back(&row);
        const bool is_difference = info.is_difference;
        sort(order, [is_difference](const snapshot::row* a, const snapshot::row* b) {
            return row_comes_before(*a, *b, is_difference);
        });
        list<snapshot::row> placed{memory_};
        placed.reserve(rows.size());
        for (const snapshot::row* row : order) {
            snapshot::row& here = placed.push_back(*row);
            if (info.record != recording::sampled) set_exact(here);
            if (here.user_frame > here.frame_count) here.user_frame = here.frame_count;
        }
        snapshot_data& data = head_->data;
        data.rows = placed.data();
        data.row_count = placed.size();
        for (const snapshot::row& row : placed) {
            data.live_objects += row.objects;
            data.live_bytes += row.bytes;
        }
    }

    // The totals by family. Once. Throws std::bad_alloc.
    void add_families(const list<snapshot::family>& families) {
        list<snapshot::family> placed{memory_};
        placed.reserve(families.size());
        for (const snapshot::family& each : families) placed.push_back(each);
        head_->families = placed.data();
        head_->family_count = placed.size();
    }

    // The window's stacks, which lie in memory() already; `names` are those of window.sites.
    void keep_stacks(const live_window& window, const list<named_stack*>& names,
                     const list<file_name>& files) {
        kept_stacks& kept = head_->stacks;
        kept.sites = window.sites.data();
        kept.names = names.data();
        kept.site_count = window.sites.size();
        kept.gone = window.gone.data();
        kept.gone_count = window.gone.size();
        kept.frames = window.frames.data();
        kept.files = files.data();
        kept.file_count = files.size();
        kept.is_sampled = window.wanted.record == recording::sampled;
        head_->data.stacks = &stacks_of_window;
    }

    // Of a difference, after keep(later) and keep(earlier).
    void keep_stacks_of_parents() noexcept { head_->data.stacks = &stacks_of_difference; }

    // Of a finished block. Naming lock, but for the atomic.
    static kept_stacks& stacks_in(const snapshot_data& of) noexcept { return head_of(of).stacks; }
    static arena& memory_of(const snapshot_data& of) noexcept { return head_of(of).memory; }
    static const snapshot_data* parent_of(const snapshot_data& of, std::size_t which) noexcept {
        return head_of(of).parents[which];
    }
    // The names of the stacks may be in another book than those of the rows.
    static void keep_second_book(const snapshot_data& of, name_book& book) noexcept {
        hold_book(book);
        head_of(of).second_book = &book;
    }

    // The finished block, with one reference. Copies the name (the first 63 bytes) and the losses;
    // not_recording and the reasons must be constants or kept.
    snapshot_data* finish(const snapshot::window_info& info) noexcept {
        head& made = *head_;
        head_ = nullptr;
        made.data.references = 1;
        made.data.release = &release;
        made.data.difference = &difference_of;
        made.data.info = info;
        copy_name(made.name, sizeof made.name, info.name);
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

private:
    // A difference has those of both snapshots; equal reasons are one.
    static constexpr std::size_t most_losses = 2 * static_cast<std::size_t>(loss_reason::count);

    struct head {
        snapshot_data data;  // first: a pointer to it is a pointer to the block
        arena memory;        // where this head lies
        name_book* book;
        name_book* second_book;
        snapshot_data* parents[2];
        const snapshot::family* families;
        std::size_t family_count;
        kept_stacks stacks;
        snapshot::loss losses[most_losses];
        char name[sizeof(open_window::name)];
    };

    static head& head_of(const snapshot_data& of) noexcept {
        return *reinterpret_cast<head*>(const_cast<snapshot_data*>(&of));
    }

    static void let_go(head& of) noexcept {
        if (of.book != nullptr) drop_book(*of.book);
        if (of.second_book != nullptr) drop_book(*of.second_book);
        for (snapshot_data* parent : of.parents) drop_reference(parent);
    }

    static void release(snapshot_data* data) {
        head& block = head_of(*data);
        let_go(block);
        arena last;
        last.take(block.memory);  // the block goes with it
    }

    arena memory_;
    head* head_ = nullptr;
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_SNAPSHOT_BLOCK_HPP
