// program_report.hpp - the report about one program of a recording.
#ifndef ALLOCSCOPE_TOOLS_RUN_PROGRAM_REPORT_HPP
#define ALLOCSCOPE_TOOLS_RUN_PROGRAM_REPORT_HPP

#include "recording_file.hpp"
#include "run_options.hpp"

#include <cstdint>
#include <string>

namespace allocscope_tools {

// Each report is made by a process of its own: it takes over the memory of the recorded one, and
// whatever is wrong with that ends with it.
class program_report {
public:
    program_report(const run_options& wanted, const recording_file& file, std::uint32_t index);

    void write() const;
    // The line that is shown on a terminal while the program runs.
    void write_progress() const;

private:
    template <class Work>
    void in_own_process(bool wants_rows, const Work& work) const;
    std::string output_path() const;
    std::string output_path_of(const recorded_program& program) const;

    const run_options& wanted_;
    const recording_file& file_;
    std::uint32_t index_;
    recorded_program program_;
};

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_PROGRAM_REPORT_HPP
