// Danger: the tables of a large window stay when it has ended. At most 2 MiB may be kept after the
// last window, whether its objects died before or after its end.
// not with: asan, tsan (their own memory grows with what was allocated)

#include "../../support/escape.hpp"
#include "../../support/malloc_containers.hpp"
#include "../../support/process_test.hpp"
#include "../../support/resident_memory.hpp"
#include "../../support/stack_tree.hpp"

#include <allocscope/allocscope.hpp>

#include <memory>

using namespace allocscope_test;

namespace {

constexpr std::uint64_t kept_allowed = 2 * mebibyte;
constexpr std::uint64_t noise = 512 * 1024;  // what the C library and the kernel do meanwhile
// A snapshot that the scope still has says what each of its stacks allocated, and which thread.
constexpr std::uint64_t stacks = 1U << 14U;
constexpr std::uint64_t kept_by_snapshot = stacks * 64;

void allocate_a_million(malloc_vector<void*>& objects) {
    for (std::size_t i = 0; i < objects.size(); ++i) {
        objects[i] =
            i % 16 == 0 ? allocate_on_path(static_cast<unsigned>(i / 16), 14, 48) : allocate(48);
    }
}

void release_all(malloc_vector<void*>& objects) {
    for (void*& object : objects) {
        release(object);
        object = nullptr;
    }
}

void expect_given_back(const char* what, std::uint64_t resident_before, std::uint64_t more = 0) {
    const std::uint64_t resident_after = resident_bytes_trimmed();
    if (ALLOCSCOPE_EXPECT(resident_after <= resident_before + kept_allowed + noise + more)) return;
    char out[200];
    say(out, std::snprintf(out, sizeof out, "%s: resident %llu KiB -> %llu KiB\n", what,
                           static_cast<unsigned long long>(resident_before / 1024),
                           static_cast<unsigned long long>(resident_after / 1024)));
}

}  // namespace

int main() {
    watchdog();
    malloc_vector<void*> objects(static_cast<std::size_t>(scaled(1000000)));
    allocate_a_million(objects);  // so that the heap has its size before anything is measured
    release_all(objects);
    const std::uint64_t bare = resident_bytes_trimmed();
    ALLOCSCOPE_EXPECT(bare != 0);
    for (int round = 0; round < 3; ++round) {
        {
            allocscope::scope window{"large"};
            allocate_a_million(objects);
            release_all(objects);
            ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), 0);
        }
        expect_given_back("objects dead before the end", bare);
        {
            allocscope::scope window{"large"};
            allocate_a_million(objects);
        }
        release_all(objects);
        expect_given_back("objects dead after the end", bare);
    }
    // Names that were looked up may be kept for the next report; nothing else.
    {
        allocscope::scope window{"named"};
        void* object = allocate(8);
        window.stop();
        release(object);
    }
    const std::uint64_t with_names = resident_bytes_trimmed();
    {
        allocscope::scope window{"large"};
        allocate_a_million(objects);
        release_all(objects);
        ALLOCSCOPE_EXPECT_EQUAL(window.stop().live_objects(), 0);
        expect_given_back("stopped, the scope still there", with_names, kept_by_snapshot);
    }
    return verdict();
}
