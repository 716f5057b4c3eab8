#include "program_ends.hpp"

#include <utility>

namespace allocscope_tools {

std::uint64_t program_ends::of(const recording_file& file, std::uint32_t index) {
    const std::uint64_t exited_ns = file.program(index).exited_ns;
    if (exited_ns != 0) return exited_ns;
    look_at_new(file);
    const auto found = replaced_at_.find(index);
    return found != replaced_at_.end() ? found->second : 0;
}

bool program_ends::has_become_another(const recording_file& file, std::uint32_t index) {
    look_at_new(file);
    return replaced_at_.count(index) != 0;
}

void program_ends::look_at_new(const recording_file& file) {
    for (std::uint32_t each : std::exchange(nameless_, {})) look_at(file, each);
    while (looked_at_ < file.program_count()) look_at(file, looked_at_++);
}

void program_ends::look_at(const recording_file& file, std::uint32_t index) {
    const recorded_program program = file.program(index);
    if (program.process_id == 0) return nameless_.push_back(index);
    std::uint32_t& latest = latest_.emplace(program.process_id, index).first->second;
    if (latest < index) replaced_at_[latest] = program.began_ns;
    if (latest < index) latest = index;
}

}  // namespace allocscope_tools
