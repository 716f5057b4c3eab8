// checked_block.hpp - a block in a test that is checked, as a loop that runs once.
//
// Room:     integrations (floor 11), not malloc-safe
// Called:   by the macros of the adapters
// Threads:  the one that enters the block
// Memory:   about 300 bytes on the stack
//
//     for (checked_block<block_without_leaks> block{...}; block.next();) { the user's code }
//
// A block that an exception leaves is not judged, because the test has failed already. A block that
// is left by return or break is judged, unless the test has failed.

#ifndef ALLOCSCOPE_INTEGRATIONS_CHECKED_BLOCK_HPP
#define ALLOCSCOPE_INTEGRATIONS_CHECKED_BLOCK_HPP

#include <allocscope/config.hpp>
#include <allocscope/integrations/checked_test.hpp>
#include <allocscope/measure/allocation_budget.hpp>
#include <allocscope/measure/budget_guard.hpp>
#include <allocscope/measure/check_result.hpp>
#include <allocscope/measure/leak_check.hpp>
#include <allocscope/measure/no_allocation_guard.hpp>
#include <allocscope/measure/on_violation.hpp>

#include <exception>  // uncaught_exceptions
#include <optional>   // optional

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// --- the checks that a block can make; each has finish() ---

// The action of the guards does nothing: the block looks at the result itself.
inline on_violation only_tell() noexcept {
    return on_violation::call([](const check_result&, void*) {});
}

class block_without_leaks {
public:
    block_without_leaks(const test_framework& framework, threads from)
        : leaks_(framework.block_name(), of(from), framework.own) {}
    check_result finish() { return leaks_.finish(); }

private:
    static leak_options of(threads from) noexcept {
        leak_options wanted;
        wanted.window.from = from;
        return wanted;
    }

    leak_check leaks_;
};

class block_within_budget {
public:
    block_within_budget(const test_framework& framework, const allocation_budget& budget)
        : guard_(framework.block_name(), budget, only_tell(), of_this_thread()) {}
    check_result finish() { return guard_.finish(); }

private:
    static options of_this_thread() noexcept {
        options wanted = options_of_checks();
        wanted.from = threads::current;
        return wanted;
    }

    budget_guard guard_;
};

class block_without {
public:
    block_without(const test_framework& framework, forbidden what)
        : guard_(framework.block_name(), only_tell(), what) {}
    check_result finish() { return guard_.finish(); }

private:
    no_allocation_guard guard_;
};

inline allocation_budget allocations_at_most(typed_number most) noexcept {
    allocation_budget budget;
    budget.allocations = at_most(most);
    return budget;
}

// --- the block ---

template <class Check>
class checked_block {
public:
    template <class Argument>
    checked_block(const test_framework* framework, const block_claim& claim,
                  const Argument& argument)
        : framework_(*framework),
          claim_(claim),
          exceptions_(std::uncaught_exceptions()),
          check_(*framework, argument) {}
    checked_block(const checked_block&) = delete;
    checked_block& operator=(const checked_block&) = delete;

    // The block was left by return or break. If an exception left it, the test has failed already;
    // the same is true if a failed fatal assertion returned from it.
    ~checked_block() {
        if (state_ != state::running || std::uncaught_exceptions() != exceptions_) return;
        const check_result found = check_.finish();
        if (found || !framework_.has_failed()) framework_.tell(claim_, found, false);
    }

    bool next() {
        if (state_ != state::running) {
            const bool is_first = state_ == state::fresh;
            state_ = is_first ? state::running : state::done;
            return is_first;
        }
        state_ = state::done;
        const check_result found = check_.finish();
        if (!found && claim_.is_fatal && framework_.leaves_by_return) {
            failure_.emplace(found);
            return true;  // run once more: the macro then reports the failure and leaves
        }
        framework_.tell(claim_, found, true);
        return false;
    }

    // For the macro of such a framework.
    bool has_failed() const noexcept { return failure_.has_value(); }
    const char* message() const noexcept { return failure_->message(); }

private:
    enum class state { fresh, running, done };

    const test_framework& framework_;
    block_claim claim_;
    int exceptions_;
    std::optional<check_result> failure_;
    state state_ = state::fresh;
    Check check_;  // last: its window opens when the other members are ready
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

// The check is in the name, so that a block inside another one on the same line does not shadow it.
#define ALLOCSCOPE_BLOCK_JOIN_(check, line) allocscope_##check##_##line
#define ALLOCSCOPE_BLOCK_NAME_(check, line) ALLOCSCOPE_BLOCK_JOIN_(check, line)
#define ALLOCSCOPE_BLOCK_LOOP_(name, framework, check, is_fatal, claim, ...)                    \
    for (::allocscope::detail::checked_block<::allocscope::detail::check> name{                 \
             framework, ::allocscope::detail::block_claim{__FILE__, __LINE__, is_fatal, claim}, \
             __VA_ARGS__};                                                                      \
         name.next();)
// The last argument is passed to the check. An initialiser with commas works, too.
#define ALLOCSCOPE_BLOCK_(framework, check, is_fatal, claim, ...)                               \
    ALLOCSCOPE_BLOCK_LOOP_(ALLOCSCOPE_BLOCK_NAME_(check, __LINE__), framework, check, is_fatal, \
                           claim, __VA_ARGS__)

#endif  // ALLOCSCOPE_INTEGRATIONS_CHECKED_BLOCK_HPP
