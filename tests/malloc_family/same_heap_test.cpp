// With the hooks and without them, the same calls in the same order get the same blocks: address,
// usable size, result and errno. So nothing of ours is in the heap, and no request is changed.
// hooks: malloc
// not with: asan, tsan (they define malloc themselves)
#include "../support/dice.hpp"
#include "../support/forked_child.hpp"
#include "next_malloc.hpp"
#include "windows_of_all_kinds.hpp"

#include <doctest/doctest.h>

#include <malloc.h>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

using namespace allocscope_test;

namespace {

constexpr int calls = 40'000;

struct call_seen {
    std::uintptr_t address;
    std::size_t usable;
    int result;
    int error;
};

struct calls_seen {
    call_seen all[calls];
};

struct functions {
#define ALLOCSCOPE_TEST_MEMBER(result, name, parameters, arguments) result(*name) parameters;
    ALLOCSCOPE_UNDERLYING_FUNCTIONS(ALLOCSCOPE_TEST_MEMBER)
#undef ALLOCSCOPE_TEST_MEMBER
};

// Not by their names in a constant: the compiler may know what malloc and free together are.
functions theirs() {
    return {
#define ALLOCSCOPE_TEST_NEXT(result, name, parameters, arguments) &next_malloc::name,
        ALLOCSCOPE_UNDERLYING_FUNCTIONS(ALLOCSCOPE_TEST_NEXT)
#undef ALLOCSCOPE_TEST_NEXT
    };
}

functions ours() {
    return {
#define ALLOCSCOPE_TEST_OURS(result, name, parameters, arguments) &::name,
        ALLOCSCOPE_UNDERLYING_FUNCTIONS(ALLOCSCOPE_TEST_OURS)
#undef ALLOCSCOPE_TEST_OURS
    };
}

// Kept below the size from which blocks are mapped: where the kernel puts those depends on what
// else was mapped.
std::size_t size_of(dice& roll) {
    if (roll.one_in(50)) return SIZE_MAX - roll.below(70'000);
    return roll.one_in(8) ? roll.below(60'000) : roll.below(300);
}

void* allocate_any(const functions& f, dice& roll, int& result) {
    const std::size_t bytes = size_of(roll);
    const std::size_t alignment = std::size_t{1} << roll.below(13);
    void* block = nullptr;
    switch (roll.below(8)) {
        case 0:
            return f.calloc(1 + roll.below(7), bytes);
        case 1:
            return f.memalign(alignment, bytes);
        case 2:
            return f.aligned_alloc(alignment, bytes);
        case 3:
            result = f.posix_memalign(&block, alignment, bytes);
            return block;
        case 4:
            return f.valloc(bytes);
        case 5:
            return f.pvalloc(bytes);
        default:
            return f.malloc(bytes);
    }
}

void run(const functions& f, calls_seen& seen) {
    static void* blocks[200];
    dice roll{11};
    f.free(f.malloc(10));
    for (call_seen& each : seen.all) {
        void*& block = blocks[roll.below(200)];
        errno = 0;
        if (block == nullptr) {
            block = allocate_any(f, roll, each.result);
        } else if (roll.one_in(2)) {
            const std::size_t bytes = size_of(roll);
            void* moved = f.realloc(block, bytes);
            if (moved != nullptr || bytes == 0) block = moved;
        } else {
            f.free(block);
            block = nullptr;
        }
        each.error = errno;
        each.address = reinterpret_cast<std::uintptr_t>(block);
        each.usable = block == nullptr ? 0 : f.malloc_usable_size(block);
    }
}

// In a child that has the heap of this process at the time of the call.
template <class Work>
calls_seen* in_a_child(Work work) {
    auto* seen = shared_with_children<calls_seen>();
    mallopt(M_MMAP_THRESHOLD, 1 << 25);
    const child_end end = in_child([=] { return work(*seen), 0; });
    CHECK(end.exited_with(0));
    return seen;
}

int differences(const calls_seen& a, const calls_seen& b) {
    int found = 0;
    for (int i = 0; i < calls; ++i) {
        const bool is_same = a.all[i].address == b.all[i].address &&
                             a.all[i].usable == b.all[i].usable &&
                             a.all[i].result == b.all[i].result && a.all[i].error == b.all[i].error;
        if (!is_same) ++found;
    }
    return found;
}

}  // namespace

TEST_CASE("malloc family: forty thousand calls get the blocks that they get without us") {
    if (!next_malloc::is_glibc()) return;
    // The heap must not change between the forks: what CHECK allocates is given back at once.
    const calls_seen* wanted = in_a_child([](calls_seen& to) { run(theirs(), to); });
    const calls_seen* again = in_a_child([](calls_seen& to) { run(theirs(), to); });
    const calls_seen* idle = in_a_child([](calls_seen& to) { run(ours(), to); });
    const auto under = [](allocscope::recording record) {
        return in_a_child([=](calls_seen& to) {
            allocscope::scope window{"heap", recording_as(record)};
            run(ours(), to);
        });
    };
    const calls_seen* exact = under(allocscope::recording::exact);
    const calls_seen* counters = under(allocscope::recording::counters);
    CHECK(differences(*wanted, *again) == 0);
    CHECK(differences(*wanted, *idle) == 0);
    CHECK(differences(*wanted, *exact) == 0);
    CHECK(differences(*wanted, *counters) == 0);
}
