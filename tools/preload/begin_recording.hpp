// begin_recording.hpp - the first event of a program opens its window in the command's file.
//
// Called:   by the first hook of the process, which may be before any constructor, or while the
//           loader is still relocating libraries
// Threads:  the process has one
// Memory:   a segment of the command's file: see state/recording_head.hpp
#ifndef ALLOCSCOPE_TOOLS_PRELOAD_BEGIN_RECORDING_HPP
#define ALLOCSCOPE_TOOLS_PRELOAD_BEGIN_RECORDING_HPP

#include "../number_in_proc.hpp"
#include "earlier_definitions.hpp"
#include "open_recording.hpp"
#include "start_modules.hpp"

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/loss_reason.hpp>
#include <allocscope/hooks/chained_allocator.hpp>
#include <allocscope/hooks/underlying_allocator.hpp>
#include <allocscope/hooks/unready_blocks.hpp>
#include <allocscope/platform/lasting_pages.hpp>
#include <allocscope/platform/met_modules.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/state/recording_head.hpp>
#include <allocscope/windows/age_marking.hpp>
#include <allocscope/windows/window_control.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

// Defined by the run-time library of a sanitizer, if there is one.
extern "C" {
void __asan_init() __attribute__((weak));
void __hwasan_init() __attribute__((weak));
void __tsan_init() __attribute__((weak));
void __msan_init() __attribute__((weak));
void __lsan_init() __attribute__((weak));
}

namespace allocscope {
namespace detail {

// --- the segment ---

inline std::size_t segment_bytes_here() noexcept {
    constexpr std::size_t least = std::size_t{64} << 20U;
    std::size_t bytes = segment_bytes;
    while (bytes > least && bytes > limit_of(RLIMIT_AS) / 8) bytes /= 2;
    return bytes;
}

// From here on, the variable lies in the file.
inline bool put_in_file(void* variable, std::size_t bytes, int file, char* copy,
                        std::uint64_t offset) noexcept {
    std::memcpy(copy, variable, bytes);
    return ::mmap(variable, whole_pages(bytes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                  file, static_cast<off_t>(offset)) != MAP_FAILED;
}

// The gate is not in the file, but in memory that is wiped in children: see gate::is_wiped().
inline bool keep_gate_private() noexcept {
    constexpr std::size_t bytes = whole_pages(sizeof(gate));
    void* copy = reserve_pages(bytes);
    if (copy == nullptr) return false;
    std::memcpy(copy, static_cast<const void*>(&process.entry), sizeof(gate));
    void* const own = ::mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                               static_cast<void*>(&process.entry));
    return own != MAP_FAILED && ::madvise(own, bytes, MADV_WIPEONFORK) == 0;
}

// --- all together ---

// True if a call of our own free() did not arrive: Valgrind puts its functions in place of ours.
inline bool is_replaced = false;

// The path of the allocator whose operator new is not recorded; null: none is known. Forked
// children inherit it. See led_operators.hpp.
inline const char* allocator_not_seen = nullptr;

// Leads calls of another allocator's operators here: see led_operators.hpp.
void lead_operators() noexcept;

inline void say_what_is_not_seen(recording_head& head) noexcept {
    if (allocator_not_seen == nullptr || head.window == 0) return;
    std::strncpy(head.operators_of, allocator_not_seen, sizeof head.operators_of - 1);
    process.latecomer.load(memory_order::acquire)->lose(loss_reason::operators_of_others);
}

// Returns "", or why nothing is recorded.
inline const char* record_into(recording_head& head, int file, std::uint64_t offset,
                               std::size_t bytes, const options& wanted) noexcept {
    char* const first = reinterpret_cast<char*>(&head);
    head.began_ns = monotonic_ns();
    head.began_unix_ns = unix_time_ns();
    head.process_id = allocscope_tools::number_in_proc();
    head.address = reinterpret_cast<std::uintptr_t>(first);
    head.bytes = bytes;
    head.met_address = reinterpret_cast<std::uintptr_t>(&modules_met);
    head.start_address = reinterpret_cast<std::uintptr_t>(&modules_at_start);
    head.next.store(head.address + lasting_offset, memory_order::relaxed);
    head.step.store(recording_step::begun, memory_order::release);
    process.is_prepared.store(true, memory_order::relaxed);  // it needs no fork handlers
    if (!put_in_file(&process, sizeof process, file, first + process_offset,
                     offset + process_offset) ||
        !put_in_file(&modules_met, sizeof modules_met, file, first + met_offset,
                     offset + met_offset) ||
        !put_in_file(&modules_at_start, sizeof modules_at_start, file, first + start_offset,
                     offset + start_offset)) {
        return "its memory could not be shared";
    }
    if (!keep_gate_private()) {
        return "the kernel cannot wipe pages in forked children (MADV_WIPEONFORK, Linux 4.14)";
    }
    lasting.begin(&head.next, head.address + bytes);
    note_program(head);
    note_start_modules(head);
    if (is_replaced) {
        return "Valgrind has replaced our malloc with its own: start valgrind with"
               " --soname-synonyms=somalloc=nouserintercepts, or run the program without it";
    }
    head.window = open_window_now(head.name, wanted);
    for (std::uint64_t i = 0; head.window != 0 && i < unready.count(); ++i) {
        process.latecomer.load(memory_order::acquire)->lose(loss_reason::library_not_ready);
    }
    say_what_is_not_seen(head);
    return head.window != 0 ? "" : "memory for its tables was refused (see ulimit -d and -v)";
}

// If children are followed: the first page of the file, which a forked child inherits.
inline recording_request* followed_request = nullptr;

inline void count_refused_child() noexcept {
    if (followed_request == nullptr) return;
    followed_request->children_refused.fetch_add(1, memory_order::relaxed);
}

inline void refuse_recording(recording_head& head, const char* why) noexcept {
    std::strncpy(head.refusal, why, sizeof head.refusal - 1);
    head.step.store(recording_step::refused, memory_order::release);
}

// Says in the file why its segment could not be mapped.
inline void refuse_segment(int file, std::uint64_t offset) noexcept {
    void* const page = ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                              static_cast<off_t>(offset));
    if (page == MAP_FAILED) return count_refused_child();
    auto& head = *static_cast<recording_head*>(page);
    head.process_id = allocscope_tools::number_in_proc();
    refuse_recording(head, "its memory is limited (see ulimit -v)");
    ::munmap(page, page_bytes);
}

// What this process records into; null: nothing. A forked child has that of its parent, and a wiped
// gate, until it has its own.
inline recording_head* own_recording = nullptr;

// Asks the kernel nothing: the program may have a filter of system calls.
inline bool has_own_recording() noexcept {
    return own_recording != nullptr && !process.entry.is_wiped();
}

inline void record_into_file(int file, recording_request& request) noexcept {
    const std::uint32_t index = request.segments_taken.fetch_add(1, memory_order::relaxed);
    if (index >= most_segments) return;
    const std::size_t bytes = segment_bytes_here();
    const std::uint64_t offset = segment_offset(index);
    void* const wanted = reinterpret_cast<void*>(request.place);
    void* const place = ::mmap(wanted, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file,
                               static_cast<off_t>(offset));
    if (place == MAP_FAILED) return refuse_segment(file, offset);
    ::madvise(place, bytes, MADV_DONTDUMP);
    if (!open_pages(place, lasting_offset)) return refuse_segment(file, offset);
    auto& head = *static_cast<recording_head*>(place);
    const char* refusal = record_into(head, file, offset, bytes, request.wanted);
    own_recording = &head;
    // At another place, the kernel would give the trimmed addresses to others.
    if (place == wanted && lasting.exists()) lasting.trim();
    if (refusal[0] == '\0') {
        head.step.store(recording_step::running, memory_order::release);
    } else {
        process.entry.shut();
        refuse_recording(head, refusal);
    }
}

// The kernel is asked for the bounds of a stack with the first event of its thread. For the main
// thread that may be too late: the program may have a filter of system calls by then.
inline void note_main_stack() noexcept {
    if (own_recording == nullptr || own_recording->window == 0) return;
    thread_state* const self = prepared_state();
    if (self == nullptr || self->bounds.high != 0) return;
    self->bounds = current_stack_bounds(reinterpret_cast<std::uintptr_t>(&self));
}

// Whether the program looks at its memory when it ends.
inline bool takes_last_look = false;

// Maps the first page of the file. Returns null if that is refused, or the file is another's.
inline recording_request* map_request(int file) noexcept {
    void* const page = ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page == MAP_FAILED) return nullptr;
    auto* const request = static_cast<recording_request*>(page);
    if (request->magic == recording_magic && request->layout == recording_layout) return request;
    ::munmap(page, page_bytes);
    return nullptr;
}

// Whether the command wants a recording of this process.
inline bool asks_for_this_process(const recording_request& request) noexcept {
    return request.follows_children != 0 ||
           request.process_id.load(memory_order::relaxed) == allocscope_tools::number_in_proc();
}

inline void record_if_asked() noexcept {
    const int file = open_recording();
    if (file < 0) return count_refused_child();
    recording_request* const request =
        followed_request != nullptr ? followed_request : map_request(file);
    if (request != nullptr && request->follows_children != 0) followed_request = request;
    if (request != nullptr && asks_for_this_process(*request)) {
        takes_last_look = request->explains_memory != 0;
        record_into_file(file, *request);
    }
    if (request != nullptr && request != followed_request) ::munmap(request, page_bytes);
    ::close(file);
}

// The command checks only the file that it runs. Programs that are started by others are checked
// here.
inline bool has_malloc_of_sanitizer() noexcept {
    return &__asan_init != nullptr || &__hwasan_init != nullptr || &__tsan_init != nullptr ||
           &__msan_init != nullptr;
}

// Called when the library is loaded: most of these programs never call our malloc.
inline void tell_if_sanitized() noexcept {
    // g++ links LeakSanitizer as a library, which comes after ours. clang++ puts its malloc in the
    // program.
    const bool has_own_malloc =
        has_malloc_of_sanitizer() || (&__lsan_init != nullptr && !is_ours("malloc"));
    if (!has_own_malloc || ::getauxval(AT_SECURE) != 0) return;
    const int saved_errno = errno;
    const int file = open_recording();
    recording_request* const request = file >= 0 ? map_request(file) : nullptr;
    if (request != nullptr) {
        if (asks_for_this_process(*request)) {
            request->programs_sanitized.fetch_add(1, memory_order::relaxed);
        }
        ::munmap(request, page_bytes);
    }
    if (file >= 0) ::close(file);
    errno = saved_errno;
}

// The caller is inside a hook, which may be in a signal handler that has interrupted whoever holds
// the lock. So nobody waits for it: the command asks again.
void make_asked_age_mark() noexcept {
    if (!has_own_recording()) return;
    if (own_recording->age_mark_asked.load(memory_order::relaxed) == 0) return;
    if (::pthread_mutex_trylock(&process.control) != 0) return;
    const int saved_errno = errno;
    open_window* const window = find_window(own_recording->window);
    if (window != nullptr) mark_when_due(*window);
    own_recording->age_mark_asked.store(0, memory_order::relaxed);
    errno = saved_errno;
    ::pthread_mutex_unlock(&process.control);
}

// Whether the program finds our malloc under its name.
bool is_our_malloc_first() noexcept {
    return is_ours("malloc") && !is_defined_earlier("malloc");
}

void begin_recording(const void* caller, const char* called) noexcept {
    const int saved_errno = errno;
    process.entry.shut();
    // A malloc before this library gets all calls except those of functions that it lacks, or
    // passes them on. Its last act may be to pass on, and then nothing shows who called.
    look_who_calls(caller);
    const bool is_sanitized = has_malloc_of_sanitizer();
    // A sanitizer passes nothing on: what arrives here is what it lacks.
    if (!is_sanitized && called != nullptr && is_defined_earlier(called)) is_passed_on = true;
    is_standing_in = !is_sanitized && !is_passed_on && !is_ours("malloc");
    if (is_sanitized) least_request_bytes = 0;
    const bool is_asked = ::getauxval(AT_SECURE) == 0 && !is_sanitized;
    if (is_asked && (is_our_malloc_first() || is_passed_on)) record_if_asked();
    lead_operators();
    errno = saved_errno;
}

}  // namespace detail
}  // namespace allocscope

#endif  // ALLOCSCOPE_TOOLS_PRELOAD_BEGIN_RECORDING_HPP
