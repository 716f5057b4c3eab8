// byte_view.hpp - a pointer and a length over memory that it does not own.
//
// Room:     base (floor 0), malloc-safe
// Called:   by all code that passes bytes to a reader: ELF sections, notes, debug information
// Threads:  any, as long as the memory stays
// Memory:   none
//
//     byte_view file{data, size};
//     byte_view header = file.part(0, 64);       // empty when the file is shorter than 64 bytes

#ifndef ALLOCSCOPE_BASE_BYTE_VIEW_HPP
#define ALLOCSCOPE_BASE_BYTE_VIEW_HPP

#include <allocscope/config.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint8_t, uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct byte_view {
    const std::uint8_t* data = nullptr;
    std::size_t size = 0;

    constexpr bool empty() const noexcept { return size == 0; }

    // The bytes [offset, offset + length), or nothing at all when any of them lies outside.
    constexpr byte_view part(std::uint64_t offset, std::uint64_t length) const noexcept {
        if (offset > size || length > size - offset) return byte_view{};
        return byte_view{data + offset, length};
    }

    // The bytes from `offset` to the end; nothing when `offset` lies outside.
    constexpr byte_view from(std::uint64_t offset) const noexcept {
        return offset > size ? byte_view{} : part(offset, size - offset);
    }
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BASE_BYTE_VIEW_HPP
