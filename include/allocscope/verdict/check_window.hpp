// check_window.hpp - judges a window: what was expected, what happened, where.
//
// Room:     verdict (floor 10), not malloc-safe
// Called:   through the engine table, by measure/
// Threads:  any
// Memory:   one block for each result
//
// A check that passes reads the counts and no more. One that fails names the stacks, makes the
// message and saves the evidence, all charged to nobody.

#ifndef ALLOCSCOPE_VERDICT_CHECK_WINDOW_HPP
#define ALLOCSCOPE_VERDICT_CHECK_WINDOW_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/link/check_request.hpp>
#include <allocscope/naming/allocated_rows.hpp>
#include <allocscope/naming/name_book.hpp>
#include <allocscope/naming/named_block.hpp>
#include <allocscope/naming/process_names.hpp>
#include <allocscope/naming/rows_of_window.hpp>
#include <allocscope/naming/take_snapshot.hpp>
#include <allocscope/snapshot/check_data.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/verdict/check_message.hpp>
#include <allocscope/verdict/evidence_folder.hpp>
#include <allocscope/verdict/expected_beginnings.hpp>
#include <allocscope/verdict/leak_patterns.hpp>
#include <allocscope/windows/uncharged_work.hpp>
#include <allocscope/windows/window_control.hpp>

#include <algorithm>  // min
#include <cstddef>    // size_t
#include <cstdint>    // uint64_t
#include <memory>     // unique_ptr
#include <string>     // string, to_string
#include <vector>     // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The texts lie behind it.
struct check_block {
    check_data data;
    std::string message;
    std::string saved_to;
    snapshot rows;
};

inline void release_check(check_data* data) {
    const uncharged_work meanwhile;
    delete reinterpret_cast<check_block*>(data);
}

inline std::unique_ptr<check_block> new_check(const allocation_counts& counts) {
    auto made = std::make_unique<check_block>();
    made->data = {1, true, &release_check, "", "", counts, 0, 0, nullptr};
    return made;
}

// --- what is wrong ---

// Which rows tell most.
enum class evidence { alive, allocated };

// One limit that was broken.
struct broken_limit {
    const char* field = nullptr;  // null: none
    std::uint64_t seen = 0;
    count_range allowed;
    bool counts_bytes = false;
    evidence rows = evidence::allocated;
};

inline broken_limit first_broken(const check_limits& limits, const allocation_counts& counts) {
    const broken_limit all[] = {
        {"allocations", counts.allocations, limits.allocations, false, evidence::allocated},
        {"bytes", counts.bytes_allocated, limits.bytes, true, evidence::allocated},
        {"peak_bytes", counts.peak_bytes, limits.peak_bytes, true, evidence::allocated},
        {"live_objects", counts.live_objects(), limits.live_objects, false, evidence::alive},
        {"live_bytes", counts.live_bytes(), limits.live_bytes, true, evidence::alive},
    };
    for (const broken_limit& each : all) {
        if (each.seen < each.allowed.least || each.seen > each.allowed.most) return each;
    }
    return {};
}

inline std::string allowed_text(const count_range& allowed) {
    if (allowed.most == 0) return "0";
    if (allowed.least == allowed.most) return "exactly " + std::to_string(allowed.most);
    if (allowed.most == ~std::uint64_t{0}) return "at least " + std::to_string(allowed.least);
    if (allowed.least == 0) return "at most " + std::to_string(allowed.most);
    return std::to_string(allowed.least) + " to " + std::to_string(allowed.most);
}

inline std::string quoted(const char* name) {
    return name[0] == '\0' ? "" : " \"" + shown(name) + '"';
}

inline std::string budget_headline(const broken_limit& broken, const char* name) {
    return "budget" + quoted(name) + ": " + broken.field + " is " + std::to_string(broken.seen) +
           ", allowed " + allowed_text(broken.allowed);
}

// What the rows below the headline are.
inline const char* headline_end(const snapshot& rows, evidence wanted) noexcept {
    if (rows.empty()) return "";
    return wanted == evidence::alive ? "; alive:" : "; allocated, freed since or not:";
}

inline std::string leak_headline(const check_request& asked, const char* name,
                                 std::uint64_t objects, std::uint64_t bytes) {
    const bool is_repeated = asked.kind == check_kind::repeated_leaks;
    std::string line = "leak check" + quoted(name) + ": ";
    if (is_repeated) {
        line += "each of " + std::to_string(asked.runs) + " runs left at least ";
        objects = asked.added_objects;
        bytes = asked.added_bytes;
    }
    line += counted(objects, "object", "objects") + " with " + counted(bytes, "byte", "bytes");
    line += is_repeated ? " more alive" : objects == 1 ? " is still alive" : " are still alive";
    const count_range allowed = asked.limits.live_objects;
    if (objects < allowed.least) return line + ", expected " + allowed_text(allowed);
    if (objects > allowed.most) return line + ", allowed " + allowed_text(allowed);
    return line + ", allowed " + allowed_text({0, asked.limits.live_bytes.most}) + " bytes";
}

// With a least, which wants leaks: or has not leaked enough.
inline bool has_leaked(const check_request& asked, std::uint64_t objects, std::uint64_t bytes) {
    return objects > asked.limits.live_objects.most || bytes > asked.limits.live_bytes.most ||
           objects < asked.limits.live_objects.least;
}

// --- what was seen ---

struct seen_window {
    snapshot rows;
    allocation_counts counts;
    std::uint64_t objects = 0;  // in the rows: what is alive and not expected
    std::uint64_t bytes = 0;
};

// Takes those out whose function names are enough to tell: before any debug information is read,
// which takes longer than a hundred small tests.
inline void drop_expected_by_symbols(name_book& book, live_window& window,
                                     const check_request& asked) {
    book.refresh();
    std::size_t kept = 0;
    bool has_read = false;
    for (const live_site& site : window.sites) {
        const std::uintptr_t* addresses = window.frames.data() + site.first_frame;
        bool is_expected = false;
        if (!book.knows(site.hash, addresses, site.frame_count, library_rule)) {
            has_read = true;
            const symbol_stack names = book.symbols_of(addresses, site.frame_count, library_rule);
            const leak_stack stack = {names.frames.data(), names.frames.size(), names.user_frame,
                                      "?"};
            is_expected = asked.is_expected_by_symbols(stack, asked.expected_context);
            if (is_expected) beginnings_of_process->add(asked, stack, stack.decisive_frames);
        }
        if (!is_expected) window.sites[kept++] = site;
    }
    window.sites.resize(kept);
    if (has_read && kept == 0) book.rest();
}

// Takes the sites with an expected leak out of the window.
inline void drop_expected(name_book& book, live_window& window, const leak_patterns& expected,
                          const check_request& asked) {
    if (beginnings_of_process == nullptr) beginnings_of_process = new expected_beginnings;
    if (asked.is_expected != nullptr) beginnings_of_process->drop_from(window, asked);
    if (window.sites.empty()) return;
    if (asked.is_expected_by_symbols != nullptr) drop_expected_by_symbols(book, window, asked);
    if (window.sites.empty()) return;
    const std::vector<named_stack*> stacks = name_stacks(book, window, library_rule);
    if (book.has_new()) {
        settle_types(book, window, stacks);
        book.rest();
    }
    std::vector<live_site> kept;
    for (std::size_t i = 0; i < window.sites.size(); ++i) {
        const named_stack& stack = *stacks[i];
        if (expected.fits(stack)) continue;
        const leak_stack asked_for = {stack.frames.data(), stack.frames.size(), stack.user_frame,
                                      stack.type};
        if (asked.is_expected != nullptr && asked.is_expected(asked_for, asked.expected_context)) {
            beginnings_of_process->add(asked, asked_for, asked_for.decisive_frames);
            continue;
        }
        kept.push_back(window.sites[i]);
    }
    window.sites.swap(kept);
}

inline seen_window look_at(const check_request& asked, const leak_patterns& expected,
                           evidence wanted) {
    live_window window;
    take_live_objects(window, asked.window, after_stats::go_on);
    if (wanted == evidence::allocated && window.wanted.record == recording::exact) {
        count_births_by_site(window, asked.window);
    }
    seen_window seen;
    {
        names_at_work names;
        if (!expected.empty() || asked.is_expected != nullptr) {
            drop_expected(names.book(), window, expected, asked);
        }
        if (!window.sites.empty()) add_own_memory(window);
        seen.rows = snapshot{name_window(names.book(), window, library_rule)};
        names.done();
    }
    seen.counts = seen.rows.info().totals;
    const bool has_rows = window.wanted.record != recording::counters;
    seen.objects = has_rows ? seen.rows.live_objects() : seen.counts.live_objects();
    seen.bytes = has_rows ? seen.rows.live_bytes() : seen.counts.live_bytes();
    return seen;
}

// --- the verdict ---

// Events of this session that are in no number: a limit that seems kept may be broken.
inline std::uint64_t events_lost() noexcept {
    control_lock lock;
    std::uint64_t sum = 0;
    for (const loss_reason reason :
         {loss_reason::no_memory_for_record, loss_reason::too_deeply_nested,
          loss_reason::no_memory_for_thread}) {
        sum +=
            losses_ever(reason) - process.losses_before_session[static_cast<std::uint32_t>(reason)];
    }
    return sum;
}

inline std::string name_of_window(window_id id) {
    control_lock lock;
    const open_window* window = find_window(id);
    return window != nullptr ? window->name : "";
}

inline bool is_estimated(window_id id) noexcept {
    control_lock lock;
    const open_window* window = find_window(id);
    return window != nullptr && window->wanted.record == recording::sampled;
}

inline void refuse_check(check_block& made, const std::string& why) {
    made.data.has_passed = false;
    made.message = why;
    made.data.message = made.message.c_str();
}

// What passed by its numbers must not pass when the numbers are not all.
inline check_data* passed_unless_lost(std::unique_ptr<check_block> made, const char* name) {
    if (const std::uint64_t lost = events_lost()) {
        refuse_check(*made, "check" + quoted(name) + ": " +
                                counted(lost, "event was", "events were") +
                                " not recorded, so nothing is certain; stats() tells why");
    }
    return &made.release()->data;
}

inline void fail_with(check_block& made, const std::string& headline, const char* name,
                      const snapshot& rows, const std::string& places) {
    made.data.has_passed = false;
    made.rows = rows;
    made.data.rows = &made.rows;
    made.message = headline + places;
    const evidence_answer saved = save_evidence_of(rows, name, made.message);
    made.saved_to = saved.path;
    if (!saved.path.empty()) made.message += "\n  saved in " + saved.path;
    if (!saved.problem.empty()) made.message += "\n  not saved: " + saved.problem;
    made.data.message = made.message.c_str();
    made.data.saved_to = made.saved_to.c_str();
}

inline void fail(check_block& made, const std::string& headline, bool by_bytes, const char* name,
                 const snapshot& rows) {
    fail_with(made, headline, name, rows, top_rows(rows, by_bytes, library_rule));
}

inline check_data* check_budget_of(const check_request& asked, const char* name) {
    const bool is_open = asked.window != 0;
    allocation_counts counts = is_open ? counts_now(asked.window) : asked.counts;
    broken_limit broken = first_broken(asked.limits, counts);
    if (broken.field == nullptr) return passed_unless_lost(new_check(counts), name);
    seen_window seen;
    if (is_open) {
        seen = look_at(asked, {}, broken.rows);
    } else {
        broken.rows = evidence::alive;  // more is not known of a window that has ended
        seen.rows = *asked.rows;
        seen.counts = counts;
    }
    std::unique_ptr<check_block> made = new_check(seen.counts);
    fail(*made, budget_headline(broken, name) + headline_end(seen.rows, broken.rows),
         broken.counts_bytes, name, seen.rows);
    return &made.release()->data;
}

inline check_data* check_leaks_of(const check_request& asked, const char* name) {
    leak_patterns expected;
    expected.read(asked.expected);
    allocation_counts counts = counts_now(asked.window);
    std::unique_ptr<check_block> made = new_check(counts);
    made->data.unexpected_objects = counts.live_objects();
    made->data.unexpected_bytes = counts.live_bytes();
    const bool is_one_run = asked.kind == check_kind::repeated_leaks && asked.runs == 0;
    if (is_one_run && expected.empty() && asked.is_expected == nullptr) {
        return &made.release()->data;
    }
    const bool is_sum = asked.kind == check_kind::repeated_leaks && asked.runs != 0;
    if (is_sum ? !has_leaked(asked, asked.added_objects, asked.added_bytes)
               : !has_leaked(asked, counts.live_objects(), counts.live_bytes())) {
        // Some of it may be expected by name: only the rows tell what is left of a least.
        const bool wants_leaks = asked.limits.live_objects.least != 0;
        if (!is_one_run && (is_sum || !wants_leaks)) {
            return passed_unless_lost(std::move(made), name);
        }
    }
    const seen_window seen = look_at(asked, expected, evidence::alive);
    made->data.counts = seen.counts;
    made->data.unexpected_objects = seen.objects;
    made->data.unexpected_bytes = seen.bytes;
    if (is_one_run) return &made.release()->data;
    if (!is_sum && !has_leaked(asked, seen.objects, seen.bytes)) {
        return passed_unless_lost(std::move(made), name);
    }
    const bool by_bytes =
        (is_sum ? asked.added_objects : seen.objects) <= asked.limits.live_objects.most;
    fail(*made, leak_headline(asked, name, seen.objects, seen.bytes), by_bytes, name, seen.rows);
    return &made.release()->data;
}

inline check_data* rows_of_allocated(const check_request& asked) {
    const seen_window seen = look_at(asked, {}, evidence::allocated);
    std::unique_ptr<check_block> made = new_check(seen.counts);
    made->rows = seen.rows;
    made->data.rows = &made->rows;
    return &made.release()->data;
}

inline check_data* save_what_was_judged(const check_request& asked) {
    std::unique_ptr<check_block> made = new_check(asked.counts);
    fail(*made, asked.headline, false, asked.name, *asked.rows);
    return &made.release()->data;
}

inline check_data* check_now(const check_request& asked) {
    if (asked.kind == check_kind::judged) return save_what_was_judged(asked);
    if (asked.window == 0 && !has_totals(asked.rows->info())) {
        return shared_check(check_without_window);
    }
    const std::string name =
        asked.window != 0 ? name_of_window(asked.window) : asked.rows->info().name;
    const bool is_sampled = asked.window != 0 ? is_estimated(asked.window)
                                              : asked.rows->info().record == recording::sampled;
    if (is_sampled) {
        std::unique_ptr<check_block> made = new_check({});
        refuse_check(*made, "check" + quoted(name.c_str()) +
                                ": a sampled window has estimates only; open it with"
                                " recording::exact or recording::counters");
        return &made.release()->data;
    }
    if (asked.kind == check_kind::allocated_rows) return rows_of_allocated(asked);
    return asked.kind == check_kind::budget ? check_budget_of(asked, name.c_str())
                                            : check_leaks_of(asked, name.c_str());
}

inline check_data* engine_check(const check_request& asked) {
    const uncharged_work meanwhile;
    check_data* made = nullptr;
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    made = check_now(asked);
#else
    try {
        made = check_now(asked);
    } catch (const std::bad_alloc&) {
        made = nullptr;
    }
#endif
    if (asked.then == after_stats::end && asked.window != 0) {
        close_window_now(asked.window);
        put_names_away();
    }
    return made;
}

inline bool engine_check_expected_leaks(const char* lines, char* message, std::size_t room) {
    const uncharged_work meanwhile;
    leak_patterns read;
    const std::string problem = "allocscope: " + read.read(lines);
    const bool is_good = problem.size() == 12;
    const std::size_t length = is_good ? 0 : std::min(problem.size(), room - 1);
    problem.copy(message, length);
    message[length] = '\0';
    return is_good;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_VERDICT_CHECK_WINDOW_HPP
