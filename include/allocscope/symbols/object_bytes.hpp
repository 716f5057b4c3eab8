// object_bytes.hpp - the bytes of one ELF file: its sections, each read when it is asked for.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/debug_object.hpp
// Threads:  one
// Memory:   the sections that were asked for; the file is not kept open
//
// The file is opened again for every section, and must then still be the one that was there first.

#ifndef ALLOCSCOPE_SYMBOLS_OBJECT_BYTES_HPP
#define ALLOCSCOPE_SYMBOLS_OBJECT_BYTES_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/binary/build_id.hpp>
#include <allocscope/binary/byte_cursor.hpp>
#include <allocscope/binary/elf_image.hpp>
#include <allocscope/config.hpp>
#include <allocscope/platform/file_reader.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint8_t, uint64_t
#include <cstring>  // memcpy, strcmp
#include <memory>   // unique_ptr
#include <new>      // nothrow
#include <string>   // string
#include <utility>  // move
#include <vector>   // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// A block of bytes that is not cleared before it is filled.
struct owned_bytes {
    std::unique_ptr<std::uint8_t[]> data;
    std::size_t size = 0;
    detail::byte_view view() const { return detail::byte_view{data.get(), size}; }
};

struct named_section {
    const char* name;
    detail::elf_section section;
};

class object_bytes {
public:
    object_bytes() = default;

    // Everything is read from `file`, which must stay.
    explicit object_bytes(detail::byte_view file) : memory_(file), file_bytes_(file.size) {
        read_tables();
    }

    explicit object_bytes(std::string path) : path_(std::move(path)) {
        const detail::file_reader file{path_.c_str()};
        if (!file.is_open() || file.identity().size_bytes > largest_file) return;
        identity_ = file.identity();
        file_bytes_ = identity_.size_bytes;
        read_tables();
    }

    bool is_readable() const { return header_.is_valid; }
    const detail::build_id& id() const { return id_; }
    const std::vector<named_section>& sections() const { return sections_; }
    // As linked; 0 when there is no code.
    std::uint64_t lowest_code() const { return lowest_code_; }

    const detail::elf_section* find(const char* name) const {
        for (const named_section& candidate : sections_) {
            if (std::strcmp(candidate.name, name) == 0) return &candidate.section;
        }
        return nullptr;
    }

    // Compressed sections are not read: their names are then simply not known.
    owned_bytes read(const detail::elf_section* section) const {
        if (section == nullptr || section->type == detail::elf_section_no_bytes ||
            (section->flags & detail::elf_section_compressed) != 0) {
            return owned_bytes{};
        }
        return read(section->offset, section->size);
    }
    owned_bytes read(const char* name) const { return read(find(name)); }

private:
    static constexpr std::uint64_t largest_file = std::uint64_t{2} << 30;
    static constexpr std::uint64_t largest_read = std::uint64_t{1} << 30;

    owned_bytes read(std::uint64_t offset, std::uint64_t size) const {
        owned_bytes bytes;
        if (size == 0 || size > largest_read || offset > file_bytes_ ||
            size > file_bytes_ - offset) {
            return bytes;
        }
        const std::size_t count = size;
        bytes.data.reset(new (std::nothrow) std::uint8_t[count]);
        if (bytes.data == nullptr) return bytes;
        if (path_.empty()) {
            std::memcpy(bytes.data.get(), memory_.data + offset, count);
            bytes.size = count;
            return bytes;
        }
        const detail::file_reader file{path_.c_str()};
        if (file.is_open() && file.identity().equals(identity_) &&
            file.read_at(offset, bytes.data.get(), count) == count) {
            bytes.size = count;
        } else {
            bytes.data.reset();
        }
        return bytes;
    }

    void read_tables() {
        const owned_bytes start = read(0, detail::elf_header_bytes);
        header_ = detail::read_elf_header(start.view());
        if (!header_.is_valid) return;
        const owned_bytes first = read(header_.sections_offset, detail::elf_section_bytes);
        const detail::elf_section zero =
            detail::read_elf_section(first.view(), 0, detail::elf_section_bytes);
        std::uint64_t count = header_.section_count == 0 ? zero.size : header_.section_count;
        if (count > file_bytes_ / header_.section_bytes) return;
        const owned_bytes table = read(header_.sections_offset, count * header_.section_bytes);
        count = table.size / header_.section_bytes;
        const std::uint64_t names_section =
            header_.names_section == 0xffff ? zero.link : header_.names_section;
        const auto entry = [&](std::uint64_t index) {
            return detail::read_elf_section(table.view(), index, header_.section_bytes);
        };
        const detail::elf_section names = entry(names_section);
        names_ = read(&names);
        sections_.reserve(count);
        for (std::uint64_t i = 0; i < count; ++i) {
            const detail::elf_section section = entry(i);
            sections_.push_back(
                named_section{detail::text_at(names_.view(), section.name), section});
        }
        find_lowest_code();
        find_id();
    }

    // What the linker threw away keeps its debug information, at addresses below all code.
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

    void find_id() {
        for (const named_section& candidate : sections_) {
            if (candidate.section.type != detail::elf_section_notes) continue;
            if (candidate.section.size > largest_note) continue;
            const owned_bytes notes = read(&candidate.section);
            id_ = detail::find_build_id(notes.view());
            if (id_.known()) return;
        }
    }

    static constexpr std::uint64_t largest_note = 1 << 20;

    std::string path_;  // "": memory_ is the file
    detail::byte_view memory_;
    std::uint64_t file_bytes_ = 0;
    detail::file_identity identity_;
    detail::elf_header header_;
    detail::build_id id_;
    std::uint64_t lowest_code_ = 0;
    owned_bytes names_;
    std::vector<named_section> sections_;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_OBJECT_BYTES_HPP
