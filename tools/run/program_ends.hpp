// program_ends.hpp - when the programs of a recording ended.
#ifndef ALLOCSCOPE_TOOLS_RUN_PROGRAM_ENDS_HPP
#define ALLOCSCOPE_TOOLS_RUN_PROGRAM_ENDS_HPP

#include "recording_file.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace allocscope_tools {

class program_ends {
public:
    // On the monotonic clock; 0: nothing in the recording says that the program has ended.
    std::uint64_t of(const recording_file& file, std::uint32_t index);
    // Whether its process has executed another program since.
    bool has_become_another(const recording_file& file, std::uint32_t index);

private:
    void look_at_new(const recording_file& file);
    void look_at(const recording_file& file, std::uint32_t index);

    std::uint32_t looked_at_ = 0;
    std::vector<std::uint32_t> nameless_;           // they had only just begun
    std::map<std::int32_t, std::uint32_t> latest_;  // the last program of each process
    std::map<std::uint32_t, std::uint64_t> replaced_at_;
};

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_PROGRAM_ENDS_HPP
