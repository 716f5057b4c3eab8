// cost_of_converting.cpp - what does it take to convert a saved file of a million stacks?
//
// As `allocscope convert` does it, from a file in the current folder into another one there. Each
// time in a fresh process, as peak memory belongs to one; the median of three counts. Seconds are
// those of the processor. The page and pprof also of a million rows, each a line of its own.

#include "child_process.hpp"
#include "interleaved_ratio.hpp"
#include "many_stacks.hpp"
#include "result_table.hpp"
#include "run_options.hpp"

#include <allocscope/report.hpp>

#include <cstdio>
#include <string>
#include <vector>

using namespace benchmarks;

namespace {

constexpr const char* saved = "cost_of_converting.allocscope";

constexpr const char* saved_rows = "cost_of_converting_rows.allocscope";

// Prints seconds and KiB.
int convert_into(const char* from, const char* to) {
    std::string error;
    const double begin = processor_seconds();
    if (!allocscope::convert_snapshot(from, to, error)) {
        std::fprintf(stderr, "%s\n", error.c_str());
        return 1;
    }
    const double taken = processor_seconds() - begin;
    std::remove(to);
    std::printf("%f %f\n", taken, status_kib("VmHWM:"));
    return 0;
}

void add_conversion(result_table& table, const run_options& options, const char* from,
                    const allocscope::detail::file_format& format, const std::string& row) {
    std::vector<double> seconds;
    std::vector<double> mebibytes;
    for (int i = 0; i < (options.smoke ? 1 : 3); ++i) {
        const std::string words = std::string(from) + " --into converted" + format.ending;
        const std::vector<double> taken = run_this_program(words, 2);
        seconds.push_back(taken[0]);
        mebibytes.push_back(taken[1] / 1024);
    }
    table.add_value(row, median(seconds), "s", no_target);
    table.add_value(row + ", peak memory", median(mebibytes), "MiB", no_target);
}

}  // namespace

int main(int count, char** arguments) {
    if (count == 4 && std::string(arguments[2]) == "--into") {
        return convert_into(arguments[1], arguments[3]);
    }
    const run_options options = parse_run_options(count, arguments);
    const std::size_t size = options.smoke ? 1000 : 1000000;
    many_stacks(size).filter({}).save(saved);
    many_stacks(size, true).filter({}).save(saved_rows);
    result_table table{arguments[0],
                       "What does it take to convert a saved file of a million stacks?", "",
                       options};
    for (const allocscope::detail::file_format& format : allocscope::detail::file_formats) {
        if (!options.wants(format.name)) continue;
        const std::string name = format.name;
        add_conversion(table, options, saved, format, name);
        if (name == "html" || name == "pprof") {
            add_conversion(table, options, saved_rows, format, name + ", rows");
        }
    }
    std::remove(saved);
    std::remove(saved_rows);
    return table.finish();
}
