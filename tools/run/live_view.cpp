#include "live_view.hpp"

#include "../counted.hpp"

#include <allocscope/platform/terminal_width.hpp>
#include <allocscope/report/text_columns.hpp>

#include <algorithm>
#include <cstdio>

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace allocscope_tools {

namespace {

// Control sequences of ECMA-48, and those of xterm for its second screen.
constexpr const char* to_other_screen = "\x1b[?1049h\x1b[?25l";
constexpr const char* back_to_screen = "\x1b[?25h\x1b[?1049l";
constexpr const char* to_corner = "\x1b[H";
constexpr const char* end_of_line = "\x1b[K\n";
constexpr const char* rest_of_screen = "\x1b[J";

std::size_t terminal_lines() {
    struct winsize size = {};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row != 0 ? size.ws_row : 24;
}

std::string amount(std::uint64_t bytes) {
    allocscope::detail::arena memory;
    allocscope::detail::text_out out{memory};
    allocscope::detail::write_bytes(out, bytes);
    return out.c_str();
}

}  // namespace

const char* mark_of_estimates(const allocscope::snapshot& rows) {
    return rows.info().record == allocscope::recording::sampled ? "~" : "";
}

std::string cut_to_terminal(const std::string& line) {
    allocscope::detail::arena memory;
    allocscope::detail::text_out out{memory};
    allocscope::detail::write_end_cut(out, {line.data(), line.size()},
                                      allocscope::detail::terminal_columns(STDERR_FILENO));
    return out.c_str();
}

live_view::live_view(bool has_keys) : has_keys_(has_keys) {
    if (has_keys_ && ::tcgetattr(STDERR_FILENO, &before_) == 0) {
        struct termios raw = before_;
        raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // Ctrl-C stays what it is
        raw.c_cc[VMIN] = 0;
        raw.c_cc[VTIME] = 0;
        ::tcsetattr(STDERR_FILENO, TCSANOW, &raw);
    } else {
        has_keys_ = false;
    }
    std::fputs(to_other_screen, stderr);
    std::fflush(stderr);
}

live_view::~live_view() {
    std::fputs(back_to_screen, stderr);
    std::fflush(stderr);
    if (has_keys_) ::tcsetattr(STDERR_FILENO, TCSANOW, &before_);
}

bool live_view::take_keys() {
    bool has_changed = false;
    struct pollfd typed = {STDERR_FILENO, POLLIN, 0};
    char key = 0;
    while (has_keys_ && ::poll(&typed, 1, 0) == 1 && ::read(STDERR_FILENO, &key, 1) == 1) {
        has_changed = take_key(key) || has_changed;
    }
    return has_changed;
}

bool live_view::take_key(char key) {
    using allocscope::group_key;
    using allocscope::stack_value;
    switch (key) {
        case 'b':
            order_ = stack_value::live_bytes;
            return true;
        case 'o':
            order_ = stack_value::live_objects;
            return true;
        case 'a':
            order_ = stack_value::bytes_allocated;
            return true;
        case 'n':
            order_ = stack_value::allocations;
            return true;
        case 't':
            key_ = key_ == group_key::type ? group_key::place : group_key::type;
            return true;
        case 'm':
            key_ = key_ == group_key::module ? group_key::place : group_key::module;
            return true;
        case 'p':
        case ' ':
            is_paused_ = !is_paused_;
            return true;
        case 'q':
            is_left_ = true;
            return false;
        default:
            return false;
    }
}

void live_view::draw(const std::string& name, const allocscope::snapshot& rows) const {
    const auto& info = rows.info();
    const auto& about = info.estimates;  // or the totals themselves
    const std::size_t lines = terminal_lines();
    const std::size_t columns = allocscope::detail::terminal_columns(STDERR_FILENO);
    const std::string mark = mark_of_estimates(rows);
    std::string screen = name + ": " + std::to_string(info.duration_ns / 1000000000) + " s, " +
                         mark + amount(about.live_bytes.value) + " in " + mark +
                         counted(about.live_objects.value, "object") + " alive, peak " + mark +
                         amount(info.totals.peak_bytes) + ", " + mark +
                         amount(about.bytes_allocated.value) + " allocated\n";
    screen += "by " + std::string{allocscope::detail::name_of(order_)};
    if (is_paused_) screen += ", paused";
    screen += has_keys_ ? "; b bytes, o objects, a allocated, n allocations\n"
                          "t types, m modules, p pause, q leave\n\n"
                        : "; for keys, give the program another stdin,\n"
                          "such as < /dev/null\n\n";
    allocscope::text_options table;
    table.width = static_cast<std::uint32_t>(columns);
    table.rows = lines > 9 ? lines - 7 : 2;
    screen += allocscope::to_table(rows.group_by(key_, order_), table);
    std::string shown = to_corner;
    std::size_t end = 0;
    for (std::size_t begin = 0; begin < screen.size(); begin = end + 1) {
        end = std::min(screen.find('\n', begin), screen.size());
        shown += cut_to_terminal(screen.substr(begin, end - begin)) + end_of_line;
    }
    shown += rest_of_screen;
    std::fputs(shown.c_str(), stderr);
    std::fflush(stderr);
}

}  // namespace allocscope_tools
