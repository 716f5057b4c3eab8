// Danger: a fault that hits the wrong allocation, stays behind when its object is gone, or a sweep
// that calls code good which leaks. Nothing may be asserted while a fault lives: doctest allocates.

#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/pools.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace allocscope;
using allocscope_test::allocate;
using allocscope_test::own_thread;
using allocscope_test::release;

namespace {

constexpr auto align = std::align_val_t{128};

bool has(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

bool fails(std::size_t bytes = 8) {
    void* block = allocscope_test::opaque(::operator new(bytes, std::nothrow));
    ::operator delete(block);
    return block == nullptr;
}

// The tables end here, so what a pool reports from here on is lost.
const void* first_lost_address() {
    return reinterpret_cast<const void*>(std::uintptr_t{1} << 47U);
}

template <class Work>
std::string refusal_of(Work work) {
    try {
        work();
    } catch (const std::invalid_argument& refused) {
        return refused.what();
    }
    return "";
}

// As many as there are bits; the first allocation is the lowest.
unsigned failing_of(int count) {
    unsigned pattern = 0;
    for (int i = 0; i < count; ++i) pattern |= static_cast<unsigned>(fails()) << i;
    return pattern;
}

}  // namespace

TEST_CASE("the nth allocation fails, then no other") {
    unsigned pattern = 0;
    std::uint64_t seen = 0;
    std::uint64_t failed = 0;
    {
        const fail_allocation third{3};
        pattern = failing_of(6);
        seen = third.seen();
        failed = third.failed();
    }
    CHECK(pattern == 0b100);
    CHECK(seen == 6);
    CHECK(failed == 1);
    CHECK_FALSE(fails());
    {
        const fail_allocation three{2, 3};
        pattern = failing_of(6);
    }
    CHECK(pattern == 0b1110);
}

TEST_CASE("every operator fails as it must") {
    int thrown = 0;
    {
        const fail_allocation all{1, 100};
        const auto counts_throw = [&thrown](auto work) {
            try {
                work();
            } catch (const std::bad_alloc&) {
                ++thrown;
            }
        };
        counts_throw([] { release(::operator new(1)); });
        counts_throw([] { ::operator delete[](allocscope_test::opaque(::operator new[](1))); });
        counts_throw([] { ::operator delete(::operator new(1, align), align); });
        counts_throw([] { ::operator delete[](::operator new[](1, align), align); });
        if (::operator new(1, std::nothrow) == nullptr) ++thrown;
        if (::operator new[](1, std::nothrow) == nullptr) ++thrown;
        if (::operator new(1, align, std::nothrow) == nullptr) ++thrown;
        if (::operator new[](1, align, std::nothrow) == nullptr) ++thrown;
    }
    CHECK(thrown == 8);
}

TEST_CASE("a new_handler is not asked: it could only ask again") {
    static int calls = 0;
    const std::new_handler before = std::set_new_handler([] { ++calls; });
    bool has_failed = false;
    {
        const fail_allocation first{1};
        has_failed = fails();
    }
    std::set_new_handler(before);
    CHECK(has_failed);
    CHECK(calls == 0);
}

TEST_CASE("bytes run out; what fits is granted") {
    bool failed[4] = {};
    {
        const fail_after_bytes ten{10};
        failed[0] = fails(6);
        failed[1] = fails(5);
        failed[2] = fails(4);
        failed[3] = fails(1);
    }
    CHECK_FALSE(failed[0]);
    CHECK(failed[1]);
    CHECK_FALSE(failed[2]);
    CHECK(failed[3]);
}

TEST_CASE("chance repeats with its seed, and has the probability that was asked for") {
    const auto pattern_of = [](double probability, std::uint64_t seed) {
        const fail_randomly fault{probability, seed};
        return failing_of(30);
    };
    CHECK(pattern_of(0.5, 7) == pattern_of(0.5, 7));
    CHECK(pattern_of(0.5, 7) != pattern_of(0.5, 8));
    CHECK(pattern_of(0, 1) == 0);
    CHECK(pattern_of(1, 1) == (1U << 30U) - 1);
    int failed = 0;
    {
        const fail_randomly tenth{0.1, 99};  // always the same 2000
        for (int i = 0; i < 2000; ++i) failed += fails() ? 1 : 0;
    }
    CHECK(failed > 150);
    CHECK(failed < 250);
}

TEST_CASE("a fault is of one thread, or of all") {
    const auto there = [](void* result) { *static_cast<bool*>(result) = fails(); };
    bool failed_there = false;
    own_thread other;
    {
        const fail_allocation mine{1, 1000};
        other.start(there, &failed_there);
        other.join();
    }
    CHECK_FALSE(failed_there);
    bool failed_here = false;
    {
        const fail_allocation everybodys{1, 1000, threads::all};
        other.start(there, &failed_there);
        other.join();
        failed_here = fails();
    }
    CHECK(failed_there);
    CHECK(failed_here);
    own_thread after;
    after.start(there, &failed_there);
    after.join();
    CHECK_FALSE(failed_there);
}

TEST_CASE("what never fails: allocscope itself, and what is charged to nobody") {
    bool failed_paused = true;
    std::size_t rows = 0;
    scope window{"under faults"};
    void* kept = allocate(3);
    {
        const fail_allocation all{1, 1000000};
        {
            const pause_recording pause;
            failed_paused = fails();
        }
        rows = window.stats().size();
        const leak_check leaks{"under faults"};
    }
    release(kept);
    CHECK_FALSE(failed_paused);
    CHECK(rows >= 1);
}

TEST_CASE("what failed is no allocation of a window") {
    const scope window{"failed"};
    allocation_counts counts;
    {
        const fail_allocation second{2};
        fails();
        fails();
        counts = window.counts();
    }
    CHECK(counts.allocations == 1);
    CHECK(counts.live_objects() == 0);
}

TEST_CASE("bad numbers are refused by name") {
    CHECK(has(refusal_of([] { static_cast<void>(fail_allocation{0}); }),
              "fail_allocation::nth is 0; it counts from 1"));
    CHECK(has(refusal_of([] { static_cast<void>(fail_allocation{-4}); }), "is -4"));
    CHECK(has(refusal_of([] { static_cast<void>(fail_allocation(1, 0)); }),
              "fail_allocation::times is 0"));
    CHECK(has(refusal_of([] { static_cast<void>(fail_after_bytes{-1}); }),
              "fail_after_bytes::bytes is -1"));
    CHECK(has(refusal_of([] { static_cast<void>(fail_randomly(1.5, 1)); }),
              "probability is 1.500; it must be in 0..1"));
    CHECK(has(refusal_of([] { static_cast<void>(fail_randomly(-0.25, 1)); }), "is -0.250"));
    CHECK(has(refusal_of([] { static_cast<void>(fail_randomly(1.0001, 1)); }),
              "is a little above 1; it must be in 0..1"));
    CHECK(has(refusal_of([] { static_cast<void>(fail_randomly(-0.0001, 1)); }),
              "is a little below 0"));
    CHECK(has(refusal_of([] { static_cast<void>(fail_randomly(std::nan(""), 1)); }),
              "probability is not a number; it must be in 0..1"));
    CHECK(has(refusal_of([] { static_cast<void>(fail_randomly(-1e300, 1)); }),
              "is far out of range"));
    sweep_options none;
    none.most_runs = 0;
    CHECK(has(refusal_of([&] { for_each_allocation_failing([] {}, none); }), "most_runs is 0"));
    std::vector<std::unique_ptr<fail_allocation>> many;
    for (int i = 0; i < 16; ++i) many.push_back(std::make_unique<fail_allocation>(1000000));
    const std::string refused = refusal_of([] { static_cast<void>(fail_allocation{1}); });
    many.clear();
    CHECK(has(refused, "16 are alive already"));
}

// --- sweeps ---

namespace {

struct entry {
    std::string name;
    entry* next = nullptr;
};

// Leaks the entry when its name cannot be had.
entry* leaky_entry(const char* name) {
    auto* made = new entry;
    made->name = std::string{name} + " and more text than fits inside";
    return made;
}

std::unique_ptr<entry> careful_entry(const char* name) {
    auto made = std::make_unique<entry>();
    made->name = std::string{name} + " and more text than fits inside";
    return made;
}

// As a parser of documents does it: maps of texts and lists of lists.
void build_document() {
    std::map<std::string, std::vector<std::string>> document;
    for (const char* key : {"a rather long key, the first", "a rather long key, the second"}) {
        std::vector<std::string>& values = document[key];
        for (int i = 0; i < 3; ++i) values.push_back(std::string(40, 'v'));
    }
    const std::map<std::string, std::vector<std::string>> copy = document;
}

}  // namespace

TEST_CASE("a sweep fails each allocation in turn, and good code passes") {
    const fault_sweep swept = for_each_allocation_failing(&build_document);
    CHECK(swept.message() == std::string{});
    CHECK(swept.passed());
    const std::uint64_t allocations = allocations_of(&build_document).allocations;
    REQUIRE(swept.size() == allocations + 1);
    for (std::uint64_t i = 0; i < allocations; ++i) {
        CHECK(swept[i].nth == i + 1);
        CHECK(swept[i].outcome == fault_outcome::threw_bad_alloc);
        CHECK(has(swept[i].site, "fault_injection_test.cpp:"));
    }
    CHECK(swept[allocations].nth == 0);
    CHECK(swept[allocations].outcome == fault_outcome::returned);
    CHECK(for_each_allocation_failing([] { careful_entry("x"); }).passed());
    CHECK(for_each_allocation_failing([] {}).size() == 1);
}

TEST_CASE("a sweep finds the leak on the way out, and says where") {
    const fault_sweep swept = for_each_allocation_failing([] { delete leaky_entry("x"); });
    REQUIRE_FALSE(swept.passed());
    const std::string text = swept.message();
    CHECK(has(text, ": 1 of 3 runs went wrong\n"));  // in the third nothing failed
    CHECK(has(text, "allocation 2 failed at "));
    CHECK(has(text, "1 object with 40 bytes left alive"));
    CHECK(has(text, "leaky_entry"));
    CHECK(swept[0].is_good());
    CHECK_FALSE(swept[1].is_good());
    CHECK(swept[1].leaked_bytes == 40);
    CHECK(swept.result().rows().live_objects() == 1);
}

TEST_CASE("a sweep tells another exception, a leak without failures, and that it gave up") {
    const fault_sweep other = for_each_allocation_failing([] {
        try {
            release(allocate(1));
        } catch (const std::bad_alloc&) {
            throw std::runtime_error{"translated"};
        }
    });
    CHECK(has(other.message(), "an exception other than std::bad_alloc came out (translated)"));
    CHECK(other[0].outcome == fault_outcome::threw_other);

    std::vector<void*> kept;
    kept.reserve(10);
    const fault_sweep leak = for_each_allocation_failing([&kept] { kept.push_back(allocate(1)); });
    CHECK(has(leak.message(), "without any failure: 1 object with 1 byte left alive"));
    for (void* each : kept) release(each);

    sweep_options few;
    few.most_runs = 2;
    few.name = "large";
    const fault_sweep cut = for_each_allocation_failing(&build_document, few);
    CHECK_FALSE(cut.passed());
    CHECK(has(cut.message(), "fault sweep \"large\": not finished"));
    CHECK(has(cut.message(), "given up after 2 runs"));
    few.name = few.expected = nullptr;  // as ""
    CHECK(has(for_each_allocation_failing(&build_document, few).message(), "sweep: not finished"));
}

TEST_CASE("a sweep that lost an event does not pass") {
    const auto work = [] { report_allocation(first_lost_address(), 1, "pool"); };
    const fault_sweep unsure = for_each_allocation_failing(work);
    CHECK_FALSE(unsure.passed());
    CHECK(has(unsure.message(), "sweep\": nothing is certain"));
    CHECK(has(unsure.message(), "1 event was not recorded"));
    CHECK(unsure[0].is_good());
}

TEST_CASE("what is made once is no leak; code that copes without memory is good") {
    static char* once = nullptr;
    const auto work = [] {
        if (once == nullptr) once = new char[10];
    };
    CHECK(for_each_allocation_failing(work).passed());
    delete[] once;
    once = nullptr;
    sweep_options cold;
    cold.warm_up_runs = 0;
    CHECK_FALSE(for_each_allocation_failing(work, cold).passed());
    delete[] once;
    const fault_sweep copes = for_each_allocation_failing([] { fails(); });
    CHECK(copes.passed());
    CHECK(copes[0].outcome == fault_outcome::returned);
}
