// snapshot_difference.hpp - subtracts an earlier snapshot from a later one, place by place.
//
// Room:     snapshot (floor 7), not malloc-safe
// Called:   through snapshot_data::difference, by snapshot::difference_from()
// Threads:  any; both snapshots are immutable
// Memory:   the block of the result, which keeps both snapshots, because its rows point into them
//
// Two rows are the same place if path, line (or offset) and type are equal. The path is that of the
// frame that gave the row its line, because different directories may have been cut off the names
// of the two snapshots.

#ifndef ALLOCSCOPE_SNAPSHOT_SNAPSHOT_DIFFERENCE_HPP
#define ALLOCSCOPE_SNAPSHOT_SNAPSHOT_DIFFERENCE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/estimates.hpp>
#include <allocscope/snapshot/loss_sentences.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/snapshot/snapshot_block.hpp>
#include <allocscope/snapshot/stacks_of_difference.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <cstring>  // strcmp

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// --- names ---

// The path from which `row.file` was shortened; "" if it is unknown.
inline text whole_path_of(const snapshot::row& row) noexcept {
    if (row.line == 0 || row.user_frame >= row.frame_count) return no_text();
    return row.frames[row.user_frame].file;
}

// The directory that was cut off several paths, with its last '/'.
struct cut_directory {
    text directory;
    bool is_known = false;

    void meet(const text& cut) noexcept {
        directory = shared_folder(is_known ? directory : cut, cut);
        is_known = true;
    }
};

// The name of a row's file in the difference. If both snapshots cut off the same directory, names
// stay as they are. Otherwise only the common part of both directories is cut off. Two files never
// get the same name.
class difference_names {
public:
    difference_names(const snapshot_data& later, const snapshot_data& earlier, arena& scratch)
        : owners_(scratch) {
        see(later, cuts_[0]);
        see(earlier, cuts_[1]);
    }

    text name_of(const snapshot::row& row) {
        const text path = whole_path_of(row);
        if (path.empty()) return row.file;
        const text name = shorten(row, path);
        const auto owner = owners_.insert(name);
        if (owner.is_new) owner.value = path;
        return owner.value == path ? name : path;
    }

private:
    // Absolute and relative paths have no common directory.
    static ALLOCSCOPE_INLINE std::size_t kind_of(const text& path) noexcept {
        return path[0] == '/' ? 0 : 1;
    }

    static void see(const snapshot_data& data, cut_directory* cuts) noexcept {
        for (std::size_t i = 0; i < data.row_count; ++i) {
            const snapshot::row& row = data.rows[i];
            const text name = row.file;
            const text path = whole_path_of(row);
            if (path.empty() || !path.ends_with(name)) continue;
            cuts[kind_of(path)].meet(path.substr(0, path.size() - name.size()));
        }
    }

    text shorten(const snapshot::row& row, const text& path) const noexcept {
        const cut_directory& later = cuts_[0][kind_of(path)];
        const cut_directory& earlier = cuts_[1][kind_of(path)];
        const bool are_alike =
            !later.is_known || !earlier.is_known || later.directory == earlier.directory;
        if (are_alike || !path.ends_with(row.file)) return row.file;
        cut_directory both = later;
        both.meet(earlier.directory);
        // If only the root is common, whole paths say more.
        return path.substr(both.directory == "/" ? 0 : both.directory.size());
    }

    cut_directory cuts_[2][2];
    table<text, text> owners_;  // the path of each name
};

// --- rows ---

// What two rows share if they are the same place.
inline text key_of(const snapshot::row& row, arena& scratch) {
    const text path = whole_path_of(row);
    text_out key{scratch};
    key << (path.empty() ? text{row.file} : path) << '\0';
    if (row.line != 0) {
        key << decimal{static_cast<std::uint64_t>(row.line)};
    } else {
        key << '+' << decimal{row.offset};
    }
    key << '\0' << row.type;
    return key.view();
}

// Copies the place of a row, without its numbers.
inline void copy_place(snapshot::row& to, const snapshot::row& from) noexcept {
    to = from;
    to.objects = to.bytes = to.samples = 0;
}

// Merges the rows of both by place; the numbers are those of `later` minus those of `earlier`.
inline void collect_changes(list<snapshot::row>& changed, snapshot_block& block,
                            const snapshot_data& later, const snapshot_data& earlier) {
    arena& scratch = changed.memory();
    difference_names names{later, earlier, scratch};
    table<text, summed<snapshot::row>> merged{scratch};
    const snapshot_data* const both[] = {&later, &earlier};
    bool is_later = true;
    for (const snapshot_data* data : both) {
        for (std::size_t i = 0; i < data->row_count; ++i) {
            const snapshot::row& row = data->rows[i];
            const auto at = merged.insert(key_of(row, scratch));
            if (at.is_new) {
                const text name = names.name_of(row);
                copy_place(at.value.sum, row);
                if (name != row.file) at.value.sum.file = copy_of(block.memory(), name).data();
            }
            at.value.add(row, is_later);
        }
        is_later = false;
    }
    for (auto& each : merged) {
        if (each.value.sum.objects == 0 && each.value.sum.bytes == 0) continue;
        changed.push_back(each.value.finished());
    }
}

// --- the head ---

// Two snapshots of one window count the same losses. So for each reason the larger number is taken,
// not the sum.
inline void merge_losses(const snapshot::window_info& info, list<snapshot::loss>& losses) {
    for (std::size_t i = 0; i < info.loss_count; ++i) {
        const snapshot::loss& loss = info.losses[i];
        snapshot::loss* same = losses.begin();
        while (same != losses.end() && std::strcmp(same->reason, loss.reason) != 0) ++same;
        if (same == losses.end()) {
            losses.push_back(loss);
        } else if (same->count < loss.count) {
            same->count = loss.count;
        }
    }
}

// If one of the two is `snapshot{}`, it means "nothing", and the result is as certain as the other.
ALLOCSCOPE_INLINE bool is_no_window(const snapshot_data& data) noexcept {
    return data.release == nullptr &&
           std::strcmp(data.info.not_recording, snapshot_of_no_window.info.not_recording) == 0;
}

inline allocation_counts counts_difference(const allocation_counts& later,
                                           const allocation_counts& earlier) noexcept {
    allocation_counts change;
    change.allocations = later.allocations - earlier.allocations;
    change.frees = later.frees - earlier.frees;
    change.bytes_allocated = later.bytes_allocated - earlier.bytes_allocated;
    change.bytes_freed = later.bytes_freed - earlier.bytes_freed;
    change.peak_bytes = later.peak_bytes - earlier.peak_bytes;
    return change;
}

inline estimate estimate_difference(const estimate& later, const estimate& earlier) noexcept {
    interval_reach reach;
    reach.meet(later, true);
    reach.meet(earlier, false);
    return reach.around(later.value - earlier.value);
}

ALLOCSCOPE_HIDDEN inline constexpr estimate snapshot::window_estimates::*estimates_of_window[] = {
    &snapshot::window_estimates::allocations,  &snapshot::window_estimates::frees,
    &snapshot::window_estimates::live_objects, &snapshot::window_estimates::bytes_allocated,
    &snapshot::window_estimates::bytes_freed,  &snapshot::window_estimates::live_bytes};

inline void set_difference(snapshot::window_info& about, const snapshot_data& later,
                           const snapshot_data& earlier, list<snapshot::loss>& losses) {
    about = is_no_window(later) ? earlier.info : later.info;
    about.is_difference = true;
    about.started_ns = 0;
    about.is_filtered = later.info.is_filtered || earlier.info.is_filtered;
    about.has_details = about.has_peak_details = false;
    // Windows of two processes may have the same number.
    const bool are_processes_known = later.info.process_id != 0 && earlier.info.process_id != 0;
    const bool are_of_two_processes =
        are_processes_known && later.info.process_id != earlier.info.process_id;
    about.is_of_two_windows = later.info.window != 0 && earlier.info.window != 0 &&
                              (later.info.window != earlier.info.window || are_of_two_processes);
    about.not_recording = "";
    about.totals = counts_difference(later.info.totals, earlier.info.totals);
    about.samples = later.info.samples + earlier.info.samples;
    about.uncertain_objects = later.info.uncertain_objects + earlier.info.uncertain_objects;
    about.uncertain_bytes = later.info.uncertain_bytes + earlier.info.uncertain_bytes;
    for (const auto each : estimates_of_window) {
        about.estimates.*each =
            estimate_difference(later.info.estimates.*each, earlier.info.estimates.*each);
    }
    const bool is_later_longer = later.info.duration_ns > earlier.info.duration_ns;
    about.duration_ns = is_later_longer ? later.info.duration_ns - earlier.info.duration_ns
                                        : earlier.info.duration_ns - later.info.duration_ns;
    const bool are_both_windows = !is_no_window(later) && !is_no_window(earlier);
    about.is_backwards = are_both_windows && !about.is_of_two_windows &&
                         later.info.duration_ns < earlier.info.duration_ns;
    about.moments = nullptr;  // they are of the later snapshot, and no differences
    about.moment_count = 0;
    about.ages = nullptr;
    about.age_count = 0;
    const snapshot_data* const both[] = {&later, &earlier};
    for (const snapshot_data* data : both) {
        if (is_no_window(*data)) continue;
        merge_losses(data->info, losses);
        if (data->info.record == recording::sampled) about.record = recording::sampled;
        if (about.not_recording[0] == '\0') about.not_recording = data->info.not_recording;
    }
    about.losses = losses.data();
    about.loss_count = losses.size();
    about.totals.lost_events = lost_events_of(about);
}

// Null if memory was refused.
inline snapshot_data* difference_of(const snapshot_data& later, const snapshot_data& earlier) {
    snapshot_block block;
    if (!block.has_memory()) return nullptr;
    arena scratch;
    snapshot::window_info info{};
    const bool is_made = is_done_with_memory([&] {
        list<snapshot::loss> losses{scratch};
        set_difference(info, later, earlier, losses);
        list<snapshot::row> changed{scratch};
        collect_changes(changed, block, later, earlier);
        block.add_rows(changed, info, scratch);
    });
    if (!is_made) return nullptr;
    block.keep(later);
    block.keep(earlier);
    block.set_stacks(&find_stacks_of_difference, nullptr);
    return block.finish(info);
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SNAPSHOT_SNAPSHOT_DIFFERENCE_HPP
