// rows_of_window.hpp - makes the rows of a snapshot from the stacks of a window.
//
// Room:     naming (floor 10), not malloc-safe
// Called:   by define_once/engine_table.hpp for stats(), by verdict/ for checks
// Threads:  one at a time, under the naming lock
// Memory:   the snapshot's block, and the request's arena; names stay in the name book
//
//     live sites -> named stacks -> one row for each path:line:type -> sorted, paths shortened

#ifndef ALLOCSCOPE_NAMING_ROWS_OF_WINDOW_HPP
#define ALLOCSCOPE_NAMING_ROWS_OF_WINDOW_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/naming/live_window.hpp>
#include <allocscope/naming/name_book.hpp>
#include <allocscope/naming/process_names.hpp>
#include <allocscope/naming/stacks_of_window.hpp>
#include <allocscope/places/shorten_paths.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/platform/probe_memory.hpp>
#include <allocscope/snapshot/estimates.hpp>
#include <allocscope/snapshot/loss_sentences.hpp>
#include <allocscope/snapshot/snapshot_block.hpp>
#include <allocscope/snapshot/snapshot_difference.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t, uintptr_t

#include <unistd.h>  // getpid

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// --- types from live objects ---

// Some live objects of one stack. Those of a program that has ended are not found: then the first
// block has only the size that all of them have.
struct sample_of_stack {
    named_stack* stack;
    sample_block blocks[sample_block::most];
    std::uint32_t count;
    std::uint32_t wanted;

    ALLOCSCOPE_INLINE bool begins_with_word() const noexcept {
        return count != 0 && blocks[0].bytes >= sizeof(std::uintptr_t);
    }
};

// Finds some live objects of each of the sites in `wanted`. The loop over the live object map does
// not throw, because it adds no entry.
inline void find_objects(const table<std::uint64_t, sample_of_stack>& wanted) {
    std::size_t missing = 0;
    for (const auto& each : wanted) missing += each.value.wanted;
    const auto look_at = [&wanted, &missing](const live_object& object) {
        const cohort& born = *process.cohorts.by_id(object.cohort);
        sample_of_stack* of = wanted.find(born.facts().site.load(memory_order::relaxed));
        if (of == nullptr || of->count == of->wanted) return true;
        of->blocks[of->count++] = {object.address, object.bytes};
        return --missing != 0;
    };
    const walking_lock tables_stay;
    process.objects.for_each(process.session, look_at);
    if (missing != 0) process.samples.for_each(process.session, look_at);
    if (missing != 0) process.pools.for_each(process.session, look_at);
}

// Looks at some live objects of each stack whose type may still be found or rejected by them. The
// objects may be freed in the meantime, so their memory is read through the kernel.
inline void settle_types(name_book& book, const live_window& window,
                         const list<named_stack*>& stacks) {
    table<std::uint64_t, sample_of_stack> open{window.scratch};
    for (std::size_t i = 0; i < window.sites.size(); ++i) {
        const live_site& site = window.sites[i];
        if (site.id == 0 || site.objects == 0 || stacks[i]->is_settled()) continue;
        sample_of_stack& sample = open[site.id];
        sample.stack = stacks[i];
        sample.blocks[0] = {0, mean_bytes(site.bytes, site.objects, site.samples != nullptr)};
        sample.wanted = site.objects < sample_block::most ? static_cast<std::uint32_t>(site.objects)
                                                          : sample_block::most;
    }
    if (open.empty()) return;
    find_objects(open);
    list<probed_word> words{window.scratch};
    words.reserve(open.size());
    for (const auto& each : open) {
        if (!each.value.begins_with_word()) continue;
        words.push_back({each.value.blocks[0].address, 0, false});
    }
    probe_words(words.data(), words.size());
    const probed_word* word = words.data();
    for (const auto& each : open) {
        const sample_of_stack& sample = each.value;
        const bool is_tiny = sample.count != 0 && !sample.begins_with_word();
        const probed_word first = sample.begins_with_word() ? *word++ : probed_word{0, 0, is_tiny};
        if (first.is_read) {
            book.settle_type(*sample.stack, sample.blocks, sample.count, first.word);
        } else if (sample.stack->depends_on_size() && sample.blocks[0].bytes != 0) {
            book.settle_type(*sample.stack, sample.blocks, 0, 0);  // only the size is known
        }
    }
}

// --- rows ---

// Two rows differ if their keys differ. The texts are the book's, in which equal texts are one
// copy.
struct row_key {
    const char* path;
    const char* place;
    std::uint64_t number;  // named_stack
    const char* type;
};

struct row_sum {
    const named_stack* stack;  // of the site with most objects
    std::uint64_t stack_objects;
    std::uint32_t recorded_frames;  // of that site
    std::uint64_t objects;
    std::uint64_t bytes;
    std::uint64_t sites;
    sample_sums* samples;  // null: every event was recorded
};

inline by_bytes<row_key> key_of(const named_stack& stack) noexcept {
    return {{stack.path, stack.place, stack.number, stack.type}};
}

inline void sum_rows(table<by_bytes<row_key>, row_sum>& rows, const live_window& window,
                     const list<named_stack*>& stacks) {
    for (std::size_t i = 0; i < window.sites.size(); ++i) {
        if (i + 16 < window.sites.size()) {  // in no cache, because there are so many
            __builtin_prefetch(&stacks[i + 16]->path);
            rows.expect(key_of(*stacks[i + 8]));
        }
        const named_stack& stack = *stacks[i];
        const live_site& site = window.sites[i];
        row_sum& row = rows[key_of(stack)];
        row.objects += site.objects;
        row.bytes += site.bytes;
        if (site.samples != nullptr) {
            if (row.samples == nullptr) row.samples = window.scratch.make<sample_sums>();
            row.samples->add(*site.samples);
        }
        ++row.sites;
        if (row.stack == nullptr || site.objects > row.stack_objects) {
            row.stack_objects = site.objects;
            row.stack = &stack;
            row.recorded_frames = site.frame_count;
        }
    }
}

inline snapshot::row row_of(const row_sum& sum, const char* file,
                            const live_window& window) noexcept {
    snapshot::row made{};
    made.objects = sum.objects;
    made.bytes = sum.bytes;
    const bool is_sampled = window.wanted.record == recording::sampled;
    if (is_sampled) set_estimates(made, *sum.samples);  // rounded once, not once for each stack
    made.sites = sum.sites;
    show_stack(made, *sum.stack, file, sum.recorded_frames, window.wanted.stack_frames);
    return made;
}

inline void make_rows(list<snapshot::row>& rows, list<file_name>& names, name_book& book,
                      const live_window& window, const list<named_stack*>& stacks) {
    arena& scratch = window.scratch;
    table<by_bytes<row_key>, row_sum> sums{scratch};
    sums.reserve(stacks.size());
    sum_rows(sums, window, stacks);
    // Many rows are of one file, so each path is shortened once.
    table<const void*, std::size_t> numbers{scratch};  // for each path, its position in `files`
    list<text> files{scratch};
    for (const auto& sum : sums) {
        if (sum.key.path[0] == '\0') continue;
        const auto number = numbers.insert(sum.key.path);
        if (!number.is_new) continue;
        number.value = files.size();
        files.push_back(sum.key.path);
    }
    symbolize::shorten_paths(scratch, files);
    for (const auto& number : numbers) {
        names.push_back({static_cast<const char*>(number.key), book.keep(files[number.value])});
    }
    rows.reserve(sums.size());
    for (const auto& sum : sums) {
        const std::size_t* number = numbers.find(sum.key.path);
        const char* file = number != nullptr ? names[*number].file : sum.key.place;
        rows.push_back(row_of(sum.value, file, window));
    }
}

// --- the head ---

// Returns the finished block, with one reference. Needs no memory.
inline snapshot_data* finish_block(snapshot_block& block, const live_window& window,
                                   const char* not_recording) noexcept {
    constexpr auto loss_count = static_cast<std::uint32_t>(loss_reason::count);
    static_assert(2 * loss_count <= snapshot_block::most_losses, "a difference has two of each");
    static_assert(sizeof window.name == snapshot_block::name_bytes, "names are whole");
    snapshot::loss losses[loss_count];
    for (std::uint32_t i = 0; i < loss_count; ++i) {
        losses[i] = {words_of_losses[i].sentence, window.losses[i]};
    }
    snapshot::window_info info{};
    info.name = window.name;
    info.window = window.id;
    info.record = window.wanted.record;
    info.from = window.wanted.from;
    info.stack_frames = window.wanted.stack_frames;
    info.started_ns = window.started_ns;
    info.duration_ns = window.duration_ns;
    info.totals = window.totals.counts;
    info.own_memory_bytes = window.own_memory_bytes;
    info.uncertain_objects = window.doubt.objects;
    info.uncertain_bytes = window.doubt.bytes;
    info.losses = losses;
    info.loss_count = loss_count;
    info.not_recording = not_recording;
    info.process_id = static_cast<std::uint64_t>(::getpid());
    info.taken_unix_ns = window.taken_unix_ns;
    info.command = "";
    info.has_details = window.wanted.details;
    info.has_peak_details = window.has_peak_details;
    info.ages = window.ages.data();
    info.age_count = window.ages.size();
    if (info.record == recording::sampled) {
        info.sample_bytes = window.wanted.sample_bytes;
        info.samples = window.totals.births.samples;
        info.estimates = sampled_estimates(info.totals, window.totals.births, window.totals.deaths,
                                           info.sample_bytes);
    }
    return block.finish(info);
}

// --- families ---

inline void add_families_of(snapshot_block& block, const live_window& window) {
    list<snapshot::family> families{window.families.memory()};
    for (const family_sum& each : window.families) {
        const allocation_counts& counts = each.counts;
        families.push_back({process.tags.family_of(each.family), counts.allocations, counts.frees,
                            counts.bytes_allocated, counts.bytes_freed});
    }
    if (!families.empty()) block.add_families(families);
}

// --- all together ---

// The stacks of the window's sites, in the same order.
inline list<named_stack*> name_stacks(name_book& book, const live_window& window,
                                      const symbolize::frame_rule& rule) {
    book.refresh();
    book.forget_new();
    list<named_stack*> stacks{window.sites.memory()};  // the snapshot may keep them
    stacks.reserve(window.sites.size());
    for (std::size_t i = 0; i < window.sites.size(); ++i) {
        const live_site& site = window.sites[i];
        if (i + 8 < window.sites.size()) {
            book.expect(window.sites[i + 4].hash, window.sites[i + 8].hash);
        }
        stacks.push_back(&name_stack(book, stack_of(site, window.frames_of(site)), rule));
    }
    if (book.has_new()) {
        settle_types(book, window, stacks);
        book.rest();
    }
    return stacks;
}

// Finds the names of the window's sites and puts their rows into the block, which also has the
// memory of the sites. Throws std::bad_alloc; the names must then be dropped: see names_at_work.
inline void add_rows_of(snapshot_block& block, name_book& book, const live_window& window,
                        const symbolize::frame_rule& rule) {
    const list<named_stack*> stacks = name_stacks(book, window, rule);
    list<snapshot::row> rows{block.memory()};
    list<file_name> files{window.sites.memory()};
    make_rows(rows, files, book, window, stacks);
    snapshot::window_info info{};
    info.record = window.wanted.record;
    block.sort_rows(rows, info, window.scratch);
    add_families_of(block, window);
    hold_book(book);
    block.keep({&book, &let_go_of_book});
    if (info.record == recording::counters) return;
    block.set_stacks(
        &find_stacks_of_window,
        block.memory().make<kept_stacks>(kept_stacks{
            window.sites, stacks, window.gone, window.parts, window.details, window.frames, files,
            window.wanted.stack_frames, info.record == recording::sampled}));
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_NAMING_ROWS_OF_WINDOW_HPP
