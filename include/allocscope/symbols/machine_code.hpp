// machine_code.hpp - where the x86_64 calls and jumps in the code of a module lead.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/module_functions.hpp, folded_functions.hpp, function_exits.hpp,
//           debug_object.hpp and symbolizer.hpp; by tools/
// Threads:  one
// Memory:   the pieces of .text that were looked at
//
// An instruction is read backwards from the address behind it, as a return address has it. Before
// any other address there only may be that instruction: its bytes may belong to others.
//
// Format: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2: CALL (E8, FF /2),
// JMP (E9, EB, FF /4) and Jcc (0F 80 to 0F 8F, 70 to 7F).

#ifndef ALLOCSCOPE_SYMBOLS_MACHINE_CODE_HPP
#define ALLOCSCOPE_SYMBOLS_MACHINE_CODE_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/elf_image.hpp>
#include <allocscope/binary/late_bytes.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/symbols/instruction.hpp>
#include <allocscope/symbols/object_bytes.hpp>
#include <allocscope/symbols/rare_forms.hpp>

#include <cstdint>  // int32_t, int64_t, uint8_t, uint64_t
#include <cstring>  // memcpy

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

class machine_code {
public:
    static constexpr std::uint64_t call_bytes = 5;        // of a direct call, and of a long jump
    static constexpr std::uint64_t short_jump_bytes = 2;  // also of a jump by a register

    machine_code(arena& memory, const object_bytes& object) {
        const detail::elf_section* section = object.find(".text");
        if (section == nullptr) return;
        begin_ = section->address;
        code_ = object.read(memory, section, object_bytes::largest_read, &late_);
    }

    // What the call before a return address leads to.
    code_target called_by(std::uint64_t return_address) const {
        const std::uint64_t direct = called_before(return_address);
        if (direct != 0) return {direct, false};
        return {word_before(return_address, call_of_word), true};
    }

    // The address that a direct call, a jump of five bytes (or six, with a condition) or a jump of
    // two leads to; 0: that is not the instruction.
    std::uint64_t called_before(std::uint64_t behind) const {
        const detail::byte_view bytes = code_before(behind, call_bytes);
        if (bytes.empty() || *bytes.data != call) return 0;
        return led_to(behind, bytes.data + 1);
    }
    std::uint64_t long_jump_before(std::uint64_t behind) const {
        const detail::byte_view bytes = code_before(behind, call_bytes + 1);
        if (bytes.empty()) return 0;
        const bool is_conditional = bytes.data[0] == 0x0f && (bytes.data[1] & 0xf0U) == 0x80;
        if (bytes.data[1] != jump && !is_conditional) return 0;
        return led_to(behind, bytes.data + 2);
    }
    std::uint64_t short_jump_before(std::uint64_t behind) const {
        const detail::byte_view bytes = code_before(behind, short_jump_bytes);
        if (bytes.empty()) return 0;
        if (bytes.data[0] != 0xeb && (bytes.data[0] & 0xf0U) != 0x70) return 0;
        const auto distance = static_cast<std::int8_t>(bytes.data[1]);
        return behind + static_cast<std::uint64_t>(std::int64_t{distance});
    }

    // The address of the word that says where a jump leads, as with -fno-plt; 0: that is not the
    // instruction.
    ALLOCSCOPE_INLINE std::uint64_t jump_word_before(std::uint64_t behind) const {
        return word_before(behind, jump_to_word);
    }

    // The instruction that begins at an address; `end` is where its function ends.
    instruction instruction_at(std::uint64_t address, std::uint64_t end) const {
        const std::uint64_t most = instruction::most_bytes;
        const std::uint64_t left = end - address;
        return instruction_reader{bytes_at(address, left < most ? left : most)}.read();
    }

    // Whether a jump to where a register says is that of a `switch`: it leads to the sum of its
    // table and an entry, so the code before it adds two registers: `add %rcx,%rax`. A prefix,
    // of `notrack` or of a high register, may be between them. `opcode` is where that of the jump
    // is.
    bool is_jump_of_switch(std::uint64_t opcode) const {
        constexpr std::uint64_t add_bytes = 3;
        const detail::byte_view jump_bytes = bytes_at(opcode, short_jump_bytes);
        if (jump_bytes.empty()) return false;
        const unsigned way = jump_bytes.data[1];
        const detail::byte_view prefixes = code_before(opcode, 2);
        bool is_high = false;
        for (int i = 1; i >= 0 && !prefixes.empty(); --i, --opcode) {
            if (prefixes.data[i] == 0x41) is_high = true;
            if (prefixes.data[i] != 0x41 && prefixes.data[i] != 0x3e) break;
        }
        const detail::byte_view sum = code_before(opcode, add_bytes);
        return !sum.empty() && (sum.data[0] | 4U) == (is_high ? 0x4dU : 0x4cU) &&
               sum.data[1] == 1 && way >= 0xe0U && (sum.data[2] & 0xc7U) == way - 0x20U;
    }

    // Whether a jump to the address may be one to another module: linkers put their stubs close to
    // the code.
    bool may_be_stub(std::uint64_t target) const {
        constexpr std::uint64_t close = 1U << 20U;
        const bool is_code = target - begin_ < code_.size;
        return !is_code && target - (begin_ - close) < code_.size + 2 * close;
    }

    // Whether the code from `begin` to `end` calls what the call before a return address calls, or
    // jumps to it. True also if that is not known.
    bool calls_the_same(std::uint64_t begin, std::uint64_t end,
                        std::uint64_t return_address) const {
        const std::uint64_t called = called_before(return_address);
        if (called == 0) return true;
        for (std::uint64_t at = begin + call_bytes; at <= end; ++at) {
            if (called_before(at) == called || long_jump_before(at) == called) return true;
        }
        return false;
    }

    // Calls `visit` with each address behind what may be a direct jump to `target`. This takes all
    // code, 3 ms for each MiB, so a very large module is left alone.
    template <class Visit>
    void visit_jumps_to(std::uint64_t target, Visit&& visit) const {
        constexpr std::uint64_t most_bytes = std::uint64_t{16} << 20U;
        if (code_.size > most_bytes) return;
        const detail::byte_view all = bytes_at(begin_, code_.size);
        for (std::uint64_t i = call_bytes + 1; i <= all.size; ++i) {
            const std::uint64_t at = begin_ + i;
            // Hardly any bytes are the distance of a long jump.
            if (led_to(at, all.data + i - 4) == target && long_jump_before(at) == target) visit(at);
            const bool is_near = at - target + 0x80 <= 0x100;
            if (is_near && short_jump_before(at) == target) visit(at);
        }
    }

    // The `count` bytes of code from an address on; none if they are not all in .text.
    detail::byte_view bytes_at(std::uint64_t address, std::uint64_t count) const {
        const std::uint64_t offset = address - begin_;
        const detail::byte_view bytes = code_.part(offset, count);
        if (!bytes.empty()) detail::want(late_, offset, count);
        return bytes;
    }

private:
    static constexpr std::uint8_t call = 0xe8;
    static constexpr std::uint8_t jump = 0xe9;
    static constexpr std::uint8_t indirect = 0xff;
    static constexpr std::uint8_t call_of_word = 0x15;
    static constexpr std::uint8_t jump_to_word = 0x25;

    std::uint64_t word_before(std::uint64_t behind, std::uint8_t kind) const {
        const detail::byte_view bytes = code_before(behind, call_bytes + 1);
        if (bytes.empty() || bytes.data[0] != indirect || bytes.data[1] != kind) return 0;
        return led_to(behind, bytes.data + 2);
    }

    // An instruction that ends at `behind` has the distance in its last four bytes.
    static ALLOCSCOPE_INLINE std::uint64_t led_to(std::uint64_t behind,
                                                  const unsigned char* last_four) {
        std::int32_t distance = 0;
        std::memcpy(&distance, last_four, sizeof distance);
        return behind + static_cast<std::uint64_t>(std::int64_t{distance});
    }

    ALLOCSCOPE_INLINE detail::byte_view code_before(std::uint64_t behind,
                                                    std::uint64_t count) const {
        return bytes_at(behind - count, count);
    }

    detail::byte_view code_;
    detail::late_bytes* late_ = nullptr;  // null: all of the code has been read
    std::uint64_t begin_ = 0;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_MACHINE_CODE_HPP
