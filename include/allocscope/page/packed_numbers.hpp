// packed_numbers.hpp - a list of numbers as a JSON string of few characters.
//
// Room:     page (floor 10), not malloc-safe
// Called:   by page/page_data.hpp; tools/page/1_data.js reads the strings
// Threads:  one
// Memory:   of the text that is written to
//
//     packed_numbers list{out, flow};       // out: "
//     list.add(5);                          // out: "F
//     list.add(32);                         // out: "FgB
//     list.add(1, true);                    // out: "FgB-B
//     list.end();                           // out: "FgB-B"
//
// A character has five bits of a number, the lowest first. A number ends with one of the first 32
// characters of the alphabet. A million rows have forty million numbers: in decimals with commas
// they take nearly twice as many characters, and a browser longer to read them.

#ifndef ALLOCSCOPE_PAGE_PACKED_NUMBERS_HPP
#define ALLOCSCOPE_PAGE_PACKED_NUMBERS_HPP

#include <allocscope/config.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_flow.hpp>
#include <allocscope/plain/text_out.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class packed_numbers {
public:
    packed_numbers(text_out& out, text_flow flow) noexcept : out_(out), flow_(flow) {
        *at_++ = '"';
    }

    void add(std::uint64_t number, bool is_negative = false) {
        if (static_cast<std::size_t>(gathered_ + sizeof gathered_ - at_) < longest + 2) hand_on();
        if (is_negative) *at_++ = '-';
        for (; number >= 32; number >>= 5U) *at_++ = alphabet[32 + (number & 31U)];
        *at_++ = alphabet[number];
    }
    // Call it after the last number.
    void end() {
        *at_++ = '"';
        hand_on();
    }

private:
    static constexpr char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static constexpr std::size_t longest = 13;

    void hand_on() {
        out_ << text{gathered_, static_cast<std::size_t>(at_ - gathered_)};
        at_ = gathered_;
        flow_.may_go(flow_.whom);
    }

    text_out& out_;
    const text_flow flow_;
    char gathered_[4096];
    char* at_ = gathered_;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PAGE_PACKED_NUMBERS_HPP
