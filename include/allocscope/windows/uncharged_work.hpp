// uncharged_work.hpp - while one exists, no window is charged with what this thread allocates.
//
// Room:     windows (floor 6), malloc-safe
// Called:   around everything that makes a snapshot
// Threads:  the thread that makes an object also destroys it
// Memory:   none
//
// Does the same as allocscope::pause_recording. Also disables cancellation: the work opens files,
// and a thread must not be cancelled in the middle of it.

#ifndef ALLOCSCOPE_WINDOWS_UNCHARGED_WORK_HPP
#define ALLOCSCOPE_WINDOWS_UNCHARGED_WORK_HPP

#include <allocscope/link/pause_recording.hpp>

#include <pthread.h>  // pthread_setcancelstate

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class uncharged_work {
public:
    uncharged_work() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_); }
    ~uncharged_work() { ::pthread_setcancelstate(cancel_state_, nullptr); }
    uncharged_work(const uncharged_work&) = delete;
    uncharged_work& operator=(const uncharged_work&) = delete;

private:
    pause_recording paused_;
    int cancel_state_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_WINDOWS_UNCHARGED_WORK_HPP
