// children.cpp KIND - a child of some kind allocates in each round and ends; the program itself
// allocates 50 bytes and frees them. 1 allocation, 1 free, 50 bytes: a child counts for itself. A
// child of vfork lives in the program's memory: what it allocates is the program's. Then it is
// 2 allocations, 2 frees, 110 bytes.
#include <sched.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstring>

#include "rounds.hpp"

namespace {

char* const arguments_of_true[] = {const_cast<char*>("true"), nullptr};

void allocate_and_end() {
    std::free(block_of(60));
    block_of(60);
    ::_exit(0);
}

pid_t child_of(const char* kind) {
    const auto is = [kind](const char* name) { return std::strcmp(kind, name) == 0; };
    pid_t child = -1;
    if (is("fork")) {
        child = ::fork();
        if (child == 0) allocate_and_end();
    } else if (is("_Fork")) {
        child = ::_Fork();
        if (child == 0) allocate_and_end();
    } else if (is("clone")) {
        child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
        if (child == 0) allocate_and_end();
    } else if (is("posix_spawn")) {
        ::posix_spawn(&child, "/bin/true", nullptr, nullptr, arguments_of_true, environ);
    }
    return child;
}

// On its own, as the parent goes on where the child left the frame.
[[gnu::noinline]] pid_t child_of_vfork() {
    const pid_t child = ::vfork();
    if (child == 0) {
        std::free(block_of(60));
        ::execv("/bin/true", arguments_of_true);
        ::_exit(1);
    }
    return child;
}

}  // namespace

int main(int, char** arguments) {
    int failures = 0;
    for (int i = 0; i < rounds(); ++i) {
        std::free(block_of(50));
        const bool is_vfork = std::strcmp(arguments[1], "vfork") == 0;
        const pid_t child = is_vfork ? child_of_vfork() : child_of(arguments[1]);
        int status = -1;
        ::waitpid(child, &status, 0);
        failures += status != 0;
    }
    return failures == 0 ? 0 : 1;
}
