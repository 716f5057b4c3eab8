// Danger: a child that was forked in the middle of a pool's report waits for a lock that nobody
// holds there, or takes an object of its parent for another one. Or what the child reports is
// counted in its parent.

#include "../../support/forked_child.hpp"
#include "../../support/own_threads.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/hooks.hpp>

#include <atomic>

using namespace allocscope_test;

namespace {

constexpr int objects = 3000;
char own_memory[objects];
char busy_memory[4][64];
std::atomic<bool> is_over{false};

void keep_reporting(void* memory) {
    auto* const first = static_cast<char*>(memory);
    for (int i = 0; !is_over.load(); i = (i + 1) % 64) {
        allocscope::report_allocation(first + i, 1, "busy");
        allocscope::report_free(first + i, "busy");
    }
}

const allocscope::snapshot::family* family_named(const allocscope::snapshot& seen, char first) {
    for (std::size_t i = 0; i < seen.info().family_count; ++i) {
        if (seen.info().families[i].name[0] == first) return seen.info().families + i;
    }
    return nullptr;
}

void free_in_child(const allocscope::scope& window) {
    for (int i = 0; i < objects; ++i) allocscope::report_free(own_memory + i);
    const allocscope::snapshot seen = window.stats();
    const allocscope::snapshot::family* own = family_named(seen, 'o');  // "operator new" or "own"
    if (own != nullptr && own->name[1] == 'p') ++own;
    ALLOCSCOPE_EXPECT(own != nullptr && own->allocations == objects && own->frees == objects);
    allocscope::report_allocation(own_memory, 1, "child");
    ALLOCSCOPE_EXPECT(family_named(window.stats(), 'c') != nullptr);
}

}  // namespace

int main() {
    watchdog();
    const allocscope::scope window{"fork"};
    for (int i = 0; i < objects; ++i) allocscope::report_allocation(own_memory + i, 1, "own");
    own_thread threads[4];
    for (int i = 0; i < 4; ++i) threads[i].start(keep_reporting, busy_memory[i]);
    const long rounds = scaled(60);
    for (long i = 0; i < rounds; ++i) {
        const child_end end = in_child([&window] {
            free_in_child(window);
            return verdict();
        });
        ALLOCSCOPE_EXPECT(end.exited_with(0));
    }
    is_over = true;
    for (own_thread& thread : threads) thread.join();
    const allocscope::snapshot seen = window.stats();
    ALLOCSCOPE_EXPECT(family_named(seen, 'c') == nullptr);
    const allocscope::snapshot::family* busy = family_named(seen, 'b');
    ALLOCSCOPE_EXPECT(busy != nullptr && busy->live_objects() == 0);
    return verdict();
}
