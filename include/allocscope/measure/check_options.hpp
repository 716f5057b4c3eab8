// check_options.hpp - refuses options that make no sense; the message has the value and the range.
//
// Room:     measure (floor 8), not malloc-safe
// Called:   when a window is opened
// Threads:  any
// Memory:   a message on the stack
//
// Throws std::invalid_argument without <stdexcept>, because that includes <string> and every test
// file would have to compile both. libstdc++ exports a function that throws it, and will as long as
// its ABI lasts; the header that declares it is another one in each version.

#ifndef ALLOCSCOPE_MEASURE_CHECK_OPTIONS_HPP
#define ALLOCSCOPE_MEASURE_CHECK_OPTIONS_HPP

#include <allocscope/base/fixed_text.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/config.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    #include <unistd.h>  // write
#elif !defined(__GLIBCXX__)
    #include <stdexcept>  // invalid_argument
#endif

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

#if defined(__GLIBCXX__)
[[noreturn]] void throw_invalid_argument(const char* message) __asm__(
    "_ZSt24__throw_invalid_argumentPKc");
#endif

[[noreturn]] ALLOCSCOPE_EXCEPTIONS_TAG inline void refuse_options(const char* message) {
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    std::size_t length = 0;
    while (message[length] != '\0') ++length;
    if (::write(2, message, length) < 0 || ::write(2, "\n", 1) < 0) __builtin_trap();
    __builtin_abort();
#elif defined(__GLIBCXX__)
    throw_invalid_argument(message);
#else
    throw std::invalid_argument(message);
#endif
}

[[noreturn]] ALLOCSCOPE_EXCEPTIONS_TAG inline void refuse_option(const char* option,
                                                                 std::uint64_t value,
                                                                 const char* range) {
    char space[160] = {};
    fixed_text text{space, sizeof space - 1};
    text.append("allocscope: options::");
    text.append(option);
    text.append(" is ");
    text.append_decimal(value);
    text.append("; it must be ");
    text.append(range);
    refuse_options(space);
}

ALLOCSCOPE_EXCEPTIONS_TAG inline void check_options(const options& wanted) {
    if (wanted.stack_frames < min_stack_frames || wanted.stack_frames > max_stack_frames) {
        refuse_option("stack_frames", wanted.stack_frames, "in 1..128");
    }
    if (wanted.sample_bytes == 0) {
        refuse_option("sample_bytes", wanted.sample_bytes, "at least 1");
    }
    if (wanted.record < recording::exact || wanted.record > recording::counters) {
        refuse_option("record", static_cast<std::uint64_t>(wanted.record),
                      "exact, sampled or counters");
    }
    if (wanted.from < threads::all || wanted.from > threads::current) {
        refuse_option("from", static_cast<std::uint64_t>(wanted.from), "all or current");
    }
    if (wanted.details && wanted.record != recording::exact) {
        refuse_option("details", 1, "false unless every event is recorded (recording::exact)");
    }
    if (wanted.age_step != 0 && wanted.record == recording::counters) {
        refuse_option("age_step", wanted.age_step, "0 in a window that only counts");
    }
    if (wanted.unwind < unwinding::automatic || wanted.unwind > unwinding::frame_pointers) {
        refuse_option("unwind", static_cast<std::uint64_t>(wanted.unwind),
                      "automatic, cfi or frame_pointers");
    }
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_CHECK_OPTIONS_HPP
