// Danger: a wrong option is taken silently for another one. It must be refused with the value and
// the range, and no window may stay behind.

#include "../../support/escape.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <cstring>
#include <stdexcept>

using namespace allocscope_test;

namespace {

template <class Work>
void expect_refused(Work work, const char* option, const char* value, const char* limit) {
    bool is_refused = false;
    try {
        work();
    } catch (const std::invalid_argument& refusal) {
        is_refused = true;
        const char* text = refusal.what();
        const bool tells = ALLOCSCOPE_EXPECT(std::strstr(text, option) != nullptr) &&
                           ALLOCSCOPE_EXPECT(std::strstr(text, value) != nullptr) &&
                           ALLOCSCOPE_EXPECT(std::strstr(text, limit) != nullptr);
        if (!tells) say(text, static_cast<int>(std::strlen(text)));
    }
    ALLOCSCOPE_EXPECT(is_refused);
}

void expect_refused_everywhere(const allocscope::options& wrong, const char* option,
                               const char* value, const char* limit) {
    expect_refused([&] { allocscope::scope window("wrong", wrong); }, option, value, limit);
    expect_refused([&] { allocscope::start(wrong); }, option, value, limit);
}

void expect_accepted(std::uint32_t frames) {
    allocscope::options extreme;
    extreme.stack_frames = frames;
    allocscope::scope window{"extreme", extreme};
    void* object = allocate(8);
    const allocscope::snapshot seen = window.stats();
    ALLOCSCOPE_EXPECT_EQUAL(seen.live_objects(), 1);
    ALLOCSCOPE_EXPECT_EQUAL(seen.info().stack_frames, frames);
    release(object);
}

}  // namespace

int main() {
    watchdog();
    allocscope::options wrong;
    wrong.record = allocscope::recording::counters;
    wrong.age_step = 7;
    expect_refused_everywhere(wrong, "age_step", "7", "0 in a window that only counts");
    wrong = {};
    wrong.stack_frames = 0;
    expect_refused_everywhere(wrong, "stack_frames", "0", "128");
    wrong.stack_frames = 129;
    expect_refused_everywhere(wrong, "stack_frames", "129", "128");
    wrong.stack_frames = 4000000000U;
    expect_refused_everywhere(wrong, "stack_frames", "4000000000", "128");
    wrong = {};
    wrong.sample_bytes = 0;
    expect_refused_everywhere(wrong, "sample_bytes", "0", "1");
    wrong.record = allocscope::recording::sampled;
    expect_refused_everywhere(wrong, "sample_bytes", "0", "1");
    wrong = {};
    wrong.unwind = static_cast<allocscope::unwinding>(3);
    expect_refused_everywhere(wrong, "unwind", "3", "frame_pointers");
    wrong = {};
    wrong.record = static_cast<allocscope::recording>(3);
    expect_refused_everywhere(wrong, "record", "3", "exact, sampled or counters");
    wrong = {};
    wrong.from = static_cast<allocscope::threads>(2);
    expect_refused_everywhere(wrong, "from", "2", "all or current");

    ALLOCSCOPE_EXPECT(allocscope::stats().info().not_recording[0] != 0);  // nothing was started
    expect_accepted(1);
    expect_accepted(128);
    return verdict();
}
