// scope.hpp - windows: start, look as often as wanted, stop.
//
// Room:     measure (floor 8), not malloc-safe
// Called:   by the user
// Threads:  any thread may call any member, not only the one that opened the window, and several
//           may do so at once; but stop() and the destructor need the scope alone. Not in a signal
//           handler (docs/limits.md)
// Memory:   a scope is 72 bytes; what the window records is kept by the engine
//
//     allocscope::scope window{"load"};            // starts
//     load();
//     if (window.counts().live_objects() != 0)     // numbers only: allocates nothing
//         std::cerr << window.stats();             // rows: count file:line:type
//     window.stop();                               // or the end of the block
//
// Windows may nest, overlap in any order, and end on another thread than they began on.

#ifndef ALLOCSCOPE_MEASURE_SCOPE_HPP
#define ALLOCSCOPE_MEASURE_SCOPE_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/config.hpp>
#include <allocscope/link/engine.hpp>
#include <allocscope/link/pause_recording.hpp>
#include <allocscope/measure/check_options.hpp>
#include <allocscope/snapshot/refusals.hpp>
#include <allocscope/snapshot/snapshot.hpp>

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {
struct scope_reader;
}  // namespace detail

// A window over a part of the program: what it allocated, and what of that is still alive.
class scope {
public:
    // Starts the window. `name` appears in reports; its first 63 bytes are copied, and no part of a
    // character.
    // Throws std::invalid_argument when an option is out of its range (base/options.hpp);
    // -fno-exceptions: prints the same message and aborts. Without the hooks, or without memory for
    // the window, nothing is recorded, and every snapshot of the window says so.
    // Cost: to open and close a window takes about 0.5 us.
    [[nodiscard]] ALLOCSCOPE_EXCEPTIONS_TAG explicit scope(const char* name = "",
                                                           const options& wanted = {});
    ~scope();
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

    // The numbers up to now; after stop(), those at the end. Allocates nothing. Other threads may
    // go on: each thread is counted as it was at one moment of the call (docs/limits.md).
    // With options::age_step it makes an age mark if one is due, and so does stats().
    // Cost: 0.1 us, and some nanoseconds for each thread and each of its stacks in the window.
    allocation_counts counts() const noexcept;

    // Divides the objects of the window into older and younger ones: snapshots say from now on how
    // much of what is alive was born before this call, and how much after it. Nothing happens if
    // the last mark is less than options::age_step ago, or in a window that only counts. There may
    // be 64 marks; then every second one is forgotten, and the next ones are made half as often.
    // Cost: about 1 us; 0.2 us in each thread with its next event, and 0.1 us and 64 bytes for each
    // of its stacks with its next allocation.
    void mark_age() noexcept;

    // Returns what is alive now. The window stays open. If there is no memory for the rows, the
    // snapshot says so (info().not_recording) and still has the totals. Other threads may go on.
    // Cost: about 1.5 us for each stack whose names are known. The first call in a process reads
    // debug information, which takes from 20 ms to a second or more (docs/performance.md).
    snapshot stats() const;

    // Returns what is alive now. Then the window starts anew as if it had just been opened: it
    // forgets what was reported, and counts() begins at zero again. (This is memprof's stats!) If
    // there is no memory even for the totals, the window forgets nothing. An event that another
    // thread has just begun is waited for, a second at most; then a loss says that it may be in
    // neither report.
    snapshot stats_and_forget();

    // Ends the window. Later calls of stats() and stop() repeat this last snapshot.
    snapshot stop();

private:
    friend struct detail::scope_reader;

    // Null when nothing is being recorded in this process.
    const detail::engine* engine_ = nullptr;
    detail::window_id window_ = 0;  // 0: stopped, or never started for lack of memory
    allocation_counts last_counts_;
    snapshot last_;
};

// The same as free functions, for one window of the whole process. Any thread may call them.
ALLOCSCOPE_EXCEPTIONS_TAG void start(
    const options& wanted = {});  // no effect while it is already started
snapshot stats();                 // before the first start() the snapshot says so
snapshot stats_and_forget();
snapshot stop();  // the snapshot is kept until the next start(); meanwhile all three return it

// Starts a window, runs the work, and returns what of its allocations is still alive afterwards.
// This window is independent of start() and stop(). Exceptions of the work pass through.
template <class Work>
snapshot track(Work&& work) {
    scope window{"track"};
    static_cast<Work&&>(work)();
    return window.stop();
}

// definitions

namespace detail {

// A snapshot without rows that says why nothing was recorded.
inline snapshot snapshot_without_window(const engine* used) noexcept {
    if (used == nullptr) return refusal_snapshot(find_engine());
    return snapshot{const_cast<snapshot_data*>(&snapshot_of_refused_window)};
}

inline snapshot snapshot_of_process(after_stats then) {
    const engine* used = usable_engine();
    if (used == nullptr) return refusal_snapshot(find_engine());
    snapshot_data* made = used->process_stats(then);
    if (made != nullptr) return snapshot{made};
    return snapshot{const_cast<snapshot_data*>(&snapshot_before_start)};
}

}  // namespace detail

inline scope::scope(const char* name, const options& wanted) {
    detail::check_options(wanted);
    engine_ = detail::usable_engine();
    if (engine_ != nullptr) window_ = engine_->open_window(name, wanted);
    if (window_ == 0) last_ = detail::snapshot_without_window(engine_);
}

inline scope::~scope() {
    if (window_ != 0) engine_->close_window(window_);
}

inline allocation_counts scope::counts() const noexcept {
    return window_ != 0 ? engine_->counts(window_) : last_counts_;
}

inline void scope::mark_age() noexcept {
    if (window_ != 0) engine_->mark_age(window_);
}

inline snapshot scope::stats() const {
    if (window_ == 0) return last_;
    return snapshot{engine_->stats(window_, detail::after_stats::go_on)};
}

inline snapshot scope::stats_and_forget() {
    if (window_ == 0) return last_;
    return snapshot{engine_->stats(window_, detail::after_stats::forget)};
}

inline snapshot scope::stop() {
    if (window_ != 0) {
        last_counts_ = engine_->counts(window_);  // kept if there is no memory for the snapshot
        last_ = snapshot{engine_->stats(window_, detail::after_stats::end)};
        if (detail::has_totals(last_.info())) last_counts_ = last_.info().totals;
        window_ = 0;
    }
    return last_;
}

inline void start(const options& wanted) {
    detail::check_options(wanted);
    if (const detail::engine* used = detail::usable_engine()) used->start(wanted);
}
inline snapshot stats() {
    return detail::snapshot_of_process(detail::after_stats::go_on);
}
inline snapshot stats_and_forget() {
    return detail::snapshot_of_process(detail::after_stats::forget);
}
inline snapshot stop() {
    return detail::snapshot_of_process(detail::after_stats::end);
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_SCOPE_HPP
