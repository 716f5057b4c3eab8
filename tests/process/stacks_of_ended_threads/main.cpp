// Danger: in a long window, what threads that have ended allocated and freed is in no stack, or in
// that of another thread, another age or another window.

#include "../../support/own_threads.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/pools.hpp>
#include <allocscope/report.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

using namespace allocscope_test;
using allocscope::allocation_counts;
using allocscope::scope;
using allocscope::snapshot;

namespace {

constexpr std::uint64_t small_bytes = 10;
constexpr std::uint64_t large_bytes = 300;

__attribute__((noinline)) void make_small(std::uint64_t count) {
    for (; count != 0; --count) {
        void* object = ::operator new(small_bytes);
        __asm__ volatile("" : "+r"(object) : : "memory");
        ::operator delete(object);
    }
}

__attribute__((noinline)) void make_large(std::uint64_t count) {
    for (; count != 0; --count) {
        void* object = ::operator new(large_bytes);
        __asm__ volatile("" : "+r"(object) : : "memory");
        ::operator delete(object);
    }
}

__attribute__((noinline)) void use_pool(std::uint64_t count) {
    static thread_local char block[64];
    for (; count != 0; --count) {
        allocscope::report_allocation(block, sizeof block, "pool");
        allocscope::report_free(block, "pool");
    }
}

// What has been made by now.
struct made_so_far {
    std::uint64_t small = 0;
    std::uint64_t large = 0;
    std::uint64_t of_pool = 0;
    std::uint64_t by_main = 0;

    std::uint64_t all() const { return small + large + of_pool; }
};

struct work_of_thread {
    std::uint64_t small;
    std::uint64_t large;
};

void work(void* argument) {
    const auto& wanted = *static_cast<work_of_thread*>(argument);
    make_small(wanted.small);
    make_large(wanted.large);
    use_pool(wanted.large);
}

// With stacks of one frame, all threads allocate at the same stacks.
allocscope::options with_short_stacks() {
    allocscope::options wanted;
    wanted.stack_frames = 1;
    return wanted;
}

// Threads one after the other. Now and then this thread allocates, too, in a window of its own.
void run_threads(made_so_far& made, int count) {
    for (int i = 0; i < count; ++i) {
        work_of_thread wanted{1 + static_cast<std::uint64_t>(i) % 7,
                              1 + static_cast<std::uint64_t>(i) % 3};
        own_thread thread;
        thread.start(work, &wanted);
        thread.join();
        made.small += wanted.small;
        made.large += wanted.large;
        made.of_pool += wanted.large;
        if (i % 3 != 0) continue;
        const scope inner{"inner", with_short_stacks()};
        std::uint64_t once = 1;
        __asm__ volatile("" : "+r"(once));  // no copy of the function for this number
        make_small(once);
        ++made.small;
        ++made.by_main;
    }
}

bool is_in(const snapshot::stack& stack, const char* function) {
    for (std::size_t i = 0; i < stack.frame_count; ++i) {
        if (std::strstr(stack.frames[i].function, function) != nullptr) return true;
    }
    return false;
}

std::uint64_t allocations_in(const snapshot& of, const char* function) {
    std::uint64_t sum = 0;
    for (const snapshot::stack& each : of.stacks()) {
        if (is_in(each, function)) sum += each.allocations;
    }
    return sum;
}

std::uint64_t sum_of_stacks(const snapshot& of) {
    std::uint64_t sum = 0;
    for (const snapshot::stack& each : of.stacks()) sum += each.allocations;
    return sum;
}

std::uint64_t allocations_of_age(const snapshot& of, std::size_t age) {
    std::uint64_t sum = 0;
    for (const snapshot::stack& each : of.stacks()) {
        if (each.thread_count == 1 && each.age == age) sum += each.allocations;
        if (each.thread_count < 2) continue;
        for (std::size_t i = 0; i < each.thread_count; ++i) {
            if (each.by_thread[i].age == age) sum += each.by_thread[i].allocations;
        }
    }
    return sum;
}

std::uint64_t allocations_of_thread(const snapshot& of, std::uint64_t number) {
    std::uint64_t sum = 0;
    const auto threads = of.allocating_threads();
    const auto is_meant = [&](std::size_t index) {
        return (threads.begin() + index)->number == number;
    };
    for (const snapshot::stack& each : of.stacks()) {
        if (each.thread_count == 1 && is_meant(each.thread)) sum += each.allocations;
        if (each.thread_count < 2) continue;
        for (std::size_t i = 0; i < each.thread_count; ++i) {
            if (is_meant(each.by_thread[i].thread)) sum += each.by_thread[i].allocations;
        }
    }
    return sum;
}

std::uint64_t allocations_of_family(const snapshot& of, const char* name) {
    const auto& info = of.info();
    for (std::size_t i = 0; i < info.family_count; ++i) {
        if (std::strcmp(info.families[i].name, name) == 0) return info.families[i].allocations;
    }
    return 0;
}

void expect_whole(const snapshot& of, const made_so_far& before, const made_so_far& after) {
    const allocation_counts& totals = of.info().totals;
    ALLOCSCOPE_EXPECT_EQUAL(totals.allocations, after.all() - before.all());
    ALLOCSCOPE_EXPECT_EQUAL(totals.live_objects(), 0);
    ALLOCSCOPE_EXPECT_EQUAL(sum_of_stacks(of), totals.allocations);
    ALLOCSCOPE_EXPECT_EQUAL(allocations_in(of, "make_small"), after.small - before.small);
    ALLOCSCOPE_EXPECT_EQUAL(allocations_in(of, "make_large"), after.large - before.large);
    ALLOCSCOPE_EXPECT_EQUAL(allocations_in(of, "use_pool"), after.of_pool - before.of_pool);
    ALLOCSCOPE_EXPECT_EQUAL(allocations_of_family(of, "pool"), after.of_pool - before.of_pool);
    ALLOCSCOPE_EXPECT_EQUAL(allocations_of_thread(of, 1), after.by_main - before.by_main);
}

// Nothing but the thread tells its births from those of threads that have ended.
void a_living_thread_keeps_what_is_its_own() {
    made_so_far made;
    const scope window{"one age", with_short_stacks()};
    run_threads(made, 2000);
    expect_whole(window.stats(), {}, made);
}

// Cohorts with details are too large to be kept, so stacks lack something, but totals do not.
void with_details_only_the_totals_are_whole() {
    allocscope::options wanted;
    wanted.details = true;
    scope window{"details", wanted};
    made_so_far made;
    run_threads(made, 1000);
    const snapshot all = window.stats_and_forget();
    ALLOCSCOPE_EXPECT_EQUAL(all.info().totals.allocations, made.all());
    ALLOCSCOPE_EXPECT_EQUAL(all.info().totals.live_objects(), 0);
    ALLOCSCOPE_EXPECT_EQUAL(allocations_of_family(all, "pool"), made.of_pool);
    ALLOCSCOPE_EXPECT(sum_of_stacks(all) < made.all());
    const made_so_far before = made;
    run_threads(made, 1);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, made.all() - before.all());
}

void estimates_of_stacks_add_up_to_the_totals() {
    allocscope::options wanted;
    wanted.record = allocscope::recording::sampled;
    wanted.sample_bytes = 100;
    scope window{"sampled", wanted};
    made_so_far made;
    run_threads(made, 3000);
    void* const kept = ::operator new(100000);  // so large that it is a sample
    const snapshot all = window.stop();
    ::operator delete(kept);
    const auto& estimates = all.info().estimates;
    ALLOCSCOPE_EXPECT_EQUAL(all.info().totals.live_objects(), 1);
    ALLOCSCOPE_EXPECT(estimates.allocations.value > made.large);
    const std::uint64_t sum = sum_of_stacks(all);
    const std::uint64_t rounding = static_cast<std::uint64_t>(all.stacks().size());
    ALLOCSCOPE_EXPECT(sum <= estimates.allocations.value + rounding);
    ALLOCSCOPE_EXPECT(sum + rounding >= estimates.allocations.value);
    // One of twenty intervals does not hold the truth; an estimate of thousands of samples is never
    // twice as large.
    ALLOCSCOPE_EXPECT(estimates.allocations.value <= made.all() * 2);
    ALLOCSCOPE_EXPECT(estimates.allocations.value >= made.all() / 2);
}

allocscope::options of_this_thread() {
    allocscope::options wanted = with_short_stacks();
    wanted.from = allocscope::threads::current;
    return wanted;
}

void nothing_is_forgotten() {
    constexpr int count = 1000;  // with fewer nothing is summed
    made_so_far made;
    const made_so_far nothing;
    scope whole{"whole", with_short_stacks()};
    scope own{"of this thread", of_this_thread()};
    run_threads(made, count);

    const made_so_far at_first_mark = made;
    const snapshot mine = own.stop();  // from here on no window tells threads apart
    ALLOCSCOPE_EXPECT_EQUAL(mine.info().totals.allocations, made.by_main);
    ALLOCSCOPE_EXPECT_EQUAL(sum_of_stacks(mine), made.by_main);
    whole.mark_age();
    run_threads(made, count);
    const made_so_far before_later = made;
    scope later{"later",
                with_short_stacks()};  // not at a mark, which would keep births apart as well
    run_threads(made, count);
    const made_so_far at_second_mark = made;
    whole.mark_age();
    run_threads(made, count);

    const snapshot all = whole.stats();
    expect_whole(all, nothing, made);
    expect_whole(later.stop(), before_later, made);

    ALLOCSCOPE_EXPECT_EQUAL(all.info().age_count, 3);
    ALLOCSCOPE_EXPECT_EQUAL(allocations_of_age(all, 0), at_first_mark.all());
    ALLOCSCOPE_EXPECT_EQUAL(allocations_of_age(all, 1), at_second_mark.all() - at_first_mark.all());
    ALLOCSCOPE_EXPECT_EQUAL(allocations_of_age(all, 2), made.all() - at_second_mark.all());
    // Threads that have ended are summed, or there would be as many stacks' parts as threads.
    ALLOCSCOPE_EXPECT(allocations_of_thread(all, 0) > made.all() / 2);
    ALLOCSCOPE_EXPECT(static_cast<int>(all.allocating_threads().size()) < count);
}

}  // namespace

int main() {
    watchdog();
    nothing_is_forgotten();
    a_living_thread_keeps_what_is_its_own();
    with_details_only_the_totals_are_whole();
    estimates_of_stacks_add_up_to_the_totals();
    return verdict();
}
