// google_benchmark_rules.hpp - what a benchmark may use, and how a run is judged.
//
// Room:     integrations (floor 10), not malloc-safe
// Called:   by benchmark_scope, and by benchmark_gate for each run that is reported
// Threads:  a mutex protects what is remembered; everything else uses only its arguments
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

#include <array>     // array
#include <cmath>     // abs, floor
#include <cstddef>   // size_t
#include <cstdint>   // uint64_t
#include <cstdio>    // snprintf
#include <cstring>   // strstr
#include <limits>    // numeric_limits
#include <map>       // map
#include <mutex>     // mutex, lock_guard
#include <optional>  // optional
#include <string>    // string
#include <tuple>     // make_tuple, tie

ALLOCSCOPE_NAMESPACE_BEGIN

// The most that a benchmark may use. A member that is not set limits nothing.
//
//     memory.at_most({.allocations = 2, .bytes = 256});     // C++20
//     memory.at_most({2, 256});                             // C++17: in this order
struct benchmark_limits {
    static constexpr double unlimited = std::numeric_limits<double>::infinity();
    double allocations = unlimited;  // for each iteration
    double bytes = unlimited;        // for each iteration, as requested
    double peak_bytes = unlimited;   // of the run; for several threads, the sum of their peaks
};

namespace detail {

struct benchmark_range {
    double least = 0;
    double most = benchmark_limits::unlimited;

    bool holds(double used) const noexcept { return !(used < least) && !(used > most); }
    bool is_a_limit() const noexcept { return least > 0 || most < benchmark_limits::unlimited; }
    bool operator<(const benchmark_range& other) const noexcept {
        return std::tie(least, most) < std::tie(other.least, other.most);
    }
};

// What is counted and may be limited, in the order of the messages. The numbers are those of one
// thread, or those of all threads as Google Benchmark adds them up.
namespace quantity {
enum : std::size_t { live_objects, live_bytes, allocations, bytes, peak_bytes, count };
}
using benchmark_usage = std::array<double, quantity::count>;
using benchmark_ranges = std::array<benchmark_range, quantity::count>;

struct benchmark_quantity {
    const char* counter;  // the name that Google Benchmark shows
    const char* what;
    bool is_of_iteration;  // false: it is of the whole run
    bool is_bytes;
};
constexpr std::array<benchmark_quantity, quantity::count> benchmark_quantities{{
    {"allocscope/objects", " objects", false, false},  // benchmark_gate removes it
    {"live", " bytes alive", false, true},
    {"allocs/op", " allocations for each iteration", true, false},
    {"bytes/op", " bytes for each iteration", true, true},
    {"peak", " bytes at the peak", false, true},
}};
constexpr const char* objects_counter = benchmark_quantities[quantity::live_objects].counter;

// The places that a run with recorded stacks has found.
struct benchmark_places {
    snapshot alive;       // at the end
    snapshot allocated;   // freed or not; empty unless that run broke such a limit
    std::string heading;  // "after 1 iteration: "
    std::optional<allocation_counts> label;  // what Google Benchmark keeps for a label

    const benchmark_places& with(const benchmark_places& newer) {
        if (!newer.alive.empty()) alive = newer.alive;
        if (!newer.allocated.empty()) allocated = newer.allocated;
        if (!newer.alive.empty() || !newer.allocated.empty()) heading = newer.heading;
        if (newer.label) label = newer.label;
        return *this;
    }
};

// One scope in the source, with its limits.
struct benchmark_rule {
    const char* file = "";
    int line = 0;
    benchmark_ranges limits{{{0, 0}}};  // nothing may be alive
    benchmark_places places;

    auto key() const noexcept { return std::make_tuple(file, line, limits); }

    // A limit of live objects or bytes replaces the default that nothing may be alive.
    void take(const check_limits& wanted) noexcept {
        limits = {{range_of(wanted.live_objects), range_of(wanted.live_bytes),
                   range_of(wanted.allocations), range_of(wanted.bytes),
                   range_of(wanted.peak_bytes)}};
        const bool is_silent = !limits[quantity::live_objects].is_a_limit() &&
                               !limits[quantity::live_bytes].is_a_limit();
        if (is_silent) limits[quantity::live_objects] = {0, 0};
    }

    bool keeps(const benchmark_usage& used, std::size_t first, std::size_t last) const noexcept {
        while (first <= last && limits[first].holds(used[first])) ++first;
        return first > last;
    }
    bool keeps_alive(const benchmark_usage& used) const noexcept {
        return keeps(used, quantity::live_objects, quantity::live_bytes);
    }
    bool keeps_allocated(const benchmark_usage& used) const noexcept {
        return keeps(used, quantity::allocations, quantity::peak_bytes);
    }

private:
    static benchmark_range range_of(const count_range& limit) noexcept {
        const bool has_most = limit.most != ~std::uint64_t{0};
        return {static_cast<double>(limit.least),
                has_most ? static_cast<double>(limit.most) : benchmark_limits::unlimited};
    }
};

// What is kept between two calls of a function.
class benchmark_memories {
public:
    // A scope has ended. The places that its run has found hold for later runs under the same
    // limits.
    void scope_ended(const benchmark_rule& rule) {
        const std::lock_guard<std::mutex> lock{mutex_};
        last_ = rule;
        last_.places = places_[rule.key()].with(rule.places);
    }
    // Google Benchmark reports a benchmark right after its last call, so this is the rule of the
    // runs that are being reported. (In older releases a scope cannot learn the name of its
    // benchmark.)
    benchmark_rule last_rule() {
        const std::lock_guard<std::mutex> lock{mutex_};
        return last_;
    }
    // What a label allocates under this rule; learned from a run that kept stacks.
    allocation_counts label_under(const benchmark_rule& rule) {
        const std::lock_guard<std::mutex> lock{mutex_};
        return places_[rule.key()].label.value_or(allocation_counts{});
    }

    // Returns "; saved in <file>". Each benchmark is saved once, because its repetitions and a
    // second reporter report the same. "" if there are no rows.
    std::string save(const std::string& name, const std::string& message, const snapshot& rows) {
        if (rows.empty()) return {};
        const std::lock_guard<std::mutex> lock{mutex_};
        std::string& saved = saved_[name];
        if (!saved.empty()) return saved;
        const check_result told = save_evidence_of(rows, name.c_str(), message.c_str());
        const char* problem = std::strstr(told.message(), "not saved: ");
        if (told.saved_to()[0] != '\0') {
            saved = std::string{"; saved in "} + told.saved_to();
        } else if (problem != nullptr) {
            saved = std::string{"; "} + problem;
        }
        return saved;
    }

private:
    std::mutex mutex_;
    benchmark_rule last_;
    std::map<decltype(benchmark_rule{}.key()), benchmark_places> places_;
    std::map<std::string, std::string> saved_;
};

inline benchmark_memories remembered;

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
inline std::string places_of(const snapshot& alive) {
    std::string text;
    std::size_t shown = 0;
    for (const snapshot::row& row : alive) {
        if (is_label(row) || std::strstr(row.type, "benchmark::Counter") != nullptr) continue;
        if (shown++ == 3) return text + ", ...";
        if (!text.empty()) text += ", ";
        text += std::to_string(row.objects) + " x " + row.file + ":";
        if (row.line != 0) text += std::to_string(row.line) + ":";
        text += std::string{row.type} + " (" + std::to_string(row.bytes) + " B)";
    }
    return text;
}

inline void add_excess(std::string& text, double used, const benchmark_range& allowed,
                       const char* what) {
    if (allowed.holds(used)) return;
    if (!text.empty()) text += "; ";
    const bool is_too_much = used > allowed.most;
    text += number_text(used) + what + (is_too_much ? ", at most " : ", at least ") +
            number_text(is_too_much ? allowed.most : allowed.least) +
            (is_too_much ? " are allowed" : " are wanted");
}

// Returns "" if the run keeps the rule; otherwise one line that also names the evidence file.
inline std::string judge(const benchmark_rule& rule, const benchmark_usage& used,
                         const std::string& name) {
    const bool is_of_living = !rule.keeps_alive(used);
    if (!is_of_living && rule.keeps_allocated(used)) return {};
    const double objects = used[quantity::live_objects];
    const double allowed = rule.limits[quantity::live_objects].most;
    const bool is_leak = objects > allowed;
    std::string text;
    if (is_of_living) {
        text = std::string{is_leak ? "leak: " : ""} + "still alive: " + number_text(objects) +
               (objects > 1 ? " objects of " : " object of ") +
               number_text(used[quantity::live_bytes]) + " bytes";
        if (is_leak && allowed > 0) text += ", " + number_text(allowed) + " are allowed";
    }
    for (std::size_t i = is_leak ? quantity::live_bytes : quantity::live_objects;
         i < quantity::count; ++i) {
        add_excess(text, used[i], rule.limits[i], benchmark_quantities[i].what);
    }
    const snapshot& rows = is_of_living ? rule.places.alive : rule.places.allocated;
    const std::string places = places_of(rows);
    const bool has_places = (is_of_living ? objects : used[quantity::allocations]) > 0;
    if (!places.empty()) {
        text += "; " + rule.places.heading + places;
    } else if (has_places) {
        text +=
            "; to see where they were allocated: benchmark_scope memory{state, "
            "allocscope::recording::exact};";
    }
    text = "allocscope: " + text;
    return text + remembered.save(name, text, rows);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_RULES_HPP
