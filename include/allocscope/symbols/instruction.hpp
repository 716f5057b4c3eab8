// instruction.hpp - how long an x86_64 instruction is, and whether it jumps.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/machine_code.hpp, for each instruction of a function
// Threads:  any
// Memory:   none
//
//     | prefixes | REX, VEX or EVEX | opcode | ModRM | SIB | offset | operand |
//
// Format: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2: chapter 2
// (instruction format) and appendix A (opcode maps).

#ifndef ALLOCSCOPE_SYMBOLS_INSTRUCTION_HPP
#define ALLOCSCOPE_SYMBOLS_INSTRUCTION_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/byte_cursor.hpp>
#include <allocscope/plain/text.hpp>

#include <cstdint>  // uint8_t, uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// The distance of a long jump has four bytes, that of a short one has one.
enum class jump_kind : std::uint8_t { none, long_jump, short_jump, indirect };

struct instruction {
    static constexpr std::uint64_t most_bytes = 15;

    std::uint64_t bytes = 0;   // 0: it is not known, or does not end within the bytes
    std::uint64_t opcode = 0;  // where that is in them
    jump_kind jump = jump_kind::none;
};

// What follows each opcode:
//     m, M, W     ModRM; and a byte; and a word of four bytes, of two after the prefix 66
//     t, T        ModRM; and, if that says `test`, a byte; a word
//     i           ModRM, which may say `jmp`
//     b, w, h, e  a byte; a word; two bytes; three
//     q, a        a word, of eight bytes after REX.W; an address of eight, of four after 67
//     c, J, j     the distance of a call; of a long jump; of a short one
//     p, r, o     what this is a prefix of; the same (REX); the opcode of another map
//     -, .        nothing; no compiler writes it (8f is XOP of some processors)
inline char form_of_opcode(std::uint8_t opcode) noexcept {
    return "mmmmbw..mmmmbw.ommmmbw..mmmmbw..mmmmbwp.mmmmbwp.mmmmbwp.mmmmbwp."
           "rrrrrrrrrrrrrrrr----------------..omppppwWbM----jjjjjjjjjjjjjjjj"
           "MW.Mmmmmmmmmmmm.----------.-----aaaa----bw------bbbbbbbbqqqqqqqq"
           "MMh-ooMWe-h--b.-mmmm...-mmmmmmmmbbbbbbbbcJ.j----p-pp--tT------mi"[opcode];
}

// The same for those that follow 0f.
inline char form_of_second_opcode(std::uint8_t opcode) noexcept {
    return "mmmm.-----.-.m-Mmmmmmmmmmmmmmmmmmmmm....mmmmmmmm------.-........"
           "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmMMMMmmm-mmmmmmmm"
           "JJJJJJJJJJJJJJJJmmmmmmmmmmmmmmmm---mMm..---mMmmmmmmmmmmmmmMmmmmm"
           "mmMmMMMm--------mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"[opcode];
}

// Reads one instruction from its first byte on.
class instruction_reader {
public:
    explicit instruction_reader(const detail::byte_view& code) noexcept : in_{code} {}

    instruction read() noexcept {
        instruction found;
        std::uint8_t code = 0;
        char form = 0;
        do {
            code = in_.u8();
            form = form_of_opcode(code);
            if (code == 0x66) word_ = 2;
            if (code == 0x67) address_ = 4;
        } while (form == 'p');
        if (form == 'r') {
            is_wide_ = (code & 8U) != 0;
            if (is_wide_) word_ = 4;
            code = in_.u8();
            form = form_of_opcode(code);
        }
        found.opcode = in_.at() - 1;
        if (form == 'o') form = form_in_other_map(code);
        unsigned digit = 8;
        if (text{"mMWtTi"}.find(form) != text::npos) digit = read_operand();
        if (form == 'J') found.jump = jump_kind::long_jump;
        if (form == 'j') found.jump = jump_kind::short_jump;
        if (form == 'i' && digit == 4) found.jump = jump_kind::indirect;
        in_.skip(bytes_of_value(form, digit < 2));
        if (form != '.' && in_.ok()) found.bytes = in_.at();
        return found;
    }

private:
    // Reads past an opcode of another map; VEX and EVEX say of which.
    char form_in_other_map(std::uint8_t first) noexcept {
        unsigned map = 1;  // behind 0f; 2: behind 0f 38; 3: behind 0f 3a
        if (first == 0xc4 || first == 0x62) map = in_.u8() & 7U;
        if (first != 0x0f) in_.skip(first == 0x62 ? 2 : 1);
        std::uint8_t code = in_.u8();
        if (first == 0x0f && (code == 0x38 || code == 0x3a)) {
            map = code == 0x38 ? 2 : 3;
            code = in_.u8();
        }
        return map == 1 ? form_of_second_opcode(code) : map == 3 ? 'M' : 'm';
    }

    // Reads ModRM and what it asks for. Returns its middle bits, which manuals write as /4.
    unsigned read_operand() noexcept {
        const std::uint8_t byte = in_.u8();
        const unsigned mode = byte >> 6U;
        unsigned base = byte & 7U;
        if (mode != 3 && base == 4) base = in_.u8() & 7U;  // SIB
        if (mode == 1) in_.skip(1);
        if (mode == 2 || (mode == 0 && base == 5)) in_.skip(4);
        return byte >> 3U & 7U;
    }

    std::uint64_t bytes_of_value(char form, bool is_test) const noexcept {
        switch (form) {
            case 'b':
            case 'j':
            case 'M':
                return 1;
            case 't':
                return is_test ? 1 : 0;
            case 'h':
                return 2;
            case 'e':
                return 3;
            case 'c':
            case 'J':
                return 4;
            case 'w':
            case 'W':
                return word_;
            case 'T':
                return is_test ? word_ : 0;
            case 'q':
                return is_wide_ ? 8 : word_;
            case 'a':
                return address_;
            default:
                return 0;
        }
    }

    detail::byte_cursor in_;
    std::uint64_t word_ = 4;
    std::uint64_t address_ = 8;
    bool is_wide_ = false;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_INSTRUCTION_HPP
