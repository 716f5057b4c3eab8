// Danger: a seccomp filter kills a program whose windows make a system call that it did not expect.
// What counting needs, and what stats() needs beyond that, is told in docs/limits.md; no other call
// is made.
// not with: asan, tsan (they make calls of their own)

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"
#include "../../support/forked_child.hpp"
#include "../../support/stack_tree.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <cstddef>
#include <initializer_list>
#include <vector>

using namespace allocscope_test;

namespace {

// What any program needs to allocate, to write and to end.
const std::initializer_list<int> of_the_program = {
    SYS_write,  SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_mmap,
    SYS_munmap, SYS_brk,  SYS_futex,      SYS_madvise,      SYS_mprotect};
const std::initializer_list<int> of_counting = {SYS_prlimit64, SYS_membarrier, SYS_getpid};
const std::initializer_list<int> of_stats = {SYS_openat, SYS_newfstatat,      SYS_pread64,
                                             SYS_close,  SYS_readlink,        SYS_mincore,
                                             SYS_fstat,  SYS_process_vm_readv};

bool allow_only(std::initializer_list<std::initializer_list<int>> sets) {
    std::vector<sock_filter> filter;
    filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
    for (const auto& set : sets) {
        for (const int call : set) {
            filter.push_back(
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
            filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
        }
    }
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
    const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

void count(allocscope::recording record) {
    allocscope::options wanted;
    wanted.record = record;
    wanted.sample_bytes = 4096;
    allocscope::scope window{"filtered", wanted};
    constexpr unsigned objects = 3000;
    static void* kept[objects];
    for (unsigned i = 0; i < objects; ++i) kept[i] = allocate_on_path(i, 10, 20 + i);
    const allocscope::allocation_counts counts = window.counts();
    if (record != allocscope::recording::sampled) {
        ALLOCSCOPE_EXPECT_EQUAL(counts.allocations, objects);
    }
    for (void* object : kept) release(object);
    { const allocscope::scope inner{"opened and closed"}; }
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), 0);
}

void count_everything() {
    count(allocscope::recording::exact);
    count(allocscope::recording::counters);
    count(allocscope::recording::sampled);
}

constexpr int cannot_filter = 77;

int counting() {
    { const allocscope::scope first{"registers what is registered once"}; }
    if (!allow_only({of_the_program, of_counting})) return cannot_filter;
    count_everything();
    return verdict();
}

int looking() {
    { const allocscope::scope first{"registers what is registered once"}; }
    if (!allow_only({of_the_program, of_counting, of_stats})) return cannot_filter;
    count_everything();
    allocscope::scope window{"looked at"};
    void* left = allocate(10);
    const allocscope::snapshot seen = window.stats();
    ALLOCSCOPE_EXPECT_EQUAL(seen.live_objects(), 1);
    release(left);
    return verdict();
}

void expect_success(const child_end& ended, const char* what) {
    if (ALLOCSCOPE_EXPECT(ended.exited_with(0))) return;
    char out[300];
    say(out, std::snprintf(out, sizeof out, "%s: status %x, %.200s\n", what,
                           static_cast<unsigned>(ended.status), ended.text.c_str()));
}

}  // namespace

int main() {
    watchdog();
    const child_end first = in_child(counting);
    if (first.exited_with(cannot_filter)) return cannot_filter;
    expect_success(first, "counting");
    expect_success(in_child(looking), "stats()");
    return verdict();
}
