// result_table.hpp - what a benchmark program prints: rows, and one headline at the end.
//
//     result_table table{arguments[0], "What does ... cost?", "counters", options};
//     table.add_ratio("counters", seen, 1.20);
//     return table.finish();
//
//     What does ... cost?
//       counters   1.18x  quartiles 1.17 .. 1.19  undisturbed 1.18  21.0 -> 24.8 ns  target ...
//     headline: counters 1.18x (target 1.20x, met); 1 of 1 targets met

#ifndef ALLOCSCOPE_BENCHMARKS_RESULT_TABLE_HPP
#define ALLOCSCOPE_BENCHMARKS_RESULT_TABLE_HPP

#include "interleaved_ratio.hpp"
#include "run_options.hpp"

#include <cstdio>  // printf, fflush, snprintf
#include <string>  // string

namespace benchmarks {

constexpr double no_target = 0;

class result_table {
public:
    // The row named `headline_row`, or the last one, stands in the headline.
    result_table(const char* program, const char* question, const char* headline_row,
                 const run_options& options)
        : program_(program), headline_row_(headline_row), options_(options) {
        program_.erase(0, program_.rfind('/') + 1);
        if (options_.tsv) {
            std::printf("about\t%s\t%s\t%s\n", program_.c_str(), question, compiler());
        } else {
            std::printf("%s\n", question);
        }
    }

    // A row that is met when the median is at most `target`.
    void add_ratio(const std::string& name, const ratio& seen, double target = no_target) {
        const char* verdict = judge(name, seen.median, "x", target);
        if (options_.tsv) {
            std::printf("row\t%s\t%s\tx\t%.4f\t%.4f\t%.4f\t%.4f\t%.2f\t%.2f\t%.4f\t%s\n",
                        program_.c_str(), name.c_str(), seen.median, seen.lower_quartile,
                        seen.upper_quartile, seen.undisturbed, seen.baseline_ns, seen.measured_ns,
                        target, verdict);
        } else {
            std::printf("  %-58s %6.3fx  quartiles %.3f .. %.3f  undisturbed %.3f  %.1f -> %.1f ns",
                        name.c_str(), seen.median, seen.lower_quartile, seen.upper_quartile,
                        seen.undisturbed, seen.baseline_ns, seen.measured_ns);
            print_target("x", target, verdict);
        }
        std::fflush(stdout);
    }

    // A number with a unit of its own; the quartiles may be left out.
    void add_value(const std::string& name, double value, const char* unit,
                   double target = no_target, double lower_quartile = 0,
                   double upper_quartile = 0) {
        const char* verdict = judge(name, value, unit, target);
        if (options_.tsv) {
            std::printf("row\t%s\t%s\t%s\t%.4f\t%.4f\t%.4f\t\t\t\t%.4f\t%s\n", program_.c_str(),
                        name.c_str(), unit, value, lower_quartile, upper_quartile, target, verdict);
        } else {
            std::printf("  %-58s %8.2f %s", name.c_str(), value, unit);
            if (upper_quartile > 0) {
                std::printf("  quartiles %.2f .. %.2f", lower_quartile, upper_quartile);
            }
            print_target(unit, target, verdict);
        }
        std::fflush(stdout);
    }

    // Prints the headline and returns main's exit code: a missed target is a fact to look at, not
    // a failure.
    int finish() {
        if (options_.tsv) return 0;
        std::printf("headline: %s; %d of %d targets met%s\n", headline_.c_str(), met_, targets_,
                    options_.smoke ? " (smoke run: the numbers mean nothing)" : not_optimised());
        return 0;
    }

private:
    static const char* not_optimised() {
#if defined(__OPTIMIZE__) || defined(ALLOCSCOPE_BENCHMARK_OF_UNOPTIMISED_CODE)
        return "";
#else
        return " (not optimised: the numbers mean nothing)";
#endif
    }

    static const char* compiler() {
#if defined(__clang__)
        return "clang++ " __clang_version__;
#else
        return "g++ " __VERSION__;
#endif
    }

    const char* judge(const std::string& name, double value, const char* unit, double target) {
        const char* verdict = "";
        if (target > no_target) {
            ++targets_;
            verdict = value <= target ? "met" : "missed";
            if (value <= target) ++met_;
        }
        char text[256];
        if (target > no_target) {
            std::snprintf(text, sizeof text, "%s %.2f%s (target %.2f%s, %s)", name.c_str(), value,
                          unit, target, unit, verdict);
        } else {
            std::snprintf(text, sizeof text, "%s %.2f%s", name.c_str(), value, unit);
        }
        if (name == headline_row_ || !has_headline_) headline_ = text;
        if (name == headline_row_) has_headline_ = true;
        return verdict;
    }

    static void print_target(const char* unit, double target, const char* verdict) {
        if (target > no_target) std::printf("  target %.2f%s  %s", target, unit, verdict);
        std::printf("\n");
    }

    std::string program_;
    std::string headline_row_;
    run_options options_;
    int targets_ = 0;
    int met_ = 0;
    std::string headline_;
    bool has_headline_ = false;
};

}  // namespace benchmarks

#endif  // ALLOCSCOPE_BENCHMARKS_RESULT_TABLE_HPP
