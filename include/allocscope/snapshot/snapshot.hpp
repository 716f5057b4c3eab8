// snapshot.hpp - the immutable answer to "what of this window is still alive?".
//
// Room:     snapshot (floor 7), not malloc-safe
// Called:   returned by scope::stats(), read by the user and by every writer in report/
// Threads:  immutable: any number of threads may read one snapshot; copying shares it
// Memory:   one block for all rows, frames and texts, freed with the last copy
//
//     allocscope::snapshot alive = window.stats();
//     for (const auto& row : alive) use(row.objects, row.file, row.line, row.type);
//
// The engine (the module that holds the hooks) makes and frees the block, which is never charged to
// a window. The texts are valid as long as any copy of the snapshot exists.

#ifndef ALLOCSCOPE_SNAPSHOT_SNAPSHOT_HPP
#define ALLOCSCOPE_SNAPSHOT_SNAPSHOT_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/base/size_classes.hpp>
#include <allocscope/config.hpp>
#include <allocscope/sampling/estimate.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <iosfwd>   // basic_ostream, for operator<<

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {
struct snapshot_data;
}  // namespace detail

template <class T>
class snapshot_range;
class snapshot_groups;
struct stack_filter;
struct memory_use;
enum class group_key : int;
enum class stack_value : int;

class snapshot {
public:
    // One logical frame of a stack; an inlined call is a frame, too.
    struct frame {
        const char* function;   // demangled; "" when there is no symbol
        const char* file;       // the whole path, as in the debug information; "" when unknown
        int line;               // 0 when unknown
        int column;             // 0 when unknown
        bool is_inlined;        // whether it was inlined into the next frame, or was called there
                                // and left by a jump (a tail call)
        std::uint64_t address;  // return address - 1, as in this process
        const char* module;     // file the code was loaded from; "" when unknown
        std::uint64_t offset;   // of the address in that module
    };

    // All live objects with one file:line:type. The stack is that of the site with most objects.
    struct row {
        std::uint64_t objects;  // in a difference: two's complement, cast to std::int64_t
        std::uint64_t bytes;    // as requested; in a difference like objects
        const char* file;       // shortened to what is left after the common directory; when there
                                // is no line information: the function, else the module
        int line;               // 0 when unknown: then `offset` says where in `file` it is
        const char* type;       // "?" when it is not known
        const char* function;   // the function that file:line is in; "" when unknown
        std::uint64_t offset;   // from the start of the function or module when line is 0
        std::uint64_t sites;    // how many distinct stacks were summed in this row
        const frame* frames;    // innermost first, starting at the caller of operator new
        std::size_t frame_count;
        std::size_t user_frame;  // index of the frame that gave file and line; frame_count if none
        std::uint64_t samples;   // in a sampled window: the samples behind the estimate
        // In a sampled window: 95% intervals, objects_low <= objects <= objects_high. Otherwise
        // they are equal to objects and bytes. In a difference they are two's complement. See
        // docs/sampling.md.
        std::uint64_t objects_low, objects_high;
        std::uint64_t bytes_low, bytes_high;
        // How the type was found: "report", "allocator", "make_function", "vtable", "source",
        // "constructor" or "unsized_vtable"; "" when the type is not known. The last three are no
        // proof: a type with "source" was read in the source file, which may have changed since.
        // See docs/types_and_places.md.
        const char* type_source;
    };

    // A thread that allocated.
    struct thread {
        // In the order of their first events in the process, from 1. 0: threads that have ended:
        // what they allocated after their last destructor, and in a long window what several of
        // them allocated at one stack and has been freed.
        std::uint64_t number;
        const char* name;  // as in /proc/self/task/*/comm; "" when it was not known any more
        std::uint64_t process_id;
    };

    // What else is known about a stack in a window with options::details.
    struct stack_details {
        // What was alive at the first moment at which the window had most bytes alive. With several
        // threads, it may or may not include what other threads were just allocating or freeing.
        std::uint64_t peak_objects, peak_bytes;
        // Allocations that their thread freed before it allocated anything else.
        std::uint64_t temporary;
        // The sum of the lifetimes of its objects; live objects count until now.
        std::uint64_t lifetime_us;
        std::uint64_t sizes[size_class_count];  // allocations by size: base/size_classes.hpp

        void add(const stack_details& more) noexcept {
            peak_objects += more.peak_objects;
            peak_bytes += more.peak_bytes;
            temporary += more.temporary;
            lifetime_us += more.lifetime_us;
            for (std::size_t i = 0; i < size_class_count; ++i) sizes[i] += more.sizes[i];
        }
    };

    // How old objects are that were born between two age marks, at the moment of the snapshot: at
    // least `least_ns` and at most `most_ns` since their allocation.
    struct age {
        std::uint64_t least_ns, most_ns;
    };

    // What one thread allocated at a stack, and how much of that is still alive. Any thread may
    // have freed the rest. In a window with ages there is a part for each thread and age.
    struct thread_part {
        std::size_t thread;            // index into allocating_threads()
        std::uint64_t objects, bytes;  // from here on as in the stack
        std::uint64_t allocations, bytes_allocated;
        std::uint64_t samples;
        std::uint64_t objects_low, objects_high;
        std::uint64_t bytes_low, bytes_high;
        const stack_details* details;
        std::size_t age;  // index into info().ages; 0 if there are none
    };

    // All objects of one stack: those that are alive, and all that were allocated there. Two stacks
    // with equal frames may differ in their return addresses, modules or family.
    struct stack {
        const frame* frames;  // innermost first, starting at the caller of operator new
        std::size_t frame_count;
        std::size_t user_frame;         // as in the row
        std::uint64_t objects, bytes;   // alive; all numbers are two's complement in a difference
        std::uint64_t allocations;      // since the window began
        std::uint64_t bytes_allocated;  // as requested
        const char* file;               // from here on as in the row
        int line;
        const char* type;
        const char* function;
        std::uint64_t offset;
        std::uint64_t samples;  // in a sampled window: how many of its samples are alive
        std::uint64_t objects_low, objects_high;
        std::uint64_t bytes_low, bytes_high;
        const char* type_source;
        // Which threads allocated here; `thread_count` is their number, or in a window with ages
        // the number of pairs of a thread and an age. If it is 1, `thread` is the index in
        // allocating_threads() and `age` that in info().ages. If it is larger, `by_thread` has a
        // part for each, ordered by thread, then by age. If it is 0, it is unknown.
        std::size_t thread_count;
        std::size_t thread;
        const thread_part* by_thread;
        const stack_details* details;  // null unless the window has them
        std::size_t age;
    };

    // A file that contains code of frames.
    struct module {
        const char* path;
        const char* build_id;   // hexadecimal digits; "" when the file has none or cannot be read
        std::uint64_t address;  // of its offset 0, as in this process
        std::uint64_t size;     // from there to the end of its last segment; 0: unknown
    };

    // One point of the time series of a window.
    struct moment {
        std::uint64_t at_ns;  // since the window began
        std::uint64_t live_objects, live_bytes;
        std::uint64_t allocations, bytes_allocated;
        const char* mark;  // a name for this moment; mostly ""
    };

    template <class T>
    using range = snapshot_range<T>;

    // The totals with their 95% intervals; low == value == high unless the window is sampled.
    struct window_estimates {
        estimate allocations, frees, live_objects;
        estimate bytes_allocated, bytes_freed, live_bytes;
    };

    // What was allocated in one way: by "operator new", or by a pool that reports, with its name.
    struct family {
        const char* name;
        std::uint64_t allocations, frees;
        std::uint64_t bytes_allocated, bytes_freed;
        std::uint64_t live_objects() const noexcept { return allocations - frees; }
        std::uint64_t live_bytes() const noexcept { return bytes_allocated - bytes_freed; }
    };

    // A kind of thing that was not recorded since the window began, and how often.
    struct loss {
        const char* reason;  // a full sentence without the number
        std::uint64_t count;
    };

    // What a report needs besides the rows.
    struct window_info {
        const char* name;
        recording record;
        threads from;
        std::uint32_t stack_frames;
        std::uint64_t duration_ns;       // from the start of the window to this snapshot; in a
                                         // difference, by how much the two differ
        allocation_counts totals;        // the window's counts at this snapshot
        std::uint64_t own_memory_bytes;  // what allocscope itself had mapped and touched
        const loss* losses;              // only the losses that happened
        std::size_t loss_count;
        bool is_difference;          // made by difference_from
        const char* not_recording;   // why nothing is being recorded; "" when it is
        std::uint64_t sample_bytes;  // in a sampled window: mean bytes between samples; else 0
        std::uint64_t samples;       // in a sampled window: how many were taken; else 0
        window_estimates estimates;
        std::uint64_t window;    // a different number for each window of this process; 0: no window
        bool is_of_two_windows;  // the difference of snapshots of two windows
        // Other threads continued while this was read. This many objects and bytes may have been
        // freed, by other threads than those that allocated them, before the snapshot was complete.
        // In a difference it is the sum of both snapshots.
        std::uint64_t uncertain_objects, uncertain_bytes;
        // The totals by family, if operator new was not the only one; estimates in a sampled
        // window. A difference has none, unless it was made by difference() of report.hpp.
        const family* families;
        std::size_t family_count;
        std::uint64_t process_id;    // the process of the window; 0: unknown
        std::int64_t taken_unix_ns;  // when it was taken; nanoseconds since 1970 (UTC)
        const char* command;         // the command line of the program; "" when unknown
        // The time series, oldest first. There is none unless one was kept; a difference has none.
        const moment* moments;
        std::size_t moment_count;
        bool is_filtered;  // made by filter(): rows and stacks are a part, the totals are not
        // How many windows were merged into this snapshot; 0 if it is of one window. The peak of a
        // merged snapshot is the sum of their peaks: the real one was at most that.
        std::uint64_t merged_windows;
        const memory_use* memory;  // where the resident memory was; null unless with_memory()
        bool has_details;          // stacks have details
        bool has_peak_details;     // false if another window with details was open at its start
        // A difference whose `earlier` snapshot of the same window was taken later than the other,
        // by `duration_ns`. A positive number of objects is then gone, a negative one was added.
        bool is_backwards;
        // The ages of live objects and of all allocations, the oldest first; together they reach
        // from the start of the window to the snapshot. There are none unless the window has age
        // marks: see options::age_step and scope::mark_age(). A difference has none. In a merged
        // snapshot each part has its own, counted from the moment when that part was taken.
        const age* ages;
        std::size_t age_count;
        // When the window started, in nanoseconds of std::chrono::steady_clock; 0 if the snapshot
        // was loaded or merged, or is a difference.
        std::uint64_t started_ns;
    };

    snapshot() noexcept;  // no rows; info().not_recording says that it belongs to no window
    snapshot(const snapshot& other) noexcept;
    snapshot(snapshot&& other) noexcept;
    snapshot& operator=(const snapshot& other) noexcept;
    snapshot& operator=(snapshot&& other) noexcept;
    ~snapshot();

    bool empty() const noexcept { return size() == 0; }
    std::size_t size() const noexcept;
    const row* begin() const noexcept;  // the rows, those with most objects first
    const row* end() const noexcept;
    const row& operator[](std::size_t index) const noexcept { return begin()[index]; }

    // The sum over the rows. A window that only counts has none: the total of what is alive.
    std::uint64_t live_objects() const noexcept;
    std::uint64_t live_bytes() const noexcept;
    const window_info& info() const noexcept;

    // Every stack of the window, also those whose objects have all been freed. The stack with most
    // bytes alive comes first, and among equal ones the stack with most bytes allocated. The first
    // call finds the names, which may take as long as stats(); later calls cost nothing. Their sums
    // are the totals, but while any window has options::details, what nested windows and threads
    // that have ended allocated and freed may be in info().totals alone. There are no stacks in a
    // window that only counts, or if memory for the names is refused; has_stacks() is then false.
    range<stack> stacks() const;
    bool has_stacks() const;
    // The files that contain the code of the frames of stacks(); the program itself comes first.
    range<module> modules() const;
    // The threads that allocated at stacks(), ordered by process and number. A difference_from()
    // has none, nor has a file saved by an allocscope that did not write them.
    range<thread> allocating_threads() const;

    // This snapshot minus `earlier`, for each file:line:type. A positive number (as std::int64_t)
    // of objects was added, a negative one is gone. Rows without a change are left out. Without
    // memory for the result, info().not_recording says so. difference(later, earlier) of report.hpp
    // also subtracts threads, families and details.
    snapshot difference_from(const snapshot& earlier) const;

    // The stacks that fit, and the rows that they make. This and the next function need
    // <allocscope/report.hpp>: see grouping/filter_stacks.hpp and grouping/group_by.hpp.
    snapshot filter(const stack_filter& wanted) const;
    // The sums of the stacks by place, type, function, file, module, size, thread or age; the
    // largest comes first.
    snapshot_groups group_by(group_key key, stack_value order = stack_value{}) const;

    // Writes everything that a report can show to a file, which load_snapshot() reads again. Throws
    // report_error. Needs <allocscope/report.hpp>.
    void save(const char* path) const;
    // The same for a std::string or a std::filesystem::path.
    template <class Path>
    auto save(const Path& path) const -> decltype(path.c_str(), void()) {
        save(path.c_str());
    }

    // For the engine: takes over one reference.
    explicit snapshot(detail::snapshot_data* data) noexcept : data_(data) {}

private:
    detail::snapshot_data* data_;
};

// Elements that a snapshot keeps. The range keeps the snapshot, so a loop over
// `window.stats().stacks()` is correct. An element lives as long as the snapshot and not only as
// long as the range, but from g++ 13 on -Wall warns of `const auto& one = seen.stacks()[0]`.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 13
    #pragma GCC diagnostic push
    #pragma GCC diagnostic ignored "-Wdangling-reference"
#endif
template <class T>
class snapshot_range {
public:
    snapshot_range(const snapshot& of, const T* first, std::size_t count) noexcept
        : of_(of), first_(first), count_(count) {}
    bool empty() const noexcept { return count_ == 0; }
    std::size_t size() const noexcept { return count_; }
    const T* begin() const noexcept { return first_; }
    const T* end() const noexcept { return first_ + count_; }
    const T& operator[](std::size_t index) const noexcept { return first_[index]; }

private:
    snapshot of_;
    const T* first_;
    std::size_t count_;
};
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 13
    #pragma GCC diagnostic pop
#endif

namespace detail {

// The result of stacks() and modules().
struct stack_table {
    const snapshot::stack* stacks;
    std::size_t stack_count;
    const snapshot::module* modules;
    std::size_t module_count;
    const snapshot::thread* threads = nullptr;
    std::size_t thread_count = 0;
};

// The head of the block. The engine that made the block also frees it, through `release`.
struct snapshot_data {
    std::uint32_t references;
    void (*release)(snapshot_data*);
    const snapshot::row* rows;
    std::size_t row_count;
    std::uint64_t live_objects;
    std::uint64_t live_bytes;
    snapshot::window_info info;
    snapshot_data* (*difference)(const snapshot_data& later, const snapshot_data& earlier);
    // The result is null if memory was refused. The function is null if the snapshot knows no
    // stacks.
    const stack_table* (*stacks)(const snapshot_data& of);
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#include <allocscope/snapshot/snapshot_members.hpp>  // last: the definitions need the class whole

#endif  // ALLOCSCOPE_SNAPSHOT_SNAPSHOT_HPP
