// Danger: an exact window inside a sampled one leaves objects behind that do not begin at a page.
// Their frees are overlooked, and leaks are reported that are none. Or every free is looked up from
// then on, and sampling is no longer cheap.

#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/state/process_state.hpp>

using namespace allocscope_test;

namespace {

bool looks_up_every_free() {
    return (allocscope::detail::process.entry.word() & allocscope::detail::every_event) != 0;
}

allocscope::options coarse() {
    allocscope::options wanted;
    wanted.record = allocscope::recording::sampled;
    wanted.sample_bytes = std::uint64_t{1} << 40U;  // only the exact window records anything
    return wanted;
}

void release_on_other_thread(void* object) {
    release(object);
}

}  // namespace

int main() {
    watchdog();
    void* kept = nullptr;
    allocscope::scope sampled{"always on", coarse()};
    release(allocate(32));
    ALLOCSCOPE_EXPECT(!looks_up_every_free());
    for (int i = 0; i < 3; ++i) {
        allocscope::scope exact{"now and then"};
        ALLOCSCOPE_EXPECT(looks_up_every_free());
        release(allocate(100));
        kept = allocate(200);
        exact.stop();
        // What the exact window left behind is still looked up, and found, on whatever thread.
        ALLOCSCOPE_EXPECT(looks_up_every_free());
        const allocscope::allocation_counts before = sampled.counts();
        ALLOCSCOPE_EXPECT_EQUAL(before.live_objects(), 1);
        ALLOCSCOPE_EXPECT_EQUAL(before.live_bytes(), 200);
        own_thread other;
        other.start(release_on_other_thread, kept);
        other.join();
        ALLOCSCOPE_EXPECT_EQUAL(sampled.counts().live_objects(), 0);
        ALLOCSCOPE_EXPECT_EQUAL(sampled.counts().allocations, 2 * static_cast<unsigned>(i + 1));
        // The next boundary notices that nothing of the exact window is left.
        { const allocscope::scope boundary{"another", coarse()}; }
        ALLOCSCOPE_EXPECT(!looks_up_every_free());
    }
    {
        allocscope::options own;
        own.from = allocscope::threads::current;
        const allocscope::scope exact{"of one thread", own};
        ALLOCSCOPE_EXPECT(looks_up_every_free());
        release(allocate(50));
    }
    ALLOCSCOPE_EXPECT(!looks_up_every_free());
    ALLOCSCOPE_EXPECT(sampled.stats().empty());
    return verdict();
}
