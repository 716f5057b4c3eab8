// refusals.hpp - snapshots of windows that record nothing; each says why.
//
// Room:     snapshot (floor 7), not malloc-safe
// Called:   by measure/ when there is no engine, no window or no memory
// Threads:  constants
// Memory:   static; hidden, so that a plugin stays unloadable
//
// An empty report must never look like "no leaks" if nothing was recorded.

#ifndef ALLOCSCOPE_SNAPSHOT_REFUSALS_HPP
#define ALLOCSCOPE_SNAPSHOT_REFUSALS_HPP

#include <allocscope/config.hpp>
#include <allocscope/link/engine.hpp>
#include <allocscope/snapshot/snapshot.hpp>

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

__attribute__((__visibility__("hidden"))) inline constexpr snapshot_data snapshot_without_engine =
    constant_snapshot(engine_is_missing);
__attribute__((__visibility__("hidden"))) inline constexpr snapshot_data snapshot_of_other_version =
    constant_snapshot(engine_is_another_version);
__attribute__((
    __visibility__("hidden"))) inline constexpr snapshot_data snapshot_of_refused_window =
    constant_snapshot("nothing is being recorded: memory for the window was refused");
__attribute__((__visibility__("hidden"))) inline constexpr snapshot_data snapshot_before_start =
    constant_snapshot(
        "nothing is being recorded: no window is started. Call allocscope::start() first");

// For a process whose engine cannot be used.
inline snapshot refusal_snapshot(const engine* found) noexcept {
    const snapshot_data* data =
        found == nullptr ? &snapshot_without_engine : &snapshot_of_other_version;
    return snapshot{const_cast<snapshot_data*>(data)};  // count 0: never written
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SNAPSHOT_REFUSALS_HPP
