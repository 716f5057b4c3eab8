// Danger: a walk waits for a lock that the allocating thread's own loader call holds, or makes a
// system call on every allocation. Stacks are walked with nothing known yet, first while another
// thread stands in a callback of dl_iterate_phdr, then where the kernel ends the process at any
// system call but write.
// not with: asan, tsan (their runtimes make system calls of their own)

#include "../support/process_test.hpp"

#include <allocscope/platform/stack_bounds.hpp>
#include <allocscope/unwind/chain_memo.hpp>
#include <allocscope/unwind/stack_walk.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <thread>

#include <execinfo.h>
#include <link.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace allocscope_test;
using namespace allocscope::detail;

namespace {

rule_cache rules;
chain_memo memo;
walked_stack walked;
stack_bounds bounds;

// From inside the C library's sort, three times anew. Returns how many frames there are.
std::uint32_t walk_anew() {
    static std::uint32_t least;
    least = 1000;
    int numbers[] = {3, 1, 2};
    std::qsort(numbers, 3, sizeof(int), [](const void* a, const void* b) {
        const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        rules.forget();
        stack_walk{bounds, rules, walked}.run(frame, 64);
        remembered_chain& chain = *memo.entry_for(frame, 0);
        memo.remember(chain, frame, walked);
        if (!chain_memo::is_unchanged(chain, frame)) least = 0;
        least = std::min(least, walked.frame_count);
        return *static_cast<const int*>(a) - *static_cast<const int*>(b);
    });
    return least;
}

std::atomic<bool> is_locked{false};
std::atomic<bool> is_done{false};

int stand_in_callback(dl_phdr_info*, std::size_t, void*) {
    is_locked.store(true);
    while (!is_done.load()) std::this_thread::yield();
    return 1;
}

}  // namespace

int main() {
    watchdog();
    bounds = current_stack_bounds(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
    ALLOCSCOPE_EXPECT(memo.prepare(64));
    const std::uint32_t frames = walk_anew();
    ALLOCSCOPE_EXPECT(frames > 5);

    std::thread other{[] { ::dl_iterate_phdr(&stand_in_callback, nullptr); }};
    while (!is_locked.load()) std::this_thread::yield();
    ALLOCSCOPE_EXPECT(walk_anew() > 5);
    is_done.store(true);
    other.join();

    const pid_t child = ::fork();
    if (child == 0) {
        if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) ::syscall(SYS_exit, 77);
        ::syscall(SYS_exit, walk_anew() > 5 ? 0 : 1);
    }
    int status = -1;
    ALLOCSCOPE_EXPECT(::waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) return verdict();  // not allowed here
    ALLOCSCOPE_EXPECT_EQUAL(status, 0);
    return verdict();
}
