// merge_snapshots.hpp - merges several windows or processes into one snapshot.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by the user and by the command-line program
// Threads:  any
// Memory:   as a snapshot with all their stacks; the result keeps the parts; charged to no window
//
//     allocscope::snapshot all = allocscope::merge({parser.stats(), writer.stats()});
//     allocscope::write_html(all, "both.html");
//
// All numbers are added up: those of rows, stacks, totals, families, losses and estimates. The 95%
// intervals are those of the sums. There are two exceptions. The parts had their peaks at different
// times, so the sum of the peaks is an upper limit of the merged peak. And for several windows of
// one process, allocscope's own memory is counted once.
//
// Time series are merged if every part has one and knows when it was taken.

#ifndef ALLOCSCOPE_REPORT_MERGE_SNAPSHOTS_HPP
#define ALLOCSCOPE_REPORT_MERGE_SNAPSHOTS_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/config.hpp>
#include <allocscope/grouping/derived_stacks.hpp>
#include <allocscope/grouping/merged_stacks.hpp>
#include <allocscope/grouping/sourced_snapshot.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/link/pause_recording.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/report/merge_refusals.hpp>
#include <allocscope/report/text_sink.hpp>
#include <allocscope/snapshot/estimates.hpp>
#include <allocscope/snapshot/loss_sentences.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/snapshot/snapshot_block.hpp>
#include <allocscope/snapshot/snapshot_members.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int64_t, uint64_t
#include <string>   // string
#include <vector>   // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// --- sums of the heads ---

class estimate_sum {
public:
    void add(const estimate& part) noexcept {
        value_ += part.value;
        reach_.meet(part, true);
    }
    estimate sum() const noexcept { return reach_.around(value_); }

private:
    std::uint64_t value_ = 0;
    interval_reach reach_;
};

inline snapshot::window_estimates sum_of_estimates(const snapshot* parts, std::size_t count) {
    estimate_sum sums[6];
    for (std::size_t i = 0; i < count; ++i) {
        const snapshot::window_estimates& about = parts[i].info().estimates;
        sums[0].add(about.allocations);
        sums[1].add(about.frees);
        sums[2].add(about.live_objects);
        sums[3].add(about.bytes_allocated);
        sums[4].add(about.bytes_freed);
        sums[5].add(about.live_bytes);
    }
    return {sums[0].sum(), sums[1].sum(), sums[2].sum(),
            sums[3].sum(), sums[4].sum(), sums[5].sum()};
}

inline void add_losses(list<snapshot::loss>& losses, const snapshot::window_info& part) {
    for (std::size_t i = 0; i < part.loss_count; ++i) {
        const snapshot::loss& loss = part.losses[i];
        snapshot::loss* same = losses.begin();
        while (same != losses.end() && text{same->reason} != text{loss.reason}) ++same;
        if (same == losses.end()) {
            losses.push_back(loss);
        } else {
            same->count += loss.count;
        }
    }
}

inline void add_to_family(list<snapshot::family>& families, const snapshot::family& part) {
    snapshot::family* same = families.begin();
    while (same != families.end() && text{same->name} != text{part.name}) ++same;
    if (same == families.end()) {
        families.push_back(part);
        return;
    }
    same->allocations += part.allocations;
    same->frees += part.frees;
    same->bytes_allocated += part.bytes_allocated;
    same->bytes_freed += part.bytes_freed;
}

// Calls work(family). In a part without families everything belongs to operator new.
template <class Work>
void for_each_family(const snapshot::window_info& info, const Work& work) {
    const allocation_counts& totals = info.totals;
    if (info.family_count == 0) {
        work(snapshot::family{"operator new", totals.allocations, totals.frees,
                              totals.bytes_allocated, totals.bytes_freed});
    }
    for (std::size_t k = 0; k < info.family_count; ++k) work(info.families[k]);
}

inline void add_families(list<snapshot::family>& families, const snapshot* parts,
                         std::size_t count) {
    bool has_families = false;
    for (std::size_t i = 0; i < count; ++i) {
        has_families = has_families || parts[i].info().family_count != 0;
    }
    for (std::size_t i = 0; i < count && has_families; ++i) {
        for_each_family(parts[i].info(), [&families](const snapshot::family& each) {
            add_to_family(families, each);
        });
    }
}

// The maximum over several windows of one process, the sum over several processes.
inline std::uint64_t sum_of_own_memory(const std::vector<shown_stacks>& parts) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        std::uint64_t most = parts[i].rows().info().own_memory_bytes;
        bool is_first = true;
        for (std::size_t k = 0; k < parts.size(); ++k) {
            if (k == i || !is_same_process(parts[i], parts[k])) continue;
            is_first = is_first && k > i;
            const std::uint64_t other = parts[k].rows().info().own_memory_bytes;
            if (other > most) most = other;
        }
        if (is_first) sum += most;
    }
    return sum;
}

// --- time series ---

// Sums what the parts had alive at the moments of all parts. The time starts with the first part.
inline void merge_moments(list<snapshot::moment>& merged, const snapshot* parts, std::size_t count,
                          arena& scratch) {
    struct step {
        std::int64_t at;
        std::size_t part;
        const snapshot::moment* now;
    };
    list<step> steps{scratch};
    std::int64_t first = began_unix_ns(parts[0].info());
    for (std::size_t i = 0; i < count; ++i) {
        const snapshot::window_info& info = parts[i].info();
        if (info.moment_count == 0 || info.taken_unix_ns == 0) return;
        if (began_unix_ns(info) < first) first = began_unix_ns(info);
        for (std::size_t k = 0; k < info.moment_count; ++k) {
            const auto since = static_cast<std::int64_t>(info.moments[k].at_ns);
            steps.push_back({began_unix_ns(info) + since, i, info.moments + k});
        }
    }
    sort(steps, [](const step& a, const step& b) { return a.at < b.at; });
    list<const snapshot::moment*> last{scratch};
    last.resize(count);
    for (const step& each : steps) {
        last[each.part] = each.now;
        snapshot::moment sum{};
        sum.at_ns = static_cast<std::uint64_t>(each.at - first);
        sum.mark = each.now->mark;
        for (const snapshot::moment* part : last) {
            if (part == nullptr) continue;
            sum.live_objects += part->live_objects;
            sum.live_bytes += part->live_bytes;
            sum.allocations += part->allocations;
            sum.bytes_allocated += part->bytes_allocated;
        }
        merged.push_back(sum);
    }
}

// --- the head ---

// The text that is equal in all parts, or "".
template <class Get>
const char* common_text(const snapshot* parts, std::size_t count, const Get& get) {
    for (std::size_t i = 1; i < count; ++i) {
        if (text{get(parts[i].info())} != text{get(parts[0].info())}) return "";
    }
    return get(parts[0].info());
}

inline void add_totals(allocation_counts& to, const allocation_counts& part) noexcept {
    to.allocations += part.allocations;
    to.frees += part.frees;
    to.bytes_allocated += part.bytes_allocated;
    to.bytes_freed += part.bytes_freed;
    to.peak_bytes += part.peak_bytes;
}

// Everything but own memory, losses, families, time series, and resident memory, which processes
// share.
inline snapshot::window_info merged_info(const snapshot* parts, std::size_t count) {
    using info_type = snapshot::window_info;
    info_type info = parts[0].info();
    info.totals = {};
    info.samples = info.uncertain_objects = info.uncertain_bytes = 0;
    info.merged_windows = 0;
    info.started_ns = 0;
    info.memory = nullptr;
    info.ages = nullptr;
    info.age_count = 0;
    std::int64_t began = began_unix_ns(info);
    for (std::size_t i = 0; i < count; ++i) {
        const info_type& part = parts[i].info();
        add_totals(info.totals, part.totals);
        info.merged_windows += part.merged_windows != 0 ? part.merged_windows : 1;
        info.samples += part.samples;
        info.uncertain_objects += part.uncertain_objects;
        info.uncertain_bytes += part.uncertain_bytes;
        if (part.record == recording::sampled) info.record = recording::sampled;
        if (part.from == threads::all) info.from = threads::all;
        if (part.stack_frames > info.stack_frames) info.stack_frames = part.stack_frames;
        if (part.sample_bytes > info.sample_bytes) info.sample_bytes = part.sample_bytes;
        if (part.duration_ns > info.duration_ns) info.duration_ns = part.duration_ns;
        if (part.taken_unix_ns > info.taken_unix_ns) info.taken_unix_ns = part.taken_unix_ns;
        if (began_unix_ns(part) < began) began = began_unix_ns(part);
        if (info.not_recording[0] == '\0') info.not_recording = part.not_recording;
        if (part.process_id != info.process_id) info.process_id = 0;
        info.is_of_two_windows = info.is_of_two_windows || part.is_of_two_windows;
        info.is_filtered = info.is_filtered || part.is_filtered;
        info.has_details = info.has_details && part.has_details;
        info.has_peak_details = info.has_peak_details && part.has_peak_details;
    }
    // From the start of the first part to the moment when the last part was taken.
    if (began > 0) info.duration_ns = static_cast<std::uint64_t>(info.taken_unix_ns - began);
    info.name = common_text(parts, count, [](const info_type& part) { return part.name; });
    info.command = common_text(parts, count, [](const info_type& part) { return part.command; });
    info.window = 0;
    info.estimates = sum_of_estimates(parts, count);
    return info;
}

// --- all together ---

// The result has no snapshot if memory was refused.
inline sourced_snapshot merged(const std::vector<sourced_snapshot>& given) {
    snapshot_block block;
    if (!block.has_memory()) return {refused_snapshot()};
    std::vector<snapshot> rows_of_parts;
    rows_of_parts.reserve(given.size());
    for (const sourced_snapshot& part : given) rows_of_parts.push_back(part.rows);
    const std::size_t count = given.size();
    snapshot::window_info info = merged_info(rows_of_parts.data(), count);
    const stack_source* source = nullptr;
    arena scratch;
    const bool is_made = is_done_with_memory([&] {
        kept_snapshots& kept = keep_snapshots(block, rows_of_parts.data(), count);
        arena& memory = kept.memory();
        const snapshot* const parts = kept.begin();
        std::vector<shown_stacks> stacks;
        for (std::size_t i = 0; i < count; ++i) stacks.emplace_back(parts[i], given[i].source);
        info.own_memory_bytes = sum_of_own_memory(stacks);
        auto* const made = memory.make<derived_stacks>(memory);
        const merged_stacks sums{memory, scratch, *made, stacks.data(), count, info.is_difference};
        block.add_rows(sums.rows(), info, scratch);
        info.ages = sums.ages().data();
        info.age_count = sums.ages().size();
        if (stacks[0].are_known()) set_stacks(block, *made);
        if (!made->are_laid_out()) source = memory.make<stack_source>(made->source());
        list<snapshot::family> families{scratch};
        add_families(families, parts, count);
        block.add_families(families);
        list<snapshot::moment> moments{memory};
        merge_moments(moments, parts, count, scratch);
        info.moments = moments.data();
        info.moment_count = moments.size();
        list<snapshot::loss> losses{scratch};
        for (std::size_t i = 0; i < count; ++i) add_losses(losses, parts[i].info());
        info.losses = losses.data();
        info.loss_count = losses.size();
        info.totals.lost_events = lost_events_of(info);
    });
    if (!is_made) return {refused_snapshot()};
    return {snapshot{block.finish(info)}, source};
}

inline bool merge(const std::vector<sourced_snapshot>& parts, sourced_snapshot& into,
                  std::string& error) {
    std::vector<sourced_snapshot> known;
    for (const sourced_snapshot& part : parts) {
        if (!is_of_no_window(part.rows)) known.push_back(part);
    }
    error = why_not_merged(known);
    if (!error.empty()) return false;
    if (known.size() < 2) {
        into = known.empty() ? sourced_snapshot{} : known[0];
        return true;
    }
    into = merged(known);
    const bool is_made = into.rows.info().merged_windows != 0;
    if (!is_made) error = "there is not enough memory to merge the snapshots";
    return is_made;
}

}  // namespace detail

// Merges all parts. Parts that belong to no window add nothing. A single part is returned as it is.
// Returns false, with the reason in `error`, if the parts cannot be merged:
//   - a difference with a snapshot that is no difference;
//   - a window that recorded counters only with one that has stacks;
//   - windows of one process that were open at the same time, also two snapshots of one window,
//     because common objects would count twice. Snapshots by stats_and_forget() do not overlap.
// Throws std::bad_alloc.
inline bool merge(const std::vector<snapshot>& parts, snapshot& into, std::string& error) {
    const pause_recording quietly;
    std::vector<detail::sourced_snapshot> given;
    given.reserve(parts.size());
    for (const snapshot& part : parts) given.push_back({part});
    detail::sourced_snapshot made;
    if (!detail::merge(given, made, error)) return false;
    into = made.rows;
    return true;
}

// The same, but throws report_error.
inline snapshot merge(const std::vector<snapshot>& parts) {
    snapshot all;
    std::string error;
    if (!merge(parts, all, error)) detail::raise_report_error(error);
    return all;
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_MERGE_SNAPSHOTS_HPP
