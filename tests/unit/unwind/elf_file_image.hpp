// The unwind tables of a file on disk, as cfi_to_rule.hpp wants them; and which files there are.

#ifndef ALLOCSCOPE_TESTS_UNIT_UNWIND_ELF_FILE_IMAGE_HPP
#define ALLOCSCOPE_TESTS_UNIT_UNWIND_ELF_FILE_IMAGE_HPP

#include <allocscope/binary/eh_frame_index.hpp>
#include <allocscope/platform/loaded_modules.hpp>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <elf.h>

namespace unwind_test {

namespace detail = allocscope::detail;

struct elf_file_image {
    std::vector<char> bytes;
    detail::eh_frame_image image;
    bool is_whole = false;

    explicit elf_file_image(const std::string& path) {
        std::ifstream in{path, std::ios::binary};
        bytes.assign(std::istreambuf_iterator<char>{in}, {});
        Elf64_Ehdr header;
        if (bytes.size() < sizeof header) return;
        std::memcpy(&header, bytes.data(), sizeof header);
        std::vector<Elf64_Phdr> segments(header.e_phnum);
        std::memcpy(segments.data(), bytes.data() + header.e_phoff,
                    segments.size() * sizeof(Elf64_Phdr));
        for (const Elf64_Phdr& each : segments) {
            if (each.p_type == PT_GNU_EH_FRAME) image.index_address = each.p_vaddr;
        }
        image.index = segment_at(segments, image.index_address);
        const auto table = detail::read_eh_frame_header(image.index, image.index_address);
        image.frames = segment_at(segments, table.frames_address);
        is_whole = table.is_valid && !image.frames.bytes.empty();
    }
    elf_file_image(const elf_file_image&) = delete;
    elf_file_image& operator=(const elf_file_image&) = delete;

private:
    detail::mapped_bytes segment_at(const std::vector<Elf64_Phdr>& segments,
                                    std::uint64_t address) const {
        for (const Elf64_Phdr& each : segments) {
            if (each.p_type != PT_LOAD || address - each.p_vaddr >= each.p_filesz) continue;
            const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
            return {detail::byte_view{data, bytes.size()}.part(each.p_offset, each.p_filesz),
                    each.p_vaddr};
        }
        return {};
    }
};

struct loaded_file {
    std::string path;
    std::uint64_t base = 0;
};

// The program and the libraries in this process that are files.
inline std::vector<loaded_file> loaded_files() {
    std::vector<loaded_file> found;
    detail::visit_loaded_modules([&](const detail::module_facts& facts) {
        const std::string path = facts.is_first ? "/proc/self/exe" : facts.path;
        if (path.find('/') == std::string::npos) return;
        if (found.empty() || found.back().path != path) found.push_back({path, facts.base});
    });
    return found;
}

}  // namespace unwind_test

#endif  // ALLOCSCOPE_TESTS_UNIT_UNWIND_ELF_FILE_IMAGE_HPP
