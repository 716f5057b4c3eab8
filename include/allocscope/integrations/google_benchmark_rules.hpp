// google_benchmark_rules.hpp - what a benchmark may use, and how a run is judged.
//
// Room:     integrations (floor 11), not malloc-safe
// Called:   by benchmark_scope, and by benchmark_gate for each run that is reported
// Threads:  `remembered` has a mutex; everything else uses only its arguments
// Memory:   the places, about 300 bytes, for each benchmark_scope and each set of limits
//
// Google Benchmark calls a function several times, with more iterations each time, and reports the
// last call. Only its reporter knows which call is the last. So a scope writes its counts to
// counters of the run, and the gate judges the runs that it receives. In this way, caches that the
// first call fills are no leaks of the last call, and a limit below one allocation for each
// iteration applies to the long run. The gate removes one counter again, the number of live
// objects: it is needed because limits may be numbers of objects, and no other field of a run can
// carry it.

#ifndef ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_RULES_HPP
#define ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_RULES_HPP

#include <allocscope/config.hpp>
#include <allocscope/measure/allocation_budget.hpp>
#include <allocscope/measure/check_result.hpp>
#include <allocscope/measure/scope.hpp>

#include <array>    // array
#include <cmath>    // abs, floor
#include <cstddef>  // size_t
#include <cstdio>   // snprintf
#include <cstring>  // strstr
#include <limits>   // numeric_limits
#include <map>      // map
#include <mutex>    // mutex
#include <string>   // string
#include <tuple>    // tie
#include <utility>  // pair
#include <vector>   // vector

ALLOCSCOPE_NAMESPACE_BEGIN

// The most that a benchmark may use. A member that is not set limits nothing.
//
//     memory.at_most({.allocations = 2, .bytes = 256});     // C++20
//     memory.at_most({2, 256});                             // C++17: in this order
struct benchmark_limits {
    // Not infinity, which does not exist with -ffast-math.
    static constexpr double unlimited = (std::numeric_limits<double>::max)();
    double allocations = unlimited;  // for each iteration
    double bytes = unlimited;        // for each iteration, as requested
    double peak_bytes = unlimited;   // of the run; for several threads, the sum of their peaks
};

namespace detail {

// What is counted and may be limited, in the order of the messages. The numbers are those of one
// thread, or those of all threads as Google Benchmark adds them up.
namespace quantity {
enum : std::size_t { live_objects, live_bytes, allocations, bytes, peak_bytes, count };
}
using benchmark_usage = std::array<double, quantity::count>;

struct benchmark_quantity {
    const char* counter;   // the name that Google Benchmark shows
    const char* noun;      // for 1 of it
    const char* when;      // behind the noun
    bool is_of_iteration;  // false: it is of the whole run
    bool is_bytes;
};
constexpr std::array<benchmark_quantity, quantity::count> benchmark_quantities{{
    {"allocscope/objects", " object", "", false, false},  // benchmark_gate removes it
    {"live", " byte", " alive", false, true},
    {"allocs/op", " allocation", " for each iteration", true, false},
    {"bytes/op", " byte", " for each iteration", true, true},
    {"peak", " byte", " at the peak", false, true},
}};
constexpr const char* objects_counter = benchmark_quantities[quantity::live_objects].counter;

// One scope in the source, with its limits. By default nothing may be alive at its end.
struct benchmark_rule {
    static constexpr double unlimited = benchmark_limits::unlimited;

    const char* file = "";
    int line = 0;
    benchmark_usage least{};
    benchmark_usage most{0, unlimited, unlimited, unlimited, unlimited};
    bool limits_living = false;  // the user has said what may be alive

    bool operator<(const benchmark_rule& other) const noexcept {
        return std::tie(file, line, least, most, limits_living) <
               std::tie(other.file, other.line, other.least, other.most, other.limits_living);
    }

    // Also keeps what another thread of the benchmark wants.
    void add(const benchmark_rule& other) noexcept {
        for (std::size_t i = 0; i < quantity::count; ++i) {
            const bool is_living = i < quantity::allocations;
            if (is_living && limits_living && !other.limits_living) continue;
            const bool is_replaced = is_living && !limits_living && other.limits_living;
            if (is_replaced || other.least[i] > least[i]) least[i] = other.least[i];
            if (is_replaced || other.most[i] < most[i]) most[i] = other.most[i];
        }
        limits_living = limits_living || other.limits_living;
    }

    // A limit of live objects or bytes replaces the default.
    void take(const check_limits& wanted) noexcept {
        const count_range ranges[] = {wanted.live_objects, wanted.live_bytes, wanted.allocations,
                                      wanted.bytes, wanted.peak_bytes};
        limits_living = false;
        for (std::size_t i = 0; i < quantity::count; ++i) {
            least[i] = static_cast<double>(ranges[i].least);
            most[i] = static_cast<double>(ranges[i].most);  // if not limited, above every count
            const bool is_limit = ranges[i].least != 0 || ranges[i].most != count_range{}.most;
            limits_living |= is_limit && i < quantity::allocations;
        }
        if (!limits_living) most[quantity::live_objects] = 0;
    }

    // The first quantity, from `start` on, that breaks its limits; `count` if none does.
    std::size_t first_broken(const benchmark_usage& used, std::size_t start) const noexcept {
        while (start < quantity::count && used[start] >= least[start] && used[start] <= most[start])
            ++start;
        return start;
    }
};

// What runs with recorded stacks have found. It holds for later runs under the same rule.
struct benchmark_places {
    snapshot alive;           // at the end
    snapshot allocated;       // freed or not; empty unless a run broke such a limit
    std::string heading;      // "after 1 iteration: "
    allocation_counts label;  // what Google Benchmark keeps for a label
};

// What is kept between two calls of a function. The mutex protects all members.
struct benchmark_memory {
    using ended_scope = std::pair<const benchmark_rule, benchmark_places>;

    std::mutex mutex;
    std::map<benchmark_rule, benchmark_places> places;
    // Google Benchmark reports a benchmark right after its last call, so these are the scopes of
    // the runs that are being reported, one for each thread. (In older releases a scope cannot
    // learn the name of its benchmark.) All threads open their scopes before the first one closes
    // its own.
    std::vector<const ended_scope*> ended;
    std::size_t open = 0;                      // scopes
    std::map<std::string, std::string> saved;  // by benchmark: "; saved in <file>"
};
inline benchmark_memory remembered;

inline std::string number_text(double value) {
    char space[32];
    const bool is_whole = std::abs(value) < 1e15 && !(std::floor(value) < value);
    std::snprintf(space, sizeof space, is_whole ? "%.0f" : "%.6g", value);
    return space;
}

// Whether a row or a stack is the text that State::SetLabel() keeps.
template <class Place>
bool is_label(const Place& place) noexcept {
    for (std::size_t i = 0; i < place.frame_count; ++i) {
        if (std::strstr(place.frames[i].function, "benchmark::State::SetLabel") != nullptr)
            return true;
    }
    return false;
}

// By stacks, because a row may also have other texts that were allocated on the line of the label.
inline allocation_counts label_in(const snapshot& alive) {
    allocation_counts label;
    for (const snapshot::stack& each : alive.stacks()) {
        if (!is_label(each)) continue;
        label.allocations += each.objects;
        label.bytes_allocated += each.bytes;
    }
    return label;
}

// "3 x parser.cpp:12:node (72 B), ...": at most three places, without Google Benchmark's own.
inline std::string places_of(const snapshot& rows) {
    std::string text;
    std::size_t shown = 0;
    for (const snapshot::row& row : rows) {
        if (is_label(row) || std::strstr(row.type, "benchmark::Counter") != nullptr) continue;
        if (shown++ == 3) return text + ", ...";
        if (!text.empty()) text += ", ";
        text += std::to_string(row.objects) + " x " + row.file + ":";
        if (row.line != 0) text += std::to_string(row.line) + ":";
        text += std::string{row.type} + " (" + std::to_string(row.bytes) + " B)";
    }
    return text;
}

inline bool is_one(double value) noexcept {
    return value >= 1 && value <= 1;
}

// "1 allocation", "0.5 allocations"
inline std::string counted_text(double value, std::size_t what) {
    return number_text(value) + benchmark_quantities[what].noun + (is_one(value) ? "" : "s");
}

// ", at most 2 are allowed"
inline std::string bound_text(const char* which, double bound, const char* verb) {
    return which + number_text(bound) + (is_one(bound) ? " is " : " are ") + verb;
}

// Each quantity that breaks its limits, in one line.
inline std::string excess_text(const benchmark_rule& rule, const benchmark_usage& used) {
    std::size_t broken = rule.first_broken(used, 0);
    const double objects = used[quantity::live_objects];
    const double allowed = rule.most[quantity::live_objects];
    std::string text;
    if (broken < quantity::allocations) {
        text = std::string{objects > allowed ? "leak: " : ""} +
               "still alive: " + counted_text(objects, quantity::live_objects) + " of " +
               counted_text(used[quantity::live_bytes], quantity::live_bytes);
    }
    if (objects > allowed) {
        if (allowed > 0) text += bound_text(", ", allowed, "allowed");
        broken = rule.first_broken(used, quantity::live_bytes);
    }
    for (; broken != quantity::count; broken = rule.first_broken(used, broken + 1)) {
        const bool is_too_much = used[broken] > rule.most[broken];
        text += (text.empty() ? "" : "; ") + counted_text(used[broken], broken) +
                benchmark_quantities[broken].when +
                (is_too_much ? bound_text(", at most ", rule.most[broken], "allowed")
                             : bound_text(", at least ", rule.least[broken], "wanted"));
    }
    return text;
}

// Returns "" if the run keeps the rule; otherwise one line that also names the evidence file. Each
// benchmark is saved once, because its repetitions and a second reporter report the same.
// `remembered` must be locked.
inline std::string judge(const benchmark_rule& rule, const benchmark_places& places,
                         const benchmark_usage& used, const std::string& name) {
    const std::size_t broken = rule.first_broken(used, 0);
    if (broken == quantity::count) return {};
    const bool is_of_living = broken < quantity::allocations;
    const snapshot& rows = is_of_living ? places.alive : places.allocated;
    const std::string found = places_of(rows);
    std::string text = "allocscope: " + excess_text(rule, used);
    if (!found.empty()) {
        text += "; " + places.heading + found;
    } else if (used[is_of_living ? quantity::live_objects : quantity::allocations] > 0) {
        text +=
            "; to see where they were allocated: benchmark_scope memory{state, "
            "allocscope::recording::exact};";
    }
    if (rows.empty()) return text;
    std::string& saved = remembered.saved[name];
    if (saved.empty()) {
        const check_result told = save_evidence_of(rows, name.c_str(), text.c_str());
        const char* problem = std::strstr(told.message(), "not saved: ");
        if (told.saved_to()[0] != '\0') saved = std::string{"; saved in "} + told.saved_to();
        if (problem != nullptr) saved = std::string{"; "} + problem;
    }
    return text + saved;
}

// Judges a run by the rules of all its threads. `remembered` must be locked.
inline std::string judge_ended(const benchmark_usage& used, const std::string& name) {
    if (remembered.ended.empty()) return {};
    benchmark_rule rule = remembered.ended.front()->first;
    const benchmark_places* places = &remembered.ended.front()->second;
    for (const benchmark_memory::ended_scope* each : remembered.ended) {
        rule.add(each->first);
        if (places->heading.empty()) places = &each->second;
    }
    return judge(rule, *places, used, name);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_RULES_HPP
