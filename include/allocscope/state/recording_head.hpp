// recording_head.hpp - what a process that is recorded from outside shares with the command.
//
// Room:     state (floor 4), malloc-safe
// Called:   written by `allocscope run` (the request) and by the preload library (the heads); read
//           by the command after the process has ended
// Threads:  see the members
// Memory:   one file without a name; only what is touched takes memory
//
//     file   | request | segment 0             | segment 1             | ...
//                        | head | process | modules | lasting pages .....|
//
// Every program that runs in the recording takes the next segment: the program itself, the program
// that it becomes by exec, and its children when they are followed. The segment is mapped into the
// process. There its copies of the variables `process`, `modules_met` and `modules_at_start`
// replace the library's own. All pointers in a segment are addresses of the process that wrote it,
// so the command maps the segment at the same addresses.

#ifndef ALLOCSCOPE_STATE_RECORDING_HEAD_HPP
#define ALLOCSCOPE_STATE_RECORDING_HEAD_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/config.hpp>
#include <allocscope/platform/memory_look.hpp>
#include <allocscope/platform/met_modules.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/version.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int32_t, uint32_t, uint64_t, uintptr_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

enum class recording_step : std::uint32_t {
    none,     // the segment is not in use
    begun,    // it is being made
    running,  // a window is open
    refused   // nothing is recorded: see `refusal`
};

// The first page of a segment.
struct recording_head {
    atomic<std::uintptr_t> next;  // of the lasting pages: see platform/lasting_pages.hpp
    atomic<recording_step> step;
    std::int32_t process_id;
    std::uintptr_t address;  // of this head in the process
    std::uintptr_t bytes;    // of the mapping
    // The former addresses of the lists of modules. Pointers into them are adjusted.
    std::uintptr_t met_address;
    std::uintptr_t start_address;
    std::uint64_t window;
    // Set by the command when it wants an age mark, and cleared by the hook that makes it. The
    // command also makes the views of threads stale, so that a hook looks.
    atomic<std::uint32_t> age_mark_asked;
    atomic<std::uint32_t> has_last_look;
    memory_look last_look;  // just before the process ended, if it was asked for
    char program[1024];     // the path of its file
    char name[256];         // its name as it was started, without folders
    char refusal[256];
    // The path of the allocator whose operator new is not recorded; "": there is none.
    char operators_of[256];
    // If a process ends without its exit handlers and under another name, it has probably executed
    // another program.
    char kernel_name[16];
    std::uint64_t began_ns;      // on the monotonic clock
    std::int64_t began_unix_ns;  // the same moment since 1970: see tools/run/recording_file.hpp
    atomic<std::uint64_t> exited_ns;  // when its exit handlers had run; 0: they have not
};
static_assert(sizeof(recording_head) <= page_bytes, "the first page");

// Differs between versions whose segments have different layouts.
constexpr std::uint64_t recording_layout =
    (std::uint64_t{ALLOCSCOPE_ABI_VERSION} << 48U) ^ (sizeof(memory_look) << 40U) ^
    (sizeof(process_state) << 20U) ^ (sizeof(met_modules) << 4U) ^ sizeof(thread_state) ^
    (sizeof(recording_head) << 30U);

constexpr std::uint64_t recording_magic = 0x6564726f6365722eU;

// The first page of the file.
struct recording_request {
    std::uint64_t magic = recording_magic;
    std::uint64_t layout = recording_layout;
    atomic<std::int32_t> process_id{0};  // of the program that was started
    std::uint32_t follows_children = 0;
    std::uint32_t explains_memory = 0;
    options wanted;
    atomic<std::uint32_t> segments_taken{0};
    // Forked children that were to be recorded, but did not get the resources for it.
    atomic<std::uint32_t> children_refused{0};
    // Programs that were to be recorded, but have the malloc of a sanitizer.
    atomic<std::uint32_t> programs_sanitized{0};
    // Where segments are mapped if the place is free. It is in the command, which reads them there.
    std::uintptr_t place = 0;
};
static_assert(sizeof(recording_request) <= page_bytes, "the first page");

constexpr std::size_t first_segment = std::size_t{1} << 20U;
constexpr std::size_t segment_bytes = std::size_t{16} << 30U;
constexpr std::uint32_t most_segments = 65536;
constexpr std::uint64_t segment_offset(std::uint32_t index) noexcept {
    return first_segment + std::uint64_t{index} * segment_bytes;
}

constexpr std::size_t whole_pages(std::size_t bytes) noexcept {
    return (bytes + page_bytes - 1) & ~(page_bytes - 1);
}

// Where the copies lie in a segment.
constexpr std::size_t process_offset = page_bytes;
constexpr std::size_t met_offset = process_offset + whole_pages(sizeof(process_state));
constexpr std::size_t start_offset = met_offset + whole_pages(sizeof(met_modules));
constexpr std::size_t lasting_offset = start_offset + whole_pages(sizeof(met_modules));

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_STATE_RECORDING_HEAD_HPP
