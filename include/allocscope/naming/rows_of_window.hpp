// rows_of_window.hpp - a window's stacks become the rows of a snapshot.
//
// Room:     naming (floor 9), not malloc-safe
// Called:   by the engine for stats()
// Threads:  one at a time, under the naming lock
// Memory:   one block for the snapshot; names stay in the name book the block refers to
//
//     live sites -> named stacks -> one row for each path:line:type -> sorted, paths shortened

#ifndef ALLOCSCOPE_NAMING_ROWS_OF_WINDOW_HPP
#define ALLOCSCOPE_NAMING_ROWS_OF_WINDOW_HPP

#include <allocscope/naming/name_book.hpp>
#include <allocscope/naming/named_block.hpp>
#include <allocscope/naming/take_snapshot.hpp>
#include <allocscope/platform/probe_memory.hpp>
#include <allocscope/snapshot/estimates.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/types/frame_rule.hpp>
#include <allocscope/types/shorten_paths.hpp>

#include <algorithm>      // sort
#include <cstddef>        // size_t
#include <cstdint>        // uint32_t, uint64_t, uintptr_t
#include <cstdlib>        // abort
#include <cstring>        // strcmp
#include <new>            // bad_alloc
#include <string>         // string
#include <unordered_map>  // unordered_map
#include <vector>         // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// --- types from live objects ---

// For each stack whose type is not known yet: looks at one live object of it. The objects are
// found by walking the live object map once; the object's memory may go meanwhile, so it is read
// through the kernel.
inline void settle_types(name_book& book, const live_window& window,
                         const std::vector<named_stack*>& stacks) {
    std::unordered_map<std::uint32_t, named_stack*> open;
    for (std::size_t i = 0; i < window.sites.size(); ++i) {
        if (window.sites[i].id != 0 && !stacks[i]->is_type_final) {
            open.emplace(window.sites[i].id, stacks[i]);
        }
    }
    if (open.empty()) return;
    std::vector<std::pair<named_stack*, std::uintptr_t>> samples;
    samples.reserve(open.size());  // the walk below may not throw
    {
        control_lock lock;
        const auto look_at = [&](const live_object& object) {
            const cohort& born = *process.cohorts.by_id(object.cohort);
            const auto wanted = open.find(born.facts().site.load(std::memory_order_relaxed));
            if (wanted == open.end() || object.bytes < sizeof(std::uintptr_t)) return true;
            samples.emplace_back(wanted->second, object.address);
            open.erase(wanted);
            return !open.empty();
        };
        process.objects.for_each(process.session, look_at);
        if (!open.empty()) process.samples.for_each(process.session, look_at);
    }
    for (const auto& [stack, address] : samples) {
        std::uintptr_t first_word = 0;
        if (probe_memory(address, &first_word, sizeof(first_word))) {
            book.settle_type(*stack, first_word);
        }
    }
}

// --- rows ---

// What distinguishes rows. The texts are the book's, where equal texts are one.
struct row_key {
    const char* path;
    const char* place;
    int line;
    std::uint64_t offset;
    const char* type;

    bool operator==(const row_key& other) const noexcept {
        return path == other.path && place == other.place && line == other.line &&
               offset == other.offset && type == other.type;
    }
};

struct row_key_hash {
    std::size_t operator()(const row_key& key) const noexcept {
        std::uint64_t hash = hash_seed;
        hash = hash_step(hash, reinterpret_cast<std::uintptr_t>(key.path));
        hash = hash_step(hash, reinterpret_cast<std::uintptr_t>(key.place));
        hash = hash_step(hash, static_cast<std::uint64_t>(key.line) ^ (key.offset << 20U));
        hash = hash_step(hash, reinterpret_cast<std::uintptr_t>(key.type));
        return hash_finish(hash);
    }
};

struct row_sum {
    const named_stack* stack;  // of the most numerous site
    std::uint64_t stack_objects;
    std::uint64_t objects;
    std::uint64_t bytes;
    std::uint64_t sites;
    sample_sums samples;
};

inline std::vector<row_sum> sum_rows(const live_window& window,
                                     const std::vector<named_stack*>& stacks) {
    std::unordered_map<row_key, std::size_t, row_key_hash> index;
    std::vector<row_sum> rows;
    for (std::size_t i = 0; i < window.sites.size(); ++i) {
        const named_stack& stack = *stacks[i];
        const live_site& site = window.sites[i];
        const row_key key{stack.path, stack.place, stack.line, stack.offset, stack.type};
        const auto [at, is_new] = index.emplace(key, rows.size());
        if (is_new) rows.push_back({&stack, 0, 0, 0, 0, {}});
        row_sum& row = rows[at->second];
        row.objects += site.objects;
        row.bytes += site.bytes;
        row.samples.add(site.samples);
        ++row.sites;
        if (site.objects > row.stack_objects) {
            row.stack_objects = site.objects;
            row.stack = &stack;
        }
    }
    return rows;
}

// Most objects first, then most bytes, then by place, so that equal rows have a fixed order.
inline bool comes_before(const row_sum& a, const row_sum& b) noexcept {
    if (a.objects != b.objects) return a.objects > b.objects;
    if (a.bytes != b.bytes) return a.bytes > b.bytes;
    if (const int order = std::strcmp(a.stack->path, b.stack->path); order != 0) return order < 0;
    if (a.stack->line != b.stack->line) return a.stack->line < b.stack->line;
    if (const int order = std::strcmp(a.stack->place, b.stack->place); order != 0) return order < 0;
    if (a.stack->offset != b.stack->offset) return a.stack->offset < b.stack->offset;
    return std::strcmp(a.stack->type, b.stack->type) < 0;
}

inline std::unordered_map<const char*, std::string> shortened(const std::vector<row_sum>& rows) {
    std::unordered_map<const char*, std::string> names;
    std::vector<std::string> paths;
    std::vector<const char*> keys;
    for (const row_sum& row : rows) {
        if (row.stack->path[0] == '\0' || !names.emplace(row.stack->path, "").second) continue;
        keys.push_back(row.stack->path);
        paths.emplace_back(row.stack->path);
    }
    std::vector<std::string> shorter = symbolize::shorten_paths(paths);
    for (std::size_t i = 0; i < keys.size(); ++i) names[keys[i]] = std::move(shorter[i]);
    return names;
}

// --- all together ---

[[noreturn]] inline void refuse_memory() {
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    std::abort();
#else
    throw std::bad_alloc();
#endif
}

inline std::vector<named_stack*> name_stacks(name_book& book, const live_window& window,
                                             const symbolize::frame_rule& rule) {
    book.refresh();
    book.forget_new();
    std::vector<named_stack*> stacks;
    stacks.reserve(window.sites.size());
    for (const live_site& site : window.sites) {
        named_stack& stack =
            book.find(site.hash, window.frames.data() + site.first_frame, site.frame_count, rule);
        if (site.frame_count == 0) stack.place = book.keep("(place not recorded)");
        stacks.push_back(&stack);
    }
    return stacks;
}

// A new reference, or std::bad_alloc; the names are then left to be dropped: see names_at_work.
inline snapshot_data* name_window(name_book& book, const live_window& window,
                                  const symbolize::frame_rule& rule) {
    const std::vector<named_stack*> stacks = name_stacks(book, window, rule);
    if (book.has_new()) {
        settle_types(book, window, stacks);
        book.rest();
    }
    std::vector<row_sum> rows = sum_rows(window, stacks);
    const bool is_sampled = window.wanted.record == recording::sampled;
    if (is_sampled) {  // rounded once, not once for each stack
        for (row_sum& row : rows) {
            row.objects = row.samples.objects_95().value;
            row.bytes = row.samples.bytes_95().value;
        }
    }
    std::sort(rows.begin(), rows.end(), comes_before);
    const auto names = shortened(rows);
    named_block block{rows.size()};
    if (!block.has_memory()) refuse_memory();
    for (const row_sum& row : rows) {
        const named_stack& stack = *row.stack;
        const bool has_path = stack.path[0] != '\0';
        snapshot::row made{};
        made.objects = row.objects;
        made.bytes = row.bytes;
        set_exact(made);
        if (is_sampled) set_estimates(made, row.samples);
        made.file = has_path ? book.keep(names.at(stack.path)) : stack.place;
        made.line = stack.line;
        made.type = stack.type;
        made.function = stack.function;
        made.offset = stack.offset;
        made.sites = row.sites;
        made.frames = stack.frames.data();
        made.frame_count = stack.frames.size();
        made.user_frame = stack.user_frame;
        block.add(made);
    }
    return block.take(&book, window, "");
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_NAMING_ROWS_OF_WINDOW_HPP
