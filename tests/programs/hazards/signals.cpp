// signals.cpp allocate|jump - one signal after the other interrupts a loop that allocates. Its
// handler allocates, too, or leaves by siglongjmp, wherever it is but inside the C library, which
// no handler may enter twice. 2,000 allocations follow, all of which must be seen. The program
// counts for itself; with `jump` one call for each jump may be lost or not: allocated and counted,
// but never returned.
#include <link.h>
#include <sys/time.h>
#include <ucontext.h>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "rounds.hpp"

namespace {

std::uintptr_t libc_begin = 0, libc_end = 0, loader_begin = 0, loader_end = 0;
volatile long allocations = 0, frees = 0, bytes = 0, jumps = 0, handled = 0;
volatile sig_atomic_t may_jump = 0, has_arrived = 0;
bool does_jump = false;
sigjmp_buf back;

int find_libraries(dl_phdr_info* info, std::size_t, void*) {
    std::uintptr_t end = 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& each = info->dlpi_phdr[i];
        if (each.p_type == PT_LOAD && info->dlpi_addr + each.p_vaddr + each.p_memsz > end) {
            end = info->dlpi_addr + each.p_vaddr + each.p_memsz;
        }
    }
    if (std::strstr(info->dlpi_name, "/libc.so") != nullptr) {
        libc_begin = info->dlpi_addr;
        libc_end = end;
    } else if (std::strstr(info->dlpi_name, "/ld-linux") != nullptr) {
        loader_begin = info->dlpi_addr;
        loader_end = end;
    }
    return 0;
}

// Also not where a frame of the C library may lie below: in this program only its malloc calls
// nobody back.
bool is_in_libc(const ucontext_t* context) {
    const auto at = static_cast<std::uintptr_t>(context->uc_mcontext.gregs[REG_RIP]);
    return (at >= libc_begin && at < libc_end) || (at >= loader_begin && at < loader_end);
}

void on_signal(int, siginfo_t*, void* given) {
    has_arrived = 1;
    if (is_in_libc(static_cast<ucontext_t*>(given))) return;
    handled = handled + 1;
    if (does_jump) {
        if (!may_jump) return;
        may_jump = 0;
        jumps = jumps + 1;
        siglongjmp(back, 1);
    }
    std::free(block_of(33));
    allocations = allocations + 1;
    frees = frees + 1;
    bytes = bytes + 33;
}

// A timer that goes off again and again so soon would leave a slow or busy machine no time for the
// program: most signals would find it where the one before has left it.
void send_signal_after(long microseconds) {
    has_arrived = 0;
    const itimerval once = {{0, 0}, {0, microseconds}};
    ::setitimer(ITIMER_REAL, &once, nullptr);
}

void one() {
    may_jump = 1;
    void* block = block_of(48);
    may_jump = 0;
    // Counted by a handler that ran in between, too: each line is one step for this thread.
    __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&bytes, 48, __ATOMIC_RELAXED);
    std::free(block);
    __atomic_fetch_add(&frees, 1, __ATOMIC_RELAXED);
}

}  // namespace

int main(int, char** arguments) {
    does_jump = std::strcmp(arguments[1], "jump") == 0;
    ::dl_iterate_phdr(find_libraries, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    ::sigaction(SIGALRM, &action, nullptr);
    const long wanted = rounds();
    volatile long turn = 0;
    sigsetjmp(back, 1);
    while (handled < wanted) {
        turn = turn + 1;
        send_signal_after(1 + turn % 13);
        while (!has_arrived) one();
    }
    does_jump = false;
    for (int i = 0; wanted > 0 && i < 2000; ++i) one();
    print_answer(allocations, frees, bytes);
    std::printf("jumps: %ld\n", jumps);
    return 0;
}
