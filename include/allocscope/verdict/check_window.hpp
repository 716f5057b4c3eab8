// check_window.hpp - judges a window: what was expected, what happened, and where.
//
// Room:     verdict (floor 11), not malloc-safe
// Called:   through the engine table, by measure/
// Threads:  any
// Memory:   the result's block; an arena during the check
//
// A check that passes reads only the counts. A check that fails names the stacks, writes the
// message and saves the evidence. All this is charged to no window.

#ifndef ALLOCSCOPE_VERDICT_CHECK_WINDOW_HPP
#define ALLOCSCOPE_VERDICT_CHECK_WINDOW_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/link/check_request.hpp>
#include <allocscope/naming/live_window.hpp>
#include <allocscope/naming/process_names.hpp>
#include <allocscope/naming/rows_of_window.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/check_data.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/verdict/check_block.hpp>
#include <allocscope/verdict/check_limits.hpp>
#include <allocscope/verdict/check_message.hpp>
#include <allocscope/verdict/expected_leaks.hpp>
#include <allocscope/verdict/leak_patterns.hpp>
#include <allocscope/windows/uncharged_work.hpp>
#include <allocscope/windows/window_control.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t
#include <cstring>  // memcpy

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// --- what the check has seen ---

struct seen_window {
    snapshot rows;
    allocation_counts counts;
    std::uint64_t objects = 0;  // in the rows: alive and not expected
    std::uint64_t bytes = 0;
    object_sum first_use;  // made by function-local statics; not in the rows
};

inline seen_window look_at(arena& scratch, const check_request& asked,
                           const leak_patterns& expected, evidence wanted) {
    snapshot_block block;
    if (!block.has_memory()) refuse_memory();
    live_window window{block.memory(), scratch};
    take_live_objects(window, asked.window, after_stats::go_on);
    if (wanted == evidence::allocated && window.wanted.record == recording::exact) {
        count_births_by_site(window);
    }
    seen_window seen;
    {
        names_at_work names;
        if (wanted == evidence::alive && asked.kind != check_kind::budget) {
            seen.first_use = drop_expected(names.book(), window, expected, asked);
        }
        if (!window.sites.empty()) add_own_memory(window);
        add_rows_of(block, names.book(), window, library_rule);
        seen.rows = snapshot{finish_block(block, window, "")};
        names.done();
    }
    seen.counts = seen.rows.info().totals;
    const bool has_rows = window.wanted.record != recording::counters;
    seen.objects = has_rows ? seen.rows.live_objects() : seen.counts.live_objects();
    seen.bytes = has_rows ? seen.rows.live_bytes() : seen.counts.live_bytes();
    return seen;
}

inline const char* name_of_window(arena& memory, window_id id) {
    const control_lock lock;
    const open_window* window = find_window(id);
    return window != nullptr ? copy_of(memory, window->name).data() : "";
}

inline bool is_estimated(window_id id) noexcept {
    const control_lock lock;
    const open_window* window = find_window(id);
    return window != nullptr && window->wanted.record == recording::sampled;
}

// --- the verdict ---

// If the numbers pass but events are missing in them, the check fails.
inline check_data* passed_unless_lost(check_block& made, const char* name) {
    if (const std::uint64_t lost = made.counts().lost_events) {
        write_heading(made.message(), "check", name);
        write_count(made.message(), lost, "event was", "events were");
        made.message() << " not recorded, so nothing is certain; stats() tells why";
    }
    return made.finish();
}

// These objects have a line of their own, because they are in no row of leaks.
inline void write_first_use(text_out& out, const object_sum& first_use) {
    if (first_use.objects == 0) return;
    out << "\n  not counted: ";
    write_sums(out, first_use.objects, first_use.bytes);
    out << " of function-local statics, made at their first use";
}

// Completes a message that already has its headline.
inline check_data* failed(check_block& made, arena& scratch, const seen_window& seen, bool by_bytes,
                          const char* name, std::uint64_t least_objects = 0) {
    write_top_rows(made.message(), scratch, seen.rows, by_bytes, "", least_objects);
    write_first_use(made.message(), seen.first_use);
    made.keep_rows(seen.rows);
    made.save_evidence(name);
    return made.finish();
}

inline check_data* check_budget_of(arena& scratch, const check_request& asked, const char* name) {
    const bool is_open = asked.window != 0;
    const allocation_counts counts = is_open ? counts_now(asked.window) : asked.counts;
    check_block made{counts};
    list<broken_limit> broken{scratch};
    find_broken(broken, asked.limits, counts);
    if (broken.empty()) return passed_unless_lost(made, name);
    // Nothing but what is alive is known about a closed window.
    const evidence wanted = is_open ? broken[0].rows : evidence::alive;
    seen_window seen;
    if (is_open) {
        seen = look_at(scratch, asked, leak_patterns{scratch}, wanted);
        made.set_counts(seen.counts);
    } else {
        seen.rows = *asked.rows;
    }
    write_budget_headline(made.message(), broken, name, seen.rows, wanted);
    return failed(made, scratch, seen, broken[0].counts_bytes, name);
}

// Tells the result what is alive and not expected.
inline seen_window look_at_leaks(check_block& made, arena& scratch, const check_request& asked,
                                 const leak_patterns& expected) {
    seen_window seen = look_at(scratch, asked, expected, evidence::alive);
    made.set_counts(seen.counts);
    made.set_unexpected(seen.objects, seen.bytes);
    made.set_first_use(seen.first_use.objects, seen.first_use.bytes);
    return seen;
}

// Checks that what is alive and not expected is within the limits.
inline check_data* check_leaks_of(check_block& made, arena& scratch, const check_request& asked,
                                  const leak_patterns& expected, const char* name) {
    const allocation_counts& counts = made.counts();
    // Some of the live objects may be expected by name. So if a least is set, only the rows tell
    // whether it is reached.
    const bool wants_leaks = asked.limits.live_objects.least != 0;
    if (!wants_leaks && !has_leaked(asked, counts.live_objects(), counts.live_bytes())) {
        return passed_unless_lost(made, name);
    }
    const seen_window seen = look_at_leaks(made, scratch, asked, expected);
    // A user who requires a number of leaks may count objects of statics among them.
    if (!has_leaked(asked, seen.objects, seen.bytes) ||
        (wants_leaks && !has_leaked(asked, seen.objects + seen.first_use.objects,
                                    seen.bytes + seen.first_use.bytes))) {
        return passed_unless_lost(made, name);
    }
    write_leak_headline(made.message(), asked, name, seen.objects, seen.bytes);
    return failed(made, scratch, seen, seen.objects <= asked.limits.live_objects.most, name);
}

// Checks repeated runs. Before the last run it only finds out how much is alive and not expected.
// After the last run it checks that what each run added is within the limits.
inline check_data* check_runs_of(check_block& made, arena& scratch, const check_request& asked,
                                 const leak_patterns& expected, const char* name) {
    const bool is_one_run = asked.runs == 0;
    if (is_one_run && made.counts().live_objects() == 0) return made.finish();
    if (!is_one_run && !has_leaked(asked, asked.added_objects, asked.added_bytes)) {
        return passed_unless_lost(made, name);
    }
    const seen_window seen = look_at_leaks(made, scratch, asked, expected);
    if (is_one_run) return made.finish();
    write_leak_headline(made.message(), asked, name, seen.objects, seen.bytes);
    // What every run added are as many objects as there were runs.
    return failed(made, scratch, seen, asked.added_objects <= asked.limits.live_objects.most, name,
                  asked.runs);
}

inline check_data* check_what_is_alive(arena& scratch, const check_request& asked,
                                       const char* name) {
    leak_patterns expected{scratch};
    text_out problem{scratch};
    expected.read(asked.expected, problem);  // it was checked when the leak check was made
    const allocation_counts counts = counts_now(asked.window);
    check_block made{counts};
    made.set_unexpected(counts.live_objects(), counts.live_bytes());
    return asked.kind == check_kind::leaks ? check_leaks_of(made, scratch, asked, expected, name)
                                           : check_runs_of(made, scratch, asked, expected, name);
}

inline check_data* rows_of_allocated(arena& scratch, const check_request& asked) {
    const seen_window seen = look_at(scratch, asked, leak_patterns{scratch}, evidence::allocated);
    check_block made{seen.counts};
    made.keep_rows(seen.rows);
    return made.finish();
}

inline check_data* save_what_was_judged(arena& scratch, const check_request& asked) {
    check_block made{asked.counts};
    made.message() << asked.headline;
    seen_window seen;
    seen.rows = *asked.rows;
    return failed(made, scratch, seen, false, asked.name);
}

inline check_data* check_now(arena& scratch, const check_request& asked) {
    if (asked.kind == check_kind::judged) return save_what_was_judged(scratch, asked);
    const bool is_open = asked.window != 0;
    if (!is_open && !has_totals(asked.rows->info())) return shared_check(check_without_window);
    const char* name = is_open ? name_of_window(scratch, asked.window) : asked.rows->info().name;
    if (is_open ? is_estimated(asked.window) : asked.rows->info().record == recording::sampled) {
        check_block made{{}};
        write_heading(made.message(), "check", name);
        made.message() << "a sampled window has estimates only; open it with"
                          " recording::exact or recording::counters";
        return made.finish();
    }
    if (asked.kind == check_kind::allocated_rows) return rows_of_allocated(scratch, asked);
    if (asked.kind == check_kind::budget) return check_budget_of(scratch, asked, name);
    return check_what_is_alive(scratch, asked, name);
}

// Null if memory was refused.
inline check_data* engine_check(const check_request& asked) {
    const uncharged_work meanwhile;
    check_data* made = nullptr;
    is_done_with_memory([&] {
        arena scratch;
        made = check_now(scratch, asked);
    });
    if (asked.then == after_stats::end && asked.window != 0) {
        close_window_now(asked.window);
        put_names_away();
    }
    return made;
}

inline bool engine_check_expected_leaks(const char* lines, char* message, std::size_t room) {
    const uncharged_work meanwhile;
    message[0] = '\0';
    bool is_good = false;
    is_done_with_memory([&] {
        arena scratch;
        leak_patterns read{scratch};
        text_out problem{scratch};
        problem << "allocscope: ";
        is_good = read.read(lines, problem);
        if (is_good) return;
        const std::size_t length = problem.size() < room ? problem.size() : room - 1;
        std::memcpy(message, problem.view().data(), length);
        message[length] = '\0';
    });
    return is_good;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_VERDICT_CHECK_WINDOW_HPP
