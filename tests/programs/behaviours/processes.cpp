// processes.cpp WHAT - fork and its like, descriptors, signals between processes.
#include "run_behaviour.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <string>
#include <vector>

namespace {

int status_of(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
}

void forks() {
    for (int i = 0; i < 20; ++i) {
        std::fflush(stdout);
        const pid_t child = ::fork();
        if (child == 0) {
            std::vector<int> data(static_cast<std::size_t>(i * 100), i);
            std::printf("child %d %zu\n", i, data.size());
            std::exit(i);
        }
        std::printf("parent %d\n", WEXITSTATUS(status_of(child)));
    }
}

void bare_forks() {
    std::fflush(stdout);
    pid_t child = ::_Fork();
    if (child == 0) ::_exit(std::malloc(100) != nullptr ? 3 : 4);
    std::printf("_Fork %d\n", WEXITSTATUS(status_of(child)));
    child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    if (child == 0) ::_exit(std::malloc(100) != nullptr ? 5 : 6);
    std::printf("clone %d\n", WEXITSTATUS(status_of(child)));
}

void vforks() {
    char* arguments[] = {const_cast<char*>("sh"), const_cast<char*>("-c"),
                         const_cast<char*>("exit 7"), nullptr};
    int sum = 0;
    for (int i = 0; i < 50; ++i) {
        const pid_t child = ::vfork();
        if (child == 0) {
            std::free(std::malloc(100));
            ::execv("/bin/sh", arguments);
            ::_exit(127);
        }
        sum += WEXITSTATUS(status_of(child));
    }
    std::printf("%d\n", sum);
}

void spawns() {
    char* arguments[] = {
        const_cast<char*>("sh"), const_cast<char*>("-c"), const_cast<char*>("echo $0 $1; exit 9"),
        const_cast<char*>("a"),  const_cast<char*>("b"),  nullptr};
    pid_t child = 0;
    std::printf("%d\n", ::posix_spawn(&child, "/bin/sh", nullptr, nullptr, arguments, environ));
    std::printf("%d\n", WEXITSTATUS(status_of(child)));
    std::fflush(stdout);
    FILE* pipe = ::popen("cat words.txt | wc -l", "r");
    char line[64] = "";
    std::printf("%s", std::fgets(line, sizeof line, pipe));
    std::printf("%d %d\n", ::pclose(pipe), std::system("exit 4"));
}

void execs() {
    std::printf("before\n");
    std::fflush(stdout);
    std::vector<std::string> kept(100, std::string(100, 'k'));
    ::execlp("sh", "sh", "-c", "echo after; exit 5", nullptr);
}

void execs_without_environment() {
    char* arguments[] = {const_cast<char*>("env"), nullptr};
    char* nothing[] = {nullptr};
    ::execve("/usr/bin/env", arguments, nothing);
}

void from_a_thread() {
    pthread_t thread;
    ::pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
            ::execlp("sh", "sh", "-c", "echo from a thread", nullptr);
            return nullptr;
        },
        nullptr);
    ::pthread_join(thread, nullptr);
}

// The file, not stdout, which daemon() closes; who started us waits for the pipe's end.
void becomes_a_daemon() {
    int ends[2];
    if (::pipe(ends) != 0) return;
    const pid_t child = ::fork();
    if (child != 0) {
        ::close(ends[1]);
        char byte = 0;
        while (::read(ends[0], &byte, 1) > 0) {
        }
        std::printf("%d\n", WEXITSTATUS(status_of(child)));
        return;
    }
    ::close(ends[0]);
    if (::daemon(1, 0) != 0) ::_exit(1);
    FILE* file = std::fopen("daemon.txt", "w");
    std::fprintf(file, "%d\n", ::getsid(0) == ::getpid() || ::getsid(0) != 0);
    std::fclose(file);
    std::exit(0);
}

void descriptors() {
    DIR* folder = ::opendir("/proc/self/fd");
    std::string open;
    while (const dirent* entry = ::readdir(folder)) {
        if (entry->d_name[0] != '.') open += std::string(entry->d_name) + " ";
    }
    ::closedir(folder);
    std::printf("%s\n", open.c_str());
    const int lowest = ::open("/dev/null", O_RDONLY);
    std::printf("%d\n", lowest);
}

void closes_everything() {
    const int kept = ::dup(1);
    ::close(0);
    ::close(1);
    ::close(2);
    ::syscall(SYS_close_range, kept + 1, ~0u, 0);
    for (int file = kept + 1; file < 1024; ++file) ::close(file);
    // These take the numbers 0 to 2: what anybody writes to stderr now lands in a data file.
    const int first = ::open("first.db", O_RDWR | O_CREAT, 0600);
    const int second = ::open("second.db", O_RDWR | O_CREAT, 0600);
    const int third = ::open("third.db", O_RDWR | O_CREAT, 0600);
    std::vector<void*> all;
    for (int i = 0; i < 1000; ++i) all.push_back(std::malloc(100));
    ::dprintf(kept, "%d %d %d\n", first, second, third);
}

void waits_for_signals() {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGUSR1);
    ::sigaddset(&set, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    const pid_t self = ::getpid();
    if (::fork() == 0) {
        ::kill(self, SIGUSR1);
        ::_exit(0);
    }
    int number = 0;
    ::sigwait(&set, &number);
    std::printf("%d\n", number == SIGUSR1);
}

void signal_state() {
    // Nothing is blocked, ignored or caught that is not so without.
    sigset_t set;
    ::sigprocmask(SIG_BLOCK, nullptr, &set);
    for (int number = 1; number < 65; ++number) {
        struct sigaction action = {};
        ::sigaction(number, nullptr, &action);
        std::printf("%d%c%c ", number, ::sigismember(&set, number) == 1 ? 'b' : '-',
                    action.sa_handler == SIG_DFL   ? 'd'
                    : action.sa_handler == SIG_IGN ? 'i'
                                                   : 'h');
    }
    std::printf("\n");
}

void tasks() {
    DIR* folder = ::opendir("/proc/self/task");
    int count = 0;
    while (const dirent* entry = ::readdir(folder)) count += entry->d_name[0] != '.';
    ::closedir(folder);
    std::printf("%d %d\n", count, ::getppid() > 1);
}

void own_namespace() {
    // Is refused to a process with more than one thread.
    std::printf("%d\n", ::unshare(CLONE_NEWUSER) == 0 || errno == EPERM || errno == ENOSPC);
}

void quick_end() {
    std::at_quick_exit([] { std::printf("quick\n"), std::fflush(stdout); });
    std::atexit([] { std::printf("never\n"); });
    std::quick_exit(6);
}

void abrupt_end() {
    std::printf("lost, as it is not flushed");
    ::_exit(8);
}

void kills_itself() {
    ::kill(::getpid(), SIGKILL);
}

void stops_itself() {
    const pid_t self = ::getpid();
    if (::fork() == 0) {
        ::usleep(200'000);
        ::kill(self, SIGCONT);
        ::_exit(0);
    }
    ::raise(SIGSTOP);
    std::printf("goes on\n");
}

constexpr behaviour behaviours[] = {
    {"forks", forks},
    {"bare_forks", bare_forks},
    {"vforks", vforks},
    {"spawns", spawns},
    {"execs", execs},
    {"execs_without_environment", execs_without_environment},
    {"from_a_thread", from_a_thread},
    {"becomes_a_daemon", becomes_a_daemon},
    {"descriptors", descriptors},
    {"closes_everything", closes_everything},
    {"waits_for_signals", waits_for_signals},
    {"signal_state", signal_state},
    {"tasks", tasks},
    {"own_namespace", own_namespace},
    {"quick_end", quick_end},
    {"abrupt_end", abrupt_end},
    {"kills_itself", kills_itself},
    {"stops_itself", stops_itself},
};

}  // namespace

int main(int, char** arguments) {
    return run_behaviour(behaviours, arguments[1]);
}
