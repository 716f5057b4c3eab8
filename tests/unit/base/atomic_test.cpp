#include <allocscope/base/atomic.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <thread>

namespace {

using allocscope::detail::atomic;
using allocscope::detail::memory_order;

enum class color { red, green };

TEST_CASE("a value of any kind comes back as it was stored") {
    int target = 0;
    atomic<bool> yes{false};
    atomic<color> shade{color::red};
    atomic<double> weight{0.5};
    atomic<int*> place{nullptr};
    atomic<std::uint8_t> small{1};
    yes.store(true, memory_order::relaxed);
    shade.store(color::green, memory_order::release);
    weight.store(-1.25);
    place = &target;
    small = 255;
    CHECK(yes.load());
    CHECK(shade.load(memory_order::acquire) == color::green);
    CHECK(weight.load() == -1.25);
    CHECK(place.load() == &target);
    CHECK(small == 255);
}

TEST_CASE("what was there before comes back from an exchange and from sums") {
    atomic<std::uint32_t> number{5};
    CHECK(number.exchange(7) == 5);
    CHECK(number.fetch_add(3) == 7);
    CHECK(number.fetch_sub(1, memory_order::relaxed) == 10);
    CHECK(number.load() == 9);
}

TEST_CASE("a value is replaced only when it is the expected one, else the caller learns it") {
    atomic<double> number{2.0};
    double expected = 3.0;
    CHECK_FALSE(number.compare_exchange_strong(expected, 4.0, memory_order::acq_rel));
    CHECK(expected == 2.0);
    CHECK(number.load() == 2.0);
    CHECK(number.compare_exchange_weak(expected, 4.0, memory_order::release));
    CHECK(number.load() == 4.0);
}

TEST_CASE("no step of another thread is lost") {
    constexpr std::uint64_t steps = 100000;
    atomic<std::uint64_t> sum{0};
    atomic<std::uint64_t> turns{0};
    const auto work = [&] {
        for (std::uint64_t i = 0; i < steps; ++i) {
            sum.fetch_add(1, memory_order::relaxed);
            std::uint64_t seen = turns.load(memory_order::relaxed);
            while (!turns.compare_exchange_weak(seen, seen + 1, memory_order::relaxed)) {
            }
        }
    };
    std::thread other{work};
    work();
    other.join();
    CHECK(sum.load() == 2 * steps);
    CHECK(turns.load() == 2 * steps);
}

TEST_CASE("what was written before a release is seen after the acquire") {
    int written = 0;
    atomic<bool> is_written{false};
    std::thread other{[&] {
        written = 42;
        is_written.store(true, memory_order::release);
    }};
    while (!is_written.load(memory_order::acquire)) std::this_thread::yield();
    CHECK(written == 42);
    other.join();
}

}  // namespace
