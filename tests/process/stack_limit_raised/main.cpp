// Danger: a program raises RLIMIT_STACK while it runs, as compilers do. Then the stacks of its
// threads, and holes between them, lie within that limit below the main stack, and a walk that
// takes all of it for one stack reads a hole. Without random addresses that is always so.
// not with: asan, tsan (they map shadow memory into the holes)
// about: stacks

#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <cstring>
#include <initializer_list>

using namespace allocscope_test;

namespace {

using caller = void* (*)(std::size_t bytes, std::uintptr_t frame_pointer,
                         void* (*function)(std::size_t));

// A function without unwind table that calls `function` with data in the frame pointer.
caller make_caller() {
    const unsigned char code[] = {0x55, 0x53, 0x53, 0x48, 0x89, 0xf5, 0x48, 0x83, 0xec, 0x10,
                                  0xff, 0xd2, 0x48, 0x83, 0xc4, 0x10, 0x5b, 0x5b, 0x5d, 0xc3};
    void* pages =
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return nullptr;
    std::memcpy(pages, code, sizeof code);
    return reinterpret_cast<caller>(pages);
}

void call_with_odd_frame_pointers(void* argument) {
    const auto call = *static_cast<caller*>(argument);
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    allocscope::scope window{"walks"};
    std::uint64_t calls = 0;
    for (std::uintptr_t distance = 4096; distance < (std::uintptr_t{1} << 30U); distance *= 2) {
        for (const std::uintptr_t factor : {std::uintptr_t{2}, std::uintptr_t{3}}) {
            // A frame pointer is believed only at multiples of 16.
            const std::uintptr_t odd = (here + distance / 2 * factor) & ~std::uintptr_t{15};
            release(call(20, odd, &::operator new));
            ++calls;
        }
    }
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, calls);
}

}  // namespace

int main(int, char** arguments) {
    watchdog();
    const int before = personality(0xffffffff);
    if (before == -1) return 77;
    if ((before & ADDR_NO_RANDOMIZE) == 0) {
        if (personality(static_cast<unsigned long>(before) | ADDR_NO_RANDOMIZE) == -1) return 77;
        execv("/proc/self/exe", arguments);
        return 77;
    }
    rlimit limit = {};
    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = rlim_t{1} << 30U;
    if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_STACK, &limit) != 0) return 77;
    caller call = make_caller();
    if (call == nullptr) return 77;
    own_thread thread;
    thread.start(call_with_odd_frame_pointers, &call, std::size_t{1} << 20U);
    thread.join();
    call_with_odd_frame_pointers(&call);
    return verdict();
}
