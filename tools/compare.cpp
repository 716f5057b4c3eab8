// allocscope compare OLD NEW
#include "option_words.hpp"
#include "result_file.hpp"
#include "verbs.hpp"

#include <allocscope/integrations/baselines.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>

namespace allocscope_tools {

const char* const compare_help =
    "usage: allocscope compare [--tolerance PERCENT] [--all] OLD NEW\n"
    "\n"
    "Prints which tests or benchmarks of NEW allocate more or less than in OLD. Both are files of\n"
    "allocscope::baselines, or both are the JSON that Google Benchmark writes with\n"
    "--benchmark_out=FILE.\n"
    "Times are not compared. Of several repetitions, the smallest number counts.\n"
    "\n"
    "  --tolerance PERCENT   accept increases up to this; 0 when not given (5 or 5%)\n"
    "  --all                 also print what has not changed\n"
    "\n"
    "exit code: 0  nothing increased beyond the tolerance\n"
    "           1  something did, or a benchmark of NEW reported an error\n"
    "           2  the files could not be compared; stderr says why\n";

namespace {

using allocscope::detail::measured_numbers;

struct compare_request {
    double tolerance_percent = 0;
    bool prints_all = false;
    arguments files;
};

std::string read_tolerance(const std::string& given, compare_request& into) {
    std::string text = given;
    if (!text.empty() && text.back() == '%') text.pop_back();
    const char* const end = read_decimal(text.c_str(), into.tolerance_percent);
    if (end != nullptr && *end == '\0' && std::isfinite(into.tolerance_percent)) {
        return {};
    }
    return "it must be a percentage of 0 or more, such as 5";
}

std::string read_all(const std::string&, compare_request& into) {
    into.prints_all = true;
    return {};
}

constexpr verb_option<compare_request> compare_options[] = {
    {"--tolerance", read_tolerance},
    {"--all", read_all, false},
};

std::string read_request(const arguments& words, compare_request& into) {
    std::string problem = read_words("compare", words, compare_options, into, into.files);
    if (!problem.empty() || into.files.size() == 2) return problem;
    return wrong_number_of_files(into.files.size(), "compare [options] OLD NEW");
}

struct table_row {
    std::string name, what, before, now, change, verdict;
};

std::string number_text(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.6g", value);
    if (value >= 0 && value < 1e15 && value == std::floor(value)) {
        std::snprintf(text, sizeof text, "%.0f", value);
    }
    return text;
}

std::string percent_text(double before, double now) {
    if (!(before > 0)) return now > before ? "new" : "";
    char text[40];
    std::snprintf(text, sizeof text, "%+.1f %%", (now - before) / before * 100);
    return text;
}

struct comparison {
    std::vector<table_row> rows;
    std::size_t compared = 0;
    std::size_t increased = 0;  // beyond the tolerance
    std::size_t failed = 0;
};

void compare_numbers(const compare_request& asked, const std::string& name,
                     const measured_numbers& before, const measured_numbers& now,
                     comparison& into) {
    using allocscope::detail::is_increase;
    for (const auto& [what, value] : now) {
        const double* old_value = allocscope::detail::find_number(before, what);
        if (old_value == nullptr) continue;
        ++into.compared;
        std::string verdict;
        if (is_increase(*old_value, value, asked.tolerance_percent)) {
            verdict = "MORE";
            ++into.increased;
        } else if (is_increase(*old_value, value, 0)) {
            verdict = "more, accepted";
        } else if (is_increase(value, *old_value, 0)) {
            verdict = "less";
        } else if (!asked.prints_all) {
            continue;
        }
        into.rows.push_back({printable(name), what, number_text(*old_value), number_text(value),
                             verdict.empty() ? "" : percent_text(*old_value, value), verdict});
    }
}

comparison compare_files(const compare_request& asked, const result_file& before,
                         const result_file& now) {
    comparison found;
    for (const auto& [name, numbers] : now.results) {
        if (now.failures.count(name) != 0) continue;
        const auto old_entry = before.results.find(name);
        if (old_entry == before.results.end()) {
            found.rows.push_back({printable(name), "", "", "", "", "only in NEW"});
        } else {
            compare_numbers(asked, name, old_entry->second, numbers, found);
        }
    }
    for (const auto& entry : before.results) {
        if (now.results.count(entry.first) == 0 && now.failures.count(entry.first) == 0) {
            found.rows.push_back({printable(entry.first), "", "", "", "", "only in OLD"});
        }
    }
    for (const auto& [name, message] : now.failures) {
        ++found.failed;
        found.rows.push_back({printable(name), "", "", "", "", "FAILED: " + printable(message)});
    }
    return found;
}

int width_of(const std::vector<table_row>& rows, std::string table_row::*column,
             const char* heading) {
    std::size_t width = std::char_traits<char>::length(heading);
    for (const table_row& row : rows) {
        if (!row.what.empty() || column == &table_row::name) {
            width = std::max(width, (row.*column).size());
        }
    }
    return static_cast<int>(width);
}

void print_table(const std::vector<table_row>& rows) {
    if (rows.empty()) return;
    const int name = width_of(rows, &table_row::name, "name");
    const int what = width_of(rows, &table_row::what, "");
    const int before = width_of(rows, &table_row::before, "old");
    const int now = width_of(rows, &table_row::now, "new");
    const int change = width_of(rows, &table_row::change, "change");
    std::printf("%-*s  %-*s  %*s  %*s  %*s\n", name, "name", what, "", before, "old", now, "new",
                change, "change");
    for (const table_row& row : rows) {
        if (row.what.empty()) {
            std::printf("%-*s  %s\n", name, row.name.c_str(), row.verdict.c_str());
        } else {
            std::printf("%-*s  %-*s  %*s  %*s  %*s%s%s\n", name, row.name.c_str(), what,
                        row.what.c_str(), before, row.before.c_str(), now, row.now.c_str(), change,
                        row.change.c_str(), row.verdict.empty() ? "" : "  ", row.verdict.c_str());
        }
    }
}

}  // namespace

int compare(const arguments& words) {
    if (asks_for_help(words)) {
        std::fputs(compare_help, stdout);
        return exit_fine;
    }
    compare_request asked;
    std::string error = read_request(words, asked);
    result_file before;
    result_file now;
    if (error.empty()) error = read_result_file(asked.files[0], before);
    if (error.empty()) error = read_result_file(asked.files[1], now);
    if (error.empty() && before.is != now.is) {
        error = "one of " + asked.files[0] + " and " + asked.files[1] +
                " has baselines, the other is from Google Benchmark; give two of one kind";
    }
    if (!error.empty()) return refuse("compare", error);

    const comparison found = compare_files(asked, before, now);
    print_table(found.rows);
    if (found.compared == 0 && found.failed == 0) {
        return refuse("compare", asked.files[0] + " and " + asked.files[1] +
                                     " have no name in common, so nothing was compared; give files"
                                     " of the same tests");
    }
    std::printf("%zu numbers compared, %zu increased beyond %s %%", found.compared, found.increased,
                number_text(asked.tolerance_percent).c_str());
    if (found.failed != 0) std::printf(", %zu benchmarks failed", found.failed);
    std::puts("");
    return found.increased != 0 || found.failed != 0 ? exit_worse : exit_fine;
}

}  // namespace allocscope_tools
