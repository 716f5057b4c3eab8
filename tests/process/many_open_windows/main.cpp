// Danger: each boundary looks at every open window, so that N windows cost N x N: 16,000 took 25
// seconds. Opened and closed in several orders, with events in between, a hundred thousand of them
// have right numbers, and the watchdog ends what grows faster than they do.
// not with: tsan (it sees nothing where there is one thread)

#include "../../support/accounting.hpp"
#include "../../support/dice.hpp"
#include "../../support/escape.hpp"

#include <new>
#include <utility>
#include <vector>

using namespace allocscope_test;
using allocscope::scope;

namespace {

struct place {
    alignas(scope) unsigned char bytes[sizeof(scope)];
    scope& window() { return *reinterpret_cast<scope*>(bytes); }
};

struct step {
    std::uint64_t passing_bytes;  // of an object that is freed at once
    std::uint64_t kept_before;    // bytes that were kept of the steps before
    std::uint64_t highest_after;  // the most that was alive at this step or later
    void* kept = nullptr;
};

enum class order { last_first, first_first, shuffled };

constexpr std::uint64_t kept_bytes = 48;
bool keeps(std::size_t number) {
    return number % 512 == 0;
}

allocscope::options options_of(std::size_t number, allocscope::threads from) {
    allocscope::options wanted;
    wanted.from = from;
    wanted.stack_frames = 1 + static_cast<std::uint32_t>(number % 3);
    if (number % 5 == 0) wanted.record = allocscope::recording::counters;
    return wanted;
}

void look_at(scope& window, const std::vector<step>& steps, std::size_t number) {
    std::uint64_t kept = 0;
    for (std::size_t i = number; i < steps.size(); ++i) kept += keeps(i) ? 1 : 0;
    const allocscope::allocation_counts counts = window.counts();
    ALLOCSCOPE_EXPECT_EQUAL(counts.allocations, steps.size() - number + kept);
    ALLOCSCOPE_EXPECT_EQUAL(counts.live_objects(), kept);
    ALLOCSCOPE_EXPECT_EQUAL(counts.peak_bytes,
                            steps[number].highest_after - steps[number].kept_before);
}

void close_all(std::vector<place>& places, order wanted) {
    std::vector<std::size_t> turns(places.size());
    for (std::size_t i = 0; i < turns.size(); ++i) {
        turns[i] = wanted == order::last_first ? turns.size() - 1 - i : i;
    }
    dice random{7};
    for (std::size_t i = turns.size(); wanted == order::shuffled && i > 1; --i) {
        std::swap(turns[i - 1], turns[random.below(i)]);
    }
    for (const std::size_t turn : turns) {
        places[turn].window().~scope();
        release(allocate(20));
    }
}

void open_and_close(std::size_t count, allocscope::threads from, order wanted) {
    std::vector<place> places(count);
    std::vector<step> steps(count);
    std::uint64_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
        ::new (places[i].bytes) scope{"one of many", options_of(i, from)};
        steps[i].passing_bytes = 100 + i % 7 * 400;
        steps[i].kept_before = kept;
        release(allocate(steps[i].passing_bytes));
        if (!keeps(i)) continue;
        steps[i].kept = allocate(kept_bytes);
        kept += kept_bytes;
    }
    std::uint64_t highest = kept;
    for (std::size_t i = count; i-- > 0;) {
        const std::uint64_t reached = steps[i].kept_before + steps[i].passing_bytes;
        if (reached > highest) highest = reached;
        steps[i].highest_after = highest;
    }
    for (std::size_t i = 0; i < count; i += count / 20 + 1) look_at(places[i].window(), steps, i);
    look_at(places[count - 1].window(), steps, count - 1);
    std::uint64_t kept_objects = 0;
    for (const step& each : steps) {
        if (each.kept == nullptr) continue;
        release(each.kept);
        ++kept_objects;
    }
    ALLOCSCOPE_EXPECT_EQUAL(places[0].window().counts().live_bytes(), 0);
    expect_accounted(places[0].window().stats(), {count + kept_objects, count + kept_objects});
    close_all(places, wanted);
}

// Slots are found again, the low ones first, whichever were given back.
void open_and_close_at_random(long rounds) {
    constexpr std::size_t most = 300;
    std::vector<place> places(most);
    std::vector<bool> is_open(most);
    dice random{11};
    for (; rounds > 0; --rounds) {
        const std::size_t number = random.below(most);
        if (is_open[number]) {
            places[number].window().~scope();
        } else {
            ::new (places[number].bytes)
                scope{"at random", options_of(number, allocscope::threads::all)};
        }
        is_open[number] = !is_open[number];
    }
    for (std::size_t i = 0; i < most; ++i) {
        if (is_open[i]) places[i].window().~scope();
    }
}

}  // namespace

int main() {
    watchdog(10);
    const auto count = static_cast<std::size_t>(scaled(100000));
    open_and_close(count, allocscope::threads::all, order::last_first);
    watchdog(10);
    open_and_close(count, allocscope::threads::all, order::first_first);
    watchdog(10);
    open_and_close(count, allocscope::threads::current, order::shuffled);
    watchdog(10);
    open_and_close_at_random(scaled(60000));
    ALLOCSCOPE_EXPECT(allocscope::scope{"last"}.stats().info().loss_count == 0);
    return verdict();
}
