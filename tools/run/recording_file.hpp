// recording_file.hpp - the file without a name into which a program and its children record.
#ifndef ALLOCSCOPE_TOOLS_RUN_RECORDING_FILE_HPP
#define ALLOCSCOPE_TOOLS_RUN_RECORDING_FILE_HPP

#include <allocscope/base/options.hpp>
#include <allocscope/platform/memory_look.hpp>

#include <cstdint>
#include <string>

namespace allocscope_tools {

struct recorded_program {
    std::string path;             // of its file; "" when it is not known
    std::string refusal;          // why nothing was recorded; "" when something was
    std::int32_t process_id = 0;  // 0: it has only just begun
    bool has_last_look = false;   // whether it was looked at before it ended
    allocscope::detail::memory_look last_look;
};

class recording_file {
public:
    // `error` says why it could not be made.
    recording_file(const allocscope::options& wanted, bool follows_children, bool explains_memory,
                   std::string& error);
    ~recording_file();
    recording_file(const recording_file&) = delete;
    recording_file& operator=(const recording_file&) = delete;

    int descriptor() const { return descriptor_; }
    // In the child that is to become the program.
    void name_process();
    // How many programs found no room in the file.
    std::uint32_t programs_left_out() const;
    // Forked children that could not be recorded, as memory or descriptors were refused to them.
    std::uint32_t children_refused() const;
    // How many programs have recorded, or tried to.
    std::uint32_t program_count() const;
    recorded_program program(std::uint32_t index) const;
    // Gives the memory of what was recorded back.
    void forget(std::uint32_t index);

private:
    int descriptor_ = -1;
    void* request_ = nullptr;
};

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_RECORDING_FILE_HPP
