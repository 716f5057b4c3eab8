// baselines.hpp - keeps in a file what tests allocated; a test that allocates more later fails.
//
// Room:     integrations (floor 11), not malloc-safe
// Called:   by the user, from tests of any framework
// Threads:  check() from any thread and from several processes at once
// Memory:   the file's results, from the first check on; they are charged to no window
//
//     allocscope::baselines kept{"tests/allocations.tsv", 5};     // up to 5 % more is accepted
//
//     allocscope::scope window{"parse"};
//     parse(text);
//     const std::string worse = kept.check("parse", window.counts());
//     CHECK_MESSAGE(worse.empty(), worse);
//
// With ALLOCSCOPE_UPDATE_BASELINES=1 in the environment the numbers are written, not compared. Use
// it for new tests and after intended changes. `allocscope compare old.tsv new.tsv` shows what
// changed.

#ifndef ALLOCSCOPE_INTEGRATIONS_BASELINES_HPP
#define ALLOCSCOPE_INTEGRATIONS_BASELINES_HPP

#include <allocscope/config.hpp>
#include <allocscope/integrations/baseline_file.hpp>
#include <allocscope/measure/scope.hpp>

#include <unistd.h>  // access
#include <cstdint>   // uint64_t
#include <cstdio>    // snprintf
#include <cstdlib>   // secure_getenv
#include <mutex>     // mutex, lock_guard
#include <string>    // string
#include <utility>   // move

ALLOCSCOPE_NAMESPACE_BEGIN

class baselines {
public:
    // `path` is relative to the working directory of the test. The file need not exist before the
    // first update. `tolerance_percent` says by how much each number may exceed its baseline.
    explicit baselines(std::string path, double tolerance_percent = 0)
        : path_(std::move(path)), tolerance_percent_(tolerance_percent) {}
    baselines(const baselines&) = delete;
    baselines& operator=(const baselines&) = delete;

    // Returns "" if no number is above its baseline. Otherwise returns one line that says what
    // increased, or why nothing could be compared (the name has no baseline; the file cannot be
    // read, or has another version; events are missing in the counts), and what to do. It compares
    // allocations, bytes, peak_bytes, live_objects and live_bytes. While updating it returns "", or
    // why nothing was written.
    // Cost: the first call reads the file; each update reads and writes it.
    std::string(check)(const std::string& name, const allocation_counts& counts);

private:
    std::string compare(const std::string& name, const detail::measured_numbers& now);
    std::string update(const std::string& name, const detail::measured_numbers& now);
    // A missing file is no error.
    std::string read(detail::measured_results& into, bool& exists) const;

    std::string path_;
    double tolerance_percent_;
    std::mutex mutex_;
    bool is_read_ = false;
    bool exists_ = false;
    std::string read_error_;
    detail::measured_results results_;
};

namespace detail {

inline measured_numbers baseline_numbers(const allocation_counts& counts) {
    const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
    return {{"allocations", number(counts.allocations)},
            {"bytes", number(counts.bytes_allocated)},
            {"peak_bytes", number(counts.peak_bytes)},
            {"live_objects", number(counts.live_objects())},
            {"live_bytes", number(counts.live_bytes())}};
}

// Returns "", or that the counts may be too low, so that they cannot be compared or kept.
inline std::string uncertainty_of(const std::string& name, const allocation_counts& counts) {
    if (counts.lost_events == 0) return {};
    return '"' + name + "\": " + std::to_string(counts.lost_events) +
           (counts.lost_events == 1 ? " event was" : " events were") +
           " not recorded, so nothing is certain; stats() tells why";
}

// Whether `now` is more than the tolerance allows. A difference that only comes from rounding does
// not count.
inline bool is_increase(double before, double now, double tolerance_percent) {
    const double accepted = before * (1 + tolerance_percent / 100);
    return now > accepted + 1e-9 * (accepted < 0 ? -accepted : accepted);
}

// "3 -> 5 (+66.7 %)"
inline std::string change_text(double before, double now) {
    char text[128];
    if (before > 0) {
        std::snprintf(text, sizeof text, "%.10g -> %.10g (%+.1f %%)", before, now,
                      (now - before) / before * 100);
    } else {
        std::snprintf(text, sizeof text, "%.10g -> %.10g", before, now);
    }
    return text;
}

// Returns "", or what is wrong with the value. Sets `update`: whether the numbers are to be
// written.
inline std::string read_update_request(bool& update) {
    const char* value = ::secure_getenv("ALLOCSCOPE_UPDATE_BASELINES");
    const std::string text = value != nullptr ? value : "";
    update = text == "1";
    if (update || text.empty() || text == "0") return {};
    return "ALLOCSCOPE_UPDATE_BASELINES is \"" + text + "\"; 1 updates, 0 or nothing compares";
}

}  // namespace detail

// definitions

inline std::string(baselines::check)(const std::string& name, const allocation_counts& counts) {
    const pause_recording not_of_the_test;
    const std::lock_guard<std::mutex> lock{mutex_};
    bool update_is_asked_for = false;
    std::string error = detail::read_update_request(update_is_asked_for);
    const char* refusal = detail::engine_refusal(detail::find_engine());
    if (error.empty()) error = refusal;
    if (error.empty() && !(tolerance_percent_ >= 0)) {
        error = "the tolerance of baselines is " + std::to_string(tolerance_percent_) +
                " %; it must be 0 or more";
    }
    if (error.empty()) error = detail::uncertainty_of(name, counts);
    if (error.empty()) {
        const detail::measured_numbers now = detail::baseline_numbers(counts);
        const std::string kept_as = detail::name_in_file(name);
        error = update_is_asked_for ? update(kept_as, now) : compare(kept_as, now);
    }
    return error.empty() ? error : "allocscope: " + error;
}

inline std::string baselines::read(detail::measured_results& into, bool& exists) const {
    exists = ::access(path_.c_str(), F_OK) == 0;
    if (!exists) return {};
    std::string text;
    const std::string error = detail::read_whole_file(path_, text);
    return error.empty() ? detail::read_baselines(path_, text, into) : error;
}

inline std::string baselines::compare(const std::string& name,
                                      const detail::measured_numbers& now) {
    if (!is_read_) {
        is_read_ = true;
        read_error_ = read(results_, exists_);
    }
    if (!read_error_.empty()) return read_error_;
    const auto found = results_.find(name);
    if (found == results_.end()) {
        return "\"" + name + "\" has no baseline in " + path_ +
               (exists_ ? "" : " (there is no such file)") +
               "; run it with ALLOCSCOPE_UPDATE_BASELINES=1 to add it";
    }
    std::string worse;
    for (const auto& [what, value] : now) {
        const double* before = detail::find_number(found->second, what);
        if (before == nullptr) {
            return "\"" + name + "\" has no baseline for " + what + " in " + path_ +
                   "; run it with ALLOCSCOPE_UPDATE_BASELINES=1 to add it";
        }
        if (!detail::is_increase(*before, value, tolerance_percent_)) continue;
        worse += (worse.empty() ? "" : ", ") + what + ' ' + detail::change_text(*before, value);
    }
    if (worse.empty()) return worse;
    return "\"" + name + "\" allocates more than its baseline in " + path_ + ": " + worse +
           "; if that is meant, run it with ALLOCSCOPE_UPDATE_BASELINES=1";
}

// Reads the file again under the lock, because another process may have added its results in the
// meantime.
inline std::string baselines::update(const std::string& name, const detail::measured_numbers& now) {
    const detail::folder_lock lock{path_};
    if (!lock.error().empty()) return lock.error() + "; make the folder, or give another path";
    detail::measured_results results;
    bool exists = false;
    const std::string error = read(results, exists);
    if (!error.empty()) return error;
    results[name] = now;
    return detail::replace_file(path_, detail::text_of_baselines(results, now));
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_BASELINES_HPP
