// recording_file.hpp - the file without a name into which a program and its children record.
#ifndef ALLOCSCOPE_TOOLS_RUN_RECORDING_FILE_HPP
#define ALLOCSCOPE_TOOLS_RUN_RECORDING_FILE_HPP

#include <allocscope/base/options.hpp>
#include <allocscope/platform/memory_look.hpp>

#include <cstdint>
#include <string>

namespace allocscope {
namespace detail {
struct recording_head;
}
}  // namespace allocscope

namespace allocscope_tools {

struct recorded_program {
    std::string name = "a program";  // as it was started, without folders
    std::string path;                // the path of its file; "": unknown
    std::string refusal;             // why it was not recorded; "": it was recorded
    std::string operators_of;  // the library whose operator new was not recorded, if there is one
    std::int32_t process_id = 0;  // 0: it has only just begun
    bool has_begun = false;       // its name and its number are known
    std::string kernel_name;      // of the process when the recording began; "": unknown
    // How far the program's monotonic clock is ahead of ours: a time namespace has its own.
    std::int64_t clock_ahead_ns = 0;
    std::uint64_t began_ns = 0;   // on our monotonic clock
    std::uint64_t exited_ns = 0;  // when its exit handlers had run; 0: they have not
    // It was a child that never returned from its first allocation, so the report lacks nothing.
    bool is_empty = false;
    bool has_last_look = false;  // it has looked at its memory at its end
    allocscope::detail::memory_look last_look;
};

class recording_file {
public:
    // If the file could not be made, `error` says why.
    recording_file(const allocscope::options& wanted, bool follows_children, bool explains_memory,
                   std::string& error);
    ~recording_file();
    recording_file(const recording_file&) = delete;
    recording_file& operator=(const recording_file&) = delete;

    int descriptor() const { return descriptor_; }
    // Call it in the child that becomes the program.
    void name_process();
    // How many programs had no room in the file.
    std::uint32_t programs_left_out() const;
    // How many forked children could not be recorded, because they got no memory or descriptors.
    std::uint32_t children_refused() const;
    // How many programs were not recorded, because they have the malloc of a sanitizer.
    std::uint32_t programs_sanitized() const;
    // How many programs recorded, or tried to.
    std::uint32_t program_count() const;
    recorded_program program(std::uint32_t index) const;
    // Gives back the memory of a recording.
    void forget(std::uint32_t index);

private:
    std::int64_t clock_ahead_of(const allocscope::detail::recording_head& head) const;

    std::int64_t unix_time_ahead_ns_;  // of the monotonic clock, when this command began
    int descriptor_ = -1;
    void* request_ = nullptr;
};

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_RECORDING_FILE_HPP
