// window_reading.hpp - reads the true numbers of a window while threads keep running.
//
// Room:     windows (floor 6), malloc-safe
// Called:   for counts(), stats() and checks, from any thread
// Threads:  one reader at a time, under the walking lock; the control lock is taken for moments
// Memory:   40 bytes for each cohort whose counts are wanted, until they are released
//
// The live objects are the births minus the deaths. Both change all the time, and a sum of counters
// that were read one after the other may never have been true. So each thread is read at one
// moment:
//
//   - its counters are added up twice. If the sums are equal, nothing changed in between. A thread
//     that lost the processor in the middle of an event is waited for;
//   - if something changes each time, the thread is asked and adds up its counters itself, in its
//     next hook (record/answer_reading.hpp). That takes until its next event. If there is no next
//     event, the counters do not change either.
//
// What threads freed of other threads' objects is read first, for all threads: an object that has
// died was born, so no number is negative. An object that is handed over and freed during the
// reading still counts as alive. The number of such objects is added to the reading's doubt.

#ifndef ALLOCSCOPE_WINDOWS_WINDOW_READING_HPP
#define ALLOCSCOPE_WINDOWS_WINDOW_READING_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/loss_reason.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/platform/clocks.hpp>
#include <allocscope/platform/page_list.hpp>
#include <allocscope/platform/thread_wait.hpp>
#include <allocscope/record/answer_reading.hpp>
#include <allocscope/record/peak_tracking.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/state/reading_question.hpp>
#include <allocscope/windows/age_marking.hpp>
#include <allocscope/windows/published_view.hpp>
#include <allocscope/windows/table_release.hpp>
#include <allocscope/windows/window_control.hpp>
#include <allocscope/windows/window_sums.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_RARE_BEGIN

namespace detail {

// By how much the live objects and bytes of a reading may differ from the truth.
struct reading_doubt {
    std::uint64_t objects = 0;
    std::uint64_t bytes = 0;
};

// How long a reader waits for threads that lost the processor in the middle of an event.
constexpr std::uint64_t patience_ns = 100'000'000;

// What a reading keeps of single cohorts, for callers that want more than sums.
struct cohort_samples {
    sample_sums alive;
    sample_sums births;
};
struct sampled_count {
    std::uint32_t id;
    std::uint32_t site;
    cohort_samples samples;
};

struct kept_counts {
    page_list<cohort_count> own;      // of events, by their own threads
    page_list<cohort_count> foreign;  // deaths of events on other threads; births are 0
    page_list<sampled_count> sampled;

    kept_counts() = default;
    ALLOCSCOPE_INLINE ~kept_counts() {
        own.release();
        foreign.release();
        sampled.release();
    }
    kept_counts(const kept_counts&) = delete;
    kept_counts& operator=(const kept_counts&) = delete;

    ALLOCSCOPE_INLINE bool has_refused() const noexcept {
        return own.has_refused() || foreign.has_refused() || sampled.has_refused();
    }
};

// --- the threads, one after the other ---

// Walking lock. What all threads have counted in a range, each thread read at one moment.
class thread_reading {
public:
    // `counts` may be null.
    thread_reading(const birth_range& range, page_list<cohort_count>* counts) noexcept
        : range_(range), counts_(counts) {}

    count_sums read(reading_doubt& doubt) noexcept {
        // A thread that begins meanwhile is left out: it had counted nothing when the reading
        // began.
        for (thread_state& each : all_threads()) {
            each.question.is_read = false;
            each.question.is_of_this_reading = false;
        }
        std::uint64_t gives_up_at = 0;
        thread_wait waiting;
        for (std::uint32_t round = 0; !read_those_left(); ++round) {
            const std::uint64_t now = monotonic_ns();
            if (gives_up_at == 0) gives_up_at = now + patience_ns;
            if (now > gives_up_at) {
                read_the_rest(doubt);
                break;
            }
            wait(round, waiting);
        }
        return sums_;
    }

private:
    // A thread that runs answers within a microsecond. If an answer takes longer, the reader yields
    // the processor, which other threads may then keep for milliseconds.
    static void wait(std::uint32_t round, thread_wait& waiting) noexcept {
        constexpr std::uint32_t short_rounds = 100;
        if (round >= short_rounds) {
            waiting.once();
            return;
        }
        for (int i = 0; i < 20; ++i) __builtin_ia32_pause();
    }

    // Returns whether all threads have been read. A thread that could not be read is asked.
    bool read_those_left() noexcept {
        bool is_done = true;
        bool has_asked = false;
        for (thread_state& each : all_threads()) {
            if (each.question.is_read) continue;
            if (take_answer(each.question) || is_read_twice_the_same(each)) {
                each.question.is_read = true;
                withdraw(each.question);
                continue;
            }
            is_done = false;
            has_asked = ask(each.question) || has_asked;
        }
        if (has_asked) {  // each thread finds its question with the new view
            const control_lock lock;
            publish_view();
        }
        return is_done;
    }

    bool is_read_twice_the_same(const thread_state& thread) noexcept {
        constexpr int most_tries = 3;
        const std::size_t kept = counts_ != nullptr ? counts_->size() : 0;
        for (int i = 0; i < most_tries; ++i) {
            const count_sums once = add_up(thread, range_, counts_);
            const bool is_whole = bytes_between_steps(thread) == 0;
            if (is_whole && once.is_equal_to(add_up(thread, range_, nullptr))) {
                sums_.add(once);
                return true;
            }
            if (counts_ != nullptr) counts_->cut(kept);
        }
        return false;
    }

    bool take_answer(reading_question& question) noexcept {
        if (question.step.load(memory_order::acquire) != question_step::answered) return false;
        question.step.store(question_step::nobody_asks, memory_order::relaxed);
        if (!question.is_of_this_reading || question.counts.has_refused()) return false;
        if (counts_ != nullptr) {
            for (const cohort_count& count : question.counts) counts_->add(count);
        }
        sums_.add(question.sums);
        return true;
    }

    // Returns false when the thread is already asked, or is answering an older question.
    bool ask(reading_question& question) const noexcept {
        if (question.step.load(memory_order::acquire) != question_step::nobody_asks) {
            return false;
        }
        question.range = range_;
        question.wants_counts = counts_ != nullptr;
        question.is_of_this_reading = true;
        question.step.store(question_step::asked, memory_order::release);
        return true;
    }

    // A thread that has begun to answer goes on with it; that answer is not read.
    static void withdraw(reading_question& question) noexcept {
        question_step expected = question_step::asked;
        question.step.compare_exchange_strong(expected, question_step::nobody_asks,
                                              memory_order::acq_rel);
    }

    // Reads the threads that neither answer nor rest.
    void read_the_rest(reading_doubt& doubt) noexcept {
        for (thread_state& each : all_threads()) {
            if (each.question.is_read) continue;
            withdraw(each.question);
            const count_sums before = add_up(each, range_, nullptr);
            const count_sums now = add_up(each, range_, counts_);
            sums_.add(now);
            doubt.objects += now.deaths - before.deaths;
            doubt.bytes += now.death_bytes - before.death_bytes;
            if (const std::uint64_t unfinished = bytes_between_steps(each)) {
                doubt.objects += 1;
                doubt.bytes += unfinished;
            }
        }
    }

    const birth_range range_;
    page_list<cohort_count>* const counts_;
    count_sums sums_;
};

// --- totals ---

// What the samples stand for that threads are counting at this moment.
inline reading_doubt samples_in_steps() noexcept {
    reading_doubt sum;
    for (const thread_state& each : all_threads()) {
        const std::uint64_t objects = each.unfinished.objects.load(memory_order::acquire);
        if (objects == 0) continue;
        sum.objects += objects;
        sum.bytes += each.unfinished.bytes.load(memory_order::relaxed);
    }
    return sum;
}

// Calls read() until no sample is taken and none is freed meanwhile. Samples are few, so the first
// call nearly always suffices. A thread that lost the processor in the middle of a sample is waited
// for. Returns false when every call was disturbed; then the last one stands, and `doubt` grows by
// the samples that were only counted in part.
template <class Read>
inline bool read_between_samples(const birth_range& range, reading_doubt& doubt, const Read& read) {
    constexpr int most_readings = 32;
    std::uint64_t gives_up_at = 0;
    thread_wait waiting;
    for (int i = 0; i < most_readings;) {
        const reading_doubt before = samples_in_steps();
        const std::uint64_t events = sample_events(range);
        read();
        atomic_thread_fence(memory_order::acquire);
        const reading_doubt after = samples_in_steps();
        if (before.objects == 0 && after.objects == 0) {
            if (sample_events(range) == events) return true;
            ++i;
            continue;
        }
        const std::uint64_t now = monotonic_ns();
        if (gives_up_at == 0) gives_up_at = now + patience_ns;
        if (now > gives_up_at) {
            const reading_doubt& larger = before.objects > after.objects ? before : after;
            doubt.objects += larger.objects;
            doubt.bytes += larger.bytes;
            return false;
        }
        waiting.once();
    }
    return false;
}

struct sampled_sums {
    sample_sums births;
    sample_sums deaths;
};

// Reads deaths before births, so that no difference is negative.
inline sampled_sums read_sampled(const birth_range& range,
                                 page_list<sampled_count>* counts) noexcept {
    sampled_sums read;
    if (counts != nullptr) counts->clear();
    for_each_sampled_cohort(range, [&](const cohort& c, std::uint32_t id) {
        const sample_sums deaths = death_sums_of(c, id);
        read.deaths.add(deaths);
        if (counts == nullptr) return;
        counts->add({id, c.facts().site.load(memory_order::relaxed), {deaths, {}}});
    });
    if (counts == nullptr || counts->has_refused()) {
        for_each_sampled_cohort(range, [&](const cohort& c, std::uint32_t id) {
            read.births.add(birth_sums_of(c, id));
        });
        return read;
    }
    for (sampled_count& each : *counts) {
        sample_sums alive = birth_sums_of(*process.cohorts.by_id(each.id), each.id);
        read.births.add(alive);
        each.samples.births = alive;
        alive.subtract(each.samples.alive);  // it held the deaths so far
        each.samples.alive = alive;
    }
    return read;
}

// What a reading has to know of its window. The window stays open until end_reading().
struct window_facts {
    birth_range range{};
    std::uint64_t opened_at = 0;
    std::uint32_t slot = 0;
    recording how = recording::exact;
    retired_births retired;
    std::uint64_t peak_bytes = 0;  // if the window has begun anew since; otherwise found at the end
    std::uint64_t highest_read = 0;
    std::uint64_t followed = 0;  // the number of its followed_peak; 0: there is none
};

// Both locks. The window's peak as far as its threads have published it.
inline std::uint64_t published_peak(const window_facts& facts) noexcept {
    const open_window& window = *process.windows.by_slot(facts.slot);
    const bool goes_on = window.open_at.load(memory_order::relaxed) == facts.opened_at;
    std::uint64_t peak = facts.peak_bytes;
    if (goes_on) {
        const std::uint64_t now = peak_of_window(facts.slot, facts.opened_at);
        if (now > peak) peak = now;
    }
    return peak;
}

// Both locks. What the threads may hold at most beyond what they have published.
inline std::uint64_t most_unpublished(const window_facts& facts) noexcept {
    std::uint64_t bytes = 0;
    for (thread_state& each : all_threads()) {
        static_cast<void>(each);
        bytes += facts.slot < window_table::masked_windows ? flush_bytes : 2 * flush_bytes;
    }
    return bytes;
}

// Walking lock. What was handed over and freed during a reading counts as alive, unless more would
// be alive with it than ever were.
inline void free_what_is_in_doubt(allocation_counts& counts, reading_doubt& doubt,
                                  const window_facts& facts) noexcept {
    const control_lock lock;
    const std::uint64_t peak = published_peak(facts);
    const std::uint64_t most = facts.highest_read > peak ? facts.highest_read : peak;
    if (counts.live_bytes() <= most || doubt.bytes == 0) return;
    std::uint64_t bytes = counts.live_bytes() - most;
    if (bytes > doubt.bytes) bytes = doubt.bytes;
    const double share = static_cast<double>(bytes) / static_cast<double>(doubt.bytes);
    auto objects = static_cast<std::uint64_t>(static_cast<double>(doubt.objects) * share);
    if (objects > counts.live_objects()) objects = counts.live_objects();
    counts.bytes_freed += bytes;
    counts.frees += objects;
    doubt.bytes -= bytes;
    doubt.objects -= objects;
}

// Walking lock. Sets the totals of a window, without the peak. Unless `counts` is null, keeps there
// the counts that the totals come from.
ALLOCSCOPE_NOINLINE void read_totals(window_sum& totals, const window_facts& facts,
                                     reading_doubt& doubt, kept_counts* counts) noexcept {
    constexpr int most_readings = 3;
    constexpr std::uint64_t little_doubt = 64;
    const birth_range& range = facts.range;
    event_sum foreign;
    count_sums own;
    for (int i = 1; i <= most_readings; ++i) {
        doubt = {};
        if (counts != nullptr) counts->own.clear();
        foreign = foreign_deaths_in(range, counts != nullptr ? &counts->foreign : nullptr);
        own = thread_reading{range, counts != nullptr ? &counts->own : nullptr}.read(doubt);
        const event_sum since = foreign_deaths_in(range, nullptr);
        doubt.objects += since.events - foreign.events;
        doubt.bytes += since.bytes - foreign.bytes;
        if (doubt.objects <= little_doubt) break;  // otherwise it had to wait: read again
    }
    totals = {facts.retired.counts, facts.retired.births, facts.retired.deaths};
    if (facts.how != recording::sampled) {
        totals.counts.allocations += own.births;
        totals.counts.bytes_allocated += own.birth_bytes;
        totals.counts.frees += own.deaths + foreign.events;
        totals.counts.bytes_freed += own.death_bytes + foreign.bytes;
        if (counts == nullptr && doubt.objects != 0)
            free_what_is_in_doubt(totals.counts, doubt, facts);
        return;
    }
    totals.births.add(certain_sums(own.births, own.birth_bytes));
    totals.deaths.add(certain_sums(own.deaths + foreign.events, own.death_bytes + foreign.bytes));
    sampled_sums sampled;
    const bool is_true = read_between_samples(range, doubt, [&] {
        sampled = read_sampled(range, counts != nullptr ? &counts->sampled : nullptr);
    });
    if (!is_true) {
        const sample_sums since = read_sampled(range, nullptr).deaths;
        doubt.objects += whole_number(since.objects - sampled.deaths.objects);
        doubt.bytes += whole_number(since.bytes - sampled.deaths.bytes);
    }
    totals.births.add(sampled.births);
    totals.deaths.add(sampled.deaths);
    totals.counts = counts_from(totals.births, totals.deaths);
}

// --- the window ---

// Called under both locks.
inline void begin_reading(window_facts& facts, const open_window& window, window_id id) noexcept {
    process.window_being_read = id;
    facts.range = births_in(window);
    facts.opened_at = facts.range.from;
    facts.slot = slot_of(id);
    facts.how = window.wanted.record;
    facts.retired = window.retired;
    facts.highest_read = window.highest_read;
    facts.followed = process.followed.number_of(facts.opened_at);
}

// Called under both locks. Returns the window's peak, which may have risen meanwhile. Bytes that a
// thread has not published are seen only while it holds them; but a peak that was returned stays.
// Objects that one thread had, and others that another thread allocated later, may be alive in one
// reading. So it raises the peak only by what can be unpublished, and by nothing that is in doubt.
inline std::uint64_t end_reading(const window_facts& facts, std::uint64_t live_bytes,
                                 const reading_doubt& doubt) noexcept {
    process.window_being_read = 0;
    std::uint64_t peak = published_peak(facts);
    if (process.is_reclaim_put_off) reclaim_unread();
    if (const followed_peak* const followed = process.followed.find(facts.followed)) {
        peak = static_cast<std::uint64_t>(followed->peak_bytes.load(memory_order::relaxed));
    } else if (live_bytes > peak + doubt.bytes) {
        const std::uint64_t risen = live_bytes - peak - doubt.bytes;
        const std::uint64_t most = most_unpublished(facts);
        peak += risen < most || facts.how == recording::sampled ? risen : most;
    }
    if (facts.highest_read > peak) peak = facts.highest_read;
    open_window& window = *process.windows.by_slot(facts.slot);
    if (window.open_at.load(memory_order::relaxed) == facts.opened_at) window.highest_read = peak;
    return peak;
}

// Control lock. How many events are missing in the counts of the window.
inline std::uint64_t events_lost_since(const open_window& window) noexcept {
    if (!is_anything_lost.load(memory_order::relaxed)) return 0;
    std::uint64_t losses[static_cast<std::uint32_t>(loss_reason::count)];
    read_losses(losses);
    subtract_losses(losses, window.losses_before);
    return lost_events_in(losses, window.wanted.record == recording::sampled);
}

inline allocation_counts counts_now(window_id id) noexcept {
    const walking_lock walk;
    window_facts facts;
    {
        const control_lock lock;
        open_window* window = find_window(id);
        if (window == nullptr) return {};
        mark_at_reading(*window);
        begin_reading(facts, *window, id);
    }
    reading_doubt doubt;
    window_sum totals;
    read_totals(totals, facts, doubt, nullptr);
    allocation_counts& counts = totals.counts;
    const control_lock lock;
    counts.peak_bytes = end_reading(facts, counts.live_bytes(), doubt);
    counts.lost_events = events_lost_since(*process.windows.by_slot(facts.slot));
    return counts;
}

}  // namespace detail

ALLOCSCOPE_RARE_END

#endif  // ALLOCSCOPE_WINDOWS_WINDOW_READING_HPP
