// timed_scope.hpp - a window that also keeps what was alive over time, with marks.
//
// Room:     measure (floor 8), not malloc-safe
// Called:   by the user, through the door time_series.hpp
// Threads:  any thread may call any member; has one thread of its own, if asked for
// Memory:   112 bytes for each point, charged to no window
//
//     allocscope::timed_scope window{"load", std::chrono::milliseconds{10}};
//     parse();
//     window.mark("parsed");
//     { allocscope::marked_scope inner{window, "index"}; build_index(); }   // two marks
//     allocscope::write_html(window.stop(), "load.html");     // the timeline with all of them
//
// The points are info().moments of its snapshots: a line of bars in the text report, the timeline
// of the page, snapshots in massif's format, "moments" in JSON.

#ifndef ALLOCSCOPE_MEASURE_TIMED_SCOPE_HPP
#define ALLOCSCOPE_MEASURE_TIMED_SCOPE_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/base/cut_text.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/config.hpp>
#include <allocscope/measure/scope.hpp>
#include <allocscope/snapshot/annotated_snapshot.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <atomic>              // atomic
#include <chrono>              // milliseconds, steady_clock
#include <condition_variable>  // condition_variable
#include <csignal>             // sigfillset
#include <cstddef>             // size_t
#include <cstdint>             // uint64_t
#include <cstring>             // memcpy
#include <memory>              // unique_ptr
#include <mutex>               // lock_guard, mutex, unique_lock
#include <new>                 // nothrow, placement new

#include <pthread.h>  // pthread_create, pthread_join, pthread_sigmask
#include <sched.h>    // sched_yield
#include <unistd.h>   // getpid

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The points of a series, oldest first. When there is no more room, every second point without a
// mark is dropped.
class moment_list {
public:
    static constexpr std::size_t most = 4096;
    static constexpr std::size_t mark_bytes = 64;

    moment_list() {
        const pause_recording quietly;
        points_.reset(new (std::nothrow) point[most]);
    }

    // `counted_from_ns`: when its counting began. It ended at `at.at_ns`. These times are those of
    // the monotonic clock; a snapshot has them from the start of its window.
    void add(const snapshot::moment& at, std::uint64_t counted_from_ns, const char* mark) noexcept {
        if (points_ != nullptr && count_ == most) thin_out();
        if (points_ == nullptr || count_ == most) {
            if (mark[0] != '\0') ++lost_marks_;
            return;
        }
        point& here = points_[count_++];
        here.at = at;
        here.counted_from_ns = counted_from_ns;
        detail::copy_cut(here.mark, mark_bytes, mark);
    }
    void clear() noexcept {
        count_ = 0;
        lost_marks_ = 0;
    }
    // The window began anew at `since_ns`. What was counted since stays.
    void begin_anew(std::uint64_t since_ns) noexcept {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < count_; ++i) {
            if (points_[i].counted_from_ns > since_ns) points_[kept++] = points_[i];
        }
        count_ = kept;
        lost_marks_ = 0;
    }
    std::uint64_t lost_marks() const noexcept { return lost_marks_; }

    // `last` is what a snapshot has read that was asked for at `asked_ns`. Copies the points from
    // before the question, and `last` itself. If the window forgets what it has reported, marks
    // that were made while it was read are copied, too, with its numbers: they may have been
    // counted before the window began anew or after that. Throws std::bad_alloc.
    void copy_to(snapshot::window_info& info, const snapshot::moment& last, std::uint64_t asked_ns,
                 after_stats then, arena& memory) const {
        list<snapshot::moment> copied{memory};
        copied.reserve(count_ + 1);
        const std::uint64_t ended_ns = info.started_ns + last.at_ns;
        for (std::size_t i = 0; i < count_; ++i) {
            const point& each = points_[i];
            const bool is_earlier = each.at.at_ns <= asked_ns;
            const bool is_last_mark = then == after_stats::forget && each.mark[0] != '\0' &&
                                      each.counted_from_ns <= ended_ns;
            if (!is_earlier && !is_last_mark) continue;
            snapshot::moment& made = copied.push_back(is_earlier ? each.at : last);
            if (is_earlier) made.at_ns -= info.started_ns;
            made.mark = copy_of(memory, each.mark).data();
        }
        copied.push_back(last);
        info.moments = copied.data();
        info.moment_count = copied.size();
    }

private:
    struct point {
        snapshot::moment at;
        std::uint64_t counted_from_ns;
        char mark[mark_bytes];
    };

    void thin_out() noexcept {
        std::size_t kept = 0;
        bool goes = false;
        for (std::size_t i = 0; i < count_; ++i) {
            const bool is_marked = points_[i].mark[0] != '\0';
            if (!is_marked) goes = !goes;
            if (is_marked || !goes) points_[kept++] = points_[i];
        }
        count_ = kept;
    }

    std::unique_ptr<point[]> points_;
    std::size_t count_ = 0;
    std::uint64_t lost_marks_ = 0;
};

// The clock counts nanoseconds and has no room for the largest number of milliseconds.
inline std::chrono::milliseconds at_most_a_year(std::chrono::milliseconds every) noexcept {
    const std::chrono::milliseconds year = std::chrono::hours{24 * 365};
    return every < year ? every : year;
}

// In a forked child: frees a lock that another thread may have held. Returns whether one did.
inline bool free_in_child(std::mutex& lock) noexcept {
    if (lock.try_lock()) {
        lock.unlock();
        return false;
    }
    ::new (static_cast<void*>(&lock)) std::mutex;
    return true;
}

}  // namespace detail

// A scope that keeps a time series: a point for each call of mark() and, on request, one every so
// many milliseconds. At most 4096 points are kept: when there are more, every second one without a
// mark is dropped. A forked child has the points up to the fork and no sampling thread; its marks
// are points, too.
class timed_scope {
public:
    // Starts the window. If `every` is above 0, a thread of its own takes the points; all signals
    // are blocked in that thread, and its allocations are charged to no window. Each point costs as
    // much as counts(), and like that makes an age mark if one is due (options::age_step). If no
    // thread can be made, is_sampling() is false and only marks are points. Throws what the
    // constructor of scope throws.
    [[nodiscard]] explicit timed_scope(const char* name = "", std::chrono::milliseconds every = {},
                                       const options& wanted = {});
    ~timed_scope();
    timed_scope(const timed_scope&) = delete;
    timed_scope& operator=(const timed_scope&) = delete;

    // Adds a point with a name (the first 63 bytes) now. No effect after stop().
    void mark(const char* name) noexcept;
    // Whether the thread of its own runs: not after stop(), and not in a forked child.
    bool is_sampling() const noexcept { return has_thread_.load() && process_ == ::getpid(); }

    // These do what they do in scope. A snapshot has the points up to its own moment, which is the
    // last one. stats_and_forget() begins the series anew.
    allocation_counts counts() const noexcept;
    snapshot stats();
    snapshot stats_and_forget();
    snapshot stop();

private:
    using clock = std::chrono::steady_clock;

    static void* take_points(void* series);
    void begin_thread() noexcept;
    void end_thread() noexcept;
    void add_point(const char* name) noexcept;
    void settle_after_fork() const noexcept;
    static std::uint64_t now_ns() noexcept;
    snapshot read(snapshot (*how)(scope&), detail::after_stats then);

    // What is mutable is set right in a forked child by whichever member is called first.
    const std::chrono::milliseconds every_;
    mutable detail::moment_list points_;
    scope window_;
    mutable std::mutex asking_;  // taken before lock_: one snapshot at a time
    mutable std::mutex lock_;    // of the points
    mutable std::condition_variable ends_;
    bool is_ending_ = false;
    bool is_stopped_ = false;
    pthread_t thread_ = {};
    mutable std::atomic<bool> has_thread_{false};
    mutable std::atomic<pid_t> process_;  // for which it is right; -pid: a thread sees to it
    snapshot last_;
};

// A scope inside a timed one. Its beginning and its end are marks of the timed one.
class marked_scope : public scope {
public:
    [[nodiscard]] marked_scope(timed_scope& series, const char* name, const options& wanted = {})
        : scope(name, wanted), series_(series) {
        if (name == nullptr) name = "";
        constexpr std::size_t before = sizeof "end of " - 1;
        std::memcpy(name_, "end of ", before);
        detail::copy_cut(name_ + before, sizeof name_ - before, name);
        series_.mark(name);
    }
    ~marked_scope() { series_.mark(name_); }

private:
    timed_scope& series_;
    char name_[detail::moment_list::mark_bytes];
};

// definitions

inline timed_scope::timed_scope(const char* name, std::chrono::milliseconds every,
                                const options& wanted)
    : every_(detail::at_most_a_year(every)), window_(name, wanted), process_(::getpid()) {
    if (every_.count() > 0) begin_thread();
}

inline timed_scope::~timed_scope() {
    end_thread();
}

inline void timed_scope::begin_thread() noexcept {
    const pause_recording quietly;
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    has_thread_ = ::pthread_create(&thread_, nullptr, &take_points, this) == 0;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

inline void timed_scope::end_thread() noexcept {
    settle_after_fork();
    if (!has_thread_.exchange(false)) return;
    {
        const std::lock_guard<std::mutex> locked{lock_};
        is_ending_ = true;
    }
    ends_.notify_one();
    ::pthread_join(thread_, nullptr);
}

inline void* timed_scope::take_points(void* series) {
    const pause_recording quietly;
    auto& own = *static_cast<timed_scope*>(series);
    std::unique_lock<std::mutex> locked{own.lock_};
    clock::time_point next = clock::now();
    while (!own.is_ending_) {
        if (clock::now() >= next) {
            own.add_point("");
            next = clock::now() + own.every_;
        }
        own.ends_.wait_until(locked, next);
    }
    return nullptr;
}

// A child begins with one thread. A lock may have been taken by a thread that the child does not
// have; then the points may be half written, so they are dropped. If the child has made threads
// before its first call, one of them does this, and the others wait until it is done.
inline void timed_scope::settle_after_fork() const noexcept {
    const pid_t own = ::getpid();
    const pid_t settling = -own;
    for (pid_t seen = process_.load(); seen != own; seen = process_.load()) {
        if (seen == settling || !process_.compare_exchange_strong(seen, settling)) {
            ::sched_yield();
            continue;
        }
        has_thread_ = false;
        ::new (static_cast<void*>(&ends_)) std::condition_variable;  // a parent's thread used it
        detail::free_in_child(asking_);
        if (detail::free_in_child(lock_)) points_.clear();
        process_.store(own);
    }
}

// On the clock of snapshot::window_info::started_ns.
inline std::uint64_t timed_scope::now_ns() noexcept {
    const std::chrono::nanoseconds now = clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(now.count());
}

// Needs lock_.
inline void timed_scope::add_point(const char* name) noexcept {
    const std::uint64_t counted_from_ns = now_ns();
    const allocation_counts now = window_.counts();
    points_.add(
        {now_ns(), now.live_objects(), now.live_bytes(), now.allocations, now.bytes_allocated, ""},
        counted_from_ns, name);
}

inline void timed_scope::mark(const char* name) noexcept {
    const pause_recording quietly;
    settle_after_fork();
    const std::lock_guard<std::mutex> locked{lock_};
    if (!is_stopped_) add_point(name != nullptr ? name : "");
}

// The snapshot is the last point. Points that are added while it is made are of later ones. Needs
// asking_.
inline snapshot timed_scope::read(snapshot (*how)(scope&), detail::after_stats then) {
    const std::uint64_t asked_ns = now_ns();
    const snapshot rows = how(window_);
    if (!detail::has_totals(rows.info())) return rows;  // nor has it a moment of its own
    const std::lock_guard<std::mutex> locked{lock_};
    snapshot made = detail::annotated(rows, [&](snapshot::window_info& info,
                                                detail::arena& memory) {
        const snapshot::window_estimates& about = info.estimates;
        points_.copy_to(info,
                        {info.duration_ns, about.live_objects.value, about.live_bytes.value,
                         about.allocations.value, about.bytes_allocated.value, ""},
                        asked_ns, then, memory);
        if (points_.lost_marks() == 0) return;
        detail::list<snapshot::loss> losses{memory};
        for (std::size_t i = 0; i < info.loss_count; ++i) losses.push_back(info.losses[i]);
        const std::uint64_t lost = points_.lost_marks();
        losses.push_back({lost == 1 ? "mark was not kept: a time series has room for 4096 points"
                                    : "marks were not kept: a time series has room for 4096 points",
                          lost});
        info.losses = losses.data();
        info.loss_count = losses.size();
    });
    const snapshot::window_info& about = rows.info();
    if (then == detail::after_stats::forget) {
        points_.begin_anew(about.started_ns + about.duration_ns);
    }
    return made;
}

// A scope must not be stopped while it is read.
inline allocation_counts timed_scope::counts() const noexcept {
    settle_after_fork();
    {
        const std::lock_guard<std::mutex> locked{lock_};
        if (!is_stopped_) return window_.counts();
    }
    const std::lock_guard<std::mutex> until_stopped{asking_};
    return window_.counts();
}

inline snapshot timed_scope::stats() {
    const pause_recording quietly;
    settle_after_fork();
    const std::lock_guard<std::mutex> asking{asking_};
    if (is_stopped_) return last_;
    return read([](scope& of) { return of.stats(); }, detail::after_stats::go_on);
}

inline snapshot timed_scope::stats_and_forget() {
    const pause_recording quietly;
    settle_after_fork();
    const std::lock_guard<std::mutex> asking{asking_};
    if (is_stopped_) return last_;
    return read([](scope& of) { return of.stats_and_forget(); }, detail::after_stats::forget);
}

inline snapshot timed_scope::stop() {
    const pause_recording quietly;
    end_thread();
    const std::lock_guard<std::mutex> asking{asking_};
    if (is_stopped_) return last_;
    {
        const std::lock_guard<std::mutex> locked{lock_};
        is_stopped_ = true;
    }
    last_ = read([](scope& of) { return of.stop(); }, detail::after_stats::end);
    return last_;
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_TIMED_SCOPE_HPP
