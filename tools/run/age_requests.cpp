#include "age_requests.hpp"

#include "seen_segment.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace allocscope_tools {

double age_requests::seconds_left() const {
    if (step_.count() == 0) return std::numeric_limits<double>::infinity();
    const std::chrono::duration<double> left = due_ - clock::now();
    return std::max(left.count(), 0.0);
}

void age_requests::ask(const recording_file& file, std::uint32_t index, bool is_due) {
    const seen_segment segment{file.descriptor(), index, PROT_READ | PROT_WRITE};
    allocscope::detail::recording_head* const head = segment.head();
    if (head == nullptr) return;
    if (is_due) head->age_mark_asked.store(1);
    if (head->age_mark_asked.load() == 0) return;
    std::size_t unseen = segment.most_threads();
    allocscope::detail::thread_state* state = segment.first_thread();
    for (; state != nullptr && unseen-- != 0; state = segment.seen(state->next_state)) {
        __atomic_store_n(&state->straight_view, allocscope::detail::no_view, __ATOMIC_RELAXED);
        __atomic_store_n(&state->view_number, allocscope::detail::no_view, __ATOMIC_RELAXED);
    }
}

}  // namespace allocscope_tools
