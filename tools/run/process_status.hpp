// process_status.hpp - what /proc says of a process in one line.
#ifndef ALLOCSCOPE_TOOLS_RUN_PROCESS_STATUS_HPP
#define ALLOCSCOPE_TOOLS_RUN_PROCESS_STATUS_HPP

#include <cstdint>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

#include <unistd.h>

namespace allocscope_tools {

struct process_status {
    std::string name;
    std::int32_t parent = 0;
    std::uint64_t began = 0;  // in ticks of the system
    bool is_alive = false;    // false also for a zombie
};

// Everything is empty if there is no such process.
inline process_status status_of(std::int32_t process_id) {
    process_status found;
    std::ifstream file{"/proc/" + std::to_string(process_id) + "/stat"};
    std::string line;
    std::getline(file, line, '\0');
    const std::size_t name_begin = line.find('(');
    const std::size_t name_end = line.rfind(") ");  // the name may have brackets, too
    if (name_begin == std::string::npos || name_end == std::string::npos) return found;
    found.name = line.substr(name_begin + 1, name_end - name_begin - 1);
    std::istringstream rest{line.substr(name_end + 2)};
    char state = 'X';
    rest >> state >> found.parent;
    std::string skipped;
    constexpr int fields_between = 17;  // from the parent to the time when the process began
    for (int i = 0; i < fields_between; ++i) rest >> skipped;
    found.is_alive = rest >> found.began && state != 'Z' && state != 'X';
    return found;
}

// Whether a process began after that moment of the monotonic clock. Then it has the number of one
// that was there before. The ticks of /proc count the time asleep, and the monotonic clock does
// not: all of it is added, so that a process which began before is never taken for a later one. The
// time since boot is read last, as this process may lose the processor between the two.
inline bool has_begun_after(const process_status& seen, std::uint64_t monotonic_ns) {
    timespec awake = {};
    timespec since_boot = {};
    ::clock_gettime(CLOCK_MONOTONIC, &awake);
    ::clock_gettime(CLOCK_BOOTTIME, &since_boot);
    const double asleep = static_cast<double>(since_boot.tv_sec - awake.tv_sec) +
                          static_cast<double>(since_boot.tv_nsec - awake.tv_nsec) / 1e9;
    const double ticks = (static_cast<double>(monotonic_ns) / 1e9 + asleep) *
                         static_cast<double>(::sysconf(_SC_CLK_TCK));
    return static_cast<double>(seen.began) > ticks + 1;
}

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_PROCESS_STATUS_HPP
