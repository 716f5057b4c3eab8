// age_requests.hpp - asks a running program for the marks that divide its objects by their age.
#ifndef ALLOCSCOPE_TOOLS_RUN_AGE_REQUESTS_HPP
#define ALLOCSCOPE_TOOLS_RUN_AGE_REQUESTS_HPP

#include "recording_file.hpp"

#include <chrono>
#include <cstdint>

namespace allocscope_tools {

// Only the program itself can make a mark, because its hooks must see the boundary at once. So the
// command sets a word in the shared memory, and makes the views of all threads stale: the next hook
// of any thread then reads its view anew, finds the word and makes the mark. A program that does
// not allocate makes none, and needs none. Nothing of the program changes that it could notice.
class age_requests {
public:
    using clock = std::chrono::steady_clock;

    // `step_ns` is options::age_step; 0: no marks.
    explicit age_requests(std::uint64_t step_ns)
        : step_(static_cast<std::int64_t>(step_ns)), due_(clock::now() + step_) {}

    // Until the next request.
    double seconds_left() const;

    // Asks all programs if a mark is due. Asks those again that have not made the last one: a
    // thread that was just reading its view has overwritten the request.
    template <class IsLeftOut>
    void ask_when_due(const recording_file& file, const IsLeftOut& is_left_out) {
        if (step_.count() == 0) return;
        const bool is_due = clock::now() >= due_;
        if (is_due) due_ = clock::now() + step_;
        for (std::uint32_t i = 0; i < file.program_count(); ++i) {
            if (!is_left_out(i)) ask(file, i, is_due);
        }
    }

private:
    static void ask(const recording_file& file, std::uint32_t index, bool is_due);

    std::chrono::nanoseconds step_;
    clock::time_point due_;
};

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_AGE_REQUESTS_HPP
