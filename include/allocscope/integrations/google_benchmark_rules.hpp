// google_benchmark_rules.hpp - what a benchmark may use, and how a run is judged by it.
//
// Room:     integrations (floor 10), not malloc-safe
// Called:   by benchmark_scope, and by benchmark_gate for each run that is reported
// Threads:  what is remembered is behind a mutex; the rest touches only its arguments
// Memory:   the places, about 300 bytes, for each benchmark_scope and each set of limits
//
// Google Benchmark calls a function several times, with more iterations each time, and reports the
// last call. Which one is the last only its reporter knows. So a scope shows what it counted in
// counters of the run, and the gate judges the runs that arrive. Caches filled by the first call
// are no leaks of the last one, and limits below one allocation for each iteration mean the long
// run. The number of objects alive is the one counter that the gate takes out again: limits may be
// of objects, and no other field of a run can carry it.

#ifndef ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_RULES_HPP
#define ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_RULES_HPP

#include <allocscope/config.hpp>
#include <allocscope/measure/allocation_budget.hpp>
#include <allocscope/measure/check_result.hpp>
#include <allocscope/measure/scope.hpp>

#include <cmath>    // floor
#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <cstdio>   // snprintf
#include <cstring>  // strstr
#include <limits>   // numeric_limits
#include <map>      // map
#include <mutex>    // mutex, lock_guard
#include <string>   // string
#include <tuple>    // make_tuple
#include <utility>  // make_pair, pair

ALLOCSCOPE_NAMESPACE_BEGIN

// The most that a benchmark may use. What is not set is not limited.
//
//     memory.at_most({.allocations = 2, .bytes = 256});     // C++20
//     memory.at_most({2, 256});                             // C++17: in this order
struct benchmark_limits {
    static constexpr double unlimited = std::numeric_limits<double>::infinity();
    double allocations = unlimited;  // for each iteration
    double bytes = unlimited;        // for each iteration, as requested
    double peak_bytes = unlimited;  // of the whole run; with several threads the sum of their peaks
};

namespace detail {

struct benchmark_range {
    double least = 0;
    double most = benchmark_limits::unlimited;

    bool holds(double used) const noexcept { return !(used < least) && !(used > most); }
    bool is_a_limit() const noexcept { return least > 0 || most < benchmark_limits::unlimited; }
};

// What a run that kept stacks knows of its places.
struct benchmark_places {
    snapshot alive;       // at the end
    snapshot allocated;   // freed since or not; empty unless that run broke a limit of those
    std::string heading;  // "after 1 iteration: "

    void take_from(const benchmark_places& newer) {
        if (!newer.alive.empty()) alive = newer.alive;
        if (!newer.allocated.empty()) allocated = newer.allocated;
        if (!newer.alive.empty() || !newer.allocated.empty()) heading = newer.heading;
    }
};

// One scope in the source with its limits.
struct benchmark_rule {
    const char* file = "";
    int line = 0;
    benchmark_range allocations;  // for each iteration
    benchmark_range bytes;        // for each iteration
    benchmark_range peak_bytes;
    benchmark_range live_objects{0, 0};
    benchmark_range live_bytes;
    benchmark_places places;

    // The place and the limits, in an order.
    auto key() const noexcept {
        const auto ends = [](const benchmark_range& of) {
            return std::make_pair(of.least, of.most);
        };
        return std::make_tuple(file, line, ends(allocations), ends(bytes), ends(peak_bytes),
                               ends(live_objects), ends(live_bytes));
    }
};

// What a run used: of one thread, or of all as Google Benchmark adds them up.
struct benchmark_usage {
    double allocations = 0;  // for each iteration
    double bytes = 0;        // for each iteration
    double peak_bytes = 0;
    double live_bytes = 0;
    double live_objects = 0;
};

// What is kept from one call of a function to the next.
class benchmark_memories {
public:
    // A scope has ended; what its run knows of places holds for later runs under the same limits.
    void scope_ended(const benchmark_rule& rule) {
        const std::lock_guard<std::mutex> lock{mutex_};
        last_ = rule;
        places_[rule.key()].take_from(rule.places);
    }
    // Google Benchmark reports a benchmark right after its last call, so this is the rule of the
    // runs that are reported. (The name of a benchmark is not known to it in older releases.)
    benchmark_rule last_rule() {
        const std::lock_guard<std::mutex> lock{mutex_};
        benchmark_rule found = last_;
        found.places = places_[last_.key()];
        return found;
    }

    // "; saved in <file>", once for each benchmark: its repetitions and a second reporter tell of
    // the same. "" when there are no rows.
    std::string save(const std::string& name, const std::string& message, const snapshot& rows) {
        if (rows.empty()) return {};
        const std::lock_guard<std::mutex> lock{mutex_};
        std::string& saved = saved_[name];
        if (saved.empty()) saved = saved_text(name, message, rows);
        return saved;
    }

    // What a label of the scope in this place takes; learned from a run that kept stacks.
    void learn_label(const char* file, int line, const allocation_counts& label) {
        const std::lock_guard<std::mutex> lock{mutex_};
        labels_[{file, line}] = label;
    }
    allocation_counts label_of(const char* file, int line) {
        const std::lock_guard<std::mutex> lock{mutex_};
        const auto found = labels_.find({file, line});
        return found != labels_.end() ? found->second : allocation_counts{};
    }

private:
    static std::string saved_text(const std::string& name, const std::string& message,
                                  const snapshot& rows) {
        const check_result told = save_evidence_of(rows, name.c_str(), message.c_str());
        if (told.saved_to()[0] != '\0') return std::string{"; saved in "} + told.saved_to();
        const char* problem = std::strstr(told.message(), "not saved: ");
        return problem != nullptr ? std::string{"; "} + problem : std::string{};
    }

    std::mutex mutex_;
    benchmark_rule last_;
    std::map<decltype(benchmark_rule{}.key()), benchmark_places> places_;
    std::map<std::string, std::string> saved_;
    std::map<std::pair<const char*, int>, allocation_counts> labels_;
};

inline benchmark_memories remembered;

inline std::string number_text(double value) {
    char space[32];
    const bool is_whole = value > -1e15 && value < 1e15 && !(value < std::floor(value)) &&
                          !(value > std::floor(value));
    std::snprintf(space, sizeof space, is_whole ? "%.0f" : "%.6g", value);
    return space;
}

// The text that State::SetLabel() keeps.
inline bool is_label(const snapshot::row& row) noexcept {
    for (std::size_t i = 0; i < row.frame_count; ++i) {
        if (std::strstr(row.frames[i].function, "benchmark::State::SetLabel") != nullptr)
            return true;
    }
    return false;
}

inline bool is_of_google_benchmark(const snapshot::row& row) noexcept {
    return std::strstr(row.type, "benchmark::Counter") != nullptr || is_label(row);
}

inline allocation_counts label_in(const snapshot& alive) noexcept {
    allocation_counts label;
    for (const snapshot::row& row : alive) {
        if (!is_label(row)) continue;
        label.allocations += row.objects;
        label.bytes_allocated += row.bytes;
    }
    return label;
}

// "3 x parser.cpp:12:node (72 B), ...": at most three.
inline std::string places_of(const snapshot& alive) {
    std::string text;
    std::size_t shown = 0;
    for (const snapshot::row& row : alive) {
        if (is_of_google_benchmark(row)) continue;
        if (shown++ == 3) {
            text += ", ...";
            break;
        }
        if (!text.empty()) text += ", ";
        text += std::to_string(row.objects) + " x " + row.file + ":";
        if (row.line != 0) text += std::to_string(row.line) + ":";
        text += std::string{row.type} + " (" + std::to_string(row.bytes) + " B)";
    }
    return text;
}

inline std::string objects_text(double count) {
    return number_text(count) + (count > 1 ? " objects" : " object");
}

constexpr const char* unknown_places =
    "to see where they were allocated: benchmark_scope memory{state, "
    "allocscope::recording::exact};";

inline void add_excess(std::string& text, double used, const benchmark_range& allowed,
                       const char* what) {
    if (allowed.holds(used)) return;
    if (!text.empty()) text += "; ";
    const bool is_too_much = used > allowed.most;
    text += number_text(used) + what + (is_too_much ? ", at most " : ", at least ") +
            number_text(is_too_much ? allowed.most : allowed.least) +
            (is_too_much ? " are allowed" : " are wanted");
}

inline std::string leak_text(const benchmark_rule& rule, const benchmark_usage& used) {
    const bool is_leak = used.live_objects > rule.live_objects.most;
    std::string text = is_leak ? "leak: still alive: " : "still alive: ";
    text += objects_text(used.live_objects) + " of " + number_text(used.live_bytes) + " bytes";
    if (is_leak && rule.live_objects.most > 0) {
        text += ", " + number_text(rule.live_objects.most) + " are allowed";
    }
    add_excess(text, used.live_objects, {rule.live_objects.least, benchmark_limits::unlimited},
               " objects");
    add_excess(text, used.live_bytes, rule.live_bytes, " bytes alive");
    return text;
}

inline bool breaks_limit_of_allocated(const benchmark_rule& rule, const benchmark_usage& used) {
    return !rule.allocations.holds(used.allocations) || !rule.bytes.holds(used.bytes) ||
           !rule.peak_bytes.holds(used.peak_bytes);
}

// "" when the run keeps the rule; else one line, with the file that has the evidence.
inline std::string judge(const benchmark_rule& rule, const benchmark_usage& used,
                         const std::string& name) {
    const bool is_leak =
        !rule.live_objects.holds(used.live_objects) || !rule.live_bytes.holds(used.live_bytes);
    const bool is_over = breaks_limit_of_allocated(rule, used);
    if (!is_leak && !is_over) return {};
    std::string text = is_leak ? leak_text(rule, used) : std::string{};
    add_excess(text, used.allocations, rule.allocations, " allocations for each iteration");
    add_excess(text, used.bytes, rule.bytes, " bytes for each iteration");
    add_excess(text, used.peak_bytes, rule.peak_bytes, " bytes at the peak");
    const snapshot& rows = is_leak ? rule.places.alive : rule.places.allocated;
    const std::string places = places_of(rows);
    const bool has_places = (is_leak ? used.live_objects : used.allocations) > 0;
    if (!places.empty()) {
        text += "; " + rule.places.heading + places;
    } else if (has_places) {
        text += std::string{"; "} + unknown_places;
    }
    text = "allocscope: " + text;
    return text + remembered.save(name, text, rows);
}

inline benchmark_range range_of(const count_range& limit) noexcept {
    const bool has_most = limit.most != ~std::uint64_t{0};
    return {static_cast<double>(limit.least),
            has_most ? static_cast<double>(limit.most) : benchmark_limits::unlimited};
}

// A limit of what is alive takes the place of "nothing".
inline void take_limits(benchmark_rule& rule, const check_limits& limits) noexcept {
    rule.allocations = range_of(limits.allocations);
    rule.bytes = range_of(limits.bytes);
    rule.peak_bytes = range_of(limits.peak_bytes);
    rule.live_bytes = range_of(limits.live_bytes);
    rule.live_objects = range_of(limits.live_objects);
    const bool is_silent = !rule.live_objects.is_a_limit() && !rule.live_bytes.is_a_limit();
    if (is_silent) rule.live_objects = {0, 0};
}

// "" when the limits make sense; else what is wrong with them.
inline std::string refusal_of(const benchmark_limits& most) {
    const struct {
        const char* name;
        double value;
    } limits[] = {
        {"allocations", most.allocations}, {"bytes", most.bytes}, {"peak_bytes", most.peak_bytes}};
    for (const auto& limit : limits) {
        if (limit.value >= 0) continue;
        return "allocscope: benchmark_limits::" + std::string{limit.name} + " is " +
               number_text(limit.value) + "; it must be 0 or more";
    }
    return {};
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_RULES_HPP
