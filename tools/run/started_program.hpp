// started_program.hpp - a program that runs as if the shell had started it.
#ifndef ALLOCSCOPE_TOOLS_RUN_STARTED_PROGRAM_HPP
#define ALLOCSCOPE_TOOLS_RUN_STARTED_PROGRAM_HPP

#include <csignal>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace allocscope_tools {

struct program_order {
    std::vector<std::string> words;          // the command and its arguments
    std::string file;                        // the file to execute; "": words[0] along $PATH
    std::string preload;                     // the whole value of LD_PRELOAD
    std::function<void()> before_execution;  // in the new process
};

// While such an object lives, signals to this process are passed on to the program. Signals of the
// terminal reach the program by themselves.
class started_program {
public:
    // `report_signal` is not passed on; wait() reports it. 0: there is none.
    started_program(const program_order& order, int report_signal, std::string& error);
    ~started_program();
    started_program(const started_program&) = delete;
    started_program& operator=(const started_program&) = delete;

    enum class event { ended, time_is_up, report_asked };
    // `seconds` < 0: no limit.
    event wait(double seconds);

    bool has_started() const { return process_id_ >= 0; }
    // Why it has not started: there may be no more processes (ulimit -u, a control group).
    bool lacks_process() const { return lacks_process_; }
    // This process becomes the program. Returns errno if it cannot be executed.
    int execute(const program_order& order) const;
    bool lacks_file() const { return lacks_file_; }  // why it has not started
    std::int32_t number() const { return number_; }  // in /proc
    // The signal that asks this process to end, too, or 0. Waits up to `seconds` for one, or until
    // a child of this process ends. While the program runs, it gets all signals. Those within a
    // second of its end are ignored, because they were meant for it. After one that asks, the next
    // ends this process at once.
    int end_asked(double seconds);
    // After event::ended: the kernel's name for the process when it ended. These are the first 15
    // bytes of the name of the file that it executed last, unless it has chosen another name.
    const std::string& kernel_name() const { return kernel_name_; }
    bool is_ended_by(int signal) const;  // after event::ended
    // After event::ended: if Ctrl-C has ended the program, it ends this process, too. Else a shell
    // would go on with its loop or script.
    void end_if_interrupted() const;
    // After event::ended: the exit code as in a shell, 128 + n if signal n ended the program.
    int exit_code() const;

private:
    // What the new process tells this one.
    struct messages {
        int failure = 0;  // why it could not execute the program
        std::int32_t number = 0;
    };

    bool is_sent_by_program(std::int32_t sender) const;
    void note_interrupt(const siginfo_t& signal);
    void pass_on(const siginfo_t& signal);
    bool is_stopped(int more_options) const;
    bool is_zombie() const;
    void stop_with_program() const;

    sigset_t signals_;
    sigset_t interrupt_;  // only Ctrl-C
    sigset_t mask_before_;
    struct sigaction child_before_;
    int report_signal_ = 0;
    pid_t process_id_ = -1;  // in the PID namespace of this process
    std::int32_t number_ = 0;
    bool lacks_file_ = false;
    bool lacks_process_ = false;
    bool is_interrupted_ = false;
    int status_ = 0;
    double ended_at_ = 0;  // seconds of the monotonic clock
    int end_asked_ = 0;
    std::string kernel_name_;
};

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_STARTED_PROGRAM_HPP
