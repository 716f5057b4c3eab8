// section_pieces.hpp - a section of a file that is read piece by piece, where it is needed.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/object_bytes.hpp for large sections; through detail::late_bytes by readers
// Threads:  one
// Memory:   addresses for the whole section, in the given arena; memory only for the pieces read
//
// A program may have a hundred megabytes of debug information, but one address needs the entries of
// one unit and a few hundred names. The whole section has addresses, and its bytes are undefined
// until they are wanted. The file is opened for each reading, and must then still be the same file.
// A piece behind one that was read is read with the next ones: the code of a program is read in
// order.

#ifndef ALLOCSCOPE_SYMBOLS_SECTION_PIECES_HPP
#define ALLOCSCOPE_SYMBOLS_SECTION_PIECES_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/late_bytes.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/platform/file_reader.hpp>
#include <allocscope/platform/page_memory.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint8_t, uint64_t, uintptr_t
#include <cstring>  // memset

ALLOCSCOPE_COOL_BEGIN

namespace symbolize {

class section_pieces : public detail::late_bytes {
public:
    // The path must stay valid. Throws std::bad_alloc.
    section_pieces(arena& memory, const char* path, const detail::file_identity& identity,
                   std::uint64_t offset, std::uint64_t size)
        : late_bytes{&section_pieces::read},
          path_(path),
          identity_(identity),
          offset_(offset),
          size_(size),
          is_read_(memory) {
        constexpr std::uintptr_t rest = detail::page_bytes - 1;
        const auto begin =
            reinterpret_cast<std::uintptr_t>(memory.allocate(size + detail::page_bytes));
        bytes_ = reinterpret_cast<std::uint8_t*>((begin + rest) & ~rest);
        is_read_.resize((size + piece - 1) / piece);
    }

    ALLOCSCOPE_INLINE detail::byte_view bytes() const noexcept { return {bytes_, size_}; }

private:
    static constexpr std::uint64_t piece = detail::page_bytes;
    static constexpr std::size_t pieces_ahead = 16;  // if a section is read in order
    // The pages of larger sections are new, and zero. Others may have been used before.
    static constexpr std::uint64_t largest_reused = std::uint64_t{1} << 20;

    static void read(late_bytes& of, std::uint64_t offset, std::uint64_t size) {
        auto& self = static_cast<section_pieces&>(of);
        if (offset >= self.size_) return;
        if (size > self.size_ - offset) size = self.size_ - offset;
        std::size_t at = offset / piece;
        std::size_t end = (offset + size + piece - 1) / piece;
        const bool is_in_order = at != 0 && self.is_read_[at - 1] && !self.is_read_[at];
        if (is_in_order && end < at + pieces_ahead) {
            const std::size_t count = self.is_read_.size();
            end = at + pieces_ahead < count ? at + pieces_ahead : count;
        }
        while (at < end) {
            std::size_t behind = at;
            while (behind < end && !self.is_read_[behind]) self.is_read_[behind++] = true;
            if (behind != at) self.read_pieces(at, behind);
            at = behind + 1;
        }
    }

    // Bytes that cannot be read are zero, which readers take for unknown.
    void read_pieces(std::size_t begin, std::size_t end) const noexcept {
        const std::uint64_t from = begin * piece;
        const std::uint64_t bytes = (end * piece < size_ ? end * piece : size_) - from;
        const detail::file_reader file{path_};
        const bool is_same = file.is_open() && file.identity().equals(identity_);
        const std::uint64_t got = is_same ? file.read_at(offset_ + from, bytes_ + from, bytes) : 0;
        if (size_ <= largest_reused) std::memset(bytes_ + from + got, 0, bytes - got);
    }

    const char* path_;
    detail::file_identity identity_;
    std::uint64_t offset_;
    std::uint64_t size_;
    std::uint8_t* bytes_ = nullptr;
    list<bool> is_read_;  // of each piece
};

}  // namespace symbolize

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_SYMBOLS_SECTION_PIECES_HPP
