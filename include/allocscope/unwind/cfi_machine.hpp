// cfi_machine.hpp - runs the program that .eh_frame holds for a function.
//
// Room:     unwind (floor 3), malloc-safe
// Called:   by cfi_to_rule.hpp
// Threads:  a machine belongs to one thread
// Memory:   200 bytes, on the stack
//
// The program (call frame information) fills a table with one row for each stretch of the
// function's code. A row says where the caller's registers are. The machine runs the program up to
// the wanted row, and keeps of each row only the stack pointer, rbp and the return address. It
// stops at anything that is wrong or not supported here: unknown operations, rows remembered more
// than 8 deep, programs of more than 1 MiB.
//
//     cfi_machine machine{image.frames, image.index_address, about};
//     if (machine.run_to(pc - 1)) use(machine.row());

#ifndef ALLOCSCOPE_UNWIND_CFI_MACHINE_HPP
#define ALLOCSCOPE_UNWIND_CFI_MACHINE_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/byte_cursor.hpp>
#include <allocscope/binary/eh_frame.hpp>
#include <allocscope/unwind/cfi_rows.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int16_t ... uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// Runs the program of one function. Operations are numbered as in the DWARF standard.
class cfi_machine {
public:
    cfi_machine(const mapped_bytes& frames, std::uint64_t data,
                const frame_description& about) noexcept
        : frames_(frames), data_(data), about_(about) {}

    // Finds the row for the instruction at `code`, which must be in the function. Returns false
    // when the program cannot be followed.
    ALLOCSCOPE_INLINE bool run_to(std::uint64_t code) noexcept {
        rows_.wanted = ~std::uint64_t{0};
        if (!run(about_.common_program)) return false;
        first_ = rows_.row;
        rows_.kept_count = 0;
        rows_.location = about_.begin;
        rows_.wanted = code;
        return run(about_.program);
    }

    ALLOCSCOPE_INLINE const cfi_row& row() const noexcept { return rows_.row; }

private:
    static constexpr std::size_t most_bytes = std::size_t{1} << 20U;
    static constexpr std::uint8_t operation_dereference = 0x06;
    static constexpr std::uint8_t operation_plus = 0x23;  // a number that follows
    static constexpr std::uint8_t operation_bp = 0x76;    // bp plus an offset
    static constexpr std::uint8_t operation_sp = 0x77;
    static constexpr std::uint64_t register_bp = 6;
    static constexpr std::uint64_t register_sp = 7;
    static constexpr std::uint64_t register_return_address = 16;

    bool run(const byte_view& program) noexcept {
        if (program.size > most_bytes) return false;
        program_ = &program;
        in_ = byte_cursor{program};
        const bool has_usual_factors = about_.code_factor == 1 && about_.data_factor == -8;
        while (!in_.at_end() && !is_past_) {
            if (has_usual_factors) take_usual();
            if (!in_.at_end()) step();
        }
        return in_.ok();
    }

    ALLOCSCOPE_INLINE void take_usual() noexcept {
        const byte_view& bytes = *program_;
        const std::uint8_t* const next =
            take_usual_steps(rows_, bytes.data + in_.at(), bytes.data + bytes.size);
        in_.seek(static_cast<std::uint64_t>(next - bytes.data));
    }

    ALLOCSCOPE_INLINE void step() noexcept {
        const std::uint8_t code = in_.next();
        const std::uint8_t low = code & 0x3fU;
        switch (code >> 6U) {
            case 1:
                return advance(low);
            case 2:
                return save(low, in_.uleb(), false);
            case 3:
                return restore(low);
            default:
                break;
        }
        switch (code) {
            case 0x00:  // nothing
                return;
            case 0x01:  // go to an address
                return go_to();
            case 0x02:
                return advance(in_.u8());
            case 0x03:
                return advance(in_.u16());
            case 0x04:
                return advance(in_.u32());
            case 0x0a:  // remember the row
                return keep();
            case 0x0b:  // go back to it
                return go_back();
            case 0x0c: {
                const std::uint64_t number = in_.uleb();
                set_base(number);
                return set_offset(static_cast<std::int64_t>(in_.uleb()));
            }
            case 0x0d:
                return set_base(in_.uleb());
            case 0x0e:
                return set_offset(static_cast<std::int64_t>(in_.uleb()));
            case 0x0f:  // an expression
                return set_base_expression(in_.block(in_.uleb()));
            case 0x12: {
                const std::uint64_t number = in_.uleb();
                set_base(number);
                return set_offset(scaled(in_.sleb()));
            }
            case 0x13:
                return set_offset(scaled(in_.sleb()));
            case 0x2e:  // how many bytes of arguments there are: for landing pads
                in_.uleb();
                return;
            default:
                return step_of_register(code);
        }
    }

    // The operations whose first operand is the number of a register.
    void step_of_register(std::uint8_t code) noexcept {
        const std::uint64_t number = in_.uleb();
        switch (code) {
            case 0x05:
                return save(number, in_.uleb(), false);
            case 0x06:
                return restore(number);
            case 0x07:
                return set_place(number, cfi_row::place::undefined);
            case 0x08:
                return set_place(number, cfi_row::place::unchanged);
            case 0x09:  // in another register
                in_.uleb();
                return set_place(number, cfi_row::place::other);
            case 0x10:  // where an expression says
                return save_expression(number, in_.block(in_.uleb()));
            case 0x16:  // what an expression says
                in_.skip(in_.uleb());
                return set_place(number, cfi_row::place::other);
            case 0x11:
                return save(number, static_cast<std::uint64_t>(in_.sleb()), false);
            case 0x14:  // the address itself, not what is there
            case 0x15:
                in_.uleb();  // a signed number is as long as an unsigned one
                return set_place(number, cfi_row::place::other);
            case 0x2f:  // at a negative offset
                return save(number, in_.uleb(), true);
            default:
                in_.fail();
        }
    }

    void advance(std::uint64_t distance) noexcept {
        std::uint64_t bytes = 0;
        std::uint64_t next = 0;
        if (__builtin_mul_overflow(distance, about_.code_factor, &bytes) ||
            __builtin_add_overflow(rows_.location, bytes, &next)) {
            in_.fail();
            return;
        }
        move_to(next);
    }

    ALLOCSCOPE_INLINE void go_to() noexcept {
        const auto offset = static_cast<std::uint64_t>(program_->data - frames_.bytes.data);
        const std::uint64_t next = read_eh_pointer(
            in_, about_.encoding, mapped_bytes{*program_, frames_.address + offset}, data_);
        if (next < rows_.location) {
            in_.fail();
            return;
        }
        move_to(next);
    }

    void move_to(std::uint64_t next) noexcept {
        if (next > rows_.wanted) {
            is_past_ = true;
        } else {
            rows_.location = next;
        }
    }

    void keep() noexcept {
        if (rows_.kept_count == cfi_rows::most_kept) {
            in_.fail();
        } else {
            rows_.kept[rows_.kept_count++] = rows_.row;
        }
    }

    void go_back() noexcept {
        if (rows_.kept_count == 0) {
            in_.fail();
        } else {
            rows_.row = rows_.kept[--rows_.kept_count];
        }
    }

    std::int64_t scaled(std::int64_t number) noexcept {
        std::int64_t product = 0;
        if (__builtin_mul_overflow(number, about_.data_factor, &product)) in_.fail();
        return product;
    }

    void set_base(std::uint64_t number) noexcept {
        rows_.row.cfa_from = number == register_sp   ? cfi_row::base::sp
                             : number == register_bp ? cfi_row::base::bp
                                                     : cfi_row::base::other;
    }

    void set_offset(std::int64_t offset) noexcept {
        rows_.row.cfa_offset = static_cast<std::int32_t>(offset);
        if (rows_.row.cfa_offset != offset) in_.fail();
    }

    // Two expressions are supported for the CFA. For a function that aligns its stack, gcc writes
    // "the word at bp + offset" (and "at bp + offset" for the saved bp). OpenSSL's assembler writes
    // "the word at sp + offset, plus 8" instead, where the word is sp as it was on entry.
    void set_base_expression(const byte_view& expression) noexcept {
        std::int64_t offset = 0;
        const std::uint8_t* const end = expression.data + expression.size;
        rows_.row.cfa_from = cfi_row::base::other;
        if (is_at(operation_bp, expression, 1, offset) && end[-1] == operation_dereference) {
            rows_.row.cfa_from = cfi_row::base::word_at_bp;
        } else if (is_at(operation_sp, expression, 3, offset) && end[-3] == operation_dereference &&
                   end[-2] == operation_plus && end[-1] == 8) {
            rows_.row.cfa_from = cfi_row::base::word_at_sp;
        }
        rows_.row.cfa_offset = static_cast<std::int32_t>(offset);
        if (rows_.row.cfa_offset != offset) rows_.row.cfa_from = cfi_row::base::other;
    }

    ALLOCSCOPE_INLINE void save_expression(std::uint64_t number,
                                           const byte_view& expression) noexcept {
        std::int64_t offset = 0;
        if (number != register_bp || !is_at(operation_bp, expression, 0, offset)) {
            return set_place(number, cfi_row::place::other);
        }
        rows_.row.bp_offset = static_cast<std::int16_t>(offset);
        const bool fits = rows_.row.bp_offset == offset;
        rows_.row.bp = fits ? cfi_row::place::at_bp : cfi_row::place::other;
    }

    // Whether the expression is that register + offset, followed by `rest` bytes.
    static bool is_at(std::uint8_t operation, const byte_view& expression, std::size_t rest,
                      std::int64_t& offset) noexcept {
        byte_cursor in{expression};
        if (in.u8() != operation) return false;
        const std::int64_t number = in.sleb();
        if (!in.ok() || in.remaining() != rest) return false;
        offset = number;
        return true;
    }

    void save(std::uint64_t number, std::uint64_t factor, bool is_negative) noexcept {
        std::int64_t offset = scaled(static_cast<std::int64_t>(factor));
        if (is_negative && __builtin_sub_overflow(std::int64_t{0}, offset, &offset)) in_.fail();
        if (number == register_bp) {
            rows_.row.bp_offset = static_cast<std::int16_t>(offset);
            const bool fits = rows_.row.bp_offset == offset;
            rows_.row.bp = fits ? cfi_row::place::saved : cfi_row::place::other;
        } else {
            set_place(number, offset == -8 ? cfi_row::place::saved : cfi_row::place::other);
        }
    }

    ALLOCSCOPE_INLINE void set_place(std::uint64_t number, cfi_row::place where) noexcept {
        if (number == register_bp) {
            rows_.row.bp = where;
        } else if (number == register_return_address) {
            rows_.row.return_address = where;
        } else if (number == register_sp && where != cfi_row::place::unchanged) {
            in_.fail();  // the caller's sp would not be the CFA
        }
    }

    // Sets the register as the common program left it.
    void restore(std::uint64_t number) noexcept {
        if (number == register_bp) {
            rows_.row.bp = first_.bp;
            rows_.row.bp_offset = first_.bp_offset;
        } else if (number == register_return_address) {
            rows_.row.return_address = first_.return_address;
        }
    }

    const mapped_bytes& frames_;
    std::uint64_t data_;
    const frame_description& about_;
    const byte_view* program_ = nullptr;  // the program that is running
    byte_cursor in_;
    bool is_past_ = false;  // the wanted row is complete
    cfi_rows rows_;
    cfi_row first_;
};

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_UNWIND_CFI_MACHINE_HPP
