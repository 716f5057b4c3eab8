#include <allocscope/platform/terminal_width.hpp>

#include <doctest/doctest.h>

#include <cstdlib>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace allocscope::detail;

namespace {

// Both ends of a pseudo terminal.
struct fake_terminal {
    int controller = ::posix_openpt(O_RDWR | O_NOCTTY);
    int terminal = -1;
    fake_terminal() {
        if (controller < 0 || ::grantpt(controller) != 0 || ::unlockpt(controller) != 0) return;
        terminal = ::open(::ptsname(controller), O_RDWR | O_NOCTTY);
    }
    ~fake_terminal() {
        if (terminal >= 0) ::close(terminal);
        if (controller >= 0) ::close(controller);
    }
    void resize(unsigned short columns) const {
        struct winsize size = {};
        size.ws_col = columns;
        size.ws_row = 25;
        ::ioctl(terminal, TIOCSWINSZ, &size);
    }
};

}  // namespace

TEST_CASE("terminal_width: a number of columns is a number, and nothing else is") {
    CHECK(columns_from_text("80") == 80);
    CHECK(columns_from_text("10000") == 10000);
    CHECK(columns_from_text("10001") == 0);
    CHECK(columns_from_text("99999999999999999999") == 0);
    CHECK(columns_from_text("") == 0);
    CHECK(columns_from_text(nullptr) == 0);
    CHECK(columns_from_text("-80") == 0);
    CHECK(columns_from_text("80x") == 0);
}

TEST_CASE("terminal_width: a terminal is as wide as it says, else as COLUMNS says, else 100") {
    const fake_terminal made;
    if (made.terminal < 0) return;  // no pseudo terminals here
    CHECK(is_terminal(made.terminal));
    made.resize(132);
    ::setenv("COLUMNS", "77", 1);
    CHECK(terminal_columns(made.terminal) == 132);
    made.resize(0);
    CHECK(terminal_columns(made.terminal) == 77);
    ::unsetenv("COLUMNS");
    CHECK(terminal_columns(made.terminal) == usual_width);
}

TEST_CASE("terminal_width: colours are for terminals that were not told otherwise") {
    const fake_terminal made;
    if (made.terminal < 0) return;
    ::unsetenv("NO_COLOR");
    ::setenv("TERM", "xterm", 1);
    CHECK(terminal_wants_color(made.terminal));
    ::setenv("NO_COLOR", "", 1);
    CHECK(terminal_wants_color(made.terminal));
    ::setenv("NO_COLOR", "0", 1);
    CHECK_FALSE(terminal_wants_color(made.terminal));
    ::unsetenv("NO_COLOR");
    ::setenv("TERM", "dumb", 1);
    CHECK_FALSE(terminal_wants_color(made.terminal));
}

TEST_CASE("terminal_width: a pipe is no terminal") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    CHECK_FALSE(is_terminal(ends[1]));
    CHECK_FALSE(terminal_wants_color(ends[1]));
    CHECK_FALSE(is_terminal(-1));
    ::close(ends[0]);
    ::close(ends[1]);
}
