// Danger: a guard that misses an allocation, or one that cries about what is allowed. Nothing may
// be asserted while a guard lives: doctest allocates.

#include "../../support/escape.hpp"
#include "../../support/forked_child.hpp"

#include <allocscope/allocscope.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

using namespace allocscope;
using allocscope_test::allocate;
using allocscope_test::in_child;
using allocscope_test::release;

namespace {

constexpr auto align = std::align_val_t{64};

bool has(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

struct told {
    int times = 0;
    std::string message;
};

void note(const check_result& found, void* context) {
    auto& seen = *static_cast<told*>(context);
    ++seen.times;
    seen.message = found.message();  // allocates: no violation
}

on_violation noting(told& seen) {
    return on_violation::call(&note, &seen);
}

__attribute__((noinline)) void* guilty(std::size_t bytes) {
    return allocate(bytes);
}

}  // namespace

TEST_CASE("an allocation is told at once, with its place, and once") {
    told seen;
    int told_before_the_end = 0;
    {
        const no_allocation_guard guard{"mixer", noting(seen)};
        release(guilty(24));
        told_before_the_end = seen.times;
        release(guilty(25));
    }
    CHECK(told_before_the_end == 1);
    CHECK(seen.times == 1);
    CHECK(has(seen.message, "no_allocation_guard \"mixer\": 24 bytes were allocated"));
    CHECK(has(seen.message, "escape.hpp:"));
    CHECK(has(seen.message, "guilty"));
}

TEST_CASE("what breaks no guard") {
    told seen;
    void* older = allocate(8);
    bool had_passed = false;
    std::uint64_t counted = 0;
    {
        no_allocation_guard guard{"quiet", noting(seen)};
        release(older);  // a free, of an older object
        release(nullptr);
        {
            const allow_allocations here;
            const allow_allocations and_here;
            release(guilty(1));
        }
        {
            const pause_recording charged_to_nobody;
            release(guilty(1));
        }
        { const scope window{"inside"}; }
        const check_result found = guard.check();
        had_passed = found.passed();
        counted = found.counts().allocations;
    }
    CHECK(seen.times == 0);
    CHECK(had_passed);
    CHECK(counted == 1);  // what was allowed is counted

    std::thread{[] { release(guilty(1)); }}.join();
    bool finished = false;
    {
        std::thread other;
        void* from_there = nullptr;
        const auto work = [&from_there] { from_there = guilty(3); };
        no_allocation_guard guard{"of this thread", noting(seen)};
        {
            const allow_allocations starting_a_thread;
            other = std::thread{work};
        }
        other.join();
        finished = guard.finish().passed();
        release(from_there);
    }
    CHECK(finished);
    CHECK(seen.times == 0);
}

TEST_CASE("a guard inside a pause watches, and a pause inside it is still no violation") {
    told seen;
    std::uint64_t charged = 0;
    bool had_passed = false;
    {
        const scope outer{"outer"};
        const pause_recording charged_to_nobody;
        no_allocation_guard guard{"inside", noting(seen)};
        {
            const pause_recording once_more;
            release(guilty(1));
        }
        had_passed = guard.check().passed();
        release(guilty(2));
        charged = outer.counts().allocations;
    }
    CHECK(had_passed);
    CHECK(seen.times == 1);
    CHECK(charged == 0);
}

TEST_CASE("a guard leaves errno alone, and a pause allows frees, too") {
    void* const older = allocate(8);
    int after_the_report = 0;
    bool had_passed = false;
    {
        no_allocation_guard guard{
            "quiet", on_violation::call([](const check_result&, void*) { errno = EDOM; }),
            forbidden::allocations_and_frees};
        {
            const pause_recording charged_to_nobody;
            release(older);
        }
        had_passed = guard.check().passed();
        errno = 77;
        void* const block = allocate(8);
        after_the_report = errno;
        release(block);
    }
    CHECK(had_passed);
    CHECK(after_the_report == 77);
}

TEST_CASE("every form of operator new is seen; frees when asked for") {
    const auto breaks = [](forbidden what, auto work) {
        told seen;
        {
            const no_allocation_guard guard{noting(seen), what};
            work();
        }
        return seen.times;
    };
    const auto only = forbidden::allocations;
    CHECK(breaks(only, [] { release(::operator new(1)); }) == 1);
    CHECK(breaks(only, [] { ::operator delete[](allocscope_test::opaque(::operator new[](1))); }) ==
          1);
    CHECK(breaks(only, [] { release(::operator new(1, std::nothrow)); }) == 1);
    CHECK(breaks(only, [] { ::operator delete(::operator new(1, align), align); }) == 1);
    CHECK(breaks(only, [] { ::operator delete(::operator new(1, align, std::nothrow), align); }) ==
          1);
    void* older = allocate(5);
    CHECK(breaks(forbidden::allocations_and_frees, [older] { release(older); }) == 1);
    CHECK(breaks(forbidden::allocations_and_frees, [] { release(nullptr); }) == 0);

    told freed;
    older = allocate(5);
    {
        const no_allocation_guard guard{"frees", noting(freed), forbidden::allocations_and_frees};
        release(older);
    }
    CHECK(has(freed.message, "no_allocation_guard \"frees\": memory was freed"));
    CHECK(has(freed.message, "escape.hpp:"));
}

TEST_CASE("what is forbidden can be said without an action: it reports, here to stderr") {
    void* older = allocate(5);
    no_allocation_guard guard{"frees", forbidden::allocations_and_frees};
    const bool held_before = guard.check().passed();
    release(older);
    const bool held_after = guard.finish().passed();
    CHECK(held_before);
    CHECK(!held_after);
}

TEST_CASE(
    "the guard throws out of operator new; nothrow forms return null; finish() throws again") {
    bool was_caught = false;
    bool was_thrown_again = false;
    void* block = nullptr;
    void* after = nullptr;
    {
        no_allocation_guard guard{"strict", on_violation::throw_error()};
        try {
            block = guilty(7);
        } catch (const violation_error& error) {
            was_caught = !error.result().passed();
        }
        after = ::operator new(1, std::nothrow);  // it was told of once
        try {
            guard.finish();
        } catch (const std::bad_alloc&) {
            was_thrown_again = true;
        }
    }
    CHECK(was_caught);
    CHECK(block == nullptr);
    CHECK(after != nullptr);
    CHECK(was_thrown_again);
    release(after);

    {
        no_allocation_guard guard{on_violation::throw_error()};
        block = ::operator new(1, std::nothrow);
        was_thrown_again = false;
        try {
            guard.finish();
        } catch (const violation_error&) {
            was_thrown_again = true;
        }
    }
    CHECK(block == nullptr);
    CHECK(was_thrown_again);
}

TEST_CASE("guards nest: each is told, an inner one watches inside what the outer allows") {
    told outer;
    told inner;
    {
        const no_allocation_guard around{"outer", noting(outer)};
        {
            const allow_allocations here;
            const no_allocation_guard within{"inner", noting(inner)};
            release(guilty(1));
        }
        release(allocate(2));
    }
    CHECK(inner.times == 1);
    CHECK(outer.times == 1);
    CHECK(has(outer.message, "2 bytes were allocated"));  // not what was allowed
    told both[2];
    {
        const no_allocation_guard around{"around", noting(both[0])};
        const no_allocation_guard within{"within", noting(both[1])};
        release(guilty(1));
    }
    CHECK(both[0].times == 1);
    CHECK(both[1].times == 1);
}

TEST_CASE("windows see the same under a guard as without; errno is kept") {
    scope window{"beside"};
    told seen;
    int errno_after = 0;
    allocation_counts counts;
    {
        const no_allocation_guard guard{"g", noting(seen)};
        errno = 1234;
        void* kept = guilty(10);
        errno_after = errno;
        release(guilty(20));
        release(kept);
        counts = window.counts();
    }
    CHECK(errno_after == 1234);
    CHECK(counts.allocations == 2);  // not what telling allocated
    CHECK(counts.frees == 2);
    CHECK(counts.bytes_allocated == 30);
}

TEST_CASE("reports and aborts") {
    const auto reported = in_child([] {
        const no_allocation_guard guard{"loud"};
        release(guilty(1));
        return 0;
    });
    CHECK(reported.exited_with(0));
    CHECK(has(reported.text, "allocscope: no_allocation_guard \"loud\": 1 byte was allocated"));
    const auto aborted = in_child([] {
        signal(SIGABRT, SIG_DFL);  // doctest's would report a failure
        const no_allocation_guard guard{"fatal", on_violation::abort()};
        release(guilty(1));
        return 0;
    });
    CHECK(aborted.was_killed_by(SIGABRT));
    const auto unfinished = in_child([] {
        const no_allocation_guard guard{"unfinished", on_violation::throw_error()};
        return ::operator new(1, std::nothrow) == nullptr ? 3 : 4;
    });
    CHECK(unfinished.exited_with(3));
    CHECK(has(unfinished.text, "no_allocation_guard \"unfinished\""));
    const auto thrown = in_child([] {
        try {
            const no_allocation_guard guard{"thrown", on_violation::throw_error()};
            release(guilty(7));
        } catch (const violation_error& error) {
            return has(error.what(), "no_allocation_guard \"thrown\"") ? 5 : 6;
        }
        return 7;
    });
    CHECK(thrown.exited_with(5));
    CHECK(thrown.text.empty());  // the exception said it
    const auto swallowed = in_child([] {
        const no_allocation_guard guard{"swallowed", on_violation::throw_error()};
        try {
            release(guilty(7));
        } catch (const std::bad_alloc&) {
        }
        return 8;
    });
    CHECK(swallowed.exited_with(8));
    CHECK(has(swallowed.text, "no_allocation_guard \"swallowed\""));
    const auto foreign = in_child([] {
        signal(SIGABRT, SIG_DFL);
        auto* guard = new no_allocation_guard{"foreign"};
        std::thread{[guard] { delete guard; }}.join();
        return 0;
    });
    CHECK(foreign.was_killed_by(SIGABRT));
    CHECK(has(foreign.text, "destroyed by a thread other than its own"));
}
