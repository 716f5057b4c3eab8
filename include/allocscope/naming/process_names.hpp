// process_names.hpp - the names that this process has found so far.
//
// Room:     naming (floor 10), not malloc-safe
// Called:   by define_once/engine_table.hpp, naming/ and verdict/
// Threads:  any; names_at_work holds the naming lock
// Memory:   the name book, while windows are open and as long as snapshots point into it

#ifndef ALLOCSCOPE_NAMING_PROCESS_NAMES_HPP
#define ALLOCSCOPE_NAMING_PROCESS_NAMES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/naming/name_book.hpp>
#include <allocscope/places/frame_rule.hpp>
#include <allocscope/state/process_state.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// Which frames are library code; see places/frame_rule.hpp.
ALLOCSCOPE_HIDDEN inline symbolize::frame_rule library_rule;

// Protected by the naming lock. Null until the first report, and after the last window of a large
// program.
ALLOCSCOPE_HIDDEN inline name_book* names_of_process = nullptr;

class naming_lock : process_lock {
public:
    naming_lock() noexcept : process_lock(process.naming) {
        // A thread that does not exist in this forked child was writing it; none of it can be
        // freed.
        if (process.are_names_torn) names_of_process = nullptr;
        process.are_names_torn = false;
    }
};

// Needs the naming lock.
ALLOCSCOPE_INLINE void forget_names() noexcept {
    if (names_of_process != nullptr) drop_book(*names_of_process);
    names_of_process = nullptr;
}

// The names of the process, under the naming lock, as long as this object exists. If memory is
// refused halfway, the book is dropped: what it had begun to read would stay wrong, and its memory
// may be the memory that is missing.
class names_at_work {
public:
    names_at_work() {
        if (names_of_process == nullptr) names_of_process = make_book();
    }
    ~names_at_work() {
        if (!is_done_) forget_names();
    }
    names_at_work(const names_at_work&) = delete;
    names_at_work& operator=(const names_at_work&) = delete;

    ALLOCSCOPE_INLINE name_book& book() noexcept { return *names_of_process; }
    ALLOCSCOPE_INLINE void done() noexcept { is_done_ = true; }

private:
    const naming_lock lock_;
    bool is_done_ = false;
};

inline named_stack& name_stack(name_book& book, const known_stack& stack,
                               const symbolize::frame_rule& rule = library_rule) {
    named_stack& named = book.find(stack, rule);
    if (stack.count == 0) named.place = book.keep("(place not recorded)");
    return named;
}

// With this many names, a book is not worth keeping for a window that may never come.
constexpr std::size_t most_kept_names = 512;

inline void put_names_away() noexcept {
    if (process.entry.word() != 0) return;
    const naming_lock lock;
    if (names_of_process != nullptr && names_of_process->stack_count() > most_kept_names) {
        forget_names();
    }
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_PROCESS_NAMES_HPP
