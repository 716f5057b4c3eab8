// eh_frame_index.hpp - finds the .eh_frame record for an address in code.
//
// Room:     binary (floor 2), malloc-safe
// Called:   by unwind/cfi_to_rule.hpp and unwind/first_use.hpp
// Threads:  any
// Memory:   none
//
// The linker puts a sorted table into .eh_frame_hdr, so a search takes about 15 comparisons:
//
//     .eh_frame_hdr   | 1 | three encodings | .eh_frame | count | {code, FDE} {code, FDE} ...
//                                               4 bytes each, counted from .eh_frame_hdr
//
// If the table is missing or has another form, .eh_frame is read from its start, up to a limit.
//
//     frame_description about;
//     if (find_frame_description(image, pc - 1, about) == fde_search::found) ...

#ifndef ALLOCSCOPE_BINARY_EH_FRAME_INDEX_HPP
#define ALLOCSCOPE_BINARY_EH_FRAME_INDEX_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/byte_cursor.hpp>
#include <allocscope/binary/eh_frame.hpp>

#include <cstdint>  // int32_t, int64_t, uint8_t, uint64_t
#include <cstring>  // memcpy

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// The unwind tables of one module. The two segments are the same one in nearly every module.
struct eh_frame_image {
    mapped_bytes index;               // the segment that holds .eh_frame_hdr
    std::uint64_t index_address = 0;  // where .eh_frame_hdr begins
    mapped_bytes frames;              // the segment that holds .eh_frame
    mapped_bytes code;                // the segment that holds the code that is asked for, or empty
};

struct eh_frame_header {
    bool is_valid = false;
    std::uint64_t frames_address = 0;
    byte_view table;  // of `entry_bytes` each; empty if it cannot be searched
};

constexpr std::uint64_t eh_frame_entry_bytes = 8;

inline eh_frame_header read_eh_frame_header(const mapped_bytes& index,
                                            std::uint64_t address) noexcept {
    eh_frame_header header;
    byte_cursor in{index.bytes, address - index.address};
    const std::uint8_t version = in.u8();
    const std::uint8_t frames_encoding = in.u8();
    const std::uint8_t count_encoding = in.u8();
    const std::uint8_t table_encoding = in.u8();
    if (version != 1 || frames_encoding == eh_pointer::omitted) return header;
    header.frames_address = read_eh_pointer(in, frames_encoding, index, address);
    header.is_valid = in.ok();
    if (count_encoding == eh_pointer::omitted ||
        table_encoding != (eh_pointer::relative_to_data | eh_pointer::sdata4)) {
        return header;
    }
    const std::uint64_t count = read_eh_pointer(in, count_encoding, index, address);
    if (!in.ok() || count > in.remaining() / eh_frame_entry_bytes) return header;
    header.table = in.block(count * eh_frame_entry_bytes);
    return header;
}

enum class fde_search : std::uint8_t {
    found,
    none,       // no record describes this address
    unreadable  // there may be one
};

namespace eh_frame_detail {

constexpr unsigned most_scanned_records = 10000;

// The number at `index` of the pairs, which is in the table; `which` is 0 for the code, 4 for the
// record.
ALLOCSCOPE_INLINE std::int32_t table_number(const byte_view& table, std::uint64_t index,
                                            unsigned which) noexcept {
    std::int32_t number = 0;
    std::memcpy(&number, table.data + index * eh_frame_entry_bytes + which, sizeof number);
    return number;
}

// Finds the record for `code`, if there is one: the last that does not begin after it.
ALLOCSCOPE_NOINLINE fde_search locate_record(const eh_frame_image& image, std::uint64_t code,
                                             bool& must_scan, std::uint64_t& address) noexcept {
    const eh_frame_header header = read_eh_frame_header(image.index, image.index_address);
    must_scan = header.table.empty();
    address = header.frames_address;
    if (!header.is_valid) return fde_search::unreadable;
    if (must_scan) return fde_search::found;
    // An address counts as signed, because code may come before the table.
    const auto wanted = static_cast<std::int64_t>(code - image.index_address);
    std::uint64_t low = 0;
    std::uint64_t high = header.table.size / eh_frame_entry_bytes;
    while (low != high) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (table_number(header.table, middle, 0) <= wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) return fde_search::none;
    const std::int64_t offset = table_number(header.table, low - 1, 4);
    address = image.index_address + static_cast<std::uint64_t>(offset);
    return fde_search::found;
}

}  // namespace eh_frame_detail

// The record that describes the instruction at `code`.
ALLOCSCOPE_NOINLINE fde_search find_frame_description(const eh_frame_image& image,
                                                      std::uint64_t code,
                                                      frame_description& out) noexcept {
    bool must_scan = false;
    std::uint64_t at = 0;
    const fde_search answer = eh_frame_detail::locate_record(image, code, must_scan, at);
    if (answer != fde_search::found) return answer;
    for (unsigned i = 0; i < eh_frame_detail::most_scanned_records; ++i) {
        // A section need not end with a record of length 0.
        if (at - image.frames.address == image.frames.bytes.size) return fde_search::none;
        std::uint64_t next = 0;
        const eh_record kind =
            read_frame_description(image.frames, at, image.index_address, out, next);
        const bool is_function = kind == eh_record::description;
        if (is_function && code - out.begin < out.end - out.begin) return fde_search::found;
        if (!must_scan) return is_function ? fde_search::none : fde_search::unreadable;
        if (kind == eh_record::end) return fde_search::none;
        if (kind == eh_record::odd) break;
        at = next;
    }
    return fde_search::unreadable;
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_BINARY_EH_FRAME_INDEX_HPP
