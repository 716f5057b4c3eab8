// Programs put functions around malloc that end the program if there is no memory. In a stripped
// program such a function has no name, and a row at its number says nothing:
//
//     call   malloc@plt
//     test   %rax,%rax
//     je     fails
//     add    $8,%rsp
//     ret
//
// The code is followed from the return address, along the way that it takes if there was memory. If
// it does nothing but restore registers, and returns what the call returned, the row belongs to the
// caller. Compilers may add a check that nobody has written over the frame:
//
//     mov    24(%rsp),%rdx
//     sub    %fs:0x28,%rdx
//     jne    fails
//
// Whatever else it does makes it a function like any other.
//
// Format: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.
#include "nameless_wrappers.hpp"

#include <allocscope/base/byte_view.hpp>
#include <allocscope/symbols/machine_code.hpp>

#include <cstdint>
#include <cstring>

namespace allocscope_tools {

namespace {

using namespace allocscope::symbolize;
using allocscope::detail::byte_view;

// What a function does after a call that returned a block of memory.
class way_back {
public:
    way_back(const machine_code& code, std::uint64_t return_address)
        : code_(code), at_(return_address) {}

    // Whether it only returns the block, on all ways that it may take. Jumps may go in circles, so
    // there may be as many instructions as `left` says.
    bool returns_the_block(int& left) {
        while (left-- > 0) {
            const step done = take_step(left);
            if (done != step::taken) return done == step::returned && holds(rax);
        }
        return false;
    }

private:
    enum class step { taken, returned, unknown };

    // What the processor's flags say of the last result.
    enum class result { unknown, zero, not_zero };

    static constexpr unsigned rax = 0;
    static constexpr unsigned rsp = 4;
    static constexpr unsigned rbp = 5;

    bool holds(unsigned number) const { return (holders_ >> number & 1U) != 0; }
    void set(unsigned number, bool holds_block) {
        holders_ = (holders_ & ~(1U << number)) | (holds_block ? 1U << number : 0U);
    }

    step take_step(int& left) {
        constexpr std::uint64_t longest = 15;  // bytes of an instruction
        const byte_view bytes = code_.bytes_at(at_, longest);
        if (bytes.empty()) return step::unknown;
        const std::uint8_t* code = bytes.data;
        if (const std::uint64_t idle = bytes_of_nop(code)) return go_on(idle);
        if (code[0] == 0xf3 && code[1] == 0xc3) return step::returned;
        if (code[0] == 0x64) return take_frame_check(code);
        const bool has_prefix = (code[0] & 0xf0U) == 0x40;
        const unsigned rex = has_prefix ? *code++ : 0U;
        const std::uint64_t before = has_prefix ? 1 : 0;
        const std::uint8_t operation = code[0];
        if (operation == 0xc3) return step::returned;
        if ((operation & 0xf8U) == 0x58) {  // pop
            set((operation & 7U) | (rex & 1U) << 3U, false);
            return go_on(before + 1);
        }
        if (operation == 0xc9) {  // leave
            set(rbp, false);
            return go_on(before + 1);
        }
        if (const step jump = take_jump(code, before, left); jump != step::unknown) return jump;
        return take_operands(code, rex, before);
    }

    // sub %fs:0x28, %rdx or xor: the word that the frame has a copy of, if it is as it was.
    step take_frame_check(const std::uint8_t* code) {
        constexpr std::uint8_t guard[] = {0x25, 0x28, 0, 0, 0};
        const bool is_wide = (code[1] & 0xf8U) == 0x48;
        const bool is_compared = code[2] == 0x2b || code[2] == 0x33;
        const bool is_of_guard =
            (code[3] & 0xc7U) == 4 && std::memcmp(code + 4, guard, sizeof guard) == 0;
        if (!is_wide || !is_compared || !is_of_guard) return step::unknown;
        set((code[3] >> 3U & 7U) | (code[1] & 4U) << 1U, false);
        last_ = result::zero;
        return go_on(4 + sizeof guard);
    }

    // A jump is one of one byte or four, and may have a condition. "If it is zero" is not taken
    // behind a test of the block, "if it is not" is, and the other way round behind a check of the
    // frame; of any other both ways are looked at.
    step take_jump(const std::uint8_t* code, std::uint64_t before, int& left) {
        const bool is_long_condition = code[0] == 0x0f && (code[1] & 0xf0U) == 0x80;
        const bool is_condition = is_long_condition || (code[0] & 0xf0U) == 0x70;
        const bool is_long = is_long_condition || code[0] == 0xe9;
        if (!is_condition && !is_long && code[0] != 0xeb) return step::unknown;
        const std::uint64_t head = is_long_condition ? 2 : 1;
        std::int64_t far = static_cast<std::int8_t>(code[head]);
        if (is_long) {
            std::int32_t four = 0;
            std::memcpy(&four, code + head, sizeof four);
            far = four;
        }
        const std::uint64_t behind = at_ + before + head + (is_long ? 4 : 1);
        const std::uint64_t target = behind + static_cast<std::uint64_t>(far);
        const unsigned condition = code[head - 1] & 15U;
        const bool is_certain = last_ != result::unknown && (condition & 14U) == 4;
        const bool is_zero = last_ == result::zero;
        const bool is_taken = !is_condition || (is_certain && (condition == 4) == is_zero);
        at_ = is_taken ? target : behind;
        if (!is_condition || is_certain) return step::taken;
        way_back other = *this;
        other.at_ = target;
        return other.returns_the_block(left) ? step::taken : step::unknown;
    }

    // Instructions with a byte that names two registers, or one and a part of the stack's pointer.
    step take_operands(const std::uint8_t* code, unsigned rex, std::uint64_t before) {
        const bool is_wide = (rex & 8U) != 0;
        const unsigned mode = code[1] >> 6U;
        const unsigned named = (code[1] >> 3U & 7U) | (rex & 4U) << 1U;
        const unsigned other = (code[1] & 7U) | (rex & 1U) << 3U;
        if (mode == 3) {
            switch (code[0]) {
                case 0x89:
                    return move(other, named, is_wide, before);
                case 0x8b:
                    return move(named, other, is_wide, before);
                case 0x85:  // test
                    last_ = tested(is_wide && named == other && holds(other));
                    return go_on(before + 2);
                case 0x09:  // or: with a block's address, it is not zero
                    if (other == rsp) return step::unknown;
                    last_ = tested(is_wide && (holds(named) || holds(other)));
                    set(other, false);
                    return go_on(before + 2);
                case 0x31:
                case 0x33:  // xor of a register with itself: it becomes zero
                    if (named != other || other == rsp) return step::unknown;
                    set(other, false);
                    return pass(before + 2);
                case 0x81:
                case 0x83:  // add
                    if (!is_wide || named % 8 != 0 || other != rsp) return step::unknown;
                    return pass(before + (code[0] == 0x83 ? 3 : 6));
                default:
                    return step::unknown;
            }
        }
        // lea -16(%rbp), %rsp
        const bool is_stack_end = code[0] == 0x8d && is_wide && named == rsp && other == rbp;
        if (is_stack_end && mode == 1) return go_on(before + 3);
        const std::uint64_t operand = bytes_of_frame_operand(code + 1, other, mode);
        if (code[0] != 0x8b || (rex & 2U) != 0 || named == rsp || operand == 0) {
            return step::unknown;
        }
        set(named, false);  // nothing has put the block into the frame
        return go_on(before + 1 + operand);
    }

    // The length of an operand like 8(%rsp) or -8(%rbp); 0: it is another one.
    static std::uint64_t bytes_of_frame_operand(const std::uint8_t* code, unsigned other,
                                                unsigned mode) {
        constexpr std::uint8_t only_rsp = 0x24;  // without an index
        const bool is_in_stack = other == rsp && code[1] == only_rsp;
        if (!is_in_stack && (other != rbp || mode == 0)) return 0;
        return (is_in_stack ? 2 : 1) + (mode == 0 ? 0 : mode == 1 ? 1 : 4);
    }

    static result tested(bool is_block) { return is_block ? result::not_zero : result::unknown; }

    step move(unsigned to, unsigned from, bool is_wide, std::uint64_t before) {
        if (to == rsp && from != rbp) return step::unknown;
        set(to, is_wide && holds(from));
        return go_on(before + 2);
    }

    // An instruction that leaves the result of a test as it is.
    step go_on(std::uint64_t bytes) {
        at_ += bytes;
        return step::taken;
    }
    // Any other.
    step pass(std::uint64_t bytes) {
        last_ = result::unknown;
        return go_on(bytes);
    }

    // The length of an instruction that does nothing; 0: it is another one.
    static std::uint64_t bytes_of_nop(const std::uint8_t* code) {
        std::uint64_t at = 0;
        while (at < 6 && (code[at] == 0x66 || code[at] == 0x2e)) ++at;
        if (code[at] == 0x90) return at + 1;
        if (code[at] != 0x0f || code[at + 1] != 0x1f) return 0;
        const std::uint8_t operand = code[at + 2];
        const std::uint64_t scale = (operand & 7U) == 4 ? 1 : 0;
        const unsigned mode = operand >> 6U;
        if (mode == 3 || (mode == 0 && (operand & 7U) != 0 && scale == 0)) return 0;
        return at + 3 + scale + (mode == 0 ? 0 : mode == 1 ? 1 : 4);
    }

    const machine_code& code_;
    std::uint64_t at_;
    unsigned holders_ = 1U << rax;  // the registers that have the block's address
    result last_ = result::unknown;
};

}  // namespace

bool hands_on_block(const machine_code& code, std::uint64_t return_address) {
    int most_instructions = 64;
    return way_back{code, return_address}.returns_the_block(most_instructions);
}

}  // namespace allocscope_tools
