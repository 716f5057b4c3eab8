// threads_of_window.hpp - finds the threads that allocated at a window's stacks, and their names.
//
// Room:     naming (floor 10), not malloc-safe
// Called:   by naming/stacks_of_window.hpp, when somebody asks for the stacks
// Threads:  any; one at a time, under the naming lock
// Memory:   of the arenas that are passed in
//
// A cohort belongs to one thread, so it costs the threads nothing to be distinguished later. (The
// ages of objects are distinguished in the same way: its epoch lies between two age marks.) A
// thread is identified by its instance (state/thread_state.hpp). The kernel is asked for its name
// only now, so a thread that has ended has no name. The command that records another process has
// read the names while that ran.

#ifndef ALLOCSCOPE_NAMING_THREADS_OF_WINDOW_HPP
#define ALLOCSCOPE_NAMING_THREADS_OF_WINDOW_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/naming/live_window.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/platform/file_reader.hpp>
#include <allocscope/snapshot/estimates.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/state/process_state.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int32_t, uint32_t, uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// The name of a thread of another process, which is reported on here; null: there is none.
ALLOCSCOPE_HIDDEN inline const char* (*name_from_outside)(std::uint32_t instance) = nullptr;

// 0 if the thread has ended, or belongs to another process.
inline std::int32_t task_of_instance(std::uint32_t instance) noexcept {
    for (const thread_state& each : all_threads()) {
        if (each.is_taken.load(memory_order::acquire) &&
            static_cast<std::uint32_t>(each.instance.load(memory_order::relaxed)) == instance) {
            return each.task.load(memory_order::relaxed);
        }
    }
    return 0;
}

// "" if the thread has ended.
inline const char* name_of_task(arena& memory, std::int32_t task) {
    if (task == 0) return "";
    text_out path{memory};
    path << "/proc/self/task/" << decimal{static_cast<std::uint64_t>(task)} << "/comm";
    const file_reader file{path.c_str()};
    char name[64];
    std::size_t size = file.read_at(0, name, sizeof name);
    while (size != 0 && name[size - 1] == '\n') --size;
    return copy_of(memory, {name, size}).data();
}

class threads_of_window {
public:
    threads_of_window(arena& memory, arena& scratch, std::uint64_t process_id)
        : memory_(memory),
          process_id_(process_id),
          threads_(memory),
          instances_(scratch),
          numbers_(scratch) {}

    // Call it for all stacks first.
    void meet(const list<live_site>& sites, const live_part* parts) {
        for (const live_site& site : sites) {
            if (site.part_count == 0) meet(site.instance);
            for (std::uint32_t i = 0; i < site.part_count; ++i) {
                meet(parts[site.first_part + i].instance);
            }
        }
    }

    void name_them() {
        sort(instances_, [](std::uint32_t a, std::uint32_t b) { return a < b; });
        for (const std::uint32_t instance : instances_) {
            numbers_[instance] = threads_.size();
            const std::uint64_t number = number_of(instance);
            const std::int32_t task = number != 0 ? task_of_instance(instance) : 0;
            const char* const name = name_from_outside != nullptr ? name_from_outside(instance)
                                                                  : name_of_task(memory_, task);
            threads_.push_back({number, name, process_id_});
        }
    }

    void add_to(snapshot::stack& stack, const live_site& site, const live_part* parts,
                bool is_sampled, const snapshot::stack_details* details) {
        stack.thread_count = site.part_count != 0 ? site.part_count : 1;
        if (site.part_count == 0) {
            stack.thread = numbers_[site.instance];
            stack.age = site.age;
            return;
        }
        list<snapshot::thread_part> made{memory_};
        made.reserve(site.part_count);
        for (std::uint32_t i = 0; i < site.part_count; ++i) {
            const live_part& from = parts[site.first_part + i];
            snapshot::thread_part& part = made.push_back({});
            part.thread = numbers_[from.instance];
            part.age = from.age;
            part.objects = from.objects;
            part.bytes = from.bytes;
            part.allocations = from.allocations;
            part.bytes_allocated = from.bytes_allocated;
            if (from.details != 0) part.details = details + from.details - 1;
            if (is_sampled) {
                set_estimates(part, *from.samples);
            } else {
                set_exact(part);
            }
        }
        stack.by_thread = made.data();
    }

    ALLOCSCOPE_INLINE const list<snapshot::thread>& all() const noexcept { return threads_; }

private:
    // The first instance stands for what is allocated after the last destructors: see
    // prepare_threads().
    static ALLOCSCOPE_INLINE std::uint64_t number_of(std::uint32_t instance) noexcept {
        return instance - 1;
    }

    void meet(std::uint32_t instance) {
        if (numbers_.insert(instance).is_new) instances_.push_back(instance);
    }

    arena& memory_;
    std::uint64_t process_id_;
    list<snapshot::thread> threads_;
    list<std::uint32_t> instances_;
    table<std::uint64_t, std::size_t> numbers_;
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_THREADS_OF_WINDOW_HPP
