#include <allocscope/platform/child_mark.hpp>

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

using allocscope::detail::child_mark;

namespace {

int exit_code_of(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a forked child is told once, its parent never, and a child of it again") {
    child_mark mark;
    CHECK_FALSE(mark.is_unsettled());  // not prepared: nothing is told
    CHECK_FALSE(mark.claim());
    mark.prepare();
    CHECK_FALSE(mark.is_unsettled());
    const pid_t child = fork();
    if (child == 0) {
        bool is_right = mark.is_unsettled() && mark.claim();
        mark.settle();
        is_right = is_right && !mark.is_unsettled() && !mark.claim();
        const pid_t grandchild = fork();
        if (grandchild == 0) _exit(mark.is_unsettled() && mark.claim() ? 0 : 1);
        _exit(is_right && exit_code_of(grandchild) == 0 ? 0 : 1);
    }
    CHECK(exit_code_of(child) == 0);
    CHECK_FALSE(mark.is_unsettled());
}

TEST_CASE("a child that shares the memory of its parent is none") {
    child_mark mark;
    mark.prepare();
    const pid_t child = vfork();
    if (child == 0) _exit(mark.is_unsettled() ? 1 : 0);
    CHECK(exit_code_of(child) == 0);
}
