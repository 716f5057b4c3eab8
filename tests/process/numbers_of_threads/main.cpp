// Danger: threads that come one after the other have the same pthread_t, and after many of them the
// same number in the kernel; what one allocated is then told to be another's. Where root runs this,
// the kernel is made to give every thread the number of the first.

#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/report.hpp>

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cstdio>

using namespace allocscope_test;

namespace {

constexpr int thread_count = 40;
void* kept[thread_count];
pthread_t handles[thread_count];
long tasks[thread_count];
int begun = 0;

void keep_one(void*) {
    handles[begun] = pthread_self();
    tasks[begun] = syscall(SYS_gettid);
    kept[begun] = allocate(100);
    ++begun;
}

// The next thread gets this number, if it is free.
void ask_kernel_for(long task) {
    const int file = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    char text[24];
    const int length = std::snprintf(text, sizeof text, "%ld", task - 1);
    static_cast<void>(write(file, text, static_cast<std::size_t>(length)) == length);
    close(file);
}

}  // namespace

int main() {
    watchdog();
    allocscope::scope window{"one after the other"};
    for (int i = 0; i < thread_count; ++i) {
        if (i > 0) ask_kernel_for(tasks[0]);
        own_thread thread;
        thread.start(keep_one, nullptr);
        thread.join();
    }
    const allocscope::snapshot seen = window.stats();
    int equal_handles = 0;
    int equal_tasks = 0;
    for (int i = 1; i < thread_count; ++i) {
        equal_handles += pthread_equal(handles[i], handles[0]) != 0 ? 1 : 0;
        equal_tasks += tasks[i] == tasks[0] ? 1 : 0;
    }
    ALLOCSCOPE_EXPECT(equal_handles > 0 || is_sanitized);  // else the test says nothing
    ALLOCSCOPE_EXPECT_EQUAL(seen.allocating_threads().size(), std::size_t{thread_count});
    for (const auto& group : seen.group_by(allocscope::group_key::thread)) {
        ALLOCSCOPE_EXPECT_EQUAL(group.objects, std::uint64_t{1});
    }
    for (void* object : kept) release(object);
    std::printf("%d threads had the first one's pthread_t, %d its number\n", equal_handles,
                equal_tasks);
    return verdict();
}
