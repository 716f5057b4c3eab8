// forked_child.hpp - runs a part of a test in a child process and tells how it ended.
//
// Room:     tests/support
// Called:   by tests whose subject ends the process, or may
// Threads:  the child has only the calling one
// Memory:   std::string for the text; nothing of it in the child
//
//     const auto child = in_child([] { std::abort(); return 0; });
//     child.was_killed_by(SIGABRT);   // true
//     child.text;                     // what it wrote to stderr

#ifndef ALLOCSCOPE_TESTS_SUPPORT_FORKED_CHILD_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_FORKED_CHILD_HPP

#include "process_test.hpp"

#include <sys/mman.h>  // mmap
#include <sys/wait.h>  // waitpid
#include <unistd.h>    // fork, pipe, alarm
#include <cstdlib>     // exit
#include <string>      // string

namespace allocscope_test {

struct child_end {
    int status = 0;
    std::string text;

    bool exited_with(int code) const { return WIFEXITED(status) && WEXITSTATUS(status) == code; }
    bool was_killed_by(int signal) const {
        return WIFSIGNALED(status) && WTERMSIG(status) == signal;
    }
};

enum class child_exit { at_once, through_exit };

// Runs `work` in a child; its result is the exit code.
template <class Work>
child_end in_child(Work work, child_exit way = child_exit::at_once, unsigned seconds = 30) {
    child_end end;
    int ends[2];
    if (pipe(ends) != 0) return end.status = -1, end;
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        dup2(ends[1], 2);
        close(ends[1]);
        watchdog(seconds);
        const int code = work();
        if (way == child_exit::through_exit) std::exit(code);
        _exit(code);
    }
    close(ends[1]);
    const unsigned left = alarm(0);  // the child has a watchdog of its own
    char buffer[512];
    ssize_t got = 0;
    while ((got = read(ends[0], buffer, sizeof buffer)) > 0) {
        end.text.append(buffer, static_cast<std::size_t>(got));
    }
    close(ends[0]);
    if (child < 0 || waitpid(child, &end.status, 0) != child) end.status = -1;
    alarm(left);
    return end;
}

// Memory that a child writes and its parent reads afterwards; zero at first.
template <class Value>
Value* shared_with_children() {
    void* memory =
        mmap(nullptr, sizeof(Value), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return static_cast<Value*>(memory);
}

}  // namespace allocscope_test

#endif  // ALLOCSCOPE_TESTS_SUPPORT_FORKED_CHILD_HPP
