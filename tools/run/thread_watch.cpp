// The list of threads lies in the segment of the program, which may write nonsense there: each
// address is checked before it is used.
#include "thread_watch.hpp"

#include <allocscope/platform/file_reader.hpp>
#include <allocscope/state/recording_head.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>

#include <sys/mman.h>

namespace allocscope_tools {

namespace {

using namespace allocscope::detail;

// At most this many names are read at a time, so that a program with very many threads costs
// little.
constexpr std::size_t most_reads = 1024;

// A segment, seen from outside.
class seen_segment {
public:
    seen_segment(int file, std::uint32_t index) {
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
        void* const all =
            ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED | MAP_NORESERVE, file, offset);
        if (all != MAP_FAILED) mapped_ = static_cast<const char*>(all);
    }
    ~seen_segment() {
        if (mapped_ != nullptr) ::munmap(const_cast<char*>(mapped_), bytes_);
    }
    seen_segment(const seen_segment&) = delete;
    seen_segment& operator=(const seen_segment&) = delete;

    std::int32_t process_id() const { return process_id_; }

    const thread_state* first_thread() const {
        if (mapped_ == nullptr || bytes_ < lasting_offset) return nullptr;
        const void* const copy = mapped_ + process_offset;
        return seen(static_cast<const process_state*>(copy)->threads.load(memory_order::acquire));
    }
    // If a list is longer, it has a loop.
    std::size_t most_threads() const { return bytes_ / sizeof(thread_state); }
    // Returns null if the address is null or not in the segment.
    const thread_state* seen(const thread_state* address) const {
        const auto of = reinterpret_cast<std::uintptr_t>(address);
        const bool is_inside = of >= address_ + lasting_offset && of % alignof(thread_state) == 0 &&
                               of - address_ <= bytes_ - sizeof(thread_state);
        if (!is_inside) return nullptr;
        return reinterpret_cast<const thread_state*>(mapped_ + (of - address_));
    }

private:
    std::uintptr_t address_ = 0;
    std::size_t bytes_ = 0;
    std::int32_t process_id_ = 0;
    const char* mapped_ = nullptr;
};

std::string name_now(std::int32_t process, std::int32_t task) {
    const file_reader file{
        ("/proc/" + std::to_string(process) + "/task/" + std::to_string(task) + "/comm").c_str()};
    char name[64];
    std::size_t size = file.read_at(0, name, sizeof name);
    while (size != 0 && name[size - 1] == '\n') --size;
    return {name, size};
}

}  // namespace

void thread_watch::look(const recording_file& file, std::uint32_t index) {
    const seen_segment segment{file.descriptor(), index};
    names_of_threads& names = of_program_[index];
    const std::string usual = name_now(segment.process_id(), segment.process_id());
    std::size_t left = most_reads;
    std::size_t unseen = segment.most_threads();
    const thread_state* state = segment.first_thread();
    for (; state != nullptr && left != 0 && unseen-- != 0;
         state = segment.seen(state->next_state)) {
        const auto instance = static_cast<std::uint32_t>(state->instance.load());
        const std::int32_t task = state->task.load();
        if (!state->is_taken.load(memory_order::acquire) || task <= 0) continue;
        --left;
        const std::string name = name_now(segment.process_id(), task);
        // The state, or the number of the thread, may belong to another thread by now.
        const bool is_same = static_cast<std::uint32_t>(state->instance.load()) == instance &&
                             state->is_taken.load(memory_order::acquire);
        if (is_same && !name.empty() && name != usual) names[instance] = name;
    }
}

double thread_watch::pause() {
    const double now = pause_;
    pause_ = std::min(pause_ * 2, 1.0);
    return now;
}

}  // namespace allocscope_tools
