// same_threads.hpp - the threads of several snapshots as one list, each of them once.
//
// Room:     grouping (floor 8), not malloc-safe
// Called:   by grouping/merged_stacks.hpp and subtracted_stacks.hpp
// Threads:  one at a time
// Memory:   of the arenas that are passed in: some 60 bytes for each thread
//
//     same_threads threads{memory, scratch};
//     threads.add_side(stacks);                     // the first snapshot is side 0
//     threads.number(0, part.thread);               // of a thread_part of its stacks
//
// Two threads are the same if their processes, numbers and names are equal. A thread that had no
// name when its snapshot was taken may have any.

#ifndef ALLOCSCOPE_GROUPING_SAME_THREADS_HPP
#define ALLOCSCOPE_GROUPING_SAME_THREADS_HPP

#include <allocscope/config.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct thread_key {
    std::uint64_t process_id, number;
};

class same_threads {
public:
    // The list lies in `memory`. `are_processes_alike`: threads of two runs of a program may be the
    // same.
    same_threads(arena& memory, arena& scratch, bool are_processes_alike = false)
        : are_processes_alike_(are_processes_alike),
          threads_(memory),
          first_(scratch),
          next_(scratch),
          numbers_(scratch),
          begins_(scratch) {}

    void add_side(const shown_stacks& side) {
        begins_.push_back(numbers_.size());
        side.with_threads([this](const snapshot::thread* threads, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) numbers_.push_back(number_of(threads[i]));
        });
    }
    // The number in the list of a thread that a side knows by `thread`.
    std::size_t number(std::size_t side, std::size_t thread) const noexcept {
        return numbers_[begins_[side] + thread];
    }

    // Its number in the list.
    std::size_t number_of(const snapshot::thread& wanted) {
        std::size_t* at = &first_[{{are_processes_alike_ ? 0 : wanted.process_id, wanted.number}}];
        while (*at != 0) {
            snapshot::thread& known = threads_[*at - 1];
            if (known.name[0] == '\0') known.name = wanted.name;
            if (wanted.name[0] == '\0' || text{known.name} == text{wanted.name}) return *at - 1;
            at = &next_[*at - 1];
        }
        *at = threads_.size() + 1;
        threads_.push_back(wanted);
        next_.push_back(0);
        return threads_.size() - 1;
    }

    const list<snapshot::thread>& all() const noexcept { return threads_; }

private:
    bool are_processes_alike_;
    list<snapshot::thread> threads_;
    // Of each key the first thread, and of each thread the next one with its key: the number + 1.
    table<by_bytes<thread_key>, std::size_t> first_;
    list<std::size_t> next_;
    list<std::size_t> numbers_;  // for each thread of each side, its number in the list
    list<std::size_t> begins_;   // for each side, where its threads begin there
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_GROUPING_SAME_THREADS_HPP
