// Forks while another thread attaches and detaches: every call works in the child, and it can
// attach and detach itself. A fork handler asks for a function, and so looks for modules.
//
//     forks ROUNDS

#include "expectations.hpp"
#include "known_library.h"

#include <allocscope/hooks.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

int work_of_child() {
    ::alarm(20);  // it hangs
    known_work();
    allocscope::attach_hooks();
    expect_counts(known_allocations, known_bytes, "in the child", known_work);
    allocscope::detach_hooks();
    expect_counts(0, 0, "detached in the child", known_work);
    return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int, char** arguments) {
    const int rounds = std::atoi(arguments[1]);
    ::pthread_atfork([] { ::dlsym(RTLD_DEFAULT, "strlen"); }, nullptr, nullptr);
    std::atomic<bool> is_over{false};
    std::atomic<std::uint64_t> attached{0};
    std::thread other{[&] {
        while (!is_over.load(std::memory_order_relaxed)) {
            allocscope::attach_hooks();
            allocscope::detach_hooks();
            attached.fetch_add(1, std::memory_order_relaxed);
        }
    }};
    for (int i = 0; i < rounds; ++i) {
        const pid_t child = ::fork();
        if (child == 0) ::_exit(work_of_child());
        int status = 0;
        ::waitpid(child, &status, 0);
        expect_equal(static_cast<std::uint64_t>(status), 0, "how a child ended");
        if (failures != 0) break;
    }
    is_over = true;
    other.join();
    expect_equal(attached.load() > 0, 1, "the other thread was at work");
    return failures == 0 ? 0 : 1;
}
