// Danger: where the address space is limited (ulimit -v, containers), a reservation is refused, and
// the library ends the program or silently shows nothing. The program must go on, and what was not
// recorded must be said.
// not with: asan, tsan (they reserve terabytes themselves)

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"
#include "../../support/forked_child.hpp"

#include <allocscope/allocscope.hpp>

#include <sys/resource.h>
#include <cstdlib>
#include <sstream>

using namespace allocscope_test;

namespace {

constexpr int object_count = 20000;
void* objects[object_count];

std::uint64_t losses(const allocscope::snapshot& seen) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < seen.info().loss_count; ++i) sum += seen.info().losses[i].count;
    return sum;
}

bool is_refused(const allocscope::snapshot& seen) {
    return seen.info().not_recording[0] != 0;
}

// Memory may be refused for the rows, and even for the totals. They must never be wrong.
bool is_right_or_refused(const allocscope::snapshot& seen, std::uint64_t counted) {
    const std::uint64_t told = seen.info().totals.allocations;
    return told == counted || (is_refused(seen) && told == 0);
}

void use(allocscope::recording record) {
    allocscope::options wanted;
    wanted.record = record;
    allocscope::scope window{"little room", wanted};
    for (int i = 0; i < object_count; ++i) {
        objects[i] = allocate(static_cast<std::size_t>(16 + i % 100));
        *static_cast<int*>(objects[i]) = i;
    }
    // Counting takes no memory, so this is known whatever is refused.
    const std::uint64_t counted = window.counts().allocations;
    // An estimate may say more than there was.
    const bool is_estimate = record == allocscope::recording::sampled;
    ALLOCSCOPE_EXPECT(counted <= object_count || is_estimate);
    const allocscope::snapshot seen = window.stats();
    ALLOCSCOPE_EXPECT(is_right_or_refused(seen, counted));
    if (record == allocscope::recording::exact) {
        const allocscope::pause_recording unseen;  // the text's memory is not counted
        std::ostringstream text;
        text << seen;
        const bool is_whole = counted == object_count && seen.live_objects() == object_count;
        ALLOCSCOPE_EXPECT(is_whole || is_refused(seen) || losses(seen) > 0);
        ALLOCSCOPE_EXPECT(!text.str().empty());  // empty would read as "nothing is alive"
    }
    for (int i = 0; i < object_count; ++i) {
        ALLOCSCOPE_EXPECT_EQUAL(*static_cast<int*>(objects[i]), i);
        release(objects[i]);
    }
    ALLOCSCOPE_EXPECT(window.counts().live_objects() <= object_count || is_estimate);
    const allocscope::snapshot last = window.stop();
    ALLOCSCOPE_EXPECT(is_right_or_refused(last, counted));
    if (!is_estimate && !is_refused(last)) {
        const auto produced = static_cast<std::uint64_t>(object_count);
        expect_accounted(last, {produced, produced});
    }
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, counted);
}

int use_everything() {
    for (int i = 0; i < 2; ++i) {
        use(allocscope::recording::exact);
        use(allocscope::recording::counters);
        use(allocscope::recording::sampled);
    }
    return verdict();
}

}  // namespace

int main(int count, char** arguments) {
    watchdog();
    if (count == 2) return use_everything();
    static const char* const limits[] = {"64", "96", "128", "256", "512", "1024", "2048", "70000"};
    for (const char* const mebibytes : limits) {
        for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
            const child_end ended = in_child([mebibytes, arguments, resource] {
                const rlim_t bytes = std::strtoull(mebibytes, nullptr, 10) << 20;
                const rlimit limit = {bytes, bytes};
                if (setrlimit(resource, &limit) != 0) return 3;
                char worker[] = "worker";
                char* const child_arguments[] = {arguments[0], worker, nullptr};
                execv("/proc/self/exe", child_arguments);
                return 4;
            });
            if (ALLOCSCOPE_EXPECT(ended.exited_with(0))) continue;
            char out[300];
            say(out, std::snprintf(out, sizeof out, "with %s MiB of %s: status %x, %.200s\n",
                                   mebibytes, resource == RLIMIT_AS ? "address space" : "memory",
                                   static_cast<unsigned>(ended.status), ended.text.c_str()));
        }
    }
    return verdict();
}
