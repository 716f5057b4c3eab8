// explain_memory.hpp - says where the resident memory of this process is.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by the user
// Threads:  any; other threads continue in the meantime, so numbers may be of slightly different
//           moments
// Memory:   none that remains; charged to no window
//
//     allocscope::memory_use now = allocscope::explain_memory();
//     allocscope::write_text(allocscope::with_memory(window.stats()), "heap.txt");
//
// The parts always add up to the resident memory that /proc/self/smaps reports. base/memory_use.hpp
// and docs/report_fields.md say what each part is.

#ifndef ALLOCSCOPE_REPORT_EXPLAIN_MEMORY_HPP
#define ALLOCSCOPE_REPORT_EXPLAIN_MEMORY_HPP

#include <allocscope/base/memory_use.hpp>
#include <allocscope/config.hpp>
#include <allocscope/link/pause_recording.hpp>
#include <allocscope/platform/malloc_numbers.hpp>
#include <allocscope/platform/memory_look.hpp>
#include <allocscope/platform/resident_memory.hpp>
#include <allocscope/snapshot/annotated_snapshot.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// What is known about the objects of a window.
struct recorded_sizes {
    std::uint64_t bytes = 0;     // alive, as requested
    std::uint64_t rounding = 0;  // what glibc's malloc adds to them
};

// The size of the block that glibc's malloc uses for a request.
inline std::uint64_t glibc_block_bytes(std::uint64_t requested) noexcept {
    constexpr std::uint64_t least_large = 128 * 1024;
    if (requested >= least_large) return (requested + 16 + 4095) / 4096 * 4096;
    const std::uint64_t bytes = (requested + 8 + 15) / 16 * 16;
    return bytes < 32 ? 32 : bytes;
}

// The mean for objects that may differ in size: 8 bytes of header, and half of 15 bytes of
// rounding.
inline std::uint64_t glibc_rounding(std::uint64_t objects, std::uint64_t bytes) noexcept {
    if (objects == 0) return 0;
    if (bytes % objects != 0) return objects * 31 / 2;
    return objects * glibc_block_bytes(bytes / objects) - bytes;
}

inline recorded_sizes recorded_in(const snapshot& rows) noexcept {
    recorded_sizes sizes;
    sizes.bytes = rows.info().estimates.live_bytes.value;
    for (const snapshot::row& row : rows) sizes.rounding += glibc_rounding(row.objects, row.bytes);
    return sizes;
}

// Moves up to `bytes` from one number to another.
inline std::uint64_t move_up_to(std::uint64_t bytes, std::uint64_t& from,
                                std::uint64_t& to) noexcept {
    const std::uint64_t moved = bytes < from ? bytes : from;
    from -= moved;
    to += moved;
    return moved;
}

inline std::uint64_t excess(std::uint64_t more, std::uint64_t less) noexcept {
    return more > less ? more - less : 0;
}

// Divides the resident memory into parts, from what malloc reports and what the window knows. If
// malloc has more bytes than are in memory, the missing ones are assumed to be free memory first,
// then other blocks, then recorded objects.
inline memory_use divide_memory(const memory_look& look, const recorded_sizes& recorded) noexcept {
    const malloc_numbers& known = look.known;
    resident_memory found = look.found;
    memory_use use;
    use.resident_bytes = found.total;
    use.swapped_bytes = found.swapped;
    use[memory_part::allocscope] = found.allocscope;
    use[memory_part::program] = found.program;
    use[memory_part::files] = found.files;
    use[memory_part::shared] = found.shared;
    use[memory_part::stacks] = found.stacks;
    use[memory_part::unexplained] = found.unexplained;
    std::uint64_t heap = found.heap;
    std::uint64_t in_use = 0;
    std::uint64_t& rest = use[known.kind == malloc_kind::unknown ? memory_part::heap_rest
                                                                 : memory_part::other_blocks];
    if (known.kind == malloc_kind::glibc) {
        // Heaps and large blocks that were not recognised, for example aligned ones.
        move_up_to(excess(known.heap_bytes, found.heap_size), found.anonymous, heap);
        move_up_to(excess(known.mapped_bytes, found.large_size), found.anonymous, found.large);
        move_up_to(known.in_use_bytes, heap, in_use);
        use[memory_part::free_blocks] = heap;
        in_use += found.large;
    } else {
        heap += found.large;
        if (known.kind == malloc_kind::other) {
            move_up_to(excess(known.heap_bytes, heap), found.anonymous, heap);
            move_up_to(known.in_use_bytes, heap, in_use);
            use[memory_part::free_blocks] = heap;
        } else {
            // Recorded objects that cannot lie in a heap of glibc lie in other memory.
            move_up_to(excess(recorded.bytes, found.heap_size + found.large_size), found.anonymous,
                       heap);
            in_use = heap;
        }
    }
    move_up_to(recorded.bytes, in_use, use[memory_part::recorded]);
    if (known.kind != malloc_kind::other) {
        move_up_to(recorded.rounding, in_use, use[memory_part::rounding]);
    }
    rest = in_use;
    use[memory_part::anonymous] = found.anonymous;
    return use;
}

inline memory_use explain_memory_with(const recorded_sizes& recorded) noexcept {
    memory_look now;
    return look_at_own_memory(now) ? divide_memory(now, recorded) : memory_use{};
}

}  // namespace detail

// Says where the resident memory of this process is now; all blocks in use count as `other_blocks`.
// Cost: 0.4 ms in a small process. The kernel needs about 5 ms more for each 100 MiB in small
// pages, and 1 ms for each 100 mappings. If /proc/self/smaps cannot be read, resident_bytes is 0.
inline memory_use explain_memory() noexcept {
    const pause_recording quietly;
    return detail::explain_memory_with({});
}

// Returns the snapshot with the parts of the resident memory at this moment. The part `recorded` is
// what is alive in the snapshot. Reports show the parts as a block of lines, saved snapshots keep
// them, and info().memory points to them.
inline snapshot with_memory(const snapshot& rows) {
    const pause_recording quietly;
    memory_use now = detail::explain_memory_with(detail::recorded_in(rows));
    now.at_ns = rows.info().duration_ns;
    return detail::annotated(rows, [&now](snapshot::window_info& info, detail::arena& memory) {
        info.memory = memory.make<memory_use>(now);
    });
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_EXPLAIN_MEMORY_HPP
