#include <doctest/doctest.h>

#include <allocscope/allocscope.hpp>
#include <allocscope/windows/window_reading.hpp>

namespace {

using allocscope::allocation_counts;
using allocscope::detail::control_lock;
using allocscope::detail::end_reading;
using allocscope::detail::free_what_is_in_doubt;
using allocscope::detail::reading_doubt;
using allocscope::detail::walking_lock;
using allocscope::detail::window_facts;

// Of a window that has begun anew since: its peak is known.
window_facts with_peak(std::uint64_t bytes) {
    window_facts facts;
    facts.opened_at = ~std::uint64_t{0};
    facts.peak_bytes = bytes;
    return facts;
}

allocation_counts alive(std::uint64_t objects, std::uint64_t bytes) {
    allocation_counts counts;
    counts.allocations = objects;
    counts.bytes_allocated = bytes;
    return counts;
}

// Records something, so that the thread of the test is one of those that are read.
void make_known() {
    const allocscope::scope window{"any"};
    int* object = new int(1);
    __asm__ volatile("" : "+r"(object) : : "memory");
    delete object;
}

}  // namespace

TEST_CASE("what is in doubt counts as freed if more would be alive with it than ever were") {
    allocation_counts counts = alive(10, 1000);
    reading_doubt doubt{8, 800};
    free_what_is_in_doubt(counts, doubt, with_peak(700));
    CHECK(counts.live_bytes() == 700);
    CHECK(counts.live_objects() == 7);
    CHECK(doubt.bytes == 500);
    CHECK(doubt.objects == 5);
}

TEST_CASE("what is not in doubt stays alive") {
    allocation_counts counts = alive(10, 1000);
    reading_doubt doubt{2, 200};
    free_what_is_in_doubt(counts, doubt, with_peak(100));
    CHECK(counts.live_bytes() == 800);
    CHECK(counts.live_objects() == 8);
    CHECK(doubt.objects == 0);
}

TEST_CASE("a reading below the peak stays as it is, and so does one below an earlier reading") {
    allocation_counts counts = alive(10, 1000);
    reading_doubt doubt{8, 800};
    free_what_is_in_doubt(counts, doubt, with_peak(1000));
    CHECK(counts.live_objects() == 10);
    window_facts facts = with_peak(100);
    facts.highest_read = 1000;
    free_what_is_in_doubt(counts, doubt, facts);
    CHECK(counts.live_objects() == 10);
    CHECK(doubt.objects == 8);
}

TEST_CASE("a reading raises the peak, but by nothing that is in doubt") {
    make_known();
    const walking_lock walk;
    const control_lock lock;
    CHECK(end_reading(with_peak(700), 600, {}) == 700);
    CHECK(end_reading(with_peak(700), 1000, {}) == 1000);
    CHECK(end_reading(with_peak(700), 1000, {2, 200}) == 800);
    CHECK(end_reading(with_peak(700), 1000, {4, 400}) == 700);
}

TEST_CASE("a reading raises the peak only by what threads may not have published") {
    make_known();
    const walking_lock walk;
    const control_lock lock;
    constexpr std::uint64_t more_than_a_hundred_threads = 100 * 64 * 1024;
    const std::uint64_t peak = end_reading(with_peak(700), 10 * more_than_a_hundred_threads, {});
    CHECK(peak > 700);
    CHECK(peak < more_than_a_hundred_threads);
}
