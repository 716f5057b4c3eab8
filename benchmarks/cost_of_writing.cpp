// cost_of_writing.cpp - how long does it take to write a snapshot of a million stacks?
//
// Each format is written three times to a file in the current folder; the median of the processor
// time counts. The sizes of the files are printed, too. The stacks: many_stacks.hpp.

#include "interleaved_ratio.hpp"
#include "many_stacks.hpp"
#include "result_table.hpp"
#include "run_options.hpp"

#include <allocscope/report.hpp>

#include <cstdio>
#include <string>
#include <vector>

#include <sys/stat.h>

using namespace benchmarks;
namespace detail = allocscope::detail;
using allocscope::snapshot;

int main(int count, char** arguments) {
    const run_options options = parse_run_options(count, arguments);
    const snapshot rows = many_stacks(options.smoke ? 1000 : 1000000);
    result_table table{arguments[0], "How long does it take to write a million stacks?", "pprof",
                       options};
    for (const detail::file_format& format : detail::file_formats) {
        if (!options.wants(format.name)) continue;
        const std::string path = std::string("cost_of_writing") + format.ending;
        std::vector<double> seconds;
        for (int i = 0; i < (options.smoke ? 1 : 3); ++i) {
            const double begin = processor_seconds();
            allocscope::write(rows, path);
            seconds.push_back(processor_seconds() - begin);
        }
        struct stat written {};
        ::stat(path.c_str(), &written);
        std::remove(path.c_str());
        const std::string row =
            std::string(format.name) + ", " + std::to_string(written.st_size / 1000000) + " MB";
        const bool has_target = std::string(format.name) == "pprof";
        table.add_value(has_target ? "pprof" : row, median(seconds), "s",
                        has_target ? 2.0 : no_target);
    }
    return table.finish();
}
