// Events and their bytes change together, for any reader and with any number of shared writers.

#include <allocscope/base/owned_events.hpp>

#include "support/own_threads.hpp"
#include "support/scale.hpp"

#include <doctest/doctest.h>

#include <sched.h>  // sched_yield

#include <atomic>

namespace {

using allocscope::detail::event_sum;
using allocscope::detail::owned_events;
using allocscope_test::own_thread;

constexpr std::uint64_t event_bytes = (std::uint64_t{1} << 33U) + 3;  // fills both halves

struct watched {
    owned_events counted;
    std::atomic<bool> is_watched{false};
    std::atomic<bool> is_over{false};
    std::uint64_t torn = 0;
};

void watch(void* argument) {
    auto& self = *static_cast<watched*>(argument);
    std::uint64_t before = 0;
    while (!self.is_over) {
        const event_sum seen = self.counted.read();
        self.is_watched = true;
        if (seen.bytes != seen.events * event_bytes || seen.events < before) ++self.torn;
        before = seen.events;
    }
}

void add_shared(void* argument) {
    auto& self = *static_cast<watched*>(argument);
    for (long i = 0; i < allocscope_test::scaled(50000); ++i) self.counted.add_shared(event_bytes);
}

TEST_CASE("an event and its bytes") {
    owned_events counted;
    CHECK(counted.events() == 0);
    counted.add(48);
    counted.add(0);
    counted.add_in_two_steps(100);
    counted.add_shared(~std::uint64_t{0} - 147);  // 148 less than 2^64
    CHECK(counted.events() == 4);
    CHECK(counted.read().events == 4);
    CHECK(counted.read().bytes == 0);  // a sum that overflows leaves the events alone
    counted.add(7);
    CHECK(counted.read().bytes == 7);
    CHECK(counted.read().events == 5);
    counted.clear();
    CHECK(counted.read().events == 0);
    CHECK(counted.read().bytes == 0);
}

TEST_CASE("a reader never sees one without the other") {
    watched both;
    own_thread reader;
    reader.start(watch, &both);
    while (!both.is_watched) sched_yield();
    for (long i = 0; i < allocscope_test::scaled(2000000); ++i) both.counted.add(event_bytes);
    both.is_over = true;
    reader.join();
    CHECK(both.torn == 0);
}

TEST_CASE("threads that share the events lose none") {
    watched both;
    own_thread reader;
    own_thread writers[3];
    reader.start(watch, &both);
    for (own_thread& each : writers) each.start(add_shared, &both);
    for (own_thread& each : writers) each.join();
    both.is_over = true;
    reader.join();
    CHECK(both.torn == 0);
    const auto wanted = 3 * static_cast<std::uint64_t>(allocscope_test::scaled(50000));
    CHECK(both.counted.events() == wanted);
    CHECK(both.counted.read().bytes == wanted * event_bytes);
}

}  // namespace
