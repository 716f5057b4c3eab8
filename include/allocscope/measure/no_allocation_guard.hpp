// no_allocation_guard.hpp - a block in which this thread must not allocate.
//
// Room:     measure (floor 8), not malloc-safe
// Called:   by the user, around code that must run in bounded time
// Threads:  watches the thread that made it, which must also destroy it; no effect on others
// Memory:   about 120 bytes; a window of counters
//
//     void process(audio_buffer& buffer) {
//         allocscope::no_allocation_guard guard{"process"};
//         ...
//         { allocscope::allow_allocations here; log("slow path"); }
//     }
//
//     no_allocation_guard "process": 24 bytes were allocated
//       src/mixer.cpp:31: 1 object of voice, 24 bytes, in mixer::add
//         called from src/process.cpp:12 in process
//
// The action is taken at the first allocation, in the call that makes it: with
// on_violation::abort() a debugger stops there.
// Cost: a guard takes about 200 ns. While it lives, each allocation and free of its thread takes
// about 100 ns more. A violation takes milliseconds, because names are read.

#ifndef ALLOCSCOPE_MEASURE_NO_ALLOCATION_GUARD_HPP
#define ALLOCSCOPE_MEASURE_NO_ALLOCATION_GUARD_HPP

#include <allocscope/config.hpp>
#include <allocscope/link/engine.hpp>
#include <allocscope/link/watch_requests.hpp>
#include <allocscope/measure/check_result.hpp>
#include <allocscope/measure/on_violation.hpp>
#include <allocscope/measure/scope.hpp>

#include <cstdint>  // uint32_t

ALLOCSCOPE_NAMESPACE_BEGIN

enum class forbidden : std::uint32_t {
    allocations,
    allocations_and_frees  // free() may take a lock too
};

// What the thread allocates under allow_allocations or pause_recording inside the guard breaks no
// promise.
class no_allocation_guard {
public:
    // on_violation::throw_error() throws violation_error out of operator new; a nothrow operator
    // then returns null. A violation where nothing can be thrown (a free; hooks compiled with
    // -fno-exceptions) is kept for finish().
    [[nodiscard]] explicit no_allocation_guard(const char* name = "no allocations",
                                               on_violation wanted_action = on_violation::report(),
                                               forbidden what = forbidden::allocations);
    [[nodiscard]] explicit no_allocation_guard(on_violation wanted_action,
                                               forbidden what = forbidden::allocations)
        : no_allocation_guard("no allocations", wanted_action, what) {}
    [[nodiscard]] no_allocation_guard(const char* name, forbidden what)
        : no_allocation_guard(name, on_violation::report(), what) {}

    // Ends the guard. Without the hooks nothing can be watched; then the action is taken here, with
    // a result that says so. A broken guard with throw_error() reports here, unless finish() was
    // called or its exception has not been handled yet.
    ~no_allocation_guard();
    no_allocation_guard(const no_allocation_guard&) = delete;
    no_allocation_guard& operator=(const no_allocation_guard&) = delete;

    // Returns the result up to now. The counts are those of this thread since the guard began,
    // including what was allowed; for a broken guard, those at the violation.
    check_result(check)();

    // Ends the guard. Later calls return a result that says so and has not passed. Throws
    // violation_error when the guard was broken and the action is throw_error(), even if it was
    // thrown before (-fno-exceptions: prints the message and aborts).
    ALLOCSCOPE_EXCEPTIONS_TAG check_result finish();

private:
    static bool tell(detail::guard_watch& broken, detail::check_data& found);
    static void raise(detail::guard_watch& broken);
    check_result look(bool ends);

    detail::guard_watch watch_;
    on_violation action_;
    const detail::engine* engine_;
    bool is_armed_ = false;
    bool is_finished_ = false;
};

// While an object of this class lives, what its thread allocates and frees breaks none of the
// guards around it. Windows still count it (under a pause_recording they do not). Objects may be
// nested. A guard inside it watches again.
class allow_allocations {
public:
    [[nodiscard]] allow_allocations() noexcept : engine_(detail::usable_engine()) {
        if (engine_ != nullptr) engine_->allow(+1);
    }
    ~allow_allocations() {
        if (engine_ != nullptr) engine_->allow(-1);
    }
    allow_allocations(const allow_allocations&) = delete;
    allow_allocations& operator=(const allow_allocations&) = delete;

private:
    const detail::engine* engine_;
};

// definitions

inline no_allocation_guard::no_allocation_guard(const char* name, on_violation wanted_action,
                                                forbidden what)
    : action_(wanted_action), engine_(detail::usable_engine()) {
    watch_.name = name;
    watch_.watches_frees = what == forbidden::allocations_and_frees;
    watch_.context = this;
    watch_.tell = &tell;
    watch_.raise = &raise;
    if (engine_ != nullptr) is_armed_ = engine_->arm_guard(watch_);
}

inline bool no_allocation_guard::tell(detail::guard_watch& broken, detail::check_data& found) {
    const auto& guard = *static_cast<no_allocation_guard*>(broken.context);
    if (guard.action_.throws()) return true;
    detail::hold_check(&found);
    guard.action_.act_in_destructor(check_result{&found});
    return false;
}

inline void no_allocation_guard::raise(detail::guard_watch& broken) {
    detail::hold_check(broken.found);
    static_cast<no_allocation_guard*>(broken.context)->action_.act(check_result{broken.found});
}

inline check_result no_allocation_guard::look(bool ends) {
    if (engine_ == nullptr) return check_result{detail::refused_check(detail::find_engine())};
    if (!is_armed_) return check_result{detail::shared_check(detail::check_without_window)};
    return detail::result_of(engine_->look_at_guard(watch_, ends));
}

inline no_allocation_guard::~no_allocation_guard() {
    if (is_finished_) return;
    const bool was_told = is_armed_ && watch_.is_broken && !action_.throws();
    // An exception that was thrown and is still on its way holds the result, and reports it.
    const bool is_on_its_way =
        watch_.found != nullptr && __atomic_load_n(&watch_.found->references, __ATOMIC_RELAXED) > 1;
    const check_result found = look(true);
    if (!was_told && !is_on_its_way) action_.act_in_destructor(found);
}

inline check_result(no_allocation_guard::check)() {
    return is_finished_ ? detail::result_after_end() : look(false);
}

inline check_result no_allocation_guard::finish() {
    if (is_finished_) return detail::result_after_end();
    is_finished_ = true;
    const bool was_told = is_armed_ && watch_.is_broken && !action_.throws();
    check_result found = look(true);
    if (!was_told) action_.act(found);
    return found;
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_NO_ALLOCATION_GUARD_HPP
