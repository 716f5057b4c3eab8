// last_look.hpp - writes into the recording, before the program ends, that it does and where its
// memory is.
//
// Called:   when the library is unloaded: after the program's own exit handlers. A program that
//           ends by _exit or by a signal has no last look
// Threads:  others may still run
// Memory:   none
#ifndef ALLOCSCOPE_TOOLS_PRELOAD_LAST_LOOK_HPP
#define ALLOCSCOPE_TOOLS_PRELOAD_LAST_LOOK_HPP

#include "begin_recording.hpp"

namespace allocscope {
namespace detail {

inline void note_exit() noexcept {
    if (has_own_recording()) own_recording->exited_ns.store(monotonic_ns(), memory_order::release);
}

inline void take_last_look() noexcept {
    if (!takes_last_look || !has_own_recording()) return;
    pause_now(+1);
    const bool is_known = look_at_own_memory(own_recording->last_look);
    own_recording->has_last_look.store(is_known ? 1 : 0, memory_order::release);
    pause_now(-1);
}

}  // namespace detail
}  // namespace allocscope

#endif  // ALLOCSCOPE_TOOLS_PRELOAD_LAST_LOOK_HPP
