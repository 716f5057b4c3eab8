// fault_sweep.hpp - keeps the results of runs in each of which one allocation fails.
//
// Room:     verdict (floor 11), not malloc-safe
// Called:   through the engine table by measure/for_each_allocation_failing.hpp
// Threads:  one thread per sweep
// Memory:   its own block: two texts for each run

#ifndef ALLOCSCOPE_VERDICT_FAULT_SWEEP_HPP
#define ALLOCSCOPE_VERDICT_FAULT_SWEEP_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/check_data.hpp>
#include <allocscope/snapshot/fault_run.hpp>
#include <allocscope/state/watches.hpp>
#include <allocscope/verdict/armed_faults.hpp>
#include <allocscope/verdict/check_block.hpp>
#include <allocscope/verdict/check_message.hpp>
#include <allocscope/verdict/check_window.hpp>
#include <allocscope/verdict/guard_violation.hpp>
#include <allocscope/windows/uncharged_work.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t, uintptr_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

constexpr std::size_t message_runs = 3;

struct sweep_block {
    sweep_data data{};  // first: a pointer to it is a pointer to the block
    arena memory;       // where this block lies
    const char* name = "";
    list<fault_run> runs{memory};
    text_out problems{memory};  // of the first runs that were wrong
    std::uint64_t lost = 0;     // events of the runs that are in no number
    snapshot rows;              // what the first leaking run left alive
};

ALLOCSCOPE_INLINE sweep_block& block_of(sweep_data* data) noexcept {
    return *reinterpret_cast<sweep_block*>(data);
}

inline void release_sweep(sweep_data* data) {
    const uncharged_work meanwhile;
    if (data->verdict != nullptr) drop_check(data->verdict);
    sweep_block& block = block_of(data);
    block.rows = snapshot{};
    arena last;
    last.take(block.memory);  // this frees the block
}

// Null if memory was refused.
inline sweep_data* engine_begin_sweep(const char* name) {
    const uncharged_work meanwhile;
    sweep_data* begun = nullptr;
    is_done_with_memory([&] {
        arena memory;
        auto* made = memory.make<sweep_block>();
        made->name = copy_of(memory, name).data();
        made->memory.take(memory);
        made->data.references = 1;
        made->data.release = &release_sweep;
        begun = &made->data;
    });
    return begun;
}

// The place where the plan's first allocation failed; "" if it is not known.
inline const char* failed_at(sweep_block& sweep, arena& scratch, const armed_plan& plan) {
    const std::uint32_t count = plan.frame_count.load(memory_order::acquire);
    if (count == 0 || count > most_fault_frames) return "";
    std::uintptr_t frames[most_fault_frames];
    for (std::uint32_t i = 0; i < count; ++i) {
        frames[i] = plan.frames[i].load(memory_order::relaxed);
    }
    const snapshot rows = snapshot_of_event(scratch, sweep.name, {}, 0, frames, count);
    text_out place{sweep.memory};
    write_row_place(place, rows[0]);
    return place.c_str();
}

inline void write_problem(text_out& out, arena& scratch, const fault_run& run,
                          const snapshot& left) {
    out << "\n  ";
    if (run.nth == 0) {
        out << "without any failure";
    } else {
        out << "allocation " << decimal{run.nth} << " failed";
        if (run.site[0] != '\0') out << " at " << run.site;
    }
    if (run.outcome == fault_outcome::threw_other) {
        out << ": an exception other than std::bad_alloc came out";
        if (run.detail[0] != '\0') {
            out << " (";
            write_printable(out, run.detail);
            out << ')';
        }
    }
    if (run.leaked_objects == 0) return;
    out << ": ";
    write_sums(out, run.leaked_objects, run.leaked_bytes);
    out << " left alive";
    write_top_rows(out, scratch, left, false, "  ");
}

inline void add_run(sweep_block& sweep, const sweep_request& asked) {
    arena scratch;
    check_request leaks;
    leaks.kind = check_kind::leaks;
    leaks.window = asked.window;
    leaks.expected = asked.expected;
    leak_patterns expected{scratch};
    text_out problem{scratch};
    expected.read(asked.expected, problem);  // it was checked when the sweep began
    fault_run run{};
    seen_window seen;
    const allocation_counts counts = counts_now(asked.window);
    if (counts.live_objects() != 0) {
        seen = look_at(scratch, leaks, expected, evidence::alive);
        run.leaked_objects = seen.objects;
        run.leaked_bytes = seen.bytes;
    }
    sweep.lost += counts.lost_events;
    const armed_plan& plan = plan_of(asked.plan);
    run.nth = plan.failed.load(memory_order::relaxed) != 0 ? asked.nth : 0;
    run.outcome = asked.outcome;
    run.site = run.nth != 0 ? failed_at(sweep, scratch, plan) : "";
    run.detail = copy_of(sweep.memory, asked.detail).data();
    sweep.runs.push_back(run);
    if (run.is_good()) return;
    if (sweep.data.bad_runs++ < message_runs) {
        write_problem(sweep.problems, scratch, run, seen.rows);
    }
    if (sweep.rows.empty()) sweep.rows = seen.rows;
}

// False if there was no memory to note the run.
inline bool engine_add_sweep_run(sweep_data* to, const sweep_request& asked) {
    const uncharged_work meanwhile;
    return is_done_with_memory([&] { add_run(block_of(to), asked); });
}

inline check_data* verdict_of(sweep_block& sweep, bool gave_up) {
    check_block made{{}};
    const std::uint64_t bad = sweep.data.bad_runs;
    if (bad == 0 && !gave_up && sweep.lost == 0) return made.finish();
    text_out& message = made.message();
    write_heading(message, "fault sweep", sweep.name);
    if (bad != 0) {
        message << decimal{bad} << " of ";
        write_count(message, sweep.runs.size(), "run", "runs");
        message << " went wrong";
    } else {
        message << (gave_up ? "not finished" : "nothing is certain");
    }
    message << sweep.problems.view();
    if (bad > message_runs) {
        message << "\n  and ";
        write_count(message, bad - message_runs, "more run", "more runs");
    }
    if (sweep.lost != 0) {
        message << "\n  ";
        write_count(message, sweep.lost, "event was", "events were");
        message << " not recorded, so leaks may be missing here";
    }
    if (gave_up) {
        message << "\n  given up after ";
        write_count(message, sweep.runs.size(), "run", "runs");
        message << ": the code allocates more often, or memory was refused; raise"
                   " sweep_options::most_runs or sweep a smaller piece";
    }
    made.keep_rows(sweep.rows);
    made.save_evidence(sweep.name);
    return made.finish();
}

inline void engine_end_sweep(sweep_data* data, bool gave_up) {
    const uncharged_work meanwhile;
    sweep_block& sweep = block_of(data);
    data->runs = sweep.runs.data();
    data->run_count = sweep.runs.size();
    data->verdict = shared_check(check_without_memory);
    is_done_with_memory([&] { data->verdict = verdict_of(sweep, gave_up); });
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_VERDICT_FAULT_SWEEP_HPP
