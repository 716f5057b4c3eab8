// merged_stacks.hpp - the stacks and rows of several snapshots; equal ones are summed.
//
// Room:     grouping (floor 8), not malloc-safe
// Called:   by report/merge_snapshots.hpp
// Threads:  one at a time; the snapshots must outlive the result
// Memory:   of the arena that is passed in
//
//     merged_stacks sums{memory, scratch, parts, count};
//     block.add_rows(sums.rows(), info, scratch);
//     block.set_stacks(sums.table());
//
// Two stacks are equal if all their frames and types are equal as texts: see
// snapshot/stacks_of_difference.hpp. Two rows are equal if path, line (or offset) and type are
// equal. A file is named by its path without the directory that all parts have cut off.

#ifndef ALLOCSCOPE_GROUPING_MERGED_STACKS_HPP
#define ALLOCSCOPE_GROUPING_MERGED_STACKS_HPP

#include <allocscope/config.hpp>
#include <allocscope/grouping/filter_stacks.hpp>
#include <allocscope/grouping/merged_modules.hpp>
#include <allocscope/grouping/place_numbers.hpp>
#include <allocscope/grouping/same_threads.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/grouping/thread_parts.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/snapshot/estimates.hpp>
#include <allocscope/snapshot/signed_numbers.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/snapshot/snapshot_difference.hpp>
#include <allocscope/snapshot/stack_order.hpp>
#include <allocscope/snapshot/stacks_of_difference.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The names of files in a snapshot that merges others.
class merged_names {
public:
    explicit merged_names(arena& memory) : memory_(memory), names_(memory), owners_(memory) {}

    // Call it for all parts first.
    void see(const snapshot& part) {
        cut_directory cuts[2];
        for (const snapshot::row& row : part) see(row.file, path_of(row), cuts);
        for (const snapshot::stack& stack : part.stacks()) see(stack.file, path_of(stack), cuts);
        for (std::size_t i = 0; i < 2; ++i) {
            if (cuts[i].is_known) meet(cuts_[i], cuts[i].directory, are_alike_[i]);
        }
    }

    // The name of the file of a row or a stack.
    template <class Row>
    const char* file_of(const Row& row) {
        const text path = path_of(row);
        if (path.empty()) return row.file;
        const auto known = names_.insert(path);
        if (known.is_new) known.value = named(path, row.file);
        return known.value;
    }

private:
    // Absolute and relative paths have no common directory.
    static std::size_t kind_of(text path) noexcept { return path[0] == '/' ? 0 : 1; }

    template <class Row>
    static text path_of(const Row& row) noexcept {
        if (row.line == 0 || row.user_frame >= row.frame_count) return {};
        return row.frames[row.user_frame].file;
    }

    static void see(text file, text path, cut_directory* cuts) noexcept {
        if (path.empty() || !path.ends_with(file)) return;
        cuts[kind_of(path)].meet(path.substr(0, path.size() - file.size()));
    }

    static void meet(cut_directory& all, text directory, bool& are_alike) noexcept {
        if (all.is_known && all.directory != directory) are_alike = false;
        all.meet(directory);
    }

    // Two files never get the same name.
    const char* named(text path, const char* file) {
        const cut_directory& cut = cuts_[kind_of(path)];
        text name = file;
        if (!are_alike_[kind_of(path)] && path.ends_with(name)) {
            // If only the root is common, whole paths say more.
            name = path.substr(cut.directory == "/" ? 0 : cut.directory.size());
        }
        const auto owner = owners_.insert(name);
        if (owner.is_new) owner.value = path;
        if (owner.value != path) name = path;
        return name == text{file} ? file : copy_of(memory_, name).data();
    }

    arena& memory_;
    cut_directory cuts_[2];
    bool are_alike_[2] = {true, true};
    table<text, const char*> names_;  // of each path
    table<text, text> owners_;        // the path of each name
};

class merged_stacks {
public:
    // What the result points to lies in `memory` and in the parts. Throws std::bad_alloc.
    merged_stacks(arena& memory, arena& scratch, const snapshot* parts, std::size_t count,
                  bool is_difference)
        : memory_(memory),
          scratch_(scratch),
          is_difference_(is_difference),
          names_(memory),
          modules_(memory),
          threads_(memory, scratch),
          first_threads_(scratch),
          numbers_(scratch),
          stacks_(memory),
          rows_(scratch),
          places_(scratch),
          row_sums_(scratch) {
        for (std::size_t i = 0; i < count; ++i) {
            names_.see(parts[i]);
            modules_.add(parts[i].modules());
            add_threads(parts[i]);
        }
        add_stacks(parts, count);
        for (std::size_t i = 0; i < count; ++i) {
            for (const snapshot::row& row : parts[i]) add(row);
        }
        finish_rows();
    }

    const list<snapshot::row>& rows() const noexcept { return rows_; }
    stack_table table_of_stacks() const noexcept {
        return {stacks_.data(),
                stacks_.size(),
                modules_.modules().data(),
                modules_.modules().size(),
                threads_.all().data(),
                threads_.all().size()};
    }

private:
    // A thread that several parts have is added once.
    void add_threads(const snapshot& part) {
        first_threads_.push_back(numbers_.size());
        for (const snapshot::thread& each : part.allocating_threads()) {
            numbers_.push_back(threads_.number_of(each));
        }
    }

    void add_stacks(const snapshot* parts, std::size_t count) {
        struct merged_stack : changed_stack {
            std::size_t number;
            bool has_unknown_threads;
            bool lacks_details;
            snapshot::stack_details* details;
        };
        table<stack_names, merged_stack> merged{scratch_};
        parts_of_stacks threads{memory_, scratch_};
        for (std::size_t i = 0; i < count; ++i) {
            for (const snapshot::stack& stack : parts[i].stacks()) {
                const auto at = merged.insert({&stack});
                if (at.is_new) {
                    at.value.number = merged.size() - 1;
                    at.value.sum = without_numbers(stack);
                    at.value.sum.file = names_.file_of(stack);
                    at.value.sum.frames = modules_.frames_of(stack.frames, stack.frame_count);
                }
                at.value.add(stack, true);
                if (stack.thread_count == 0) at.value.has_unknown_threads = true;
                if (stack.details == nullptr) at.value.lacks_details = true;
                if (!at.value.lacks_details) {
                    if (at.is_new) at.value.details = memory_.make<snapshot::stack_details>();
                    add_details(*at.value.details, *stack.details);
                }
                for_each_part(stack, [&](snapshot::thread_part part) {
                    part.thread = numbers_[first_threads_[i] + part.thread];
                    threads.add(at.value.number, part);
                });
            }
        }
        stacks_.reserve(merged.size());
        for (auto& each : merged) {
            if (!each.value.lacks_details) each.value.sum.details = each.value.details;
            stacks_.push_back(each.value.finished());
        }
        threads.for_each([&](std::size_t number, const list<snapshot::thread_part>& of_stack) {
            if (merged.begin()[number].value.has_unknown_threads) return;
            set_threads(stacks_[number], of_stack, memory_);
        });
        sort_stacks(stacks_, scratch_, is_difference_);
    }

    void add(const snapshot::row& row) {
        snapshot::row named = row;
        named.file = names_.file_of(row);
        const auto at = places_.meet(named);
        if (at.is_new) row_sums_.push_back({});
        row_of_stacks& known = row_sums_[at.number];
        const std::uint64_t objects = size_of_change(row.objects, is_difference_);
        snapshot::row& sum = known.sum;
        if (at.is_new || objects > known.stack_objects) {
            const snapshot::row before = sum;
            known.stack_objects = objects;
            sum = place_of_row(row, named.file);
            sum.frames = modules_.frames_of(row.frames, row.frame_count);
            sum.objects = before.objects;
            sum.bytes = before.bytes;
            sum.samples = before.samples;
            sum.sites = before.sites;
        }
        known.add(row, true);
        sum.sites += row.sites;
    }

    // A stack that several parts have is one stack. So the stacks of a row are counted, not added
    // up.
    void finish_rows() {
        if (stacks_.size() != 0) {
            for (row_of_stacks& each : row_sums_) each.sum.sites = 0;
        }
        for (const snapshot::stack& stack : stacks_) {
            if (stack.objects == 0 && stack.bytes == 0) continue;
            const std::size_t place = places_.meet(stack).number;
            if (place < row_sums_.size()) ++row_sums_[place].sum.sites;
        }
        for (row_of_stacks& each : row_sums_) {
            const snapshot::row& row = each.finished();
            if (row.objects != 0 || row.bytes != 0) rows_.push_back(row);
        }
    }

    arena& memory_;
    arena& scratch_;
    const bool is_difference_;
    merged_names names_;
    merged_modules modules_;
    same_threads threads_;
    list<std::size_t> first_threads_;  // for each part, where its threads begin in `numbers_`
    list<std::size_t> numbers_;        // for each thread of each part, its index in `threads_`
    list<snapshot::stack> stacks_;
    list<snapshot::row> rows_;
    place_numbers places_;
    list<row_of_stacks> row_sums_;  // for each place
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_GROUPING_MERGED_STACKS_HPP
