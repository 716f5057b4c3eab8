// resident_memory.hpp - how much memory this process really occupies.
//
// Room:     tests/support
// Called:   by tests that hold allocscope to its memory promises
// Threads:  any
// Memory:   a buffer on the stack
//
// The total of smaps_rollup is exact; the cheaper counters of statm lag behind by pages per CPU.

#ifndef ALLOCSCOPE_TESTS_SUPPORT_RESIDENT_MEMORY_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_RESIDENT_MEMORY_HPP

#include <fcntl.h>   // open
#include <malloc.h>  // malloc_trim
#include <unistd.h>  // read, close
#include <cstdint>   // uint64_t
#include <cstdlib>   // strtoull
#include <cstring>   // strstr

namespace allocscope_test {

constexpr std::uint64_t mebibyte = 1024 * 1024;

// Bytes resident; 0 when /proc does not say.
inline std::uint64_t resident_bytes() {
    char text[4096] = {};
    const int file = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    const ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    const char* found = got > 0 ? std::strstr(text, "\nRss:") : nullptr;
    return found == nullptr ? 0 : std::strtoull(found + 5, nullptr, 10) * 1024;
}

// The same after malloc has given back what it can.
inline std::uint64_t resident_bytes_trimmed() {
    malloc_trim(0);
    return resident_bytes();
}

}  // namespace allocscope_test

#endif  // ALLOCSCOPE_TESTS_SUPPORT_RESIDENT_MEMORY_HPP
