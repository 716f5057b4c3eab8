// fault_sweep.hpp - keeps what became of a piece of code, one failing allocation after the other.
//
// Room:     verdict (floor 10), not malloc-safe
// Called:   through the engine table by measure/for_each_allocation_failing.hpp
// Threads:  one thread per sweep
// Memory:   two texts for each run

#ifndef ALLOCSCOPE_VERDICT_FAULT_SWEEP_HPP
#define ALLOCSCOPE_VERDICT_FAULT_SWEEP_HPP

#include <allocscope/naming/process_names.hpp>
#include <allocscope/snapshot/check_data.hpp>
#include <allocscope/snapshot/fault_run.hpp>
#include <allocscope/state/watches.hpp>
#include <allocscope/verdict/armed_faults.hpp>
#include <allocscope/verdict/check_message.hpp>
#include <allocscope/verdict/check_window.hpp>
#include <allocscope/verdict/guard_violation.hpp>
#include <allocscope/windows/uncharged_work.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t, uintptr_t
#include <deque>    // deque
#include <memory>   // unique_ptr
#include <new>      // bad_alloc
#include <string>   // string, to_string
#include <vector>   // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr std::size_t message_runs = 3;

struct sweep_block {
    sweep_data data;
    std::string name;
    std::vector<fault_run> runs;
    std::deque<std::string> texts;  // stay where they are
    std::string problems;           // of the first bad runs
    snapshot rows;                  // what the first run left that left something

    const char* keep(std::string text) {
        if (text.empty()) return "";
        texts.push_back(std::move(text));
        return texts.back().c_str();
    }
};

inline sweep_block& block_of(sweep_data* data) noexcept {
    return *reinterpret_cast<sweep_block*>(data);
}

inline void release_sweep(sweep_data* data) {
    const uncharged_work meanwhile;
    if (data->verdict != nullptr) drop_check(data->verdict);
    delete &block_of(data);
}

inline sweep_data* engine_begin_sweep(const char* name) {
    const uncharged_work meanwhile;
#if !ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    try {
#endif
        auto* made = new sweep_block{};
        made->data.references = 1;
        made->data.release = &release_sweep;
        made->name = name;
        return &made->data;
#if !ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
#endif
}

// Where the plan's first allocation failed.
inline std::string failed_at(const armed_plan& plan, const char* name) {
    const std::uint32_t count = plan.frame_count.load(std::memory_order_acquire);
    if (count == 0 || count > most_fault_frames) return "";
    std::uintptr_t frames[most_fault_frames];
    for (std::uint32_t i = 0; i < count; ++i) {
        frames[i] = plan.frames[i].load(std::memory_order_relaxed);
    }
    return row_place(snapshot_of_event(name, {}, 0, frames, count)[0]);
}

inline std::string problem_of(const fault_run& run, const snapshot& left) {
    std::string text = "\n  ";
    if (run.nth == 0) {
        text += "without any failure";
    } else {
        text += "allocation " + std::to_string(run.nth) + " failed";
        if (run.site[0] != '\0') text += std::string{" at "} + run.site;
    }
    if (run.outcome == fault_outcome::threw_other) {
        text += ": another exception than std::bad_alloc came out";
        if (run.detail[0] != '\0') text += " (" + shown(run.detail) + ')';
    }
    if (run.leaked_objects == 0) return text;
    text += ": " + counted(run.leaked_objects, "object", "objects") + " with " +
            counted(run.leaked_bytes, "byte", "bytes") + " left alive";
    std::string places = top_rows(left, false, library_rule);
    for (std::size_t at = 0; (at = places.find('\n', at)) != std::string::npos; at += 3) {
        places.insert(at + 1, "  ");
    }
    return text + places;
}

inline void add_run(sweep_block& sweep, const sweep_request& asked) {
    check_request leaks;
    leaks.kind = check_kind::leaks;
    leaks.window = asked.window;
    leaks.expected = asked.expected;
    leak_patterns expected;
    expected.read(asked.expected);
    fault_run run{};
    seen_window seen;
    if (counts_now(asked.window).live_objects() != 0) {
        seen = look_at(leaks, expected, evidence::alive);
        run.leaked_objects = seen.objects;
        run.leaked_bytes = seen.bytes;
    }
    const armed_plan& plan = plan_of(asked.plan);
    run.nth = plan.failed.load(std::memory_order_relaxed) != 0 ? asked.nth : 0;
    run.outcome = asked.outcome;
    run.site = run.nth != 0 ? sweep.keep(failed_at(plan, sweep.name.c_str())) : "";
    run.detail = sweep.keep(asked.detail);
    sweep.runs.push_back(run);
    if (run.is_good()) return;
    if (sweep.data.bad_runs++ < message_runs) sweep.problems += problem_of(run, seen.rows);
    if (sweep.rows.empty()) sweep.rows = seen.rows;
}

// False: no memory to note the run.
inline bool engine_add_sweep_run(sweep_data* to, const sweep_request& asked) {
    const uncharged_work meanwhile;
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    add_run(block_of(to), asked);
#else
    try {
        add_run(block_of(to), asked);
    } catch (const std::bad_alloc&) {
        return false;
    }
#endif
    return true;
}

inline check_data* verdict_of(sweep_block& sweep, bool gave_up) {
    std::unique_ptr<check_block> made = new_check({});
    const std::uint64_t bad = sweep.data.bad_runs;
    const std::size_t runs = sweep.runs.size();
    if (bad == 0 && !gave_up) return &made.release()->data;
    std::string headline = "fault sweep" + quoted(sweep.name.c_str()) + ": ";
    if (bad != 0) {
        headline += "of " + counted(runs, "run", "runs") + " with one allocation failing each, " +
                    std::to_string(bad) + " went wrong";
        if (bad > message_runs) {
            sweep.problems += "\n  and " + counted(bad - message_runs, "more run", "more runs");
        }
    } else {
        headline += "not finished";
    }
    if (gave_up) {
        sweep.problems += "\n  given up after " + counted(runs, "run", "runs") +
                          ": the code allocates more often, or memory was refused; raise"
                          " sweep_options::most_runs or sweep a smaller piece";
    }
    fail_with(*made, headline, sweep.name.c_str(), sweep.rows, sweep.problems);
    return &made.release()->data;
}

inline void engine_end_sweep(sweep_data* data, bool gave_up) {
    const uncharged_work meanwhile;
    sweep_block& sweep = block_of(data);
    data->runs = sweep.runs.data();
    data->run_count = sweep.runs.size();
    data->verdict = shared_check(check_without_memory);
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    data->verdict = verdict_of(sweep, gave_up);
#else
    try {
        data->verdict = verdict_of(sweep, gave_up);
    } catch (const std::bad_alloc&) {  // the verdict says it
    }
#endif
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_VERDICT_FAULT_SWEEP_HPP
