// on_violation.hpp - what a guard does when its promise was broken.
//
// Room:     measure (floor 8), not malloc-safe
// Called:   given to a guard by the user; carried out by the guard
// Threads:  a plain value; carried out on the thread that finds the violation
// Memory:   24 bytes
//
//     allocscope::budget_guard parser{{.allocations = 3}, allocscope::on_violation::abort()};
//
// No destructor throws. A guard with throw_error() throws from finish(), and a no_allocation_guard
// also out of operator new. A guard that is destroyed without finish() reports instead.

#ifndef ALLOCSCOPE_MEASURE_ON_VIOLATION_HPP
#define ALLOCSCOPE_MEASURE_ON_VIOLATION_HPP

#include <allocscope/config.hpp>
#include <allocscope/measure/check_result.hpp>

#include <cstddef>  // size_t
#include <new>      // bad_alloc

ALLOCSCOPE_NAMESPACE_BEGIN

#if defined(__clang__)
    #pragma clang diagnostic push
    #pragma clang diagnostic ignored "-Wweak-vtables"  // a header has no other place for a vtable
#endif

// Thrown when a guard's promise was broken. It is a bad_alloc because a no_allocation_guard throws
// it out of operator new, which may throw nothing else.
class violation_error : public std::bad_alloc {
public:
    explicit violation_error(const check_result& found) noexcept : found_(found) {}
    const char* what() const noexcept override { return found_.message(); }
    const check_result& result() const noexcept { return found_; }

private:
    check_result found_;
};

#if defined(__clang__)
    #pragma clang diagnostic pop
#endif

class on_violation {
public:
    // Called once for each broken guard, with what the guard found. Must not throw. `context` is
    // what was given to call().
    using callback = void (*)(const check_result& found, void* context);

    static on_violation report() noexcept { return on_violation{action::report}; }  // to stderr
    static on_violation abort() noexcept { return on_violation{action::abort}; }  // after a report
    static on_violation throw_error() noexcept { return on_violation{action::throw_error}; }
    static on_violation call(callback function, void* context = nullptr) noexcept {
        on_violation made{action::call};
        made.function_ = function;
        made.context_ = context;
        return made;
    }

    // For guards: takes the action if the result has not passed. Throws nothing.
    void act_in_destructor(const check_result& found) const noexcept;
    // Does the same where an exception may be thrown (-fno-exceptions: prints the message and
    // aborts).
    ALLOCSCOPE_EXCEPTIONS_TAG void act(const check_result& found) const;
    bool throws() const noexcept { return action_ == action::throw_error; }

private:
    enum class action { report, abort, throw_error, call };
    explicit on_violation(action wanted) noexcept : action_(wanted) {}

    action action_;
    callback function_ = nullptr;
    void* context_ = nullptr;
};

// definitions

namespace detail {

// write(2) under another name, so that no user of the library has to include <unistd.h>.
extern "C" long allocscope_write(int descriptor, const void* bytes,
                                 unsigned long length) __asm__("write");
// The place of errno, for the same reason.
extern "C" int* allocscope_errno() noexcept __asm__("__errno_location");
constexpr int interrupted = 4;  // EINTR

// Writes to stderr, one part after the other.
inline void print_line(const char* prefix, const char* text) noexcept {
    const char* const parts[] = {prefix, text, "\n"};
    for (const char* part : parts) {
        std::size_t length = 0;
        while (part[length] != '\0') ++length;
        while (length != 0) {
            const long written = allocscope_write(2, part, length);
            if (written < 0 && *allocscope_errno() == interrupted) continue;
            if (written <= 0) return;  // stderr cannot be written to
            part += written;
            length -= static_cast<std::size_t>(written);
        }
    }
}

}  // namespace detail

inline void on_violation::act_in_destructor(const check_result& found) const noexcept {
    if (found.passed()) return;
    if (action_ == action::call && function_ != nullptr) return function_(found, context_);
    detail::print_line("allocscope: ", found.message());
    if (action_ == action::abort) __builtin_abort();
}

inline void on_violation::act(const check_result& found) const {
    if (found.passed()) return;
    if (action_ != action::throw_error) return act_in_destructor(found);
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    detail::print_line("allocscope: ", found.message());
    __builtin_abort();
#else
    throw violation_error{found};
#endif
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_ON_VIOLATION_HPP
