// pause_recording.hpp - while one exists, no window is charged with what its thread allocates.
//
// Room:     link (floor 1), malloc-safe
// Called:   by the user, and around what allocscope itself allocates
// Threads:  the thread that makes an object also destroys it
// Memory:   none

#ifndef ALLOCSCOPE_LINK_PAUSE_RECORDING_HPP
#define ALLOCSCOPE_LINK_PAUSE_RECORDING_HPP

#include <allocscope/config.hpp>
#include <allocscope/link/engine.hpp>

ALLOCSCOPE_NAMESPACE_BEGIN

// While an object of this class lives, no window is charged with what its thread allocates. Windows
// still see frees. What the thread allocates and frees meanwhile breaks none of the
// no_allocation_guards around it, and no injected fault makes it fail. A guard inside it watches.
// Objects may be nested. The thread that made an object must destroy it.
class pause_recording {
public:
    [[nodiscard]] pause_recording() noexcept : engine_(detail::usable_engine()) {
        if (engine_ != nullptr) engine_->pause(+1);
    }
    ~pause_recording() {
        if (engine_ != nullptr) engine_->pause(-1);
    }
    pause_recording(const pause_recording&) = delete;
    pause_recording& operator=(const pause_recording&) = delete;

private:
    const detail::engine* engine_;
};

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_LINK_PAUSE_RECORDING_HPP
