// eh_frame.hpp - reads the records of .eh_frame: the code that they describe, and their programs.
//
// Room:     binary (floor 2), malloc-safe
// Called:   by eh_frame_index.hpp and unwind/first_use.hpp, and for their programs by
//           unwind/cfi_to_rule.hpp
// Threads:  any
// Memory:   none
//
//     .eh_frame   | CIE | FDE | FDE | FDE | CIE | FDE | ... | 0
//                    ^--------------------- each FDE (one function) refers to its CIE (shared data)
//
// The bytes may be those of a file or in memory: `mapped_bytes` has the address at which they
// begin. They are not trusted: every read stops where the bytes end, a record refers to no record
// but one CIE, and anything unexpected is refused.
//
// The functions are not inlined into each other, because they run on the program's stack, which may
// be small.
//
//     frame_description about;
//     std::uint64_t next = 0;
//     if (read_frame_description(frames, fde, 0, about, next) == eh_record::description) ...

#ifndef ALLOCSCOPE_BINARY_EH_FRAME_HPP
#define ALLOCSCOPE_BINARY_EH_FRAME_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/byte_cursor.hpp>

#include <cstdint>  // int16_t ... uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// Bytes, and the address that pointers use for the first of them.
struct mapped_bytes {
    byte_view bytes;
    std::uint64_t address = 0;

    bool holds(std::uint64_t place) const noexcept { return place - address < bytes.size; }
};

// How a pointer is written: the low four bits are its form, the next three say what is added to it.
namespace eh_pointer {
constexpr std::uint8_t absolute = 0x00;
constexpr std::uint8_t uleb128 = 0x01;
constexpr std::uint8_t udata2 = 0x02;
constexpr std::uint8_t udata4 = 0x03;
constexpr std::uint8_t udata8 = 0x04;
constexpr std::uint8_t sleb128 = 0x09;
constexpr std::uint8_t sdata2 = 0x0a;
constexpr std::uint8_t sdata4 = 0x0b;
constexpr std::uint8_t sdata8 = 0x0c;
constexpr std::uint8_t form_mask = 0x0f;
constexpr std::uint8_t relative_to_field = 0x10;
constexpr std::uint8_t relative_to_data = 0x30;  // to the start of .eh_frame_hdr
constexpr std::uint8_t base_mask = 0xf0;         // bit 7: the address of the pointer itself
constexpr std::uint8_t omitted = 0xff;
}  // namespace eh_pointer

// The number as it is written; an unknown form marks the cursor as failed.
inline std::uint64_t read_eh_number(byte_cursor& in, std::uint8_t encoding) noexcept {
    switch (encoding & eh_pointer::form_mask) {
        case eh_pointer::absolute:
        case eh_pointer::udata8:
        case eh_pointer::sdata8:
            return in.u64();
        case eh_pointer::uleb128:
            return in.uleb();
        case eh_pointer::udata2:
            return in.u16();
        case eh_pointer::udata4:
            return in.u32();
        case eh_pointer::sleb128:
            return static_cast<std::uint64_t>(in.sleb());
        case eh_pointer::sdata2:
            return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int16_t>(in.u16())});
        case eh_pointer::sdata4:
            return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(in.u32())});
        default:
            in.fail();
            return 0;
    }
}

// Reads an address. `in` reads `from` from its start; relative_to_data pointers are relative to
// `data`.
inline std::uint64_t read_eh_pointer(byte_cursor& in, std::uint8_t encoding,
                                     const mapped_bytes& from, std::uint64_t data) noexcept {
    const std::uint64_t field = from.address + in.at();
    const std::uint64_t number = read_eh_number(in, encoding);
    switch (encoding & eh_pointer::base_mask) {
        case 0:
            return number;
        case eh_pointer::relative_to_field:
            return number + field;
        case eh_pointer::relative_to_data:
            return number + data;
        default:
            in.fail();
            return 0;
    }
}

enum class eh_record : std::uint8_t {
    description,  // an FDE
    common,       // a CIE
    end,          // a record of length 0
    odd           // not readable, or of an unknown kind
};

// The contents of one FDE together with its CIE.
struct frame_description {
    std::uint64_t begin = 0, end = 0;  // the code that it describes
    byte_view common_program, program;
    std::uint64_t code_factor = 1;
    std::int64_t data_factor = 1;
    std::uint8_t encoding = eh_pointer::absolute;
    bool is_signal_frame = false;
};

namespace eh_frame_detail {

// Where the contents of a record are, as offsets in the bytes.
struct record_bounds {
    std::uint64_t begin = 0;  // of the field that distinguishes a CIE
    std::uint64_t end = 0;
};

ALLOCSCOPE_NOINLINE eh_record read_bounds(const mapped_bytes& frames, std::uint64_t address,
                                          record_bounds& bounds, std::uint32_t& id) noexcept {
    byte_cursor in{frames.bytes, address - frames.address};
    const std::uint32_t length = in.u32();
    if (!in.ok()) return eh_record::odd;
    if (length == 0) return eh_record::end;
    // 0xffffffff announces a 64-bit length, which no tool writes into .eh_frame.
    if (length > in.remaining()) return eh_record::odd;
    bounds.begin = in.at();
    bounds.end = bounds.begin + length;
    id = in.u32();
    if (length < sizeof id) return eh_record::odd;
    return id == 0 ? eh_record::common : eh_record::description;
}

// Reads the letters after 'z', up to a 0, and the data of each letter.
inline bool read_augmentation(const std::uint8_t* letters, byte_cursor& in,
                              frame_description& out) noexcept {
    const std::uint64_t length = in.uleb();
    const std::uint64_t end = in.at() + length;
    if (length > in.remaining()) return false;
    for (; *letters != 0; ++letters) {
        switch (*letters) {
            case 'R':
                out.encoding = in.u8();
                break;
            case 'L':  // how the address of the exception table is written
                in.skip(1);
                break;
            case 'P':  // the personality function for exceptions
                read_eh_number(in, in.u8());
                break;
            case 'S':
                out.is_signal_frame = true;
                break;
            case 'B':  // return addresses are signed: on other processors only
                break;
            default:
                return false;
        }
    }
    if (!in.ok() || in.at() > end) return false;
    in.seek(end);
    return in.ok();
}

ALLOCSCOPE_NOINLINE bool read_common(const mapped_bytes& frames, std::uint64_t address,
                                     bool& has_augmentation, frame_description& out) noexcept {
    record_bounds bounds;
    std::uint32_t id = 0;
    if (read_bounds(frames, address, bounds, id) != eh_record::common) return false;
    byte_cursor in{frames.bytes.part(0, bounds.end), bounds.begin + sizeof id};
    const std::uint8_t version = in.u8();
    if (version != 1 && version != 3 && version != 4) return false;
    const std::uint8_t* const letters = frames.bytes.data + in.at() + 1;
    const std::uint8_t first = in.u8();
    if (first != 0 && first != 'z') return false;
    constexpr unsigned most_letters = 16;
    unsigned count = 0;
    for (std::uint8_t letter = first; letter != 0; letter = in.u8()) {
        if (++count > most_letters) return false;
    }
    if (!in.ok()) return false;
    if (version == 4 && (in.u8() != 8 || in.u8() != 0)) return false;  // address, segment
    out.code_factor = in.uleb();
    out.data_factor = in.sleb();
    constexpr std::uint64_t return_address_register = 16;
    if ((version == 1 ? in.u8() : in.uleb()) != return_address_register) return false;
    has_augmentation = first == 'z';
    if (has_augmentation && !read_augmentation(letters, in, out)) return false;
    if (!in.ok()) return false;
    out.common_program = frames.bytes.part(in.at(), bounds.end - in.at());
    return true;
}

// Reads what follows the reference to the CIE. `out` already has the contents of the CIE.
ALLOCSCOPE_NOINLINE bool read_function(const mapped_bytes& frames, const record_bounds& bounds,
                                       std::uint64_t data, bool has_augmentation,
                                       frame_description& out) noexcept {
    byte_cursor in{frames.bytes.part(0, bounds.end), bounds.begin + sizeof(std::uint32_t)};
    out.begin = read_eh_pointer(in, out.encoding, frames, data);
    const std::uint64_t length = read_eh_number(in, out.encoding);
    out.end = out.begin + length;
    if (has_augmentation) in.skip(in.uleb());
    if (!in.ok() || out.end < out.begin) return false;
    out.program = frames.bytes.part(in.at(), bounds.end - in.at());
    return true;
}

}  // namespace eh_frame_detail

// Reads the record at `address`. `out` is complete only for eh_record::description; `next` is where
// the next record begins, unless the record is odd or the end. Programs are not read.
inline eh_record read_frame_description(const mapped_bytes& frames, std::uint64_t address,
                                        std::uint64_t data, frame_description& out,
                                        std::uint64_t& next) noexcept {
    eh_frame_detail::record_bounds bounds;
    std::uint32_t id = 0;
    const eh_record kind = eh_frame_detail::read_bounds(frames, address, bounds, id);
    next = frames.address + bounds.end;
    if (kind != eh_record::description) return kind;
    out.encoding = eh_pointer::absolute;  // the record need not say it
    out.is_signal_frame = false;
    bool has_augmentation = false;
    if (id > bounds.begin) return eh_record::odd;  // the CIE would be before the bytes
    if (!eh_frame_detail::read_common(frames, frames.address + bounds.begin - id, has_augmentation,
                                      out)) {
        return eh_record::odd;
    }
    return eh_frame_detail::read_function(frames, bounds, data, has_augmentation, out)
               ? eh_record::description
               : eh_record::odd;
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_BINARY_EH_FRAME_HPP
