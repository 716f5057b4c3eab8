// live_view.hpp - a screen of what a running program has alive, as top shows processes.
#ifndef ALLOCSCOPE_TOOLS_RUN_LIVE_VIEW_HPP
#define ALLOCSCOPE_TOOLS_RUN_LIVE_VIEW_HPP

#include <allocscope/report.hpp>

#include <string>

#include <termios.h>

namespace allocscope_tools {

// Before numbers that are estimates: "~" in a sampled window, otherwise "".
const char* mark_of_estimates(const allocscope::snapshot& rows);

// What fits in one line of stderr's terminal.
std::string cut_to_terminal(const std::string& line);

// While one lives, stderr's terminal shows another screen. What the program prints to the same
// terminal disturbs the picture until the next one.
class live_view {
public:
    // Keys are read from the same terminal when `has_keys`: else they are the program's.
    explicit live_view(bool has_keys);
    ~live_view();
    live_view(const live_view&) = delete;
    live_view& operator=(const live_view&) = delete;

    // Looks for keys, without waiting. True: the picture is to be drawn anew.
    bool take_keys();
    bool is_paused() const { return is_paused_; }
    // Nobody looks any more; the program goes on.
    bool is_left() const { return is_left_; }

    // One picture, to stderr.
    void draw(const std::string& name, const allocscope::snapshot& rows) const;

private:
    bool take_key(char key);

    bool has_keys_;
    bool is_paused_ = false;
    bool is_left_ = false;
    allocscope::stack_value order_ = allocscope::stack_value::live_bytes;
    allocscope::group_key key_ = allocscope::group_key::place;
    struct termios before_ = {};
};

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_LIVE_VIEW_HPP
