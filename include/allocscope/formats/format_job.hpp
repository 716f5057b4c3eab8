// format_job.hpp - writes one snapshot in one format: what every writer gets.
//
// Room:     formats (floor 12), not malloc-safe
// Called:   by the writers in formats/, which the user calls
// Threads:  any
// Memory:   an arena, and about a megabyte of the file, while it writes; charged to no window
//
// A format is a function that writes pieces, or refuses to write:
//
//     inline bool write_folded_body(format_job& job) {
//         if (!has_writable_stacks(job)) return false;
//         for_each_stack_by_numbers(job, [&](const snapshot::stack& stack,
//                                            const numbered_frames& frames) { job.out << ...; });
//         return true;
//     }
//
// A body that takes its stacks only from the job, and never from the snapshot, can also receive the
// stacks of a file, one after the other (formats/convert_snapshot.hpp).
//
// This header has what all formats share: it passes the pieces on, words the errors, and charges
// the writer's allocations to no window.

#ifndef ALLOCSCOPE_FORMATS_FORMAT_JOB_HPP
#define ALLOCSCOPE_FORMATS_FORMAT_JOB_HPP

#include <allocscope/config.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/link/pause_recording.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_flow.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/report/piece_target.hpp>
#include <allocscope/report/text_sink.hpp>
#include <allocscope/snapshot/signed_numbers.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int64_t, uint64_t
#include <string>   // string

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// A text that is passed on, and emptied, when it has about a megabyte.
class piecewise_text {
public:
    using put_piece = bool (*)(void* target, const text& piece);

    piecewise_text(arena& memory, put_piece put, void* target) noexcept
        : gathered(memory), put_(put), target_(target) {}

    text_out gathered;  // the writer appends to it

    // Passes the text on if it is long enough. A view into it is invalid afterwards.
    void may_go() {
        if (gathered.size() >= enough_bytes) hand_on();
    }
    // Returns false if one of the pieces could not be written.
    bool finish() {
        hand_on();
        return is_written_;
    }

private:
    static constexpr std::size_t enough_bytes = std::size_t{1} << 20U;

    void hand_on() {
        is_written_ = is_written_ && put_(target_, gathered.view());
        gathered.cut(0);
    }

    put_piece put_;
    void* target_;
    bool is_written_ = true;
};

struct format_job {
    const snapshot& rows;
    arena& memory;  // lives until the file is written
    piecewise_text& pieces;
    text_out& out;               // pieces.gathered
    text_out& refusal;           // why this snapshot cannot be written, if it cannot
    stack_value value;           // which number, in formats with one number for each stack
    int descriptor;              // where a text will be seen; -1: not known
    const stack_source* source;  // where the stacks come from; null: rows.stacks()

    shown_stacks stacks() const { return shown_stacks{rows, source}; }
    text_flow flow() const noexcept {
        return {[](void* gathered) { static_cast<piecewise_text*>(gathered)->may_go(); }, &pieces};
    }
    bool refuse(const text& reason) {
        refusal << reason;
        return false;
    }
};

// Returns false if the body refused the job. Then it has written nothing.
using format_body = bool (*)(format_job& job);

// --- stacks ---

// Calls work(stack, frames).
template <class Work>
void for_each_stack_by_numbers(format_job& job, const Work& work) {
    job.stacks().for_each_by_numbers(
        [&job, &work](const snapshot::stack& stack, const numbered_frames& frames) {
            work(stack, frames);
            job.pieces.may_go();
        });
}

template <class Work>
void for_each_module(const format_job& job, const Work& work) {
    job.stacks().with_modules([&work](const snapshot::module* modules, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) work(modules[i]);
    });
}

// Calls work(threads, count) with the threads that the parts of the stacks refer to.
template <class Work>
void with_threads(const format_job& job, const Work& work) {
    job.stacks().with_threads(work);
}

inline stack_numbers sum_of_stacks(format_job& job) {
    stack_numbers sum;
    const shown_stacks stacks = job.stacks();
    for (std::size_t i = 0; i < stacks.count(); ++i) sum.add(stacks.numbers(i));
    return sum;
}

inline bool has_stacks_to_write(format_job& job) {
    if (job.stacks().are_known()) return true;
    const snapshot::window_info& info = job.rows.info();
    if (info.not_recording[0] != '\0') return job.refuse(info.not_recording);
    if (info.record == recording::counters) {
        return job.refuse(
            "the window only counted, so there are no stacks; text, JSON and HTML have its totals");
    }
    return job.refuse("memory for the stacks was refused");
}

// For formats without negative numbers: they can write a difference only if no number in it is
// negative.
inline bool has_writable_stacks(format_job& job) {
    if (!has_stacks_to_write(job)) return false;
    if (!job.rows.info().is_difference) return true;
    bool has_negative = false;
    const shown_stacks stacks = job.stacks();
    for (std::size_t i = 0; i < stacks.count(); ++i) {
        const stack_numbers numbers = stacks.numbers(i);
        for (const std::uint64_t number :
             {numbers.objects, numbers.bytes, numbers.allocations, numbers.bytes_allocated,
              numbers.peak_objects, numbers.peak_bytes, numbers.temporary, numbers.lifetime_us}) {
            has_negative = has_negative || is_negative(number);
        }
    }
    return !has_negative ||
           job.refuse(
               "this difference has numbers below 0, which the format cannot hold; pprof, JSON and"
               " CSV can");
}

// --- from the call of a user to the body ---

// Opens the target with the first piece, so that a refused job leaves no file.
template <class Target>
struct lazy_target {
    Target& target;
    bool is_open = false;

    static bool put(void* self, const text& piece) {
        auto& here = *static_cast<lazy_target*>(self);
        if (!here.is_open && !here.target.open()) return false;
        here.is_open = true;
        return here.target.put(piece);
    }
};

template <class Target>
bool write_pieces(format_body body, const snapshot& rows, Target& target, stack_value value,
                  std::string& error, const stack_source* source = nullptr) {
    arena memory;
    text_out refusal{memory};
    lazy_target<Target> opened{target};
    piecewise_text pieces{memory, &lazy_target<Target>::put, &opened};
    format_job job{rows,  memory, pieces, pieces.gathered, refusal, value, target.descriptor(),
                   source};
    if (!body(job)) {
        error = report_problem(target.name(), std::string(refusal.c_str()));
        return false;
    }
    if (pieces.finish() && target.finish()) return true;
    error = report_problem(target.name(), target.problem());
    return false;
}

template <class Target>
void write_or_throw(format_body body, const snapshot& rows, Target&& wanted,
                    stack_value value = stack_value::live_bytes) {
    const pause_recording quietly;
    std::string error;
    auto target = target_for(wanted);
    if (!write_pieces(body, rows, target, value, error)) raise_report_error(error);
}

// The same, but it returns false with an error instead of throwing.
template <class Target>
bool try_write(format_body body, const snapshot& rows, Target&& wanted, std::string& error,
               stack_value value = stack_value::live_bytes, const stack_source* source = nullptr) {
    const pause_recording quietly;
    return is_done_or_told(error, [&] {
        auto target = target_for(wanted);
        return write_pieces(body, rows, target, value, error, source);
    });
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_FORMATS_FORMAT_JOB_HPP
