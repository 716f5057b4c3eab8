#include "started_program.hpp"

#include "../number_in_proc.hpp"
#include "kept_by_execution.hpp"
#include "process_status.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <new>

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace allocscope_tools {

namespace {

// Those of a job reach the program by themselves, and stop this process as they stop the program.
constexpr int left_alone[] = {SIGTSTP, SIGTTIN, SIGTTOU};

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

double seconds_now() {
    timespec now;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

timespec duration_of(double seconds) {
    timespec duration = {};
    duration.tv_sec = static_cast<time_t>(seconds);
    duration.tv_nsec = static_cast<long>((seconds - std::floor(seconds)) * 1e9);
    return duration;
}

// Like fork(), but returns in this process when the child has executed a program or ended. This
// process has one thread.
pid_t fork_until_execution() {
    return static_cast<pid_t>(
        ::syscall(SYS_clone, CLONE_VFORK | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

}  // namespace

started_program::started_program(const program_order& order, int report_signal, std::string& error)
    : report_signal_(report_signal) {
    ::sigemptyset(&interrupt_);
    ::sigaddset(&interrupt_, SIGINT);
    ::sigfillset(&signals_);
    for (int number : left_alone) ::sigdelset(&signals_, number);
    ::sigprocmask(SIG_BLOCK, &signals_, &mask_before_);
    // If SIGCHLD is ignored, which is inherited, the kernel throws the program's exit code away.
    struct sigaction usual = {};
    usual.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &usual, &child_before_);
    // Shared with the child. A pipe would take descriptors, of which there may be hardly any
    // (ulimit -n).
    void* const page = ::mmap(nullptr, sizeof(messages), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        error = std::strerror(errno);
        return;
    }
    auto* const told = ::new (page) volatile messages;
    const kept_by_execution inherited{mask_before_};
    process_id_ = fork_until_execution();
    if (process_id_ == 0) {
        inherited.give();
        told->number = number_in_proc();
        told->failure = execute(order);
        ::_exit(127);
    }
    lacks_process_ = process_id_ < 0;
    const int failure = lacks_process_ ? errno : told->failure;
    if (lacks_process_) inherited.give();
    number_ = told->number;
    if (process_id_ > 0 && failure != 0) {
        ::waitpid(process_id_, nullptr, 0);
        process_id_ = -1;
    }
    if (failure != 0) error = std::strerror(failure);
    lacks_file_ = failure == ENOENT;
    ::munmap(page, sizeof(messages));
}

started_program::~started_program() {
    ::sigaction(SIGCHLD, &child_before_, nullptr);
    ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

int started_program::execute(const program_order& order) const {
    ::sigaction(SIGCHLD, &child_before_, nullptr);
    ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    if (order.preload.empty()) {
        ::unsetenv("LD_PRELOAD");
    } else {
        ::setenv("LD_PRELOAD", order.preload.c_str(), 1);
    }
    order.before_execution();
    const std::vector<char*> words = pointers_to(order.words);
    if (order.file.empty()) {
        ::execvp(words[0], words.data());
    } else {
        ::execv(order.file.c_str(), words.data());
    }
    return errno;
}

// Of what the program and its children send, this process gets what they send to their group. The
// program has got that, too.
bool started_program::is_sent_by_program(std::int32_t sender) const {
    if (::getpid() != number_in_proc()) return sender == process_id_;
    constexpr int most_generations = 64;
    for (int i = 0; i < most_generations && sender > 0; ++i) {
        if (sender == process_id_ || sender == ::getpid()) return sender == process_id_ || i == 0;
        sender = status_of(sender).parent;
    }
    return false;
}

void started_program::note_interrupt(const siginfo_t& signal) {
    if (signal.si_signo == SIGINT && signal.si_code == SI_KERNEL) is_interrupted_ = true;
}

void started_program::pass_on(const siginfo_t& signal) {
    // The kernel sends its own signals, such as that of Ctrl-C, to the whole foreground group.
    note_interrupt(signal);
    if (signal.si_code == SI_KERNEL) return;
    if (is_sent_by_program(signal.si_pid)) return;
    if (signal.si_code == SI_QUEUE) {
        ::sigqueue(process_id_, signal.si_signo, signal.si_value);
    } else {
        ::kill(process_id_, signal.si_signo);
    }
}

bool started_program::is_stopped(int more_options) const {
    siginfo_t seen = {};
    const auto id = static_cast<id_t>(process_id_);
    return ::waitid(P_PID, id, &seen, WSTOPPED | WNOHANG | more_options) == 0 && seen.si_pid != 0;
}

// A shell with jobs gives the prompt back when the program stops itself, and continues the whole
// job later. Others wait for the program, which somebody else may continue: they shall not wait for
// this process in its place.
void started_program::stop_with_program() const {
    if (!is_stopped(WNOWAIT) || ::getpgrp() != ::getpid()) return;
    bool is_in_foreground = false;
    for (const int terminal : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        is_in_foreground = is_in_foreground || ::tcgetpgrp(terminal) == ::getpgrp();
    }
    const timespec moment = duration_of(0.02);  // the job may be just being continued
    ::nanosleep(&moment, nullptr);
    if (is_in_foreground && is_stopped(0)) static_cast<void>(std::raise(SIGSTOP));
}

bool started_program::is_zombie() const {
    siginfo_t ended = {};
    constexpr int look_only = WEXITED | WNOHANG | WNOWAIT;
    const auto id = static_cast<id_t>(process_id_);
    return ::waitid(P_PID, id, &ended, look_only) == 0 && ended.si_pid == process_id_;
}

started_program::event started_program::wait(double seconds) {
    const double until = seconds_now() + seconds;
    for (;;) {
        if (is_zombie()) {
            std::getline(std::ifstream{"/proc/" + std::to_string(number_) + "/comm"}, kernel_name_);
            ::waitpid(process_id_, &status_, 0);
            ended_at_ = seconds_now();
            const timespec no_time = {};
            siginfo_t left;  // Ctrl-C has reached both, and the program has ended at once
            if (::sigtimedwait(&interrupt_, &left, &no_time) > 0) note_interrupt(left);
            return event::ended;
        }
        stop_with_program();
        // Signals that have come are taken even if there is no time left: with a short --every, the
        // last report may have taken longer than that.
        const double left = seconds >= 0 ? std::max(until - seconds_now(), 0.0) : 3600;
        const timespec duration = duration_of(left);
        siginfo_t signal;
        const int number = ::sigtimedwait(&signals_, &signal, &duration);
        if (number <= 0 && left == 0) return event::time_is_up;
        if (number <= 0 || number == SIGCHLD) continue;
        if (number == report_signal_) return event::report_asked;
        pass_on(signal);
    }
}

int started_program::end_asked(double seconds) {
    constexpr double grace = 1;
    if (ended_at_ == 0 && is_zombie()) ended_at_ = seconds_now();
    const bool is_running = ended_at_ == 0;
    sigset_t awaited = signals_;
    if (is_running) ::sigdelset(&awaited, report_signal_);  // wait() tells of it
    siginfo_t signal;
    const timespec duration = duration_of(seconds);
    const int number = ::sigtimedwait(&awaited, &signal, &duration);
    if (is_running && number > 0 && number != SIGCHLD) pass_on(signal);
    if (is_running) return 0;
    sigset_t ending;
    ::sigemptyset(&ending);
    for (const int each : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) ::sigaddset(&ending, each);
    const bool asks = number > 0 && ::sigismember(&ending, number) == 1;
    if (asks && seconds_now() - ended_at_ >= grace) {
        end_asked_ = number;
        // The next one ends this process where it waits for the reader of what it says itself.
        ::sigprocmask(SIG_UNBLOCK, &ending, nullptr);
    }
    return end_asked_;
}

void started_program::end_if_interrupted() const {
    if (!is_interrupted_ || !is_ended_by(SIGINT)) return;
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
    ::sigprocmask(SIG_UNBLOCK, &interrupt_, nullptr);
}

bool started_program::is_ended_by(int signal) const {
    return WIFSIGNALED(status_) && WTERMSIG(status_) == signal;
}

int started_program::exit_code() const {
    return WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
}

}  // namespace allocscope_tools
