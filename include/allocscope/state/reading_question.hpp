// reading_question.hpp - a reader asks a thread for all its numbers at one moment.
//
// Room:     state (floor 4), malloc-safe
// Called:   asked by windows/window_reading.hpp, answered by record/answer_reading.hpp
// Threads:  the reader (one at a time, under the walking lock) and the thread that is asked
// Memory:   112 bytes for each thread, and pages for its answer from the first one on
//
// A thread that records events all the time cannot be read from outside: while one counter is read,
// the others change, and their sum was never true. So the reader asks the thread, which adds up its
// own counters at its next event. A thread that records nothing need not be asked, because its
// counters do not change.
//
//     nobody_asks --reader--> asked --thread--> being_answered --thread--> answered
//          ^                    |                                             |
//          +------- reader -----+---------------------------------------------+

#ifndef ALLOCSCOPE_STATE_READING_QUESTION_HPP
#define ALLOCSCOPE_STATE_READING_QUESTION_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/page_list.hpp>

#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_MILD_BEGIN

namespace detail {

// The objects that are asked for: born on one thread or any, in [from, until) of the boundary
// clock.
struct birth_range {
    std::uint64_t from;
    std::uint64_t until;
    std::uint64_t instance;
};

// What a thread has counted of one of its cohorts.
struct cohort_count {
    std::uint64_t births;
    std::uint64_t birth_bytes;
    std::uint64_t deaths;
    std::uint64_t death_bytes;
    std::uint32_t id;
    std::uint32_t site;
};

// What a thread has counted of all its cohorts in a range.
struct count_sums {
    std::uint64_t cohorts = 0;
    std::uint64_t births = 0;
    std::uint64_t birth_bytes = 0;
    std::uint64_t deaths = 0;
    std::uint64_t death_bytes = 0;

    void add(const cohort_count& more) noexcept {
        ++cohorts;
        births += more.births;
        birth_bytes += more.birth_bytes;
        deaths += more.deaths;
        death_bytes += more.death_bytes;
    }
    void add(const count_sums& more) noexcept {
        cohorts += more.cohorts;
        births += more.births;
        birth_bytes += more.birth_bytes;
        deaths += more.deaths;
        death_bytes += more.death_bytes;
    }
    // Counters only grow, so equal sums mean equal counters.
    bool is_equal_to(const count_sums& other) const noexcept {
        return cohorts == other.cohorts && births == other.births &&
               birth_bytes == other.birth_bytes && deaths == other.deaths &&
               death_bytes == other.death_bytes;
    }
};

enum class question_step : std::uint32_t { nobody_asks, asked, being_answered, answered };

struct reading_question {
    atomic<question_step> step{question_step::nobody_asks};
    // Used by the reader only: whether the thread's numbers are in the sums, and whether the
    // question belongs to this reading.
    bool is_read = true;
    bool is_of_this_reading = false;

    // Written by the reader before it asks.
    birth_range range{};
    bool wants_counts = false;  // of single cohorts, beside the sums

    // Written by the thread before it has answered.
    count_sums sums;
    page_list<cohort_count> counts;
};

}  // namespace detail

ALLOCSCOPE_MILD_END

#endif  // ALLOCSCOPE_STATE_READING_QUESTION_HPP
