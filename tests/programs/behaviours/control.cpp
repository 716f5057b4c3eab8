// control.cpp WHAT - control flow that is not call and return: exceptions, jumps, other stacks.
#include "run_behaviour.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

[[gnu::noinline]] int deep(int level) {
    const std::string held(static_cast<std::size_t>(100 + level), 'x');
    if (level == 0) throw std::runtime_error(held);
    return deep(level - 1) + static_cast<int>(held.size());
}

void exceptions() {
    std::size_t sum = 0;
    for (int i = 0; i < 2000; ++i) {
        try {
            deep(i % 40);
        } catch (const std::exception& error) {
            sum += std::strlen(error.what());
        }
    }
    std::printf("%zu\n", sum);
}

void uncaught() {
    auto held = std::make_unique<int>(1);
    throw std::runtime_error("nobody catches this");
}

void jumps() {
    static std::jmp_buf where;
    volatile int count = 0;
    if (setjmp(where) < 1000) {
        count = count + 1;
        std::free(std::malloc(64));
        std::longjmp(where, count);
    }
    std::printf("%d\n", count);
}

sigjmp_buf back;
void* volatile leaked = nullptr;
volatile int handled = 0;

void jump_back(int) {
    leaked = std::malloc(48);
    handled = handled + 1;
    siglongjmp(back, 1);
}

void jumps_out_of_handlers() {
    struct sigaction action = {};
    action.sa_handler = jump_back;
    ::sigaction(SIGUSR1, &action, nullptr);
    for (volatile int i = 0; i < 2000; i = i + 1) {
        if (sigsetjmp(back, 1) == 0) ::raise(SIGUSR1);
    }
    std::printf("%d\n", handled);
}

volatile sig_atomic_t ticks = 0;

void tick(int) {
    ticks = ticks + 1;
}

void timer_signals() {
    struct sigaction action = {};
    action.sa_handler = tick;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGALRM, &action, nullptr);
    itimerval every = {{0, 500}, {0, 500}};
    ::setitimer(ITIMER_REAL, &every, nullptr);
    while (ticks < 200) std::free(std::malloc(100));
    every = {};
    ::setitimer(ITIMER_REAL, &every, nullptr);
    std::printf("200 ticks\n");
}

alignas(16) char alternate[64 * 1024];
sigjmp_buf recovered;

void on_overflow(int) {
    void* block = std::malloc(100);
    leaked = block;
    siglongjmp(recovered, 1);
}

[[gnu::noinline]] int endless(int depth) {
    char held[512];
    // The other handler runs on this stack, too: memory is touched at each level.
    std::memset(held, depth, sizeof held);
    leaked = held;
    return endless(depth + 1) + held[depth % 512];
}

void overflow() {
    stack_t stack = {};
    stack.ss_sp = alternate;
    stack.ss_size = sizeof alternate;
    ::sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_handler = on_overflow;
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    ::sigaction(SIGSEGV, &action, nullptr);
    volatile int times = 0;
    for (volatile int i = 0; i < 5; i = i + 1) {
        if (sigsetjmp(recovered, 1) == 0) {
            endless(0);
        } else {
            times = times + 1;
        }
    }
    std::printf("%d\n", times);
}

ucontext_t main_context, other_context;

void other() {
    for (int i = 0; i < 100; ++i) {
        std::string held(static_cast<std::size_t>(i + 40), 'y');
        ::swapcontext(&other_context, &main_context);
    }
}

void contexts() {
    std::vector<char> stack(64 * 1024);
    ::getcontext(&other_context);
    other_context.uc_stack.ss_sp = stack.data();
    other_context.uc_stack.ss_size = stack.size();
    other_context.uc_link = &main_context;
    ::makecontext(&other_context, other, 0);
    int count = 0;
    for (; count < 100; ++count) ::swapcontext(&main_context, &other_context);
    std::printf("%d\n", count);
}

void aborts() {
    std::printf("before");
    std::fflush(stdout);
    std::abort();
}

void segfault() {
    int* volatile nowhere = nullptr;
    leaked = std::malloc(10);
    *nowhere = 1;
}

void pipe_broken() {
    // As in a pipeline whose reader went away.
    int ends[2];
    if (::pipe(ends) != 0) return;
    ::close(ends[0]);
    if (::write(ends[1], "x", 1) != 1) std::printf("not reached\n");
}

void limit_of_files() {
    rlimit limit = {4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, SIG_IGN);
    FILE* file = std::fopen("limited.bin", "w");
    std::vector<char> data(10'000, 'z');
    std::size_t written = std::fwrite(data.data(), 1, data.size(), file);
    written += std::fclose(file) == 0 ? 0 : 1'000'000;
    std::printf("%zu\n", written);
}

constexpr behaviour behaviours[] = {
    {"exceptions", exceptions},
    {"uncaught", uncaught},
    {"jumps", jumps},
    {"jumps_out_of_handlers", jumps_out_of_handlers},
    {"timer_signals", timer_signals},
    {"overflow", overflow},
    {"contexts", contexts},
    {"aborts", aborts},
    {"segfault", segfault},
    {"pipe_broken", pipe_broken},
    {"limit_of_files", limit_of_files},
};

}  // namespace

int main(int, char** arguments) {
    return run_behaviour(behaviours, arguments[1]);
}
