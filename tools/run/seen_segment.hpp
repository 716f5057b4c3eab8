// seen_segment.hpp - the segment of a program that is being recorded, seen from outside.
//
// The program may write nonsense there: each address is checked before it is used.
#ifndef ALLOCSCOPE_TOOLS_RUN_SEEN_SEGMENT_HPP
#define ALLOCSCOPE_TOOLS_RUN_SEEN_SEGMENT_HPP

#include <allocscope/state/recording_head.hpp>

#include <cstddef>
#include <cstdint>

#include <sys/mman.h>

namespace allocscope_tools {

class seen_segment {
public:
    using recording_head = allocscope::detail::recording_head;
    using thread_state = allocscope::detail::thread_state;

    // `access` is PROT_READ, or PROT_READ | PROT_WRITE.
    seen_segment(int file, std::uint32_t index, int access = PROT_READ) {
        using namespace allocscope::detail;
        const auto offset = static_cast<off_t>(segment_offset(index));
        void* const first = ::mmap(nullptr, page_bytes, PROT_READ, MAP_SHARED, file, offset);
        if (first == MAP_FAILED) return;
        const auto& head = *static_cast<const recording_head*>(first);
        address_ = head.address;
        process_id_ = head.process_id;
        const std::uintptr_t end = head.next.load();
        const bool is_running = head.step.load() == recording_step::running;
        ::munmap(first, page_bytes);
        if (!is_running || end <= address_ || end - address_ > segment_bytes) return;
        bytes_ = end - address_;
        void* const all = ::mmap(nullptr, bytes_, access, MAP_SHARED | MAP_NORESERVE, file, offset);
        if (all != MAP_FAILED) mapped_ = static_cast<char*>(all);
    }
    ~seen_segment() {
        if (mapped_ != nullptr) ::munmap(mapped_, bytes_);
    }
    seen_segment(const seen_segment&) = delete;
    seen_segment& operator=(const seen_segment&) = delete;

    std::int32_t process_id() const { return process_id_; }

    // Null if the program does not record, or no longer.
    recording_head* head() const { return reinterpret_cast<recording_head*>(mapped_); }

    thread_state* first_thread() const {
        using namespace allocscope::detail;
        if (mapped_ == nullptr || bytes_ < lasting_offset) return nullptr;
        const void* const copy = mapped_ + process_offset;
        return seen(static_cast<const process_state*>(copy)->threads.load(memory_order::acquire));
    }
    // If a list is longer, it has a loop.
    std::size_t most_threads() const { return bytes_ / sizeof(thread_state); }
    // Returns null if the address is null or not in the segment.
    thread_state* seen(const thread_state* address) const {
        const auto of = reinterpret_cast<std::uintptr_t>(address);
        const bool is_inside = of >= address_ + allocscope::detail::lasting_offset &&
                               of % alignof(thread_state) == 0 &&
                               of - address_ <= bytes_ - sizeof(thread_state);
        if (!is_inside) return nullptr;
        return reinterpret_cast<thread_state*>(mapped_ + (of - address_));
    }

private:
    std::uintptr_t address_ = 0;
    std::size_t bytes_ = 0;
    std::int32_t process_id_ = 0;
    char* mapped_ = nullptr;
};

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_SEEN_SEGMENT_HPP
