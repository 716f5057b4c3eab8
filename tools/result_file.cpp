#include "result_file.hpp"

#include "json_reader.hpp"

#include <allocscope/saved/saved_format.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace allocscope_tools {

namespace {

using allocscope::detail::measured_numbers;

// The counters of a benchmark_scope; if there was none, the fields of a memory manager. The totals
// of a run are left out, because they grow with its iterations.
constexpr std::array<const char*, 4> counters = {"allocs/op", "bytes/op", "peak", "live"};
constexpr std::array<const char*, 2> manager_fields = {"allocs_per_iter", "max_bytes_used"};

template <std::size_t count>
measured_numbers numbers_of(const json_value& entry, const std::array<const char*, count>& names) {
    measured_numbers found;
    for (const char* name : names) {
        const json_value* value = entry.find(name);
        if (value == nullptr || value->is != json_value::kind::number) continue;
        if (!std::isfinite(value->number)) continue;
        found.emplace_back(name, value->number);
    }
    return found;
}

// Keeps the smallest numbers of several repetitions: the others have more because a cache was
// filled.
void merge(measured_numbers& into, const measured_numbers& more) {
    if (into.empty()) into = more;
    for (auto& [name, value] : into) {
        for (const auto& other : more) {
            if (other.first == name) value = std::min(value, other.second);
        }
    }
}

std::string text_of(const json_value& entry, const char* name) {
    const json_value* value = entry.find(name);
    return value != nullptr && value->is == json_value::kind::text ? value->text : std::string{};
}

bool is_true(const json_value& entry, const char* name) {
    const json_value* value = entry.find(name);
    return value != nullptr && value->is == json_value::kind::boolean && value->boolean;
}

// With --benchmark_report_aggregates_only there are only aggregates: then the median counts.
bool is_wanted(const json_value& entry, bool only_aggregates) {
    const json_value* type = entry.find("run_type");
    if (type == nullptr || !type->is_text("aggregate")) return true;
    if (!only_aggregates) return false;
    const std::string aggregate = text_of(entry, "aggregate_name");
    return aggregate == "median" || (aggregate == "mean" && is_true(entry, "error_occurred"));
}

std::string read_benchmarks(const std::string& path, const json_value& list, result_file& into) {
    into.is = result_file::kind::google_benchmark;
    const bool only_aggregates =
        std::all_of(list.list.begin(), list.list.end(), [](const json_value& entry) {
            const json_value* type = entry.find("run_type");
            return type != nullptr && type->is_text("aggregate");
        });
    for (const json_value& entry : list.list) {
        const std::string name = text_of(entry, only_aggregates ? "run_name" : "name");
        if (name.empty()) return path + ": a benchmark has no name; write the file again";
        if (!is_wanted(entry, only_aggregates)) continue;
        if (is_true(entry, "error_occurred")) {
            into.failures[name] = text_of(entry, "error_message");
            continue;
        }
        measured_numbers numbers = numbers_of(entry, counters);
        if (numbers.empty()) numbers = numbers_of(entry, manager_fields);
        if (!numbers.empty()) merge(into.results[name], numbers);
    }
    if (!into.results.empty() || !into.failures.empty()) return {};
    return path +
           " has no counts of allocations: use a benchmark_scope in the benchmarks and run"
           " them again with --benchmark_out=" +
           path;
}

}  // namespace

std::string read_result_file(const std::string& path, result_file& into) {
    std::string text;
    const std::string error = allocscope::detail::read_whole_file(path, text);
    if (!error.empty()) return error;
    if (text.rfind(allocscope::detail::saved_magic, 0) == 0) {
        return path + " is a saved snapshot; allocscope diff compares two of those";
    }
    if (allocscope::detail::is_baseline_file(text)) {
        into.is = result_file::kind::baselines;
        return allocscope::detail::read_baselines(path, text, into.results);
    }
    json_value document;
    const std::string wrong = json_reader{text}.read(document);
    if (!wrong.empty()) {
        return path + " is neither a file of allocscope::baselines nor JSON: " + wrong +
               "; it may be cut off: write it again";
    }
    const json_value* list = document.find("benchmarks");
    if (list != nullptr && list->is == json_value::kind::list) {
        return read_benchmarks(path, *list, into);
    }
    return path +
           " is JSON, but not what Google Benchmark writes with --benchmark_out; give another file";
}

}  // namespace allocscope_tools
