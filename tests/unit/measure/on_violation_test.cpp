// Danger: a guard that acts although its promise was kept, or does not although it was broken; a
// report that nobody gets.

#include "../../support/escape.hpp"
#include "../../support/forked_child.hpp"

#include <allocscope/allocscope.hpp>

#include <doctest/doctest.h>

#include <csignal>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace allocscope;
using allocscope_test::allocate;
using allocscope_test::in_child;
using allocscope_test::release;

namespace {

bool has(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("guards report, abort, call or throw, and only when broken") {
    allocation_budget none;
    none.allocations = 0;
    int calls = 0;
    const auto count = on_violation::call(
        [](const check_result& found, void* context) {
            if (!found.passed()) ++*static_cast<int*>(context);
        },
        &calls);
    { const budget_guard guard{none, count}; }
    CHECK(calls == 0);
    {
        const budget_guard guard{none, count};
        release(allocate(1));
    }
    CHECK(calls == 1);
    void* left = nullptr;
    {
        const leak_guard guard{"kept", count};
        left = allocate(2);
    }
    release(left);
    CHECK(calls == 2);
    {
        leak_guard guard{"kept", count};
        left = allocate(2);
        for (int i = 0; i < 2; ++i) CHECK(!guard.finish().passed());
    }
    release(left);
    CHECK(calls == 3);

    bool was_thrown = false;
    {
        budget_guard guard{"thrown", none, on_violation::throw_error()};
        release(allocate(1));
        try {
            guard.finish();
        } catch (const violation_error& error) {
            was_thrown = has(error.what(), "thrown") && !error.result().passed();
        }
    }
    CHECK(was_thrown);
    // An exception that passes through a broken guard stays what it is.
    const auto throws_through = [&none, &count] {
        const budget_guard guard{none, count};
        release(allocate(1));
        throw std::logic_error{"mine"};
    };
    CHECK_THROWS_AS(throws_through(), std::logic_error);
    CHECK(calls == 4);

    const auto reported = in_child([&none] {
        const budget_guard guard{"loud", none};
        release(allocate(1));
        return 0;
    });
    CHECK(reported.exited_with(0));
    CHECK(has(reported.text, "allocscope: budget \"loud\": allocations is 1, allowed 0"));
    const auto aborted = in_child([&none] {
        signal(SIGABRT, SIG_DFL);  // doctest's would report a failure
        const budget_guard guard{"fatal", none, on_violation::abort()};
        release(allocate(1));
        return 0;
    });
    CHECK(aborted.was_killed_by(SIGABRT));
    CHECK(has(aborted.text, "fatal"));
    const auto destroyed = in_child([&none] {
        const budget_guard guard{"unfinished", none, on_violation::throw_error()};
        release(allocate(1));
        return 0;
    });
    CHECK(destroyed.exited_with(0));
    CHECK(has(destroyed.text, "unfinished"));
}

TEST_CASE("a report is written although a signal interrupts it") {
    const auto child = in_child([] {
        struct sigaction noticed {};
        noticed.sa_handler = [](int) {};  // without SA_RESTART: the write ends with EINTR
        sigaction(SIGUSR1, &noticed, nullptr);
        int full[2];
        if (pipe(full) != 0) return 1;
        fcntl(full[1], F_SETFL, O_NONBLOCK);
        while (write(full[1], ".", 1) == 1) continue;
        fcntl(full[1], F_SETFL, 0);
        const pid_t interrupted = getpid();
        const pid_t reader = fork();
        if (reader == 0) {
            close(full[1]);
            for (int i = 0; i < 150; ++i) {
                usleep(1000);
                kill(interrupted, SIGUSR1);
            }
            char byte = 0;
            while (read(full[0], &byte, 1) == 1) {
                if (byte != '.' && write(2, &byte, 1) != 1) return 1;
            }
            return 0;
        }
        dup2(full[1], 2);
        close(full[1]);
        {
            allocation_budget none;
            none.allocations = 0;
            const budget_guard guard{"interrupted", none};
            release(allocate(1));
        }
        close(2);
        return waitpid(reader, nullptr, 0) == reader ? 0 : 1;
    });
    CHECK(child.exited_with(0));
    CHECK(has(child.text, "allocations is 1, allowed 0"));
}
