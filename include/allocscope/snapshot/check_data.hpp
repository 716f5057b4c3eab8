// check_data.hpp - the data behind a check_result: verdict, message, evidence.
//
// Room:     snapshot (floor 7), not malloc-safe
// Called:   made by verdict/, held by measure/check_result.hpp
// Threads:  immutable except for the reference count, which is atomic
// Memory:   one block; the engine that made it frees it with the last reference
//
// A result whose reference count is 0 is a constant, and its references are not counted. Such a
// constant is returned if there is no engine, or no memory.

#ifndef ALLOCSCOPE_SNAPSHOT_CHECK_DATA_HPP
#define ALLOCSCOPE_SNAPSHOT_CHECK_DATA_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/link/engine.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

// Where objects that are still alive came from.
struct leak_stack {
    const snapshot::frame* frames;  // innermost first, starting at the caller of operator new
    std::size_t frame_count;
    std::size_t user_frame;  // innermost not of the standard library; else frame_count
    const char* type;        // "?" when it is not known
    // A function that answers yes should set this if it can: how many of the innermost frames would
    // be enough for the answer, whatever calls them and whatever the type is. Other stacks that
    // begin with the same frames are then expected without being named, which saves milliseconds
    // for each.
    mutable std::size_t decisive_frames = 0;
};

namespace detail {

struct check_data {
    std::uint32_t references;
    bool has_passed;
    void (*release)(check_data*);
    const char* message;   // "" when it passed
    const char* saved_to;  // "" when no file was written
    allocation_counts counts;
    // Objects that are alive and fit no pattern of expected leaks.
    std::uint64_t unexpected_objects;
    std::uint64_t unexpected_bytes;
    // Alive because a function-local static was initialised in the window; not included in the two
    // above.
    std::uint64_t first_use_objects;
    std::uint64_t first_use_bytes;
    const snapshot* rows;  // valid as long as the result; null: none
};

constexpr check_data constant_check(const char* message) noexcept {
    return {0, false, nullptr, message, "", {}, 0, 0, 0, 0, nullptr};
}

// Hidden: a shared symbol would keep a plugin from being unloaded.
__attribute__((__visibility__("hidden"))) inline constexpr check_data check_without_engine =
    constant_check(engine_is_missing);
__attribute__((__visibility__("hidden"))) inline constexpr check_data check_of_other_version =
    constant_check(engine_is_another_version);
__attribute__((__visibility__("hidden"))) inline constexpr check_data check_without_window =
    constant_check("nothing is being recorded: memory for the window was refused");
__attribute__((__visibility__("hidden"))) inline constexpr check_data check_without_memory =
    constant_check("the check could not be made: memory for its result was refused");
__attribute__((__visibility__("hidden"))) inline constexpr check_data check_of_nothing =
    constant_check("nothing was checked");
__attribute__((__visibility__("hidden"))) inline constexpr check_data check_after_its_end =
    constant_check("nothing was checked: finish() was called before, and has ended this check");

ALLOCSCOPE_FAST_PATH check_data* shared_check(const check_data& constant) noexcept {
    return const_cast<check_data*>(&constant);  // count 0: never written
}

// The result that says why this engine cannot check anything.
inline check_data* refused_check(const engine* found) noexcept {
    return shared_check(found == nullptr ? check_without_engine : check_of_other_version);
}

ALLOCSCOPE_FAST_PATH void hold_check(check_data* data) noexcept {
    if (__atomic_load_n(&data->references, __ATOMIC_RELAXED) == 0) return;
    __atomic_add_fetch(&data->references, 1U, __ATOMIC_RELAXED);
}

ALLOCSCOPE_FAST_PATH void drop_check(check_data* data) noexcept {
    if (__atomic_load_n(&data->references, __ATOMIC_RELAXED) == 0) return;
    if (__atomic_sub_fetch(&data->references, 1U, __ATOMIC_ACQ_REL) == 0) data->release(data);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SNAPSHOT_CHECK_DATA_HPP
