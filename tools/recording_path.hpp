// recording_path.hpp - how the command tells the preload library where to record.
//
// The environment of the program may differ from that of a run without allocscope only in
// LD_PRELOAD, and that must stay a path of the library after the command has ended. So the message
// is in the path itself, as slashes and dots that do not change which file it names:
//
//     /usr/lib/.//././//.///liballocscope_preload.so      "/." is a 1, "/" is a 0
//
// The message is the number of the command's process, and that of the descriptor under which the
// command has the recording open: /proc/PROCESS/fd/DESCRIPTOR.
#ifndef ALLOCSCOPE_TOOLS_RECORDING_PATH_HPP
#define ALLOCSCOPE_TOOLS_RECORDING_PATH_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace allocscope_tools {

struct recording_place {
    std::uint32_t process = 0;  // 0: none
    std::uint32_t descriptor = 0;
};

namespace recording_path_detail {

constexpr int process_bits = 22;  // the kernel's limit is 4,194,304
constexpr int descriptor_bits = 12;
constexpr int check_bits = 8;
constexpr int message_bits = process_bits + descriptor_bits + check_bits;

constexpr std::uint64_t check_of(std::uint64_t content) {
    return ((content * 0x9e3779b97f4a7c15U) >> (64 - check_bits)) | 1U;
}

}  // namespace recording_path_detail

// The message always has the same length, so that it does not change what the program allocates for
// its environment.
constexpr std::size_t recording_path_room = 2 * recording_path_detail::message_bits + 1;
constexpr std::uint32_t most_recording_descriptor =
    (1U << recording_path_detail::descriptor_bits) - 1;

// Writes what stands between the folder of the library and "/liballocscope_preload.so".
inline void write_recording_path(recording_place place, char (&out)[recording_path_room]) {
    using namespace recording_path_detail;
    const std::uint64_t content =
        std::uint64_t{place.process} | (std::uint64_t{place.descriptor} << process_bits);
    const std::uint64_t message = content | (check_of(content) << (process_bits + descriptor_bits));
    std::memset(out, '/', sizeof out - 1);
    out[sizeof out - 1] = '\0';
    char* at = out + sizeof out - 1;
    for (int i = 0; i < message_bits; ++i) {
        const bool is_one = ((message >> static_cast<unsigned>(i)) & 1U) != 0;
        if (is_one) *--at = '.';
        *--at = '/';
    }
}

// Reads the message in the path of the library. The process is 0 if there is no message.
inline recording_place read_recording_path(const char* path) {
    using namespace recording_path_detail;
    const char* at = std::strrchr(path, '/');
    if (at == nullptr) return {};
    std::uint64_t message = 0;
    for (int i = 0; i < message_bits; ++i) {
        const bool is_one = at - path >= 2 && at[-1] == '.';
        if (is_one) --at;
        if (at == path || *--at != '/') return {};
        message |= std::uint64_t{is_one} << static_cast<unsigned>(i);
    }
    const std::uint64_t content =
        message & ((std::uint64_t{1} << (process_bits + descriptor_bits)) - 1);
    if (message >> (process_bits + descriptor_bits) != check_of(content)) return {};
    recording_place place;
    place.process = static_cast<std::uint32_t>(content & ((1U << process_bits) - 1));
    place.descriptor = static_cast<std::uint32_t>(content >> process_bits);
    return place;
}

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RECORDING_PATH_HPP
