// process_test.hpp - expectations and a watchdog for programs that are one test each.
//
// Room:     tests/support
// Called:   by the main.cpp of tests/process and tests/no_alloc
// Threads:  expectations from any thread
// Memory:   none: nothing here calls operator new or malloc
//
//     int main() {
//         watchdog();
//         ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, 3);
//         return verdict();                        // 0, or 1 when an expectation did not hold
//     }

#ifndef ALLOCSCOPE_TESTS_SUPPORT_PROCESS_TEST_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_PROCESS_TEST_HPP

#include "scale.hpp"

#include <time.h>    // clock_gettime
#include <unistd.h>  // alarm, write, _exit
#include <atomic>    // atomic
#include <csignal>   // sigaction, SIGALRM
#include <cstdint>   // uint64_t
#include <cstdio>    // snprintf

namespace allocscope_test {

inline std::atomic<int> failed_expectations{0};
constexpr int exit_code_of_a_hang = 97;

inline void say(const char* text, int length) {
    if (write(2, text, static_cast<std::size_t>(length)) < 0) _exit(98);
}

struct watched_progress {
    unsigned seconds;
    std::uint64_t seen_ms;
    std::uint64_t most_ms;
};
inline watched_progress progress{};

// Processor time of all threads of this process.
inline std::uint64_t processor_ms() {
    timespec used = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<std::uint64_t>(used.tv_sec) * 1000 +
           static_cast<std::uint64_t>(used.tv_nsec) / 1000000;
}

inline void look_for_a_hang(int) {
    const std::uint64_t now_ms = processor_ms();
    const bool is_asleep = now_ms < progress.seen_ms + 10;
    if (!is_asleep && now_ms < progress.most_ms) {
        progress.seen_ms = now_ms;
        alarm(progress.seconds);
        return;
    }
    const char text[] = "the watchdog ended this test: it hangs\n";
    say(text, sizeof text - 1);
    _exit(exit_code_of_a_hang);
}

// Turns a hang into a failure: after so many seconds in which nothing ran, or four times as many
// seconds of processor time; in a soak, two hundred times. A machine that is busy with something
// else is no hang. A forked child has to call it again; its parent may wait for it as long as it
// lasts, see forked_child.hpp.
inline void watchdog(unsigned seconds = 60) {
    progress.seconds = is_sanitized ? seconds * 5 : seconds;
    progress.seen_ms = processor_ms();
    const std::uint64_t most = is_soak() ? 200000 : 4000;
    progress.most_ms = progress.seen_ms + most * progress.seconds;
    struct sigaction action = {};
    action.sa_handler = look_for_a_hang;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    alarm(progress.seconds);
}

inline bool expect(bool holds, const char* text, const char* file, int line) {
    if (holds) return true;
    if (failed_expectations.fetch_add(1) < 20) {  // the first ones tell the story
        char out[600];
        const int length =
            std::snprintf(out, sizeof out, "%s:%d: does not hold: %s\n", file, line, text);
        say(out, length < 600 ? length : 599);
    }
    return false;
}

inline bool expect_equal(std::uint64_t seen, std::uint64_t wanted, const char* text,
                         const char* file, int line) {
    if (seen == wanted) return true;
    char out[400];
    std::snprintf(out, sizeof out, "%s (%lld, not %lld)", text, static_cast<long long>(seen),
                  static_cast<long long>(wanted));
    return expect(false, out, file, line);
}

inline bool expect_at_most(std::uint64_t seen, std::uint64_t limit, const char* text,
                           const char* file, int line) {
    if (seen <= limit) return true;
    char out[400];
    std::snprintf(out, sizeof out, "%s (%llu, limit %llu)", text,
                  static_cast<unsigned long long>(seen), static_cast<unsigned long long>(limit));
    return expect(false, out, file, line);
}

inline int verdict() {
    const int failed = failed_expectations.load();
    if (failed == 0) return 0;
    char out[80];
    say(out, std::snprintf(out, sizeof out, "%d expectations did not hold\n", failed));
    return 1;
}

}  // namespace allocscope_test

#define ALLOCSCOPE_EXPECT(condition) \
    ::allocscope_test::expect((condition), #condition, __FILE__, __LINE__)
#define ALLOCSCOPE_EXPECT_EQUAL(seen, wanted)                                                 \
    ::allocscope_test::expect_equal(static_cast<std::uint64_t>(seen),                         \
                                    static_cast<std::uint64_t>(wanted), #seen " == " #wanted, \
                                    __FILE__, __LINE__)

#define ALLOCSCOPE_EXPECT_AT_MOST(seen, limit)                                                \
    ::allocscope_test::expect_at_most(static_cast<std::uint64_t>(seen),                       \
                                      static_cast<std::uint64_t>(limit), #seen " <= " #limit, \
                                      __FILE__, __LINE__)

#endif  // ALLOCSCOPE_TESTS_SUPPORT_PROCESS_TEST_HPP
