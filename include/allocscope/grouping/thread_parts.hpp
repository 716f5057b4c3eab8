// thread_parts.hpp - the parts of stacks by thread and age: loops over them and sums.
//
// Room:     grouping (floor 8), not malloc-safe
// Called:   by grouping/, and by the writers in report/, page/ and formats/
// Threads:  any
// Memory:   of the arena that is passed in
//
//     for_each_part(stack, [](const snapshot::thread_part& part) { ... });
//     for_each_thread(stack, [](std::size_t thread, const stack_numbers& numbers) { ... });

#ifndef ALLOCSCOPE_GROUPING_THREAD_PARTS_HPP
#define ALLOCSCOPE_GROUPING_THREAD_PARTS_HPP

#include <allocscope/config.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/estimates.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The whole stack as the part of its only thread and age.
inline snapshot::thread_part whole_part(const snapshot::stack& stack) noexcept {
    return {stack.thread,          stack.objects,    stack.bytes,       stack.allocations,
            stack.bytes_allocated, stack.samples,    stack.objects_low, stack.objects_high,
            stack.bytes_low,       stack.bytes_high, stack.details,     stack.age};
}

// Calls work(part) for each; for none if the threads are unknown.
template <class Work>
void for_each_part(const snapshot::stack& stack, const Work& work) {
    if (stack.thread_count == 1) {
        work(whole_part(stack));
        return;
    }
    for (std::size_t i = 0; i < stack.thread_count; ++i) work(stack.by_thread[i]);
}

// Calls work(thread, numbers) for each thread, whatever the ages of its objects are; for none if
// the threads are unknown.
template <class Work>
void for_each_thread(const snapshot::stack& stack, const Work& work) {
    stack_numbers sum;
    std::size_t thread = 0;
    bool has_thread = false;
    for_each_part(stack, [&](const snapshot::thread_part& part) {
        if (has_thread && part.thread != thread) {
            work(thread, sum);
            sum = {};
        }
        thread = part.thread;
        has_thread = true;
        sum.add(numbers_of(part));
    });
    if (has_thread) work(thread, sum);
}

// The sums of the parts of all stacks, by their `key`: thread_part::thread or thread_part::age.
inline list<stack_numbers> sums_of_parts(arena& memory, const shown_stacks& stacks,
                                         std::size_t snapshot::thread_part::*key,
                                         std::size_t count) {
    list<stack_numbers> sums{memory};
    sums.resize(count);
    stacks.for_each([&](const snapshot::stack& stack) {
        for_each_part(stack, [&](const snapshot::thread_part& part) {
            sums[part.*key].add(numbers_of(part));
        });
    });
    return sums;
}

// Sets the threads and ages of a stack. `memory` keeps the parts.
inline void set_threads(snapshot::stack& stack, const list<snapshot::thread_part>& parts,
                        arena& memory) {
    stack.thread_count = parts.size();
    stack.thread = parts.empty() ? 0 : parts[0].thread;
    stack.age = parts.empty() ? 0 : parts[0].age;
    stack.by_thread = nullptr;
    if (parts.size() < 2) return;
    list<snapshot::thread_part> kept{memory};
    kept.append(parts);
    stack.by_thread = kept.data();
}

// The sum of the details of several stacks or parts; null if one of them has no details.
class sum_of_details {
public:
    explicit sum_of_details(arena& memory) noexcept : memory_(memory) {}
    void add(const snapshot::stack_details* part) {
        is_known_ = is_known_ && part != nullptr;
        if (!is_known_) return;
        if (sum_ == nullptr) sum_ = memory_.make<snapshot::stack_details>();
        sum_->add(*part);
    }
    const snapshot::stack_details* sum() const noexcept { return is_known_ ? sum_ : nullptr; }

private:
    arena& memory_;
    snapshot::stack_details* sum_ = nullptr;
    bool is_known_ = true;
};

// The same; the numbers of the stack also become the sums of these parts.
inline void set_parts(snapshot::stack& stack, const list<snapshot::thread_part>& parts,
                      arena& memory) {
    summed<snapshot::stack> sum{};
    sum.sum = stack;
    sum.sum.objects = sum.sum.bytes = sum.sum.samples = 0;
    sum.sum.allocations = sum.sum.bytes_allocated = 0;
    sum_of_details details{memory};
    for (const snapshot::thread_part& part : parts) {
        sum.add(part, true);
        sum.sum.allocations += part.allocations;
        sum.sum.bytes_allocated += part.bytes_allocated;
        details.add(part.details);
    }
    stack = sum.finished();
    stack.details = details.sum();
    set_threads(stack, parts, memory);
}

// The name for people: "worker (thread 3)"; with several processes, "worker (thread 3 of process
// 12)".
inline void write_thread_name(text_out& out, const snapshot::thread& thread,
                              bool has_many_processes) {
    const bool has_name = thread.name[0] != '\0';
    if (has_name) out << thread.name << " (";
    if (thread.number == 0) {
        out << "ended threads";
    } else {
        out << "thread " << decimal{thread.number};
    }
    if (has_many_processes) out << " of process " << decimal{thread.process_id};
    if (has_name) out << ')';
}

// The names of all threads of a snapshot.
class thread_names {
public:
    thread_names(arena& memory, const snapshot::thread* threads, std::size_t count)
        : names_(memory) {
        bool has_many_processes = false;
        for (std::size_t i = 0; i < count; ++i) {
            has_many_processes =
                has_many_processes || threads[i].process_id != threads[0].process_id;
        }
        for (std::size_t i = 0; i < count; ++i) {
            text_out name{memory};
            write_thread_name(name, threads[i], has_many_processes);
            names_.push_back(name.view());
        }
    }
    thread_names(arena& memory, const snapshot& rows)
        : thread_names(memory, rows.allocating_threads().begin(),
                       rows.allocating_threads().size()) {}
    text operator[](std::size_t thread) const noexcept { return names_[thread]; }
    std::size_t size() const noexcept { return names_.size(); }

private:
    list<text> names_;
};

// Parts of many stacks, in any order; parts of the same stack, thread and age are summed.
class parts_of_stacks {
public:
    // `memory` keeps the details of the sums.
    parts_of_stacks(arena& memory, arena& scratch) : memory_(memory), parts_(scratch) {}

    // `stack` is any number that distinguishes it from other stacks.
    void add(std::size_t stack, const snapshot::thread_part& part) {
        parts_.push_back({stack, part});
    }

    // Calls work(stack, parts) for each stack; the smallest number comes first.
    template <class Work>
    void for_each(const Work& work) {
        sort(parts_, [](const entry& a, const entry& b) {
            if (a.stack != b.stack) return a.stack < b.stack;
            return a.part.thread != b.part.thread ? a.part.thread < b.part.thread
                                                  : a.part.age < b.part.age;
        });
        list<snapshot::thread_part> of_stack{parts_.memory()};
        for (std::size_t i = 0; i < parts_.size();) {
            const std::size_t stack = parts_[i].stack;
            of_stack.clear();
            while (i < parts_.size() && parts_[i].stack == stack) of_stack.push_back(next(i));
            work(stack, of_stack);
        }
    }

private:
    struct entry {
        std::size_t stack;
        snapshot::thread_part part;
    };

    static bool are_one_part(const entry& a, const entry& b) noexcept {
        return a.stack == b.stack && a.part.thread == b.part.thread && a.part.age == b.part.age;
    }

    // The sum of the following parts that belong to one stack, thread and age.
    snapshot::thread_part next(std::size_t& at) {
        const entry& first = parts_[at];
        summed<snapshot::thread_part> sum{};
        sum.sum.thread = first.part.thread;
        sum.sum.age = first.part.age;
        sum_of_details details{memory_};
        for (; at < parts_.size() && are_one_part(parts_[at], first); ++at) {
            sum.add(parts_[at].part, true);
            sum.sum.allocations += parts_[at].part.allocations;
            sum.sum.bytes_allocated += parts_[at].part.bytes_allocated;
            details.add(parts_[at].part.details);
        }
        sum.sum.details = details.sum();
        return sum.finished();
    }

    arena& memory_;
    list<entry> parts_;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_GROUPING_THREAD_PARTS_HPP
