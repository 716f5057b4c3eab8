// number_in_proc.hpp - the number of this process in /proc.
//
// The command and the programs that it records know each other by these numbers, because all of
// them may have another number for themselves: each has the one of its own PID namespace, and /proc
// may be that of an outer one.
#ifndef ALLOCSCOPE_TOOLS_NUMBER_IN_PROC_HPP
#define ALLOCSCOPE_TOOLS_NUMBER_IN_PROC_HPP

#include <cstdint>

#include <unistd.h>

namespace allocscope_tools {

// 0 if there is no /proc, or if it knows nothing of this process.
inline std::int32_t number_in_proc() noexcept {
    char digits[16];
    const ssize_t length = ::readlink("/proc/self", digits, sizeof digits);
    std::int32_t number = 0;
    for (ssize_t i = 0; i < length; ++i) number = 10 * number + (digits[i] - '0');
    return number;
}

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_NUMBER_IN_PROC_HPP
