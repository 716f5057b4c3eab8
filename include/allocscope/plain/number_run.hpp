// number_run.hpp - writes numbers with commas between them: 17,4,2031.
//
// Room:     plain (floor 2), not malloc-safe
// Called:   by the writers in formats/ that number the frames
// Threads:  one
// Memory:   of the text that is written to
//
//     number_run run{out};
//     for (const std::uint32_t number : path) run.add(number);
//     run.end();
//
// A million stacks have twenty million such numbers, so digits are gathered before they are
// written.

#ifndef ALLOCSCOPE_PLAIN_NUMBER_RUN_HPP
#define ALLOCSCOPE_PLAIN_NUMBER_RUN_HPP

#include <allocscope/config.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr std::size_t longest_decimal = 20;

inline std::size_t count_of_digits(std::uint64_t value) noexcept {
    std::size_t count = 1;
    for (; value >= 10000; value /= 10000) count += 4;
    return count + (value >= 10 ? 1U : 0U) + (value >= 100 ? 1U : 0U) + (value >= 1000 ? 1U : 0U);
}

// Writes the digits of a number and returns their end. The base is a constant, so nothing is
// divided; the last two digits of each rest come from one multiplication.
inline char* put_decimal(char* at, std::uint64_t value) noexcept {
    char* const end = at + count_of_digits(value);
    char* next = end;
    for (; value >= 100; value /= 100) {
        const auto two = static_cast<unsigned>(value % 100);
        *--next = static_cast<char>('0' + two % 10);
        *--next = static_cast<char>('0' + two / 10);
    }
    const auto first = static_cast<unsigned>(value);
    *--next = static_cast<char>('0' + first % 10);
    if (first >= 10) *--next = static_cast<char>('0' + first / 10);
    return end;
}

class number_run {
public:
    explicit number_run(text_out& out) noexcept : out_(out) {}

    void add(std::uint64_t number, bool is_negative = false) {
        if (static_cast<std::size_t>(gathered_ + sizeof gathered_ - at_) < longest_decimal + 2) {
            hand_on();
        }
        if (!is_first_) *at_++ = ',';
        is_first_ = false;
        if (is_negative) *at_++ = '-';
        at_ = put_decimal(at_, number);
    }
    // Call it after the last number. The next number begins another run.
    void end() {
        hand_on();
        is_first_ = true;
    }

private:
    void hand_on() {
        out_ << text{gathered_, static_cast<std::size_t>(at_ - gathered_)};
        at_ = gathered_;
    }

    text_out& out_;
    char gathered_[512];
    char* at_ = gathered_;
    bool is_first_ = true;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLAIN_NUMBER_RUN_HPP
