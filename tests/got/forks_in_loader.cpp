// A fork while another thread is inside the loader, as in dlopen(): the child has the loader's lock
// taken for good. While hooks are attached, dlsym() and a window that opens look for new modules;
// they must not wait for that lock.
//
//     forks_in_loader fork
//     forks_in_loader _Fork

#include "expectations.hpp"
#include "known_library.h"

#include <allocscope/hooks.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include <dlfcn.h>
#include <link.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

std::atomic<bool> is_inside{false};
std::atomic<bool> may_leave{false};

int stay(dl_phdr_info*, std::size_t, void*) {
    is_inside.store(true);
    while (!may_leave.load()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    return 1;
}

int work_of_child() {
    ::alarm(20);  // it hangs
    known_work();
    expect_equal(::dlsym(RTLD_DEFAULT, "strlen") != nullptr, 1, "a lookup in the child");
    expect_counts(known_allocations, known_bytes, "in the child", known_work);
    const allocscope::attached_hooks again = allocscope::attach_hooks();
    expect_equal(again.is_attached, 0, "attached again in the child");
    expect_equal(std::strstr(again.refusal, "dlopen") != nullptr, 1, "the reason");
    allocscope::detach_hooks();
    known_work();
    return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int, char** arguments) {
    const bool is_plain = std::strcmp(arguments[1], "_Fork") == 0;
    allocscope::attach_hooks();
    std::thread other{[] { ::dl_iterate_phdr(&stay, nullptr); }};
    while (!is_inside.load()) std::this_thread::yield();
    const pid_t child = is_plain ? ::_Fork() : ::fork();
    if (child == 0) ::_exit(work_of_child());
    int status = 0;
    ::waitpid(child, &status, 0);
    expect_equal(static_cast<std::uint64_t>(status), 0, "how the child ended");
    may_leave.store(true);
    other.join();
    expect_counts(known_allocations, known_bytes, "in the parent", known_work);
    return failures == 0 ? 0 : 1;
}
