// child_process.hpp - run this program again with other arguments and read the numbers it prints.
//
// Peak memory belongs to a process, so each measurement of it gets a fresh one. The child prints
// numbers separated by blanks; a child that fails stops the benchmark with exit code 1.

#ifndef ALLOCSCOPE_BENCHMARKS_CHILD_PROCESS_HPP
#define ALLOCSCOPE_BENCHMARKS_CHILD_PROCESS_HPP

#include <unistd.h>  // readlink

#include <cstddef>  // size_t
#include <cstdio>   // popen, pclose, fopen, fscanf, fprintf
#include <cstdlib>  // exit
#include <cstring>  // strncmp
#include <string>   // string
#include <vector>   // vector

namespace benchmarks {

inline std::vector<double> run_this_program(const std::string& arguments, std::size_t numbers) {
    char path[4096];
    const auto length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    const std::string command = "'" + std::string(path) + "' " + arguments;
    std::vector<double> result;
    FILE* output = popen(command.c_str(), "r");
    double number = 0;
    while (output != nullptr && std::fscanf(output, "%lf", &number) == 1) result.push_back(number);
    if (output == nullptr || pclose(output) != 0 || result.size() != numbers) {
        std::fprintf(stderr, "this command failed: %s\n", command.c_str());
        std::exit(1);
    }
    return result;
}

// A number of /proc/self/status in KiB: "VmHWM:" (most ever resident), "VmRSS:" (resident now).
inline double status_kib(const char* name) {
    double result = 0;
    FILE* file = std::fopen("/proc/self/status", "r");
    char line[256];
    while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr) {
        if (std::strncmp(line, name, std::strlen(name)) == 0) {
            result = std::atof(line + std::strlen(name));
        }
    }
    if (file != nullptr) std::fclose(file);
    return result;
}

}  // namespace benchmarks

#endif  // ALLOCSCOPE_BENCHMARKS_CHILD_PROCESS_HPP
