// object_bytes.hpp - the bytes of one ELF file; each section is read when it is asked for.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by everything in symbols/ that reads a file, and by the command-line program
// Threads:  one
// Memory:   the table of sections, and the sections that were asked for, each in the given arena;
//           the file is not kept open
//
// The file is opened again for every section, and must then still be the same file.

#ifndef ALLOCSCOPE_SYMBOLS_OBJECT_BYTES_HPP
#define ALLOCSCOPE_SYMBOLS_OBJECT_BYTES_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/build_id.hpp>
#include <allocscope/binary/byte_cursor.hpp>
#include <allocscope/binary/elf_image.hpp>
#include <allocscope/binary/inflate.hpp>
#include <allocscope/binary/late_bytes.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/platform/file_reader.hpp>
#include <allocscope/symbols/rare_forms.hpp>
#include <allocscope/symbols/section_pieces.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint8_t, uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

struct named_section {
    const char* name;
    detail::elf_section section;
};

class object_bytes {
public:
    // Reads the file at the path, or what is in `file` if the path is null. Both must stay valid.
    object_bytes(arena& memory, const char* path, detail::byte_view file = {})
        : path_(path), memory_(file), file_bytes_(file.size), sections_(memory) {
        if (path != nullptr) {
            const detail::file_reader opened{path};
            if (!opened.is_open()) return;
            identity_ = opened.identity();
            file_bytes_ = identity_.size_bytes;
        }
        read_tables(memory);
    }
    object_bytes(arena& memory, detail::byte_view file) : object_bytes(memory, nullptr, file) {}

    ALLOCSCOPE_INLINE bool is_readable() const { return header_.is_valid; }
    // Null if the file is in memory.
    const char* path() const { return path_; }
    ALLOCSCOPE_INLINE const detail::build_id& id() const { return id_; }
    ALLOCSCOPE_INLINE const detail::file_identity& identity() const { return identity_; }
    ALLOCSCOPE_INLINE const list<named_section>& sections() const { return sections_; }
    // A linked address; 0 if there is no code.
    ALLOCSCOPE_INLINE std::uint64_t lowest_code() const { return lowest_code_; }

    // The last section of that name. If each type has a section of that name, too, the last one has
    // the functions.
    const detail::elf_section* find(const char* name) const {
        for (std::size_t i = sections_.size(); i > 0; --i) {
            const named_section& each = sections_[i - 1];
            if (text{each.name} == name) return &each.section;
        }
        return nullptr;
    }

    // Whether this file itself contains the section, and not a separate file.
    bool has(const char* name) const {
        const detail::elf_section* section = find(name);
        return section != nullptr && section->type != detail::elf_section_no_bytes;
    }

    // Returns nothing if the section would need more than `most` bytes, or if its compression is
    // unknown. If `late` is not null, a large section may be read later, piece by piece; until then
    // it needs only addresses. `*late` is set to null if all bytes have been read.
    detail::byte_view read(arena& memory, const detail::elf_section* section,
                           std::uint64_t most = largest_read,
                           detail::late_bytes** late = nullptr) const {
        if (section == nullptr || section->type == detail::elf_section_no_bytes) return {};
        const bool is_compressed = (section->flags & detail::elf_section_compressed) != 0;
        if (late != nullptr && path_ != nullptr && !is_compressed &&
            section->size >= smallest_late && section->size <= largest_late &&
            section->size <= file_bytes_ && section->offset <= file_bytes_ - section->size) {
            return read_late(memory, *section, *late);
        }
        if (section->size > most) return {};
        if (!is_compressed) {
            return read_bytes(memory, section->offset, section->size);
        }
        arena packed_memory;
        const detail::byte_view compressed =
            read_bytes(packed_memory, section->offset, section->size);
        return unpacked(memory, compressed, most);
    }

    static constexpr std::uint64_t largest_read = std::uint64_t{1} << 30;

private:
    // A section below the smallest size is read at once. No real file has one above the largest.
    static constexpr std::uint64_t smallest_late = std::uint64_t{64} << 10;
    static constexpr std::uint64_t largest_late = std::uint64_t{16} << 30;

    detail::byte_view read_late(arena& memory, const detail::elf_section& section,
                                detail::late_bytes*& late) const {
        detail::byte_view bytes;
        is_done_with_memory([&] {
            auto* pieces =
                memory.make<section_pieces>(memory, path_, identity_, section.offset, section.size);
            late = pieces;
            bytes = pieces->bytes();
        });
        return bytes;
    }

    // Null if memory was refused.
    static std::uint8_t* bytes_or_null(arena& memory, std::uint64_t size) {
        void* bytes = nullptr;
        is_done_with_memory([&] { bytes = memory.allocate(size); });
        return static_cast<std::uint8_t*>(bytes);
    }

    // A compressed section begins with the kind of compression and the uncompressed length.
    static detail::byte_view unpacked(arena& memory, detail::byte_view compressed,
                                      std::uint64_t most) {
        constexpr std::size_t head_bytes = 24;
        constexpr std::uint32_t zlib = 1;
        constexpr std::uint32_t zstd = 2;
        detail::byte_cursor in{compressed};
        const std::uint32_t kind = in.u32();
        in.skip(4);
        const std::uint64_t size = in.u64();
        const auto unpack_zstd = kind == zstd ? readers_of_rare_forms.unpack_zstd : nullptr;
        const bool is_known = kind == zlib || unpack_zstd != nullptr;
        if (!in.ok() || !is_known || compressed.size < head_bytes || size == 0 || size > most)
            return {};
        if (kind == zlib && size / detail::largest_inflation > compressed.size) return {};
        std::uint8_t* out = bytes_or_null(memory, size);
        if (out == nullptr) return {};
        const detail::byte_view stream = compressed.part(head_bytes, compressed.size - head_bytes);
        const bool is_whole = unpack_zstd != nullptr ? unpack_zstd(stream, out, size)
                                                     : detail::inflate(stream, out, size);
        if (!is_whole) return {};
        return {out, size};
    }

    // Returns nothing if the process may not have that much memory.
    detail::byte_view read_bytes(arena& memory, std::uint64_t offset, std::uint64_t size) const {
        if (size == 0 || size > largest_read || offset > file_bytes_ ||
            size > file_bytes_ - offset) {
            return {};
        }
        if (path_ == nullptr) return memory_.part(offset, size);
        std::uint8_t* bytes = bytes_or_null(memory, size);
        if (bytes == nullptr) return {};
        const detail::file_reader file{path_};
        if (!file.is_open() || !file.identity().equals(identity_)) return {};
        if (file.read_at(offset, bytes, size) != size) return {};
        return {bytes, size};
    }

    void read_tables(arena& memory) {
        header_ = detail::read_elf_header(read_bytes(memory, 0, detail::elf_header_bytes));
        if (!header_.is_valid) return;
        const detail::elf_section zero = detail::read_elf_section(
            read_bytes(memory, header_.sections_offset, detail::elf_section_bytes), 0,
            detail::elf_section_bytes);
        std::uint64_t count = header_.section_count == 0 ? zero.size : header_.section_count;
        if (count > file_bytes_ / header_.section_bytes) return;
        const detail::byte_view table =
            read_bytes(memory, header_.sections_offset, count * header_.section_bytes);
        count = table.size / header_.section_bytes;
        const std::uint64_t names_section =
            header_.names_section == 0xffff ? zero.link : header_.names_section;
        const detail::elf_section names =
            detail::read_elf_section(table, names_section, header_.section_bytes);
        const detail::byte_view texts = read(memory, &names);
        sections_.reserve(count);
        for (std::uint64_t i = 0; i < count; ++i) {
            detail::elf_section section = detail::read_elf_section(table, i, header_.section_bytes);
            add_types(section);
            sections_.push_back(named_section{detail::text_at(texts, section.name), section});
        }
        find_lowest_code();
        find_id(memory);
    }

    // In the .dwo files of g++ -fdebug-types-section, each type has a section of its own. They
    // stand before the section with the functions, which is then made to begin where the first one
    // does.
    void add_types(detail::elf_section& section) const {
        if (sections_.empty()) return;
        const detail::elf_section& before = sections_.back().section;
        const bool is_packed =
            ((section.flags | before.flags) & detail::elf_section_compressed) != 0;
        const bool is_continued = section.name == before.name && section.address == 0 &&
                                  !is_packed && section.offset - before.size == before.offset;
        if (!is_continued) return;
        section.offset = before.offset;
        section.size += before.size;
    }

    // Code that the linker discarded keeps its debug information, with addresses below all code.
    void find_lowest_code() {
        bool is_first = true;
        for (const named_section& candidate : sections_) {
            const detail::elf_section& section = candidate.section;
            if ((section.flags & detail::elf_section_executable) == 0 || section.size == 0)
                continue;
            if (is_first || section.address < lowest_code_) lowest_code_ = section.address;
            is_first = false;
        }
    }

    void find_id(arena& memory) {
        for (const named_section& candidate : sections_) {
            if (candidate.section.type != detail::elf_section_notes) continue;
            if (candidate.section.size > largest_note) continue;
            id_ = detail::find_build_id(read(memory, &candidate.section));
            if (id_.known()) return;
        }
    }

    static constexpr std::uint64_t largest_note = 1 << 20;

    const char* path_ = nullptr;  // null: memory_ is the file
    detail::byte_view memory_;
    std::uint64_t file_bytes_ = 0;
    detail::file_identity identity_;
    detail::elf_header header_;
    detail::build_id id_;
    std::uint64_t lowest_code_ = 0;
    list<named_section> sections_;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_OBJECT_BYTES_HPP
