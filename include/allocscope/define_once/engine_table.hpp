// engine_table.hpp - the functions behind engine.hpp.
//
// Room:     define_once (floor 12), malloc-safe
// Called:   through the engine table, from every module of the process
// Threads:  any
// Memory:   an arena for each question; the name book of naming/process_names.hpp

#ifndef ALLOCSCOPE_DEFINE_ONCE_ENGINE_TABLE_HPP
#define ALLOCSCOPE_DEFINE_ONCE_ENGINE_TABLE_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/link/engine.hpp>
#include <allocscope/naming/live_window.hpp>
#include <allocscope/naming/name_book.hpp>
#include <allocscope/naming/process_names.hpp>
#include <allocscope/naming/rows_of_window.hpp>
#include <allocscope/record/pool_recorder.hpp>
#include <allocscope/snapshot/snapshot_block.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/verdict/armed_faults.hpp>
#include <allocscope/verdict/check_window.hpp>
#include <allocscope/verdict/evidence_file.hpp>
#include <allocscope/verdict/fault_sweep.hpp>
#include <allocscope/verdict/guard_violation.hpp>
#include <allocscope/windows/age_marking.hpp>
#include <allocscope/windows/uncharged_work.hpp>
#include <allocscope/windows/window_control.hpp>

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// The window of start(); 0: not started. It is changed under the naming lock, together with the
// snapshot below: who sees the 0 of stop() also sees its snapshot.
ALLOCSCOPE_HIDDEN inline atomic<window_id> process_window{0};

// Naming lock. The snapshot that stop() returned, until the next start().
ALLOCSCOPE_HIDDEN inline snapshot_data* last_of_process = nullptr;

// Unless another thread has been faster, `now` takes the place of `before`, and `kept` that of the
// last snapshot. Takes over one reference to `kept` if it returns true.
inline bool change_process_window(window_id before, window_id now, snapshot_data* kept) noexcept {
    snapshot_data* last = nullptr;
    {
        const naming_lock lock;
        if (process_window.load(memory_order::relaxed) != before) return false;
        process_window.store(now, memory_order::release);
        last = last_of_process;
        last_of_process = kept;
    }
    drop_reference(last);
    return true;
}

// Returns the window of start(). If there is none, `last` is what stop() returned, with a reference
// of its own, or null before the first start().
inline window_id window_of_process(snapshot_data*& last) noexcept {
    const naming_lock lock;
    const window_id id = process_window.load(memory_order::relaxed);
    if (id != 0) return id;
    add_reference(last_of_process);
    last = last_of_process;
    return 0;
}

ALLOCSCOPE_INLINE bool is_open(window_id id) noexcept {
    const control_lock lock;
    return find_window(id) != nullptr;
}

// Returns null when there is no such window. Without memory for the rows, the snapshot has the
// numbers.
inline snapshot_data* snapshot_of_window(window_id id, after_stats then) {
    // Allocated first, so that the totals survive if naming runs out of memory.
    snapshot_block block;
    if (!block.has_memory()) {
        return is_open(id) ? const_cast<snapshot_data*>(&snapshot_without_memory) : nullptr;
    }
    arena scratch;
    live_window window{block.memory(), scratch};
    const bool has_rows = is_done_with_memory([&] {
        take_live_objects(window, id, then);
        if (!window.exists) return;
        names_at_work names;
        add_rows_of(block, names.book(), window, library_rule);
        names.done();
    });
    if (!window.exists) return nullptr;
    add_own_memory(window);
    return finish_block(block, window, has_rows ? "" : snapshot_without_memory.info.not_recording);
}

// --- the table ---

// After attach_hooks(), hooks the modules that were loaded since; their calls are seen from now on.
// Only this is not charged: a signal handler that allocates while a window opens is, as always.
inline void look_for_modules_if_attached() noexcept {
    auto* const look = process.look_for_modules.load(memory_order::acquire);
    if (look == nullptr) return;
    const uncharged_work meanwhile;
    look();
}

inline window_id engine_open_window(const char* name, const options& wanted) {
    prepared_state();
    look_for_modules_if_attached();
    return open_window_now(name, wanted);
}

inline void engine_close_window(window_id id) {
    close_window_now(id);
    if (process.entry.word() != 0) return;
    const uncharged_work meanwhile;
    put_names_away();
}

inline allocation_counts engine_counts(window_id id) {
    return counts_now(id);
}

inline void engine_mark_age(window_id id) {
    mark_age_now(id);
}

inline void end_window(window_id id) noexcept {
    close_window_now(id);
    put_names_away();
}

// Returns null when there is no such window. Without memory for the rows, the snapshot has only
// numbers and says so. Without memory even for that, the snapshot only says so, and the window
// forgets nothing.
inline snapshot_data* engine_stats(window_id id, after_stats then) {
    const uncharged_work meanwhile;
    look_for_modules_if_attached();
    if (then == after_stats::go_on) mark_age_at_reading(id);
    snapshot_data* made = snapshot_of_window(id, then);
    if (then == after_stats::end) end_window(id);
    return made;
}

inline void engine_start(const options& wanted) {
    if (process_window.load(memory_order::acquire) != 0) return;
    const window_id opened = engine_open_window("start", wanted);
    const uncharged_work meanwhile;
    if (!change_process_window(0, opened, nullptr)) close_window_now(opened);
}

// Ends the window of start(). Returns null when another thread has ended it.
inline snapshot_data* stop_process_window(window_id id) {
    const uncharged_work meanwhile;
    look_for_modules_if_attached();
    snapshot_data* made = snapshot_of_window(id, after_stats::end);
    if (made == nullptr) return nullptr;
    add_reference(made);
    if (!change_process_window(id, 0, made)) {
        drop_reference(made);
        drop_reference(made);
        return nullptr;
    }
    end_window(id);
    return made;
}

// The window may be stopped, and even another one started, between the look and the question.
inline snapshot_data* engine_process_stats(after_stats then) {
    for (;;) {
        snapshot_data* last = nullptr;
        const window_id id = window_of_process(last);
        if (id == 0) return last;
        snapshot_data* made =
            then == after_stats::end ? stop_process_window(id) : engine_stats(id, then);
        if (made != nullptr) return made;
    }
}

// A pause also keeps what happens meanwhile from the guards around it.
inline void engine_pause(int change) {
    own_watches.allow_depth += static_cast<std::uint32_t>(change);
    pause_now(change);
}

inline const char* engine_library_frames(const char* pattern) {
    return library_rule.add(pattern);
}

constexpr engine make_engine_table() noexcept {
    engine table{};
    table.abi_version = ALLOCSCOPE_ABI_VERSION;
    table.size_bytes = sizeof(engine);
    table.open_window = &engine_open_window;
    table.close_window = &engine_close_window;
    table.counts = &engine_counts;
    table.mark_age = &engine_mark_age;
    table.stats = &engine_stats;
    table.start = &engine_start;
    table.process_stats = &engine_process_stats;
    table.pause = &engine_pause;
    table.library_frames = &engine_library_frames;
    table.judge = &engine_check;
    table.check_expected_leaks = &engine_check_expected_leaks;
    table.save_evidence = &save_evidence_file;
    table.arm_guard = &engine_arm_guard;
    table.look_at_guard = &engine_look_at_guard;
    table.allow = &engine_allow;
    table.arm_plan = &engine_arm_plan;
    table.state_of_plan = &engine_plan_state;
    table.disarm_plan = &engine_disarm_plan;
    table.begin_sweep = &engine_begin_sweep;
    table.add_sweep_run = &engine_add_sweep_run;
    table.end_sweep = &engine_end_sweep;
    table.gate_to_keep = &engine_gate_to_keep;
    table.report_birth = &engine_report_birth;
    table.report_death = &engine_report_death;
    table.report_resize = &engine_report_resize;
    return table;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_DEFINE_ONCE_ENGINE_TABLE_HPP
