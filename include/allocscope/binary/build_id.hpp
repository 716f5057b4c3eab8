// build_id.hpp - finds the linker's fingerprint of a file in its notes.
//
// Room:     binary (floor 2), malloc-safe
// Called:   by unwind/ and symbols/ with the notes of a module in memory, by symbols/ with those of
//           its file
// Threads:  any
// Memory:   none
//
// A file may be replaced while its process runs. The names in the file belong to the running code
// only if the fingerprint in memory equals that of the file.

#ifndef ALLOCSCOPE_BINARY_BUILD_ID_HPP
#define ALLOCSCOPE_BINARY_BUILD_ID_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/byte_cursor.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint8_t, uint32_t
#include <cstring>  // memcmp, memcpy

ALLOCSCOPE_COLD_BEGIN

namespace detail {

struct build_id {
    static constexpr std::size_t longest = 64;
    std::uint8_t bytes[longest] = {};
    std::size_t size = 0;  // 0: the module has none

    ALLOCSCOPE_PURE bool known() const noexcept { return size != 0; }
    ALLOCSCOPE_PURE bool equals(const build_id& other) const noexcept {
        return size == other.size && std::memcmp(bytes, other.bytes, size) == 0;
    }
};

// The first GNU build id among `notes` (a PT_NOTE segment or a SHT_NOTE section).
inline build_id find_build_id(byte_view notes) noexcept {
    constexpr std::uint32_t type_build_id = 3;
    build_id found;
    byte_cursor in{notes};
    while (in.remaining() >= 12) {
        const std::uint32_t name_bytes = in.u32();
        const std::uint32_t value_bytes = in.u32();
        const std::uint32_t type = in.u32();
        const byte_view name = in.block(name_bytes);
        in.skip((4 - (name_bytes & 3)) & 3);
        const byte_view value = in.block(value_bytes);
        if (!in.ok()) break;
        if (type == type_build_id && name.size == 4 && std::memcmp(name.data, "GNU", 4) == 0 &&
            value.size != 0 && value.size <= build_id::longest) {
            std::memcpy(found.bytes, value.data, value.size);
            found.size = value.size;
            break;
        }
        in.skip((4 - (value_bytes & 3)) & 3);
    }
    return found;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_BINARY_BUILD_ID_HPP
