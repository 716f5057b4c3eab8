// fork() waits for the walks of other threads, however long they take, but not for those of its own
// thread.

#include <allocscope/hooks/walks_and_forks.hpp>

#include "support/own_threads.hpp"

#include <doctest/doctest.h>

#include <atomic>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using allocscope::detail::count_of_walks;
using allocscope::detail::walk_permit;
using allocscope::detail::walks_now;

struct slow_walk {
    allocscope_test::meeting_point meeting{2};
    std::atomic<bool> is_over{false};
};

void walk_slowly(void* argument) {
    auto& walk = *static_cast<slow_walk*>(argument);
    const walk_permit permit;
    walk.meeting.wait();
    ::usleep(400'000);  // as if no processor were free
    walk.is_over = true;
}

// Returns how many walks are under way in the child.
int walks_in_child() {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(static_cast<int>(count_of_walks(walks_now.walks.load())));
    int status = -1;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a fork waits until another thread has walked") {
    allocscope::detail::prepare_walks_for_forks();
    slow_walk walk;
    allocscope_test::own_thread other;
    other.start(walk_slowly, &walk);
    walk.meeting.wait();
    CHECK(walks_in_child() == 0);
    CHECK(walk.is_over.load());
    other.join();
}

TEST_CASE("a fork in a handler that interrupted a walk does not wait for it") {
    allocscope::detail::prepare_walks_for_forks();
    const walk_permit permit;
    CHECK(walks_in_child() == 1);  // that goes on there, too
    CHECK(count_of_walks(walks_now.walks.load()) == 1);
}

TEST_CASE("no walk begins in another thread when a fork in a signal handler has ended") {
    allocscope::detail::before_fork_of_walker();
    allocscope::detail::before_fork_of_walker();  // the handler's
    allocscope::detail::after_fork_in_parent_of_walker();
    CHECK(walks_now.forking.load() != 0);
    allocscope::detail::after_fork_in_parent_of_walker();
    CHECK(walks_now.forking.load() == 0);
}

TEST_CASE("a thread that is about to wait for a fork does not keep the child from walking") {
    allocscope::detail::before_fork_of_walker();
    walks_now.walks.fetch_add(1);  // as another thread does, which then sees the fork
    const pid_t child = ::fork();
    if (child == 0) ::_exit(walk_permit{}.is_granted() ? 0 : 1);
    int status = -1;
    ::waitpid(child, &status, 0);
    walks_now.walks.fetch_sub(1);
    allocscope::detail::after_fork_in_parent_of_walker();
    CHECK(status == 0);
}
