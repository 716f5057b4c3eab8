// A fork while another thread walks through the modules: the loader's lock stays taken in the
// child if fork() did not wait. The walk stops where the loader has the lock, because this program
// has a dl_iterate_phdr of its own.
//
//     forks_in_walks fork      the first walk begins inside a fork(), and the child walks, too
//     forks_in_walks _Fork     the child must not walk, and still works

#include "expectations.hpp"
#include "known_library.h"

#include <allocscope/hooks.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using callback = int (*)(dl_phdr_info*, std::size_t, void*);

std::atomic<bool> is_thread_to_stop{false};
std::atomic<bool> is_inside{false};
std::atomic<bool> is_fork_over{false};
thread_local bool is_walker = false;

void wait_for(const std::atomic<bool>& fact, int milliseconds) {
    for (int i = 0; i < milliseconds && !fact.load(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
}

struct stopped_walk {
    callback visit;
    void* given;
    bool has_stopped;
};

int visit_and_stop(dl_phdr_info* info, std::size_t size, void* given) {
    auto& walk = *static_cast<stopped_walk*>(given);
    if (is_walker && !walk.has_stopped && is_thread_to_stop.load()) {
        walk.has_stopped = true;
        is_inside.store(true);
        wait_for(is_fork_over, 300);
    }
    return walk.visit(info, size, walk.given);
}

}  // namespace

extern "C" int dl_iterate_phdr(callback visit, void* given) {
    static const auto next = [] {
        int (*found)(callback, void*) = nullptr;
        void* const address = ::dlsym(RTLD_NEXT, "dl_iterate_phdr");
        std::memcpy(&found, &address, sizeof found);
        return found;
    }();
    stopped_walk walk{visit, given, false};
    return next(&visit_and_stop, &walk);
}

namespace {

int work_of_child(bool may_walk) {
    ::alarm(20);  // it hangs
    known_work();
    expect_equal(::dlsym(RTLD_DEFAULT, "strlen") != nullptr, 1, "a lookup in the child");
    const allocscope::attached_hooks result = allocscope::attach_hooks();
    expect_equal(result.is_attached, may_walk, "attached in the child");
    expect_equal(result.refusal[0] == '\0', may_walk, "the reason");
    if (may_walk) expect_counts(known_allocations, known_bytes, "in the child", known_work);
    allocscope::detach_hooks();
    return failures == 0 ? 0 : 1;
}

template <class Fork>
void fork_while_walking(Fork fork, bool may_child_walk) {
    const pid_t child = fork();
    if (child == 0) ::_exit(work_of_child(may_child_walk));
    is_fork_over.store(true);
    int status = 0;
    ::waitpid(child, &status, 0);
    expect_equal(static_cast<std::uint64_t>(status), 0, "how the child ended");
}

// The other thread begins its first walk when fork() has called the program's handler.
void let_it_walk() {
    is_thread_to_stop.store(true);
    wait_for(is_inside, 5000);
}

}  // namespace

int main(int, char** arguments) {
    const bool is_plain = std::strcmp(arguments[1], "_Fork") == 0;
    if (!is_plain) ::pthread_atfork(&let_it_walk, nullptr, nullptr);
    std::thread other{[is_plain] {
        is_walker = true;
        if (is_plain) allocscope::attach_hooks();
        wait_for(is_thread_to_stop, 20000);
        if (is_plain) allocscope::detach_hooks();
        allocscope::attach_hooks();
    }};
    if (is_plain) let_it_walk();
    if (is_plain) {
        fork_while_walking(&::_Fork, false);
    } else {
        fork_while_walking(&::fork, true);
    }
    other.join();
    expect_equal(is_inside.load(), 1, "the other thread was in a walk");
    expect_counts(known_allocations, known_bytes, "in the parent", known_work);
    return failures == 0 ? 0 : 1;
}
