// late_bytes.hpp - bytes of a section that are read from its file only when they are needed.
//
// Room:     binary (floor 2), malloc-safe
// Called:   by dwarf_units.hpp and the readers of entries and lines in symbols/
// Threads:  those of the readers
// Memory:   none
//
// Before a reader uses part of a large section of a file, it must ask for it; until then the bytes
// are zero.
//
//     want(sections.late_info, unit.offset, unit.end - unit.offset);

#ifndef ALLOCSCOPE_BINARY_LATE_BYTES_HPP
#define ALLOCSCOPE_BINARY_LATE_BYTES_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <cstring>  // memchr

ALLOCSCOPE_COOL_BEGIN

namespace detail {

struct late_bytes {
    // Reads these bytes, as far as they exist.
    void (*read)(late_bytes& of, std::uint64_t offset, std::uint64_t size);
};

// Null if all bytes have been read.
inline void want(late_bytes* of, std::uint64_t offset, std::uint64_t size) {
    if (of != nullptr) of->read(*of, offset, size);
}

// Asks for a text in `whole` that ends with a zero byte, of at most `longest` bytes. Its neighbours
// are read as well, because they are often names of the same unit.
ALLOCSCOPE_NOINLINE void want_text(late_bytes* of, byte_view whole, std::uint64_t offset,
                                   std::size_t longest) {
    constexpr std::uint64_t neighbours = 16384;
    if (of == nullptr || offset >= whole.size) return;
    std::uint64_t end = offset - offset % neighbours;
    do {
        want(of, end, neighbours);
        end += neighbours;
        if (end > whole.size) end = whole.size;
        if (std::memchr(whole.data + offset, 0, end - offset) != nullptr) return;
    } while (end < whole.size && end - offset < longest);
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_BINARY_LATE_BYTES_HPP
