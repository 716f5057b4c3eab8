// engine.hpp - the functions through which every module of the process reaches its one recorder.
//
// Room:     link (floor 1), malloc-safe
// Called:   by measure/ and snapshot/ from every translation unit and plugin; filled in by
//           define_once/
// Threads:  find_engine() and every entry of the table may be called from any thread
// Memory:   none
//
// If an executable loads a plugin with RTLD_LOCAL, the state of a header exists twice, without any
// error. So the state lives only in the module that replaced `operator new`, and all other
// modules ask for it through the one name that all modules are certain to share: operator new
// itself. The question is a small, valid, aligned nothrow request whose `std::nothrow_t` is ours:
//
//     plugin                                  the executable's operator new(size, align, nothrow&)
//       tag{magic, answer = null}  ------->     size, alignment and tag.magic fit?
//       answer filled, null returned <------    tag.answer = &engine, return null
//
// Any other operator new knows nothing of tags. It returns a block, which is given back, and the
// answer stays null. Then nothing is being recorded in this process, and every output says so.

#ifndef ALLOCSCOPE_LINK_ENGINE_HPP
#define ALLOCSCOPE_LINK_ENGINE_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/config.hpp>
#include <allocscope/version.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <new>      // nothrow_t, align_val_t

ALLOCSCOPE_NAMESPACE_BEGIN

class snapshot;

namespace detail {

struct snapshot_data;
struct check_data;
struct check_request;
struct fault_plan;
struct guard_watch;
struct plan_state;
struct pool_words;
struct sweep_data;
struct sweep_request;

// What happens to a window when its rows are asked for.
enum class after_stats : std::uint32_t {
    go_on,   // the window stays as it is
    forget,  // the window starts anew, empty
    end      // the window ends
};

// Identifies an open window. 0 is no window.
using window_id = std::uint64_t;

struct engine {
    std::uint32_t abi_version;  // ALLOCSCOPE_ABI_VERSION of the module that filled the table
    std::uint32_t size_bytes;   // of this table
    // The caller has checked the options. Returns 0 when there is no memory for a window.
    window_id (*open_window)(const char* name, const options& wanted);
    void (*close_window)(window_id window);
    allocation_counts (*counts)(window_id window);
    void (*mark_age)(window_id window);
    // Hands over one reference; null when there is no such window.
    snapshot_data* (*stats)(window_id window, after_stats then);
    // The process-wide window of start/stats/stop.
    void (*start)(const options& wanted);
    snapshot_data* (*process_stats)(after_stats then);
    // +1: what this thread allocates from now on is charged to no window; -1: takes one +1 back.
    void (*pause)(int change);
    // Adds a pattern to the library frames. Returns "", or why the pattern was refused.
    const char* (*library_frames)(const char* pattern);
    // Hands over one reference; null when there was no memory for the result.
    check_data* (*judge)(const check_request& asked);
    // Returns false when a line is not understood; the message says which. `room` is at least 128.
    bool (*check_expected_leaks)(const char* lines, char* message, std::size_t room);
    // Writes `head` and every row with its stack to a file. Returns 0 or an errno value.
    int (*save_evidence)(const snapshot& rows, const char* head, const char* path);
    // --- link/watch_requests.hpp ---
    bool (*arm_guard)(guard_watch& watch);
    check_data* (*look_at_guard)(guard_watch& watch, bool ends);
    void (*allow)(int change);
    std::uint32_t (*arm_plan)(const fault_plan& wanted);
    plan_state (*state_of_plan)(std::uint32_t plan);
    void (*disarm_plan)(std::uint32_t plan);
    // --- snapshot/fault_run.hpp ---
    sweep_data* (*begin_sweep)(const char* name);
    bool (*add_sweep_run)(sweep_data* to, const sweep_request& asked);
    void (*end_sweep)(sweep_data* data, bool gave_up);
    // --- link/pool_words.hpp; no effect while no window is open ---
    // The address of the word that is 0 while no window is open; null when it may not be kept.
    const std::uint64_t* (*gate_to_keep)();
    void (*report_birth)(const void* block, std::size_t bytes, const pool_words& words);
    void (*report_death)(const void* block, const char* pool);  // null: the newest object there
    void (*report_resize)(const void* block, std::size_t bytes, const pool_words& words);
};

// The request that asks for the engine. The size is unusual on purpose, so that hardly any program
// requests it by chance. Even then the magic number distinguishes our tag.
constexpr std::size_t handshake_size = 421;
constexpr std::align_val_t handshake_alignment = static_cast<std::align_val_t>(128);
constexpr std::uint64_t handshake_magic = 0xa110c5c09e5afe01U;

struct handshake_tag : std::nothrow_t {
    std::uint64_t magic = handshake_magic;
    const engine* answer = nullptr;
};

// The engine of the process, or null when the `operator new` that this module calls is not ours.
// Takes about 10 ns. The answer is not cached, so that a plugin that brings the hooks is found as
// soon as it is loaded.
__attribute__((__noinline__, __visibility__("hidden"))) inline const engine*
find_engine() noexcept {
    handshake_tag tag;
    void* block = ::operator new(handshake_size, handshake_alignment,
                                 static_cast<const std::nothrow_t&>(tag));
    __asm__ volatile("" : : "r"(&tag) : "memory");  // the callee wrote through a const reference
    if (block != nullptr) ::operator delete(block, handshake_alignment, std::nothrow);
    return tag.answer;
}

constexpr const char* engine_is_missing =
    "nothing is being recorded: the operator new that is called here is not allocscope's. Add"
    " #include <allocscope/define_once/operator_new_delete.hpp> to exactly one .cpp file of the"
    " executable; if it is there and this is a library, link the executable with -rdynamic; under"
    " Valgrind, run it with --soname-synonyms=somalloc=nouserintercepts";
constexpr const char* engine_is_another_version =
    "nothing is being recorded: the module that replaced operator new was built with another"
    " version of allocscope. Build both with the same headers";

// Why the engine cannot be used by this translation unit; "" when it can.
inline const char* engine_refusal(const engine* found) noexcept {
    if (found == nullptr) return engine_is_missing;
    return found->abi_version == ALLOCSCOPE_ABI_VERSION ? "" : engine_is_another_version;
}

// The engine if this translation unit can use it, otherwise null.
inline const engine* usable_engine() noexcept {
    const engine* found = find_engine();
    return engine_refusal(found)[0] == '\0' ? found : nullptr;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_LINK_ENGINE_HPP
