#include <doctest/doctest.h>
#include <allocscope/state/gate.hpp>

#include <atomic>
#include <cstdint>
#include <thread>

using allocscope::detail::charge;
using allocscope::detail::gate;
using allocscope::detail::view;

TEST_CASE("gate: shut until a view is published, and again when it is shut") {
    static gate door;
    view seen;
    CHECK(door.word() == 0);
    CHECK_FALSE(door.load(seen));
    view next;
    next.clock = 17;
    next.mode = charge::stacks;
    next.frames = 24;
    door.publish(next, true);
    CHECK(door.word() != 0);
    REQUIRE(door.load(seen));
    CHECK(seen.clock == 17);
    CHECK(seen.mode == charge::stacks);
    CHECK(seen.frames == 24);
    CHECK(seen.number == door.word());
    door.shut();
    CHECK(door.word() == 0);
}

TEST_CASE("gate: a free is looked up when a window may know the block, and not else") {
    static gate door;
    const auto at = [](std::uintptr_t address) { return reinterpret_cast<void*>(address); };
    const auto block = std::uintptr_t{0x7f0000001010};
    const auto page = std::uintptr_t{0x7f0000002000};
    CHECK(!door.concerns_free_of(at(block)));
    CHECK(!door.concerns_free_of(at(page)));
    door.publish(view{}, false);  // only samples, which begin at pages
    CHECK(!door.concerns_free_of(at(block)));
    CHECK(door.concerns_free_of(at(page)));
    door.publish(view{}, true);
    CHECK(door.concerns_free_of(at(block)));
    CHECK(door.concerns_free_of(at(page)));
    door.shut();
    CHECK(!door.concerns_free_of(at(block)));
    CHECK(!door.concerns_free_of(at(page)));
}

TEST_CASE("gate: every view has a number of its own") {
    static gate door;
    std::uint64_t last = 0;
    for (int i = 0; i < 2000; ++i) {
        const bool sees_every_event = i % 3 == 0;
        door.publish(view{}, sees_every_event);
        CHECK(((door.word() & allocscope::detail::every_event) != 0) == sees_every_event);
        CHECK(door.word() != last);
        CHECK(door.word() != allocscope::detail::no_view);
        last = door.word();
    }
}

TEST_CASE("gate: a reader never sees half of a view, however fast they change") {
    static gate door;
    door.publish(view{}, true);
    std::atomic<bool> is_over{false};
    std::thread writer{[&is_over] {
        for (std::uint32_t i = 1; i < 200000; ++i) {
            view next;
            next.clock = i;
            next.windows = i;
            next.session = i;
            next.tables = i;
            next.sample_bytes = i;
            door.publish(next, true);
        }
        is_over = true;
    }};
    std::uint64_t newest = 0;
    while (!is_over) {
        view seen;
        REQUIRE(door.load(seen));
        CHECK(seen.windows == seen.clock);
        CHECK(seen.session == seen.clock);
        CHECK(seen.tables == seen.clock);
        CHECK(seen.sample_bytes == seen.clock);
        CHECK(seen.clock >= newest);
        newest = seen.clock;
    }
    writer.join();
}
