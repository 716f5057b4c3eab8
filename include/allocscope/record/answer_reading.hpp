// answer_reading.hpp - adds up what one thread has counted, and answers the question of a reader.
//
// Room:     record (floor 5), malloc-safe
// Called:   by a thread that refreshes its view, by windows/window_reading.hpp from outside
// Threads:  the thread itself, whose counters do not change meanwhile; a reader on another thread
//           has to make sure that they did not
// Memory:   none
//
// Only cohorts of events are added up. Cohorts of samples are left out, because all threads count
// deaths in them.

#ifndef ALLOCSCOPE_RECORD_ANSWER_READING_HPP
#define ALLOCSCOPE_RECORD_ANSWER_READING_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/state/epoch.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/state/reading_question.hpp>
#include <allocscope/state/thread_state.hpp>
#include <allocscope/state/window_table.hpp>
#include <allocscope/tables/cohort_table.hpp>

#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_RARE_BEGIN

namespace detail {

// Calls visit(cohort, id) for every cohort of an epoch. Throws what `visit` throws.
template <class Visit>
ALLOCSCOPE_INLINE void for_each_cohort(const epoch& of, Visit&& visit) {
    for (std::uint32_t id = of.cohorts.load(memory_order::acquire); id != 0;) {
        const cohort& found = *process.cohorts.by_id(id);
        const std::uint32_t next = found.facts().next.load(memory_order::relaxed);
        visit(found, id);
        id = next;
    }
}

// The newest epoch in the range, of one epoch and those before it; null: there is none. Older
// epochs cost nothing, because a thread's epochs are in order of time.
ALLOCSCOPE_NOINLINE const epoch* newest_epoch_in(const birth_range& range,
                                                 const epoch* e) noexcept {
    for (; e != nullptr; e = e->older.load(memory_order::relaxed)) {
        const std::uint64_t began_at = e->began_at.load(memory_order::relaxed);
        if (began_at < range.from) return nullptr;
        const bool is_of_these = range.instance == every_thread ||
                                 range.instance == e->instance.load(memory_order::relaxed);
        if (began_at < range.until && is_of_these) return e;
    }
    return nullptr;
}

// Calls visit(epoch) for each of the thread's epochs in the range. Throws what `visit` throws.
template <class Visit>
ALLOCSCOPE_INLINE void for_each_epoch_in(const thread_state& thread, const birth_range& range,
                                         Visit&& visit) {
    const epoch* e = newest_epoch_in(range, thread.newest_epoch.load(memory_order::acquire));
    for (; e != nullptr; e = newest_epoch_in(range, e->older.load(memory_order::relaxed))) {
        visit(*e);
    }
}

inline bool is_of_samples(const epoch& which) noexcept {
    return which.sample_bytes.load(memory_order::relaxed) != 0;
}

// Returns the sums of all cohorts of events. Unless `counts` is null, adds the counts of each
// cohort to it.
ALLOCSCOPE_NOINLINE count_sums add_up(const thread_state& thread, const birth_range& range,
                                      page_list<cohort_count>* counts) noexcept {
    count_sums sums;
    for_each_epoch_in(thread, range, [&](const epoch& e) {
        if (is_of_samples(e)) return;
        for_each_cohort(e, [&](const cohort& c, std::uint32_t id) {
            // Deaths are read first: every object that died was born before, so there are never
            // more deaths than births.
            const event_sum deaths = c.deaths.read();
            const event_sum births = c.births.read();
            const std::uint32_t site = c.facts().site.load(memory_order::relaxed);
            const cohort_count count{births.events, births.bytes, deaths.events,
                                     deaths.bytes,  id,           site};
            sums.add(count);
            if (counts != nullptr) counts->add(count);
        });
    });
    return sums;
}

// Called while the thread is in a hook, where none of its counters changes.
ALLOCSCOPE_SLOW_PATH void answer_reading(thread_state& thread) noexcept {
    reading_question& question = thread.question;
    // A signal handler jumped out of an earlier answer, which stays incomplete.
    if (question.step.load(memory_order::relaxed) == question_step::being_answered) {
        question.step.store(question_step::nobody_asks, memory_order::relaxed);
        return;
    }
    question_step expected = question_step::asked;
    // Acquire: this thread sees what the reader wrote before it asked.
    if (!question.step.compare_exchange_strong(expected, question_step::being_answered,
                                               memory_order::acquire)) {
        return;
    }
    question.counts.clear();
    question.sums =
        add_up(thread, question.range, question.wants_counts ? &question.counts : nullptr);
    question.step.store(question_step::answered, memory_order::release);
}

}  // namespace detail

ALLOCSCOPE_RARE_END

#endif  // ALLOCSCOPE_RECORD_ANSWER_READING_HPP
