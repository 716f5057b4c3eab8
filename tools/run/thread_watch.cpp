#include "thread_watch.hpp"

#include "seen_segment.hpp"

#include <allocscope/platform/file_reader.hpp>

#include <algorithm>
#include <cstddef>

namespace allocscope_tools {

namespace {

using namespace allocscope::detail;

// At most this many names are read at a time, so that a program with very many threads costs
// little.
constexpr std::size_t most_reads = 1024;

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
