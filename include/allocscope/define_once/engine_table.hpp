// engine_table.hpp - the functions behind engine.hpp.
//
// Room:     define_once (floor 11), malloc-safe
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

// The window of start(); 0: not started. No lock guards it: if two threads start at the same time,
// the exchange decides.
ALLOCSCOPE_HIDDEN inline atomic<window_id> process_window{0};

// Naming lock. The snapshot that stop() returned, until the next start().
ALLOCSCOPE_HIDDEN inline snapshot_data* last_of_process = nullptr;

// Takes over one reference to `kept`.
inline void keep_last_of_process(snapshot_data* kept) noexcept {
    snapshot_data* before = nullptr;
    {
        const naming_lock lock;
        before = last_of_process;
        last_of_process = kept;
    }
    drop_reference(before);
}

// Returns null when no window of start() was ever stopped, or another thread is stopping it.
ALLOCSCOPE_INLINE snapshot_data* repeat_last_of_process() noexcept {
    const naming_lock lock;
    add_reference(last_of_process);
    return last_of_process;
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
ALLOCSCOPE_INLINE void look_for_modules_if_attached() noexcept {
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

// Returns null when there is no such window. Without memory for the rows, the snapshot has only
// numbers and says so. Without memory even for that, the snapshot only says so, and the window
// forgets nothing.
inline snapshot_data* engine_stats(window_id id, after_stats then) {
    const uncharged_work meanwhile;
    look_for_modules_if_attached();
    if (then == after_stats::go_on) mark_age_at_reading(id);
    snapshot_data* made = snapshot_of_window(id, then);
    if (then == after_stats::end) {
        close_window_now(id);
        put_names_away();
    }
    return made;
}

inline void engine_start(const options& wanted) {
    if (process_window.load(memory_order::acquire) != 0) return;
    const window_id opened = engine_open_window("start", wanted);
    window_id expected = 0;
    if (!process_window.compare_exchange_strong(expected, opened, memory_order::acq_rel)) {
        close_window_now(opened);  // another thread was faster
        return;
    }
    const uncharged_work meanwhile;
    keep_last_of_process(nullptr);
}

inline snapshot_data* engine_process_stats(after_stats then) {
    const window_id id = then == after_stats::end
                             ? process_window.exchange(0, memory_order::acq_rel)
                             : process_window.load(memory_order::acquire);
    snapshot_data* made = id != 0 ? engine_stats(id, then) : nullptr;
    if (made == nullptr) return repeat_last_of_process();
    if (then == after_stats::end) {
        const uncharged_work meanwhile;
        add_reference(made);
        keep_last_of_process(made);
    }
    return made;
}

inline void engine_pause(int change) {
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
