// merged_stacks.hpp - the stacks and rows of several snapshots; equal ones are summed.
//
// Room:     grouping (floor 8), not malloc-safe
// Called:   by report/merge_snapshots.hpp
// Threads:  one at a time; the snapshots must outlive the result
// Memory:   of the arena that is passed in
//
//     const merged_stacks sums{memory, scratch, made, parts, count, is_difference};
//     block.add_rows(sums.rows(), info, scratch);
//     set_stacks(block, made);                     // a derived_stacks
//
// Equal stacks are those of grouping/matched_stacks.hpp. Two rows are equal if path, line (or
// offset) and type are equal. A file is named by its path without the directory that all parts have
// cut off.

#ifndef ALLOCSCOPE_GROUPING_MERGED_STACKS_HPP
#define ALLOCSCOPE_GROUPING_MERGED_STACKS_HPP

#include <allocscope/config.hpp>
#include <allocscope/grouping/derived_stacks.hpp>
#include <allocscope/grouping/filter_stacks.hpp>
#include <allocscope/grouping/matched_stacks.hpp>
#include <allocscope/grouping/merged_modules.hpp>
#include <allocscope/grouping/place_numbers.hpp>
#include <allocscope/grouping/same_threads.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/grouping/thread_parts.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/snapshot/estimates.hpp>
#include <allocscope/snapshot/signed_numbers.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/snapshot/snapshot_difference.hpp>
#include <allocscope/snapshot/stacks_of_difference.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The names of files in a snapshot that merges others.
class merged_names {
public:
    explicit merged_names(arena& memory) : memory_(memory), names_(memory), owners_(memory) {}

    // Called for all parts before named().
    void see(const shown_stacks& part) {
        cut_directory cuts[2];
        for (const snapshot::row& row : part.rows()) see(row.file, path_of(row), cuts);
        for (std::size_t i = 0; i < part.count(); ++i) {
            const snapshot::stack stack = part.stack(i);
            see(stack.file, path_of(part, i, stack), cuts);
        }
        for (std::size_t i = 0; i < 2; ++i) {
            if (cuts[i].is_known) meet(cuts_[i], cuts[i].directory, are_alike_[i]);
        }
    }

    const char* file_of(const snapshot::row& row) { return file_of(path_of(row), row.file); }
    const char* file_of(const shown_stacks& part, std::size_t number,
                        const snapshot::stack& stack) {
        return file_of(path_of(part, number, stack), stack.file);
    }

private:
    // Absolute and relative paths have no common directory.
    static std::size_t kind_of(const text& path) noexcept { return path[0] == '/' ? 0 : 1; }

    static text path_of(const snapshot::row& row) noexcept {
        if (row.line == 0 || row.user_frame >= row.frame_count) return {};
        return row.frames[row.user_frame].file;
    }
    static text path_of(const shown_stacks& part, std::size_t number,
                        const snapshot::stack& stack) {
        if (stack.line == 0 || stack.user_frame >= stack.frame_count) return {};
        const snapshot::frame* const frame = part.frame_at(number, stack.user_frame, false);
        return frame != nullptr ? text{frame->file} : text{};
    }

    const char* file_of(const text& path, const char* file) {
        if (path.empty()) return file;
        const auto known = names_.insert(path);
        if (known.is_new) known.value = named(path, file);
        return known.value;
    }

    static void see(const text& file, const text& path, cut_directory* cuts) noexcept {
        if (path.empty() || !path.ends_with(file)) return;
        cuts[kind_of(path)].meet(path.substr(0, path.size() - file.size()));
    }

    static void meet(cut_directory& all, const text& directory, bool& are_alike) noexcept {
        if (all.is_known && all.directory != directory) are_alike = false;
        all.meet(directory);
    }

    // Two files never get the same name.
    const char* named(const text& path, const char* file) {
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
    // Adds to `made`, whose memory is `memory`. What rows() point to lies there and in the parts.
    // Throws std::bad_alloc.
    merged_stacks(arena& memory, arena& scratch, derived_stacks& made, const shown_stacks* parts,
                  std::size_t count, bool is_difference)
        : memory_(memory),
          made_(made),
          is_difference_(is_difference),
          names_(memory),
          modules_(*memory.make<merged_modules>(memory)),
          threads_(memory, scratch),
          ages_before_(scratch),
          ages_(memory),
          rows_(scratch),
          places_(scratch),
          row_sums_(scratch) {
        for (std::size_t i = 0; i < count; ++i) add_part(parts[i]);
        if (!has_ages_) ages_.cut(0);
        made.threads().append(threads_.all());
        made.move_frames(modules_);
        made.modules().append(modules_.modules());
        add_stacks(scratch);
        for (std::size_t i = 0; i < count; ++i) {
            for (const snapshot::row& row : parts[i].rows()) add(row);
        }
        finish_rows();
    }

    const list<snapshot::row>& rows() const noexcept { return rows_; }
    // Those of the first part, then those of the next; empty unless every part has ages.
    const list<snapshot::age>& ages() const noexcept { return ages_; }

private:
    void add_part(const shown_stacks& part) {
        names_.see(part);
        made_.add_side(part);
        part.with_modules([this](const snapshot::module* modules, std::size_t count) {
            modules_.add(modules, count);
        });
        threads_.add_side(part);  // a thread that several parts have is added once
        const snapshot::window_info& info = part.rows().info();
        ages_before_.push_back(ages_.size());
        has_ages_ = has_ages_ && info.age_count != 0;
        for (std::size_t i = 0; i < info.age_count; ++i) ages_.push_back(info.ages[i]);
    }

    void add_stacks(arena& scratch) {
        arena meanwhile;
        const matched_stacks matched{meanwhile, made_};
        matched.for_each([this](const stack_origin* equal, std::size_t count) {
            const borrowed_memory for_one{step_};
            add_sum(equal, count);
        });
        made_.sort_by_size(is_difference_, scratch);
    }

    void add_sum(const stack_origin* equal, std::size_t count) {
        changed_stack sum{};
        sum_of_details details{memory_};
        bool has_unknown_threads = false;
        parts_of_stacks parts{memory_, step_};
        for (std::size_t i = 0; i < count; ++i) {
            const shown_stacks& side = made_.side(equal[i].side);
            const snapshot::stack stack = side.stack(equal[i].number);
            if (i == 0) {
                copy_without_numbers(sum.sum, stack);
                sum.sum.file = names_.file_of(side, equal[i].number, stack);
            }
            sum.add(stack, true);
            has_unknown_threads = has_unknown_threads || stack.thread_count == 0;
            details.add(stack.details);
            for_each_part(stack, [&](snapshot::thread_part part) {
                part.thread = threads_.number(equal[i].side, part.thread);
                part.age = ages_.empty() ? 0 : part.age + ages_before_[equal[i].side];
                parts.add(0, part);
            });
        }
        sum.sum.details = details.sum();
        parts.for_each([&](std::size_t, const list<snapshot::thread_part>& of_stack) {
            if (!has_unknown_threads) set_threads(sum.sum, of_stack, memory_);
        });
        made_.add(sum.finished(), equal[0]);
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
            copy_place(sum, row);
            sum.file = named.file;
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
        if (made_.count() != 0) {
            for (row_of_stacks& each : row_sums_) each.sum.sites = 0;
        }
        for (std::size_t i = 0; i < made_.count(); ++i) {
            const snapshot::stack stack = made_.stack(i);
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
    derived_stacks& made_;
    arena step_;  // for one stack
    const bool is_difference_;
    merged_names names_;
    merged_modules& modules_;
    same_threads threads_;
    list<std::size_t> ages_before_;  // of each part: how many ages the parts before it have
    list<snapshot::age> ages_;
    bool has_ages_ = true;
    list<snapshot::row> rows_;
    place_numbers places_;
    list<row_of_stacks> row_sums_;  // for each place
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_GROUPING_MERGED_STACKS_HPP
