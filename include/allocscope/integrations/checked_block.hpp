// checked_block.hpp - a block in a test that is held to something, as a loop that runs once.
//
// Room:     integrations (floor 10), not malloc-safe
// Called:   by the macros of the GoogleTest and Catch2 adapters
// Threads:  the one that enters the block
// Memory:   about 300 bytes on the stack
//
//     for (checked_block<block_without_leaks, voice> block{...}; block.next();) { the user's code }
//
// `voice` says what was found in the framework's way: fail(file, line, message, is_fatal), which
// may leave by an exception; fail_in_destructor(file, line, message), which may not; has_failed(),
// whether the running test failed already; and leaves_by_return, whether it is the macro that ends
// the test after a fatal failure.

#ifndef ALLOCSCOPE_INTEGRATIONS_CHECKED_BLOCK_HPP
#define ALLOCSCOPE_INTEGRATIONS_CHECKED_BLOCK_HPP

#include <allocscope/config.hpp>
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

// --- what a block is held to: each has finish() ---

// The guards' own action: the result is what the block looks at.
inline on_violation only_tell() noexcept {
    return on_violation::call([](const check_result&, void*) {});
}

class block_without_leaks {
public:
    explicit block_without_leaks(const leak_options& wanted) : leaks_("block", wanted) {}
    check_result finish() { return leaks_.finish(); }

private:
    leak_check leaks_;
};

class block_within_budget {
public:
    explicit block_within_budget(const allocation_budget& budget)
        : guard_("block", budget, only_tell(), of_this_thread()) {}
    check_result finish() { return guard_.finish(); }

private:
    static options of_this_thread() noexcept {
        options wanted;
        wanted.from = threads::current;
        return wanted;
    }

    budget_guard guard_;
};

class block_without_allocations {
public:
    block_without_allocations() : guard_("block", only_tell()) {}
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

template <class Check, class Voice>
class checked_block {
public:
    template <class... Arguments>
    checked_block(const char* file, int line, bool is_fatal, const Arguments&... arguments)
        : file_(file),
          line_(line),
          is_fatal_(is_fatal),
          exceptions_(std::uncaught_exceptions()),
          check_(arguments...) {}
    checked_block(const checked_block&) = delete;
    checked_block& operator=(const checked_block&) = delete;

    // Left by return or break. An exception is a failure already, and so is what a failed fatal
    // assertion left behind when it returned.
    ~checked_block() {
        if (state_ != state::running || std::uncaught_exceptions() != exceptions_) return;
        const check_result found = check_.finish();
        if (!found && !Voice::has_failed()) {
            Voice::fail_in_destructor(file_, line_, found.message());
        }
    }

    bool next() {
        if (state_ != state::running) {
            const bool is_first = state_ == state::fresh;
            state_ = is_first ? state::running : state::done;
            return is_first;
        }
        state_ = state::done;
        const check_result found = check_.finish();
        if (found) return false;
        if (is_fatal_ && Voice::leaves_by_return) {
            failure_.emplace(found);
            return true;  // once more, for the macro to tell the failure and to leave
        }
        Voice::fail(file_, line_, found.message(), is_fatal_);
        return false;
    }

    // For such a macro.
    bool has_failed() const noexcept { return failure_.has_value(); }
    const char* message() const noexcept { return failure_->message(); }

private:
    enum class state { fresh, running, done };

    const char* file_;
    int line_;
    bool is_fatal_;
    int exceptions_;
    std::optional<check_result> failure_;
    state state_ = state::fresh;
    Check check_;  // last: its window opens when all else is ready
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_CHECKED_BLOCK_HPP
