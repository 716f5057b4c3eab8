// cohort_lookup.hpp - finds the cohort of a new object when the memo does not know it.
//
// Room:     record (floor 5), malloc-safe
// Called:   for the first allocation of a thread from a stack after a boundary, and whenever the
//           stack differs from the one that the memo has for the same frame and caller
// Threads:  each for its own state; shared tables are lock-free
// Memory:   makes sites, cohorts and epochs in the arena
//
//     chain memo -> the stack: collected where the memo says, -> site table  -> the thread's cohort
//     (hit: done)   or walked when that may be wrong             of the process   of the site
//
// A stack collected from the remembered places is correct in two cases: this thread has met its
// site in the same shape before, or the unwind rules of the new return addresses lead to the same
// places. In all other cases the stack is walked.

#ifndef ALLOCSCOPE_RECORD_COHORT_LOOKUP_HPP
#define ALLOCSCOPE_RECORD_COHORT_LOOKUP_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/platform/stack_bounds.hpp>
#include <allocscope/state/epoch.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/state/thread_state.hpp>
#include <allocscope/tables/allocation_tags.hpp>
#include <allocscope/tables/cohort_of_site.hpp>
#include <allocscope/tables/cohort_table.hpp>
#include <allocscope/tables/live_object_map.hpp>
#include <allocscope/tables/site_table.hpp>
#include <allocscope/unwind/chain_memo.hpp>
#include <allocscope/unwind/stack_walk.hpp>

#include <cstdint>  // uint32_t, uintptr_t

ALLOCSCOPE_HOT_BEGIN

namespace detail {

constexpr std::uint32_t no_cohort = 0;

// An epoch object to fill: a reclaimed one if there is one, otherwise a new one.
ALLOCSCOPE_SLOW_PATH epoch* make_epoch(thread_state& thread) noexcept {
    epoch* made = thread.returned_epochs.load(memory_order::acquire);
    while (made != nullptr &&
           !thread.returned_epochs.compare_exchange_weak(
               made, made->older.load(memory_order::relaxed), memory_order::acq_rel)) {
    }
    if (made == nullptr) made = static_cast<epoch*>(process.arena.allocate(sizeof(epoch)));
    return made;
}

inline std::uint32_t new_epoch_serial() noexcept {
    std::uint32_t serial;
    do {
        serial = process.last_epoch_serial.fetch_add(1, memory_order::relaxed) + 1;
    } while (serial == 0 || serial == no_epoch);
    return serial;
}

// The epoch of the thread's present view; null when there is no memory.
inline epoch* present_epoch(thread_state& thread) noexcept {
    epoch* newest = thread.newest_epoch.load(memory_order::relaxed);
    if (thread.is_epoch_current) return newest;
    epoch* fresh = make_epoch(thread);
    if (fresh == nullptr) return nullptr;
    fresh->began_at.store(thread.clock.load(memory_order::relaxed), memory_order::relaxed);
    fresh->instance.store(thread.instance.load(memory_order::relaxed), memory_order::relaxed);
    fresh->windows.store(thread.windows, memory_order::relaxed);
    fresh->serial.store(new_epoch_serial(), memory_order::relaxed);
    fresh->cohorts.store(0, memory_order::relaxed);
    fresh->sample_bytes.store(thread.sample_bytes, memory_order::relaxed);
    fresh->older.store(newest, memory_order::relaxed);
    // Release: a reader that finds the epoch sees all its fields.
    thread.newest_epoch.store(fresh, memory_order::release);
    thread.epoch_serial = fresh->serial.load(memory_order::relaxed);
    thread.is_epoch_current = true;
    return fresh;
}

// Returns an unused cohort of this thread that has `parts` parts, or no_cohort when there is no
// room. Cohorts with details have pages of their own, and no thread has a chunk of foreign deaths
// for such a page: see count_death().
ALLOCSCOPE_SLOW_PATH std::uint32_t take_cohort(thread_state& thread, std::uint32_t parts) noexcept {
    const bool has_details = parts == detailed_cohort_parts;
    auto& returned = has_details  ? thread.returned_detailed
                     : parts == 1 ? thread.returned_cohorts
                                  : thread.returned_sampled;
    std::uint32_t id = returned.load(memory_order::acquire);
    while (id != no_cohort &&
           !returned.compare_exchange_weak(
               id, process.cohorts.by_id(id)->facts().next.load(memory_order::relaxed),
               memory_order::acq_rel)) {
    }
    if (id != no_cohort) return id;
    std::uint32_t& next = has_details ? thread.next_detailed : thread.next_cohort;
    next = (next + parts - 1) & ~(parts - 1);
    // Nothing else says where the page ends: a signal handler may jump away between two stores.
    if (next == 0 || next % cohort_table::page_ids == cohort_table::page_cohorts) {
        const std::uint32_t first = process.cohorts.add_page();
        if (first == 0) return no_cohort;
        next = first;
    }
    id = next;
    next += parts;
    return id;
}

ALLOCSCOPE_FAST_PATH void begin_sampled_part(sampled_part& part,
                                             std::uint64_t sample_bytes) noexcept {
    sampled_part::sums* const both[] = {&part.births, &part.deaths};
    for (sampled_part::sums* sums : both) {
        sums->objects.store(0, memory_order::relaxed);
        sums->objects_variance.store(0, memory_order::relaxed);
        sums->bytes_variance.store(0, memory_order::relaxed);
        sums->objects_skew.store(0, memory_order::relaxed);
        sums->bytes_skew.store(0, memory_order::relaxed);
    }
    part.sample_bytes.store(sample_bytes, memory_order::relaxed);
}

ALLOCSCOPE_FAST_PATH void begin_detailed_part(detailed_part& part, const epoch& of) noexcept {
    part.birth_times.clear();
    part.death_times.clear();
    part.temporary.set(0);
    for (owned_counter& each : part.sizes) each.set(0);
    part.kept = kept_at_peak::of(0, 0, 0);
    const followed_peaks& followed = process.followed;
    const std::uint64_t number = followed.number.load(memory_order::acquire);
    const std::uint64_t instance = followed.instance.load(memory_order::relaxed);
    const bool is_followed =
        of.began_at.load(memory_order::relaxed) >= followed.opened_at.load(memory_order::relaxed) &&
        (instance == every_thread || instance == of.instance.load(memory_order::relaxed));
    part.followed.store(is_followed ? number : 0, memory_order::relaxed);
}

// Makes a cohort of the present epoch for a site.
ALLOCSCOPE_SLOW_PATH std::uint32_t make_cohort(thread_state& thread, std::uint32_t site) noexcept {
    epoch* now = present_epoch(thread);
    if (now == nullptr) return no_cohort;
    const std::uint64_t sample_bytes = now->sample_bytes.load(memory_order::relaxed);
    const bool has_details = thread.mode == charge::details;
    const std::uint32_t id = take_cohort(thread, sample_bytes != 0 ? sampled_cohort_parts
                                                 : has_details     ? detailed_cohort_parts
                                                                   : 1);
    if (id == no_cohort) return no_cohort;
    std::uint32_t owner = thread.number;
    if (has_details) {
        begin_detailed_part(*process.cohorts.detailed_part_of(id), *now);
        owner |= detailed_owner;
    } else if (sample_bytes != 0) {
        begin_sampled_part(*process.cohorts.sampled_part_of(id), sample_bytes);
        owner |= sampled_owner;
    }
    cohort& made = *process.cohorts.by_id(id);
    made.births.clear();
    made.deaths.clear();
    cohort_facts& facts = made.facts();
    facts.born_at.store(now->began_at.load(memory_order::relaxed), memory_order::relaxed);
    facts.windows.store(now->windows.load(memory_order::relaxed), memory_order::relaxed);
    facts.owner.store(owner, memory_order::relaxed);
    facts.instance.store(static_cast<std::uint32_t>(now->instance.load(memory_order::relaxed)),
                         memory_order::relaxed);
    facts.site.store(site, memory_order::relaxed);
    facts.next.store(now->cohorts.load(memory_order::relaxed), memory_order::relaxed);
    now->cohorts.store(id, memory_order::release);
    thread.new_cohorts.add(1);
    return id;
}

// Stores in a remembered chain which cohort it stands for while the thread is in this epoch.
inline void settle_memo(const thread_state& thread, remembered_chain& memo,
                        std::uint32_t cohort) noexcept {
    memo.counters = process.cohorts.by_id(cohort);
    memo.record = live_object_map::record_head(thread.session, cohort);
    memo.epoch = thread.epoch_serial;
}

// The thread's entry for a site, with its cohort of the present epoch. Null when there is no room.
inline cohort_of_site::entry* entry_for_site(thread_state& thread, std::uint32_t site) noexcept {
    if (present_epoch(thread) == nullptr) return nullptr;
    cohort_of_site::entry* entry = thread.cohorts.find(process.arena, site);
    if (entry == nullptr) return nullptr;
    if (entry->epoch != thread.epoch_serial) {
        const std::uint32_t made = make_cohort(thread, site);
        if (made == no_cohort) return nullptr;
        entry->cohort = made;
        entry->epoch = thread.epoch_serial;
    }
    return entry;
}

// The cohort of the present epoch for objects with this tag and without a stack; no_cohort when
// there is no room.
ALLOCSCOPE_SLOW_PATH std::uint32_t cohort_of_tag(thread_state& thread, std::uint32_t tag) noexcept {
    if (tag == allocation_tags::operator_new) return make_cohort(thread, 0);
    const site* const tagged = process.sites.intern(process.arena, hash_finish(tag),
                                                    thread.scratch.return_addresses, 0, tag);
    const cohort_of_site::entry* const entry =
        tagged != nullptr ? entry_for_site(thread, tagged->id) : nullptr;
    return entry != nullptr ? entry->cohort : no_cohort;
}

ALLOCSCOPE_SLOW_PATH bool settle_plain_place(thread_state& thread, std::uint32_t tag) noexcept {
    plain_place& place = thread.plain[tag];
    if (place.cohort_id != no_cohort) return true;
    const std::uint32_t id = cohort_of_tag(thread, tag);
    if (id == no_cohort) return false;
    place.record = live_object_map::record_head(thread.session, id);
    place.cohort_id = id;
    return true;
}

// The cohort for objects without a stack that belong to one of the two families with hooks. Where
// the windows want only numbers, both families are settled, and from then on the view of the thread
// is straight.
ALLOCSCOPE_SLOW_PATH std::uint32_t plain_cohort(thread_state& thread, std::uint32_t tag) noexcept {
    settle_plain_place(thread, tag);
    if (thread.mode == charge::numbers &&
        settle_plain_place(thread, allocation_tags::operator_new) &&
        (!process.tags.has_malloc_family() ||
         settle_plain_place(thread, allocation_tags::malloc_family))) {
        for (plain_place& each : thread.plain)
            each.counters = process.cohorts.by_id(each.cohort_id);
        thread.straight_view = thread.view_number;
    }
    return thread.plain[tag].cohort_id;
}

// The cohort for objects with this tag whose stack is not wanted or not known.
ALLOCSCOPE_SLOW_PATH std::uint32_t cohort_without_stack(thread_state& thread,
                                                        std::uint32_t tag) noexcept {
    if (tag <= allocation_tags::malloc_family) return plain_cohort(thread, tag);
    if (thread.tagged_cohort_tag == tag && thread.tagged_cohort_epoch == thread.epoch_serial &&
        thread.epoch_serial != no_epoch) {
        return thread.tagged_cohort;
    }
    const std::uint32_t id = cohort_of_tag(thread, tag);
    if (id == no_cohort) return plain_cohort(thread, allocation_tags::operator_new);
    // A signal handler may jump out of this code. The epoch is invalid meanwhile, so that a
    // half-written entry is never used.
    thread.tagged_cohort_epoch = no_epoch;
    compiler_barrier();
    thread.tagged_cohort = id;
    thread.tagged_cohort_tag = tag;
    compiler_barrier();
    thread.tagged_cohort_epoch = thread.epoch_serial;
    return id;
}

// Like cohort_without_stack(), for a thread whose stacks are wanted: the object is counted, but its
// place is not known. That is counted as a loss.
ALLOCSCOPE_SLOW_PATH std::uint32_t unplaced_cohort(thread_state& thread,
                                                   std::uint32_t tag) noexcept {
    const std::uint32_t id = cohort_without_stack(thread, tag);
    if (id != no_cohort) thread.lose(loss_reason::no_room_for_site);
    return id;
}

// The cohort of a site. The memo, if there is one, remembers this cohort for its chain.
inline std::uint32_t cohort_at_site(thread_state& thread, const site& found,
                                    remembered_chain* memo) noexcept {
    cohort_of_site::entry* entry = thread.cohorts.existing(found.id);
    if (entry == nullptr || entry->epoch != thread.epoch_serial) {
        entry = entry_for_site(thread, found.id);
        if (entry == nullptr) return unplaced_cohort(thread, found.tag);
    }
    if (memo != nullptr) {
        thread.cohorts.meet(*entry, found);
        entry->shape = memo->frame != 0 ? memo->shape : 0;
        memo->site = &found;
        settle_memo(thread, *memo, entry->cohort);
        if (memo->shape == 0) memo->epoch = 0;  // find_cohort() then checks the modules each time
    }
    return entry->cohort;
}

// Like cohort_at_site(), for the stack in `scratch`.
inline std::uint32_t cohort_of_stack(thread_state& thread, std::uint64_t hash,
                                     std::uint32_t frame_count, std::uint32_t tag,
                                     remembered_chain* memo) noexcept {
    const site* const found = process.sites.intern(
        process.arena, hash, thread.scratch.return_addresses, frame_count, tag);
    return found != nullptr ? cohort_at_site(thread, *found, memo) : unplaced_cohort(thread, tag);
}

inline void walk_into_scratch(thread_state& thread, const stack_bounds& bounds,
                              std::uintptr_t frame) noexcept {
    walked_stack& stack = thread.scratch;
    stack_walk{bounds, thread.rules, stack, thread.method}.run(frame, thread.frames,
                                                               unoptimised_frames(thread.frames));
    visit_modules_that_may_go(stack, note_module);
}

// Walks a stack within the thread's own bounds and returns its cohort. The memo remembers the
// stack.
ALLOCSCOPE_NOINLINE std::uint32_t find_by_walk(thread_state& thread, remembered_chain& memo,
                                               std::uintptr_t frame, std::uint32_t tag) noexcept {
    walk_into_scratch(thread, thread.bounds, frame);
    if (thread.scratch.frame_count > thread.frames && !thread.has_unoptimised_stacks) {
        thread.has_unoptimised_stacks = true;
        thread.forget_view();  // the next event then makes room for such chains
    }
    thread.memo.remember(memo, frame, thread.scratch);
    const std::uint64_t hash = stack_hash(memo.sum);
    const site* const known = thread.cohorts.known(
        process.sites, hash, thread.scratch.return_addresses, memo.frame_count, tag);
    return known != nullptr ? cohort_at_site(thread, *known, &memo)
                            : cohort_of_stack(thread, hash, memo.frame_count, tag, &memo);
}

// The cohort of a stack within the thread's own bounds that differs from the one in its memo. This
// form is for hooks that allocate often; each of them passes its tag as a constant.
template <std::uint32_t Tag>
ALLOCSCOPE_NOINLINE std::uint32_t find_changed(thread_state& thread, remembered_chain& memo,
                                               std::uintptr_t frame) noexcept {
    if (chain_memo::collect(memo, frame, thread.scratch.return_addresses)) {
        const std::uint64_t hash = stack_hash(memo.sum);
        const site* const known = thread.cohorts.known(
            process.sites, hash, thread.scratch.return_addresses, memo.frame_count, Tag);
        cohort_of_site::entry* const entry =
            known != nullptr ? thread.cohorts.existing(known->id) : nullptr;
        if (ALLOCSCOPE_LIKELY(entry != nullptr && entry->shape == memo.shape &&
                              entry->epoch == thread.epoch_serial)) {
            chain_memo::end_change(memo, frame);
            thread.cohorts.meet(*entry, *known);
            memo.site = known;
            settle_memo(thread, memo, entry->cohort);
            return entry->cohort;
        }
        if (chain_memo::leads_as_before(memo, thread.rules, thread.scratch.return_addresses)) {
            chain_memo::end_change(memo, frame);
            return known != nullptr ? cohort_at_site(thread, *known, &memo)
                                    : cohort_of_stack(thread, hash, memo.frame_count, Tag, &memo);
        }
    }
    return find_by_walk(thread, memo, frame, Tag);
}

// The cohort of a stack that has not changed since the memo remembered it; otherwise no_cohort. For
// hooks that are not on the straight path.
inline std::uint32_t remembered_cohort(thread_state& thread, std::uintptr_t frame,
                                       std::uint32_t tag) noexcept {
    if (!thread.memo.is_ready() || !thread.bounds.contains(frame)) return no_cohort;
    const remembered_chain& memo =
        *thread.memo.entry_for(frame, read_stack_word(frame + sizeof(std::uintptr_t)));
    const auto* const known = static_cast<const site*>(memo.site);
    const bool is_known = known != nullptr && known->tag == tag &&
                          memo.epoch == thread.epoch_serial &&
                          chain_memo::is_unchanged(memo, frame);
    return is_known ? live_object_map::cohort_of(memo.record) : no_cohort;
}

inline bool prepare_caches(thread_state& thread) noexcept {
    return thread.memo.is_ready() || thread.prepare_memo();
}

// Returns the cohort of an allocation whose hook has its frame at `frame`. If the memo has a
// different stack for this frame and caller, sets `changed` to that memo and returns no_cohort.
ALLOCSCOPE_NOINLINE std::uint32_t cohort_or_memo(thread_state& thread, std::uintptr_t frame,
                                                 std::uint32_t tag,
                                                 remembered_chain*& changed) noexcept {
    if (!prepare_caches(thread)) return unplaced_cohort(thread, tag);
    if (ALLOCSCOPE_UNLIKELY(!thread.bounds.contains(frame))) {
        walk_into_scratch(thread, page_bounds(frame), frame);
        return cohort_of_stack(thread, stack_hash(thread.scratch.sum), thread.scratch.frame_count,
                               tag, nullptr);
    }
    const std::uintptr_t caller = read_stack_word(frame + sizeof(std::uintptr_t));
    remembered_chain* memo = thread.memo.entry_for(frame, caller);
    const auto* known = static_cast<const site*>(memo->site);
    if (known != nullptr && known->tag == tag && memo->epoch != thread.epoch_serial &&
        chain_memo::is_unchanged(*memo, frame) && (memo->shape != 0 || has_same_modules(*memo))) {
        const cohort_of_site::entry* const entry = entry_for_site(thread, known->id);
        if (entry == nullptr) return unplaced_cohort(thread, tag);
        if (memo->shape != 0) settle_memo(thread, *memo, entry->cohort);
        return entry->cohort;
    }
    changed = memo;
    return no_cohort;
}

// For hooks that allocate often. `Tag` is the family of the hook.
template <std::uint32_t Tag = allocation_tags::operator_new>
ALLOCSCOPE_FAST_PATH std::uint32_t find_cohort(thread_state& thread,
                                               std::uintptr_t frame) noexcept {
    remembered_chain* changed = nullptr;
    const std::uint32_t id = cohort_or_memo(thread, frame, Tag, changed);
    return changed == nullptr ? id : find_changed<Tag>(thread, *changed, frame);
}

// For all other hooks.
ALLOCSCOPE_FAST_PATH std::uint32_t find_cohort(thread_state& thread, std::uintptr_t frame,
                                               std::uint32_t tag) noexcept {
    remembered_chain* changed = nullptr;
    const std::uint32_t id = cohort_or_memo(thread, frame, tag, changed);
    return changed == nullptr ? id : find_by_walk(thread, *changed, frame, tag);
}

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_RECORD_COHORT_LOOKUP_HPP
