// leak_check.hpp - a window that must leave none of its objects alive.
//
// Room:     measure (floor 8), not malloc-safe
// Called:   by the user and by integrations/
// Threads:  the same as for scope
// Memory:   about 200 bytes
//
//     allocscope::leak_check leaks{"session"};
//     run_session();
//     auto result = leaks.finish();                   // or leak_guard, which acts by itself
//     if (!result) std::cerr << result.message();
//
//     allocscope::leak_options known;
//     known.expected = "leak:load_locale\n"           // LSan's lines: part of a name, * allowed
//                      "leak:third_party/";
//     known.objects = 2;                              // and two more, wherever they are
//
// A cache is no leak, but looks like one in a single window. repeat() tells them apart: it warms
// the code up, runs it n times, and reports only what even the best of the runs added:
//
//     auto result = allocscope::leak_check::repeat(5, [&] { parse(text); });

#ifndef ALLOCSCOPE_MEASURE_LEAK_CHECK_HPP
#define ALLOCSCOPE_MEASURE_LEAK_CHECK_HPP

#include <allocscope/base/options.hpp>
#include <allocscope/config.hpp>
#include <allocscope/link/check_request.hpp>
#include <allocscope/measure/allocation_budget.hpp>
#include <allocscope/measure/check_result.hpp>
#include <allocscope/measure/on_violation.hpp>
#include <allocscope/measure/scope.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Tests are often compiled without optimisation. What a library's template allocates is then more
// than 24 calls away from the test.
inline options options_of_checks() noexcept {
    options wanted;
    wanted.stack_frames = 64;
    return wanted;
}

}  // namespace detail

struct leak_options {
    detail::typed_number objects = 0;  // how many may stay alive besides the expected ones
    // How many must stay alive. It is for known leaks: the check then notices when they are gone.
    detail::typed_number least_objects = 0;
    // How many bytes may stay alive. With objects = 0 and bytes set, only the bytes count.
    detail::typed_number bytes = ~std::uint64_t{0};
    // The expected leaks: lines of "leak:<pattern>". Blank lines and lines that begin with # are
    // comments. A pattern fits an object if it is part of the object's type, or of the function,
    // file or module of any frame of its stack; * stands for any text, ^ and $ for the ends. The
    // text must stay valid until the check.
    const char* expected = "";
    // A function of yours that says whether a leak is expected. It is called for each stack that
    // left something alive, on the thread that makes the check, under a lock. It must not use
    // allocscope or throw.
    bool (*is_expected)(const leak_stack& stack, const void* context) = nullptr;
    const void* expected_context = nullptr;  // passed to is_expected
    // Whose allocations, and how deep the stacks are: up to 64 frames.
    options window = detail::options_of_checks();
    detail::typed_number warm_up_runs = 1;  // repeat(): runs before the first that counts
    // For the adapters of test frameworks: every test is judged as only_repeated_leaks() says.
    bool only_repeated_leaks = false;
};

namespace detail {

// The leaks that are expected, in the form in which they are given to the engine.
struct expected_leaks {
    using question = bool (*)(const leak_stack& stack, const void* context);

    question test = nullptr;
    // Called first, with function names only, as the symbol tables have them: no file, line or type
    // is known then, and inlined code belongs to the function around it. If the answer is no,
    // `test` is called with all names. A framework's own stacks are in every test, and a yes here
    // saves the process the 30 ms that reading its debug information takes.
    question test_by_symbols = nullptr;
    const void* context = nullptr;  // passed to both
    const char* lines = "";
};

}  // namespace detail

class leak_check {
public:
    // Starts the window. Throws std::invalid_argument when a number is negative, a line of
    // `expected` is not understood, or the window's options are out of range (-fno-exceptions:
    // prints the message and aborts).
    [[nodiscard]] ALLOCSCOPE_EXCEPTIONS_TAG explicit leak_check(
        const char* name = "leak check", const leak_options& wanted = {},
        const detail::expected_leaks& own = {});
    leak_check(const leak_check&) = delete;
    leak_check& operator=(const leak_check&) = delete;

    // Judges what is alive now. The window stays open. After finish(), returns a result that says
    // so and has not passed. Cost: that of scope::counts(); milliseconds if the counts alone do not
    // pass.
    check_result(check)() const { return judge(detail::after_stats::go_on); }
    // Ends the window and judges what is alive. Later calls return a result that says so and has
    // not passed.
    check_result finish();
    // Does the same, but judges by these options instead of the constructor's, for limits that are
    // known only when the work is done. `window` and `warm_up_runs` have no effect here.
    ALLOCSCOPE_EXCEPTIONS_TAG check_result finish(const leak_options& instead);

    allocation_counts counts() const noexcept { return window_.counts(); }

    // Runs the work warm_up_runs times, then `runs` times (at least 2, because one run cannot tell
    // a cache from a leak). Fails if each of those runs left more alive than the run before it.
    // Exceptions of the work pass through. Throws std::invalid_argument as the constructor does.
    template <class Work>
    static check_result repeat(detail::typed_number runs, Work&& work,
                               const leak_options& wanted = {}, const char* name = "leak check");

private:
    detail::check_request request(detail::check_kind kind, detail::after_stats then) const noexcept;
    void expect(const leak_options& wanted) noexcept;
    check_result judge(detail::after_stats then) const;
    check_result end_with(const detail::check_request& asked);
    friend class leak_repetition;

    detail::check_limits limits_;
    detail::expected_leaks expected_;
    scope window_;
    bool is_finished_ = false;
};

// The arithmetic of repeat(), for code that has a loop of its own (as test frameworks do): warm up,
// construct an object, and call end_of_run() after each run.
class leak_repetition {
public:
    [[nodiscard]] ALLOCSCOPE_EXCEPTIONS_TAG explicit leak_repetition(
        const char* name = "leak check", const leak_options& wanted = {},
        const detail::expected_leaks& own = {})
        : leaks_(name, wanted, own) {}
    void end_of_run();
    check_result finish();

private:
    leak_check leaks_;
    std::uint64_t runs_ = 0;
    std::int64_t objects_before_ = 0;
    std::int64_t bytes_before_ = 0;
    std::int64_t least_objects_ = 0;
    std::int64_t least_bytes_ = 0;
    check_result refusal_;  // of a run that could not be judged
    bool is_refused_ = false;
};

// A leak_check that takes an action when the block ends.
class leak_guard {
public:
    [[nodiscard]] ALLOCSCOPE_EXCEPTIONS_TAG explicit leak_guard(
        const char* name = "leak guard", on_violation wanted_action = on_violation::report(),
        const leak_options& wanted = {})
        : leaks_(name, wanted), action_(wanted_action) {}
    // Does what finish() does, unless finish() was called. Throws nothing: with throw_error() it
    // reports instead.
    ~leak_guard() {
        if (!is_finished_) action_.act_in_destructor(leaks_.finish());
    }
    leak_guard(const leak_guard&) = delete;
    leak_guard& operator=(const leak_guard&) = delete;

    check_result(check)() const { return (leaks_.check)(); }
    // Ends the window, and takes the action if the check failed; with throw_error() that throws
    // violation_error. Later calls take no action, and return a result that says so and has not
    // passed.
    ALLOCSCOPE_EXCEPTIONS_TAG check_result finish() {
        if (is_finished_) return detail::result_after_end();
        is_finished_ = true;
        check_result found = leaks_.finish();
        action_.act(found);
        return found;
    }

private:
    leak_check leaks_;
    on_violation action_;
    bool is_finished_ = false;
};

// definitions

namespace detail {

ALLOCSCOPE_EXCEPTIONS_TAG inline void check_expected(const char* lines) {
    const engine* used = usable_engine();
    if (used == nullptr || lines == nullptr || lines[0] == '\0') return;
    char message[256] = {};
    if (!used->check_expected_leaks(lines, message, sizeof message)) refuse_options(message);
}

// Refuses options and patterns that make no sense.
ALLOCSCOPE_EXCEPTIONS_TAG inline check_limits checked_tolerance(const leak_options& wanted) {
    check_limits limits;
    limits.live_objects.least =
        checked_count("leak_options", "least_objects", wanted.least_objects);
    limits.live_objects.most = checked_count("leak_options", "objects", wanted.objects);
    limits.live_bytes.most = checked_count("leak_options", "bytes", wanted.bytes);
    if (limits.live_objects.most == 0 && limits.live_bytes.most != ~std::uint64_t{0}) {
        limits.live_objects.most = ~std::uint64_t{0};
    }
    if (limits.live_objects.least > limits.live_objects.most) {
        refuse_limit("leak_options", "least_objects", " is ", wanted.least_objects,
                     ", which is more than `objects`, the most; exchange the two numbers");
    }
    check_expected(wanted.expected);
    return limits;
}

}  // namespace detail

inline leak_check::leak_check(const char* name, const leak_options& wanted,
                              const detail::expected_leaks& own)
    : limits_(detail::checked_tolerance(wanted)), expected_(own), window_(name, wanted.window) {
    expect(wanted);
}

inline void leak_check::expect(const leak_options& wanted) noexcept {
    expected_.lines = wanted.expected != nullptr ? wanted.expected : "";
    if (expected_.test_by_symbols != nullptr) return;  // a framework's, which calls the user's
    expected_.test = wanted.is_expected;
    expected_.context = wanted.expected_context;
}

inline detail::check_request leak_check::request(detail::check_kind kind,
                                                 detail::after_stats then) const noexcept {
    detail::check_request asked;
    asked.kind = kind;
    asked.then = then;
    asked.limits = limits_;
    asked.expected = expected_.lines;
    asked.is_expected = expected_.test;
    asked.is_expected_by_symbols = expected_.test_by_symbols;
    asked.expected_context = expected_.context;
    detail::scope_reader::describe(window_, asked);
    return asked;
}

inline check_result leak_check::judge(detail::after_stats then) const {
    if (is_finished_) return detail::result_after_end();
    return detail::ask_engine(detail::scope_reader::engine_of(window_),
                              request(detail::check_kind::leaks, then));
}

inline check_result leak_check::end_with(const detail::check_request& asked) {
    const check_result found = detail::ask_engine(detail::scope_reader::engine_of(window_), asked);
    is_finished_ = true;
    detail::scope_reader::end(window_, found.counts());
    return found;
}

inline check_result leak_check::finish() {
    if (is_finished_) return detail::result_after_end();
    return end_with(request(detail::check_kind::leaks, detail::after_stats::end));
}

inline check_result leak_check::finish(const leak_options& instead) {
    limits_ = detail::checked_tolerance(instead);
    expect(instead);
    return finish();
}

inline void leak_repetition::end_of_run() {
    const check_result now = detail::ask_engine(  // counts only
        detail::scope_reader::engine_of(leaks_.window_),
        leaks_.request(detail::check_kind::repeated_leaks, detail::after_stats::go_on));
    if (!now.passed()) {
        is_refused_ = true;
        refusal_ = now;
    }
    const auto objects = static_cast<std::int64_t>(now.data().unexpected_objects);
    const auto bytes = static_cast<std::int64_t>(now.data().unexpected_bytes);
    const std::int64_t added_objects = objects - objects_before_;
    const std::int64_t added_bytes = bytes - bytes_before_;
    if (runs_ == 0 || added_objects < least_objects_) least_objects_ = added_objects;
    if (runs_ == 0 || added_bytes < least_bytes_) least_bytes_ = added_bytes;
    objects_before_ = objects;
    bytes_before_ = bytes;
    ++runs_;
}

inline check_result leak_repetition::finish() {
    if (is_refused_) return refusal_;
    if (leaks_.is_finished_) return detail::result_after_end();
    if (runs_ == 0) return check_result{};
    detail::check_request asked =
        leaks_.request(detail::check_kind::repeated_leaks, detail::after_stats::end);
    asked.runs = runs_;
    asked.added_objects = least_objects_ > 0 ? static_cast<std::uint64_t>(least_objects_) : 0;
    asked.added_bytes = least_bytes_ > 0 ? static_cast<std::uint64_t>(least_bytes_) : 0;
    return leaks_.end_with(asked);
}

template <class Work>
check_result leak_check::repeat(detail::typed_number runs, Work&& work, const leak_options& wanted,
                                const char* name) {
    const std::uint64_t count = detail::checked_count("leak_check", "repeat runs", runs);
    if (count < 2) {
        detail::refuse_limit("leak_check", "repeat runs", " is ", runs,
                             "; give 2 or more, to tell a cache from a leak");
    }
    const std::uint64_t warm_up =
        detail::checked_count("leak_options", "warm_up_runs", wanted.warm_up_runs);
    for (std::uint64_t i = 0; i < warm_up; ++i) work();
    leak_repetition repetition{name, wanted};
    for (std::uint64_t i = 0; i < count; ++i) {
        work();
        repetition.end_of_run();
    }
    return repetition.finish();
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_LEAK_CHECK_HPP
