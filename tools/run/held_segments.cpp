#include "held_segments.hpp"

#include <allocscope/state/recording_head.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace allocscope_tools {

bool is_held(const recording_file& recording, std::uint32_t index) {
    using namespace allocscope::detail;
    constexpr std::uint64_t is_present = std::uint64_t{1} << 63U;
    constexpr std::uint64_t is_mapped_once = std::uint64_t{1} << 56U;
    const auto offset = static_cast<off_t>(segment_offset(index) + process_offset);
    void* const page =
        ::mmap(nullptr, page_bytes, PROT_READ, MAP_SHARED, recording.descriptor(), offset);
    if (page == MAP_FAILED) return true;
    static_cast<void>(*static_cast<const volatile char*>(page));  // maps it here
    const int entries = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    std::uint64_t entry = 0;
    const auto place = reinterpret_cast<std::uintptr_t>(page) / page_bytes * sizeof entry;
    const bool is_known =
        ::pread(entries, &entry, sizeof entry, static_cast<off_t>(place)) == sizeof entry;
    if (entries >= 0) ::close(entries);
    ::munmap(page, page_bytes);
    return !is_known || (entry & is_present) == 0 || (entry & is_mapped_once) == 0;
}

}  // namespace allocscope_tools
