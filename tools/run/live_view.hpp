// live_view.hpp - shows what a running program has alive on a screen, as top shows processes.
#ifndef ALLOCSCOPE_TOOLS_RUN_LIVE_VIEW_HPP
#define ALLOCSCOPE_TOOLS_RUN_LIVE_VIEW_HPP

#include <allocscope/report.hpp>

#include <string>

#include <termios.h>

namespace allocscope_tools {

// The mark before numbers that are estimates: "~" in a sampled window, otherwise "".
const char* mark_of_estimates(const allocscope::snapshot& rows);

// The part of a line that fits into one line of stderr's terminal.
std::string cut_to_terminal(const std::string& line);

// While such an object lives, stderr's terminal shows a second screen. If the program prints to the
// same terminal, that disturbs the picture until the next one is drawn.
class live_view {
public:
    // If `has_keys`, keys are read from the same terminal; otherwise the program gets them.
    explicit live_view(bool has_keys);
    ~live_view();
    live_view(const live_view&) = delete;
    live_view& operator=(const live_view&) = delete;

    // Reads keys without waiting. Returns true if the picture must be redrawn.
    bool take_keys();
    bool is_paused() const { return is_paused_; }
    // The user has left the view; the program goes on.
    bool is_left() const { return is_left_; }

    // Draws a picture to stderr.
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
