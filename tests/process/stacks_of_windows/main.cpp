// Danger: snapshot::stacks() is asked late. The window has ended, its tables are gone, others have
// been opened, two threads ask at once, memory is refused; and each number must still be that of
// the stack, also for stacks whose objects have all been freed.
// about: stacks

#include "../../support/dice.hpp"
#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/platform/page_memory.hpp>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <utility>

using namespace allocscope_test;

namespace {

constexpr std::size_t place_count = 24;

// One function each, so that the name of the innermost frame tells which.
template <std::size_t Place>
__attribute__((noinline)) void* allocate_at(std::size_t bytes) {
    void* made = opaque(::operator new(bytes));
    barrier();
    return made;
}

template <std::size_t... Places>
void* allocate_at_place(std::size_t place, std::size_t bytes, std::index_sequence<Places...>) {
    using function = void* (*)(std::size_t);
    static constexpr function all[] = {&allocate_at<Places>...};
    return all[place](bytes);
}

struct known_numbers {
    std::uint64_t allocations, bytes_allocated, objects, bytes;
};

// What was really done, by place. Places from 16 on free all they allocate.
struct workload {
    known_numbers places[place_count] = {};
    void* kept[4000] = {};
    std::size_t kept_count = 0;

    void run(std::uint64_t seed) {
        dice roll{seed};
        for (int i = 0; i < 6000; ++i) {
            const std::size_t place = roll.below(place_count);
            const std::size_t bytes = 1 + roll.below(300);
            void* made = allocate_at_place(place, bytes, std::make_index_sequence<place_count>{});
            known_numbers& known = places[place];
            ++known.allocations;
            known.bytes_allocated += bytes;
            if (place >= 16 || roll.one_in(2) || kept_count == 4000) {
                release(made);
                continue;
            }
            ++known.objects;
            known.bytes += bytes;
            kept[kept_count++] = made;
        }
    }
    void release_all() {
        while (kept_count > 0) release(kept[--kept_count]);
    }
};

// Of "void* (anonymous namespace)::allocate_at<17ul>(unsigned long)"; place_count: another one.
std::size_t place_of(const allocscope::snapshot::stack& stack) {
    const char* found =
        stack.frame_count != 0 ? std::strstr(stack.frames[0].function, "allocate_at<") : nullptr;
    if (found == nullptr) return place_count;
    std::size_t place = 0;
    for (const char* at = found + 12; *at >= '0' && *at <= '9'; ++at) {
        place = place * 10 + static_cast<std::size_t>(*at - '0');
    }
    return place;
}

void expect_numbers(const allocscope::snapshot& seen, const workload& done) {
    ALLOCSCOPE_EXPECT(seen.has_stacks());
    known_numbers sums[place_count + 1] = {};
    known_numbers all = {};
    std::uint64_t last_bytes = ~std::uint64_t{0};
    for (const allocscope::snapshot::stack& stack : seen.stacks()) {
        for (known_numbers* sum : {&sums[place_of(stack)], &all}) {
            sum->allocations += stack.allocations;
            sum->bytes_allocated += stack.bytes_allocated;
            sum->objects += stack.objects;
            sum->bytes += stack.bytes;
        }
        ALLOCSCOPE_EXPECT_EQUAL(stack.objects_high, stack.objects);
        ALLOCSCOPE_EXPECT_AT_MOST(stack.bytes, last_bytes);
        ALLOCSCOPE_EXPECT(std::strcmp(stack.file, "") != 0);
        last_bytes = stack.bytes;
    }
    for (std::size_t place = 0; place < place_count; ++place) {
        ALLOCSCOPE_EXPECT_EQUAL(sums[place].allocations, done.places[place].allocations);
        ALLOCSCOPE_EXPECT_EQUAL(sums[place].bytes_allocated, done.places[place].bytes_allocated);
        ALLOCSCOPE_EXPECT_EQUAL(sums[place].objects, done.places[place].objects);
        ALLOCSCOPE_EXPECT_EQUAL(sums[place].bytes, done.places[place].bytes);
    }
    ALLOCSCOPE_EXPECT_EQUAL(sums[place_count].allocations, 0);
    ALLOCSCOPE_EXPECT_EQUAL(all.allocations, seen.info().totals.allocations);
    ALLOCSCOPE_EXPECT_EQUAL(all.bytes_allocated, seen.info().totals.bytes_allocated);
    ALLOCSCOPE_EXPECT_EQUAL(all.objects, seen.live_objects());
    ALLOCSCOPE_EXPECT_EQUAL(all.bytes, seen.live_bytes());
}

// Each row is the sum of the stacks with its file, line and type.
void expect_rows(const allocscope::snapshot& seen) {
    for (const allocscope::snapshot::row& row : seen) {
        std::uint64_t objects = 0;
        std::uint64_t sites = 0;
        for (const allocscope::snapshot::stack& stack : seen.stacks()) {
            if (std::strcmp(stack.file, row.file) != 0 || stack.line != row.line ||
                stack.offset != row.offset || std::strcmp(stack.type, row.type) != 0) {
                continue;
            }
            objects += stack.objects;
            if (stack.objects != 0) ++sites;
        }
        ALLOCSCOPE_EXPECT_EQUAL(objects, row.objects);
        ALLOCSCOPE_EXPECT_EQUAL(sites, row.sites);
    }
}

workload done;

void asked_at_once() {
    done = {};
    allocscope::scope window{"at once"};
    done.run(1);
    const allocscope::snapshot seen = window.stats();
    expect_numbers(seen, done);
    expect_rows(seen);
    ALLOCSCOPE_EXPECT(!seen.modules().empty());
    ALLOCSCOPE_EXPECT(std::strstr(seen.modules()[0].path, "stacks_of_windows") != nullptr);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, done.kept_count == 0 ? 0 : 6000);
    done.release_all();
}

void asked_late() {
    done = {};
    allocscope::snapshot seen;
    {
        allocscope::options wanted;
        wanted.stack_frames = 2;  // so that both threads have the same stacks
        allocscope::scope window{"late", wanted};
        own_thread other;
        other.start([](void*) { done.run(2); }, nullptr);
        other.join();
        done.run(12);
        seen = window.stop();
    }
    done.release_all();
    static workload other;  // other sites take the numbers of those that are asked about
    allocscope::scope window{"another one"};
    other = {};
    other.run(3);
    expect_numbers(seen, done);
    expect_rows(seen);
    other.release_all();
}

void asked_by_many() {
    done = {};
    allocscope::scope window{"many"};
    done.run(4);
    static allocscope::snapshot seen;
    static std::atomic<const allocscope::snapshot::stack*> first;
    seen = window.stop();
    first = nullptr;
    own_thread threads[4];
    for (own_thread& thread : threads) {
        thread.start(
            [](void*) {
                const allocscope::snapshot::stack* mine = seen.stacks().begin();
                const allocscope::snapshot::stack* none = nullptr;
                if (!first.compare_exchange_strong(none, mine)) ALLOCSCOPE_EXPECT(none == mine);
            },
            nullptr);
    }
    for (own_thread& thread : threads) thread.join();
    expect_numbers(seen, done);
    seen = {};
    done.release_all();
}

void memory_is_refused() {
    done = {};
    allocscope::scope window{"refused"};
    done.run(5);
    const allocscope::snapshot seen = window.stop();
    for (int mappings = 0; mappings < 6; ++mappings) {
        allocscope::detail::mappings_until_refusal = mappings;
        const bool has_stacks = seen.has_stacks();
        allocscope::detail::mappings_until_refusal = -1;
        if (mappings == 0) ALLOCSCOPE_EXPECT(!has_stacks);
        if (has_stacks) break;
        ALLOCSCOPE_EXPECT(seen.size() != 0);  // the rows stay
    }
    expect_numbers(seen, done);
    done.release_all();
}

void differences() {
    done = {};
    allocscope::scope window{"difference"};
    done.run(6);
    const allocscope::snapshot early = window.stats();
    const workload* before = new workload(done);
    workload more = {};
    more.run(7);
    const allocscope::snapshot change = window.stats().difference_from(early);
    std::int64_t allocations = 0;
    std::int64_t bytes = 0;
    for (const allocscope::snapshot::stack& stack : change.stacks()) {
        const std::size_t place = place_of(stack);
        if (place == place_count) continue;  // the workload of before
        ALLOCSCOPE_EXPECT_EQUAL(stack.allocations, more.places[place].allocations);
        ALLOCSCOPE_EXPECT_EQUAL(stack.bytes, more.places[place].bytes);
        allocations += static_cast<std::int64_t>(stack.allocations);
        bytes += static_cast<std::int64_t>(stack.bytes);
    }
    ALLOCSCOPE_EXPECT_EQUAL(static_cast<std::uint64_t>(allocations), 6000);
    ALLOCSCOPE_EXPECT(bytes > 0);
    const allocscope::snapshot back = early.difference_from(window.stats());
    for (const allocscope::snapshot::stack& stack : back.stacks()) {
        const std::size_t place = place_of(stack);
        if (place == place_count) continue;
        ALLOCSCOPE_EXPECT_EQUAL(stack.bytes_allocated,
                                std::uint64_t{0} - more.places[place].bytes_allocated);
    }
    ALLOCSCOPE_EXPECT(early.difference_from(early).stacks().empty());
    const allocscope::snapshot all = early.difference_from(allocscope::snapshot{});
    ALLOCSCOPE_EXPECT_EQUAL(all.stacks().size(), early.stacks().size());
    delete before;
    more.release_all();
    done.release_all();
}

void sampled_stacks_add_up() {
    done = {};
    allocscope::options wanted;
    wanted.record = allocscope::recording::sampled;
    wanted.sample_bytes = 64;
    allocscope::scope window{"sampled", wanted};
    done.run(8);
    const allocscope::snapshot seen = window.stop();
    const auto stacks = seen.stacks();
    std::uint64_t bytes = 0;
    std::uint64_t allocated = 0;
    for (const allocscope::snapshot::stack& stack : stacks) {
        ALLOCSCOPE_EXPECT_AT_MOST(stack.bytes_low, stack.bytes);
        ALLOCSCOPE_EXPECT_AT_MOST(stack.bytes, stack.bytes_high);
        ALLOCSCOPE_EXPECT_AT_MOST(stack.bytes, stack.bytes_allocated);
        bytes += stack.bytes;
        allocated += stack.bytes_allocated;
    }
    const std::uint64_t rounding = stacks.size();
    ALLOCSCOPE_EXPECT_AT_MOST(bytes, seen.live_bytes() + rounding);
    ALLOCSCOPE_EXPECT_AT_MOST(seen.live_bytes(), bytes + rounding);
    ALLOCSCOPE_EXPECT_AT_MOST(allocated, seen.info().totals.bytes_allocated + rounding);
    ALLOCSCOPE_EXPECT_AT_MOST(seen.info().totals.bytes_allocated, allocated + rounding);
    done.release_all();
}

void counters_have_none() {
    allocscope::options wanted;
    wanted.record = allocscope::recording::counters;
    allocscope::scope window{"counters", wanted};
    release(allocate(5));
    ALLOCSCOPE_EXPECT(!window.stats().has_stacks());
    ALLOCSCOPE_EXPECT(window.stats().stacks().empty());
    ALLOCSCOPE_EXPECT(!allocscope::snapshot{}.has_stacks());
}

}  // namespace

int main() {
    watchdog();
    asked_at_once();
    asked_late();
    asked_by_many();
    memory_is_refused();
    differences();
    sampled_stacks_add_up();
    counters_have_none();
    return verdict();
}
