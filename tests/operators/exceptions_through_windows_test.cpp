// Exceptions and cancellation that leave open windows behind.
#include "opaque.hpp"

#include <allocscope/allocscope.hpp>

#include <doctest/doctest.h>

#include <pthread.h>
#include <unistd.h>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

void throw_through(int depth) {
    allocscope::options wanted;
    wanted.record = allocscope::recording::counters;
    wanted.from = allocscope::threads::current;
    allocscope::scope window{"nested", wanted};
    std::string garbage(100, 'g');
    testing::opaque(garbage.data());
    if (depth == 1) throw std::runtime_error(std::string(60, 'm'));
    throw_through(depth - 1);
}

int throw_and_catch(int throws) {
    int caught = 0;
    for (int i = 0; i < throws; ++i) {
        try {
            throw_through(1 + i % 50);
        } catch (const std::runtime_error&) {
            ++caught;
        }
    }
    return caught;
}

void* sleep_inside_a_window(void* state) {
    allocscope::scope window{"cancelled"};
    std::string text(1000, 'c');
    testing::opaque(text.data());
    static_cast<std::atomic<bool>*>(state)->store(true);
    for (;;) usleep(1000);  // a cancellation point
    return nullptr;
}

}  // namespace

TEST_CASE("windows: exceptions through up to 50 nested windows on 8 threads leave nothing open") {
    constexpr int throws = 300;
    allocscope::scope all{"all threads"};
    int caught[8] = {};
    {
        std::vector<std::thread> threads;
        for (int& count : caught) {
            threads.emplace_back([&count] { count = throw_and_catch(throws); });
        }
        for (auto& thread : threads) thread.join();
    }
    for (int count : caught) CHECK(count == throws);
    CHECK(all.counts().allocations > 0);
    CHECK(all.counts().live_objects() == 0);
    CHECK(all.counts().live_bytes() == 0);

    // A window opened now sees exactly what is allocated now, on this thread and on others.
    allocscope::scope after{"after"};
    auto* block = testing::opaque(new int);
    CHECK(after.counts().allocations == 1);
    delete block;
    CHECK(after.counts().live_objects() == 0);
}

TEST_CASE("windows: a thread cancelled inside its window closes it once and frees what it had") {
    allocscope::scope outer{"outer"};
    std::atomic<bool> started{false};
    pthread_t thread;
    REQUIRE(pthread_create(&thread, nullptr, sleep_inside_a_window, &started) == 0);
    while (!started) usleep(100);
    REQUIRE(pthread_cancel(thread) == 0);
    void* result = nullptr;
    REQUIRE(pthread_join(thread, &result) == 0);
    CHECK(result == PTHREAD_CANCELED);
    CHECK(outer.counts().allocations == 1);
    CHECK(outer.counts().live_objects() == 0);
}
