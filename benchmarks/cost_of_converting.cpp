// cost_of_converting.cpp - what does it take to convert a saved file of a million stacks?
//
// As `allocscope convert` does it, from a file in the current folder into another one there. Each
// time in a fresh process, as peak memory belongs to one; the median of three counts. Seconds are
// those of the processor.

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

// Prints seconds and KiB.
int convert_into(const char* to) {
    std::string error;
    const double begin = processor_seconds();
    if (!allocscope::convert_snapshot(saved, to, error)) {
        std::fprintf(stderr, "%s\n", error.c_str());
        return 1;
    }
    const double taken = processor_seconds() - begin;
    std::remove(to);
    std::printf("%f %f\n", taken, status_kib("VmHWM:"));
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    if (count == 3 && std::string(arguments[1]) == "--into") return convert_into(arguments[2]);
    const run_options options = parse_run_options(count, arguments);
    many_stacks(options.smoke ? 1000 : 1000000).filter({}).save(saved);
    result_table table{arguments[0],
                       "What does it take to convert a saved file of a million stacks?", "",
                       options};
    for (const allocscope::detail::file_format& format : allocscope::detail::file_formats) {
        if (!options.wants(format.name)) continue;
        std::vector<double> seconds;
        std::vector<double> mebibytes;
        for (int i = 0; i < (options.smoke ? 1 : 3); ++i) {
            const std::string words = std::string("--into converted") + format.ending;
            const std::vector<double> taken = run_this_program(words, 2);
            seconds.push_back(taken[0]);
            mebibytes.push_back(taken[1] / 1024);
        }
        table.add_value(format.name, median(seconds), "s", no_target);
        table.add_value(std::string(format.name) + ", peak memory", median(mebibytes), "MiB",
                        no_target);
    }
    std::remove(saved);
    return table.finish();
}
