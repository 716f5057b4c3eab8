// result_file.hpp - what was measured, from a file of baselines or of Google Benchmark.
#ifndef ALLOCSCOPE_TOOLS_RESULT_FILE_HPP
#define ALLOCSCOPE_TOOLS_RESULT_FILE_HPP

#include <allocscope/integrations/baselines.hpp>

#include <map>
#include <string>

namespace allocscope_tools {

struct result_file {
    enum class kind { baselines, google_benchmark };
    kind is = kind::baselines;
    allocscope::detail::measured_results results;
    std::map<std::string, std::string> failures;  // by benchmark: the error that it reported
};

// Returns "", or one line that names the file and says what to do.
std::string read_result_file(const std::string& path, result_file& into);

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RESULT_FILE_HPP
