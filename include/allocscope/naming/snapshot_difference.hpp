// snapshot_difference.hpp - what one snapshot has more, and less, than another.
//
// Room:     naming (floor 9), not malloc-safe
// Called:   by snapshot::difference_from, through the function kept in every block
// Threads:  reads two immutable blocks
// Memory:   a new block, and temporary containers while it is made
//
//     earlier:   10 a.cpp:3:node     5 a.cpp:9:edge    7 a.cpp:12:leaf
//     later:     14 a.cpp:3:node                       7 a.cpp:12:leaf
//     difference: -5 a.cpp:9:edge   +4 a.cpp:3:node    (largest change first; no change, no row)
//
// Rows are the same place when whole path, line and type are equal; without a line, when the
// offset is. The shortened names are not compared: each snapshot shortened its paths by its own
// common directory. See difference_names for what the result calls them.

#ifndef ALLOCSCOPE_NAMING_SNAPSHOT_DIFFERENCE_HPP
#define ALLOCSCOPE_NAMING_SNAPSHOT_DIFFERENCE_HPP

#include <allocscope/naming/build_snapshot.hpp>
#include <allocscope/snapshot/interval_reach.hpp>

#include <algorithm>      // max, find_if
#include <cstddef>        // size_t
#include <cstdint>        // uint64_t, int64_t
#include <cstring>        // strcmp
#include <new>            // bad_alloc
#include <string>         // string
#include <string_view>    // string_view
#include <unordered_map>  // unordered_map
#include <utility>        // move
#include <vector>         // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The path that `row.file` was shortened from; "" when it is not known.
inline std::string_view whole_path_of(const snapshot::row& row) noexcept {
    if (row.line == 0 || row.user_frame >= row.frame_count) return {};
    return row.frames[row.user_frame].file;
}

// What two rows have in common when they are the same place.
inline std::string key_of(const snapshot::row& row) {
    const std::string_view path = whole_path_of(row);
    std::string key{path.empty() ? std::string_view{row.file} : path};
    key += '\0';
    key += row.line != 0 ? std::to_string(row.line) : '+' + std::to_string(row.offset);
    key += '\0';
    key += row.type;
    return key;
}

inline row_text text_of(const snapshot::row& row) {
    row_text copy;
    copy.file = row.file;
    copy.line = row.line;
    copy.type = row.type;
    copy.function = row.function;
    copy.offset = row.offset;
    copy.sites = row.sites;
    copy.user_frame = row.user_frame;
    copy.frames.reserve(row.frame_count);
    for (std::size_t i = 0; i < row.frame_count; ++i) {
        const snapshot::frame& frame = row.frames[i];
        copy.frames.push_back({frame.function, frame.file, frame.line, frame.column,
                               frame.is_inlined, frame.address, frame.module, frame.offset});
    }
    return copy;
}

// The directory that several paths lost when they were shortened, with its last '/'.
class cut_directory {
public:
    void meet(std::string_view cut) {
        if (!is_known_) directory_ = cut;
        is_known_ = true;
        std::size_t same = 0;
        while (same < directory_.size() && same < cut.size() && directory_[same] == cut[same]) {
            ++same;
        }
        const std::size_t slash = directory_.substr(0, same).rfind('/');
        directory_ = directory_.substr(0, slash == std::string_view::npos ? 0 : slash + 1);
    }
    bool is_known() const noexcept { return is_known_; }
    std::string_view directory() const noexcept { return directory_; }

private:
    std::string_view directory_;
    bool is_known_ = false;
};

// The name of a row's file in the difference. Two snapshots that were shortened alike keep their
// names; otherwise the paths of both lose what both lost. Two files never get one name.
class difference_names {
public:
    difference_names(const snapshot_data& later, const snapshot_data& earlier) {
        see(later, 0);
        see(earlier, 1);
    }

    std::string name_of(const snapshot::row& row) {
        const std::string_view path = whole_path_of(row);
        if (path.empty()) return row.file;
        std::string name = shorten(row, path);
        const auto [owner, is_new] = owners_.emplace(name, path);
        return is_new || owner->second == path ? name : std::string{path};
    }

private:
    static constexpr std::size_t kinds = 2;  // absolute and relative paths have no common directory
    static std::size_t kind_of(std::string_view path) noexcept { return path[0] == '/' ? 0 : 1; }

    static bool ends_with(std::string_view text, std::string_view end) noexcept {
        return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
    }

    void see(const snapshot_data& data, std::size_t side) {
        for (std::size_t i = 0; i < data.row_count; ++i) {
            const std::string_view name = data.rows[i].file;
            const std::string_view path = whole_path_of(data.rows[i]);
            if (path.empty() || !ends_with(path, name)) continue;
            cuts_[side][kind_of(path)].meet(path.substr(0, path.size() - name.size()));
        }
    }

    std::string shorten(const snapshot::row& row, std::string_view path) const {
        const cut_directory& later = cuts_[0][kind_of(path)];
        const cut_directory& earlier = cuts_[1][kind_of(path)];
        const bool are_alike =
            !later.is_known() || !earlier.is_known() || later.directory() == earlier.directory();
        if (are_alike || !ends_with(path, row.file)) return row.file;
        cut_directory both = later;
        both.meet(earlier.directory());
        // Only the root in common: whole paths say more.
        return std::string{path.substr(both.directory() == "/" ? 0 : both.directory().size())};
    }

    cut_directory cuts_[2][kinds];
    std::unordered_map<std::string, std::string_view> owners_;
};

class row_reach {
public:
    void meet(const snapshot::row& row, bool is_added) noexcept {
        objects_.meet({row.objects, row.objects_low, row.objects_high}, is_added);
        bytes_.meet({row.bytes, row.bytes_low, row.bytes_high}, is_added);
    }

    void set_interval_of(row_text& row) const noexcept {
        const estimate objects = objects_.around(row.objects);
        const estimate bytes = bytes_.around(row.bytes);
        row.objects_low = objects.low;
        row.objects_high = objects.high;
        row.bytes_low = bytes.low;
        row.bytes_high = bytes.high;
    }

private:
    interval_reach objects_;
    interval_reach bytes_;
};

// The rows of both, merged by place, with the numbers of `later` minus those of `earlier`.
inline std::vector<row_text> changed_rows(const snapshot_data& later,
                                          const snapshot_data& earlier) {
    difference_names names{later, earlier};
    std::unordered_map<std::string, std::size_t> index_of;
    std::vector<row_text> merged;
    std::vector<row_reach> reaches;
    bool is_added = true;
    for (const snapshot_data* data : {&later, &earlier}) {
        for (std::size_t i = 0; i < data->row_count; ++i) {
            const snapshot::row& row = data->rows[i];
            const auto [place, is_new] = index_of.emplace(key_of(row), merged.size());
            if (is_new) {
                merged.push_back(text_of(row));
                merged.back().file = names.name_of(row);
                reaches.emplace_back();
            }
            row_text& sum = merged[place->second];
            sum.objects += is_added ? row.objects : std::uint64_t{0} - row.objects;
            sum.bytes += is_added ? row.bytes : std::uint64_t{0} - row.bytes;
            sum.samples += row.samples;
            reaches[place->second].meet(row, is_added);
        }
        is_added = false;
    }
    std::vector<row_text> changed;
    for (std::size_t i = 0; i < merged.size(); ++i) {
        if (merged[i].objects == 0 && merged[i].bytes == 0) continue;
        reaches[i].set_interval_of(merged[i]);
        changed.push_back(std::move(merged[i]));
    }
    return changed;
}

// Two snapshots of one window count the same losses, so they are not added up: of each reason, the
// larger number.
inline void merge_losses(const snapshot::window_info& info, std::vector<loss_text>& losses) {
    for (std::size_t i = 0; i < info.loss_count; ++i) {
        const snapshot::loss& loss = info.losses[i];
        const auto same = std::find_if(losses.begin(), losses.end(), [&](const loss_text& known) {
            return known.reason == loss.reason;
        });
        if (same == losses.end()) {
            losses.push_back({loss.reason, loss.count});
        } else {
            same->count = std::max(same->count, loss.count);
        }
    }
}

// `snapshot{}` as one side means "nothing", and is no reason to doubt the result.
inline bool is_no_window(const snapshot_data& data) noexcept {
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

inline snapshot::window_estimates estimates_difference(
    const snapshot::window_estimates& later, const snapshot::window_estimates& earlier) noexcept {
    return {estimate_difference(later.allocations, earlier.allocations),
            estimate_difference(later.frees, earlier.frees),
            estimate_difference(later.live_objects, earlier.live_objects),
            estimate_difference(later.bytes_allocated, earlier.bytes_allocated),
            estimate_difference(later.bytes_freed, earlier.bytes_freed),
            estimate_difference(later.live_bytes, earlier.live_bytes)};
}

inline info_text info_difference(const snapshot_data& later, const snapshot_data& earlier) {
    const snapshot::window_info& described = is_no_window(later) ? earlier.info : later.info;
    info_text about;
    about.name = described.name;
    about.record = described.record;
    about.from = described.from;
    about.stack_frames = described.stack_frames;
    about.own_memory_bytes = described.own_memory_bytes;
    about.is_difference = true;
    about.sample_bytes = described.sample_bytes;
    about.totals = counts_difference(later.info.totals, earlier.info.totals);
    about.samples = later.info.samples + earlier.info.samples;
    about.estimates = estimates_difference(later.info.estimates, earlier.info.estimates);
    if (later.info.duration_ns > earlier.info.duration_ns) {
        about.duration_ns = later.info.duration_ns - earlier.info.duration_ns;
    }
    for (const snapshot_data* data : {&later, &earlier}) {
        if (is_no_window(*data)) continue;
        merge_losses(data->info, about.losses);
        if (data->info.record == recording::sampled) about.record = recording::sampled;
        if (about.not_recording.empty()) about.not_recording = data->info.not_recording;
    }
    return about;
}

// Null: memory was refused.
inline snapshot_data* difference_of(const snapshot_data& later, const snapshot_data& earlier) {
    const uncharged_work quietly;
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    return build_snapshot(changed_rows(later, earlier), info_difference(later, earlier));
#else
    try {
        return build_snapshot(changed_rows(later, earlier), info_difference(later, earlier));
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
#endif
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_NAMING_SNAPSHOT_DIFFERENCE_HPP
