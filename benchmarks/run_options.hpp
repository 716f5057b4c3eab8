// run_options.hpp - the command line that all benchmark programs share.
//
//     --smoke         a run of a moment: only crashes count
//     --tsv           one tab-separated line per number, for run_all.py
//     --pairs=N       how many pairs of slices a ratio is made of (default 61)
//     --slice-ms=X    how long one slice of the baseline lasts (default 10)
//     --only=TEXT     leave out rows whose name does not contain TEXT

#ifndef ALLOCSCOPE_BENCHMARKS_RUN_OPTIONS_HPP
#define ALLOCSCOPE_BENCHMARKS_RUN_OPTIONS_HPP

#include <cstdio>   // fprintf
#include <cstdlib>  // atoi, atof, exit
#include <string>   // string

namespace benchmarks {

struct run_options {
    bool smoke = false;
    bool tsv = false;
    int pairs = 61;
    double slice_ms = 10;
    std::string only;

    bool wants(const std::string& row) const { return row.find(only) != std::string::npos; }
};

// The text after `name=`, or null when `argument` is another one.
inline const char* value_of(const std::string& argument, const std::string& name) {
    const std::string start = "--" + name + "=";
    return argument.compare(0, start.size(), start) == 0 ? argument.c_str() + start.size()
                                                         : nullptr;
}

// Stops the program with a message when an argument is not known.
inline run_options parse_run_options(int count, char** arguments) {
    run_options result;
    for (int i = 1; i < count; ++i) {
        const std::string argument = arguments[i];
        if (argument == "--smoke") {
            result.smoke = true;
        } else if (argument == "--tsv") {
            result.tsv = true;
        } else if (const char* pairs = value_of(argument, "pairs")) {
            result.pairs = std::atoi(pairs);
        } else if (const char* slice = value_of(argument, "slice-ms")) {
            result.slice_ms = std::atof(slice);
        } else if (const char* only = value_of(argument, "only")) {
            result.only = only;
        } else {
            std::fprintf(stderr, "unknown argument %s; see run_options.hpp\n", argument.c_str());
            std::exit(2);
        }
    }
    if (result.smoke) {
        result.pairs = 3;
        result.slice_ms = 0.1;
    }
    if (result.pairs < 1) result.pairs = 1;
    return result;
}

}  // namespace benchmarks

#endif  // ALLOCSCOPE_BENCHMARKS_RUN_OPTIONS_HPP
