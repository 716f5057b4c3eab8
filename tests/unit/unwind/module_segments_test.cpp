#include <allocscope/unwind/module_segments.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>

#include <elf.h>

namespace {

using allocscope::detail::find_module_segments;
using allocscope::detail::module_segments;

// The first page of a module with three segments, of which the first is not loaded.
struct alignas(4096) header_page {
    Elf64_Ehdr header{};
    Elf64_Phdr segments[3]{};
    unsigned char rest[4096 - sizeof(Elf64_Ehdr) - 3 * sizeof(Elf64_Phdr)]{};

    header_page() {
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_phoff = sizeof header;
        header.e_phentsize = sizeof(Elf64_Phdr);
        header.e_phnum = 3;
        segments[0].p_type = PT_NOTE;
        segments[0].p_vaddr = 0x9999;
        segments[1].p_type = PT_LOAD;
        segments[1].p_flags = PF_R;
        segments[1].p_vaddr = 0x400010;  // linked at 0x400000
        segments[1].p_filesz = 0x800;
        segments[1].p_memsz = 0x1000;
        segments[2].p_type = PT_LOAD;
        segments[2].p_flags = PF_R | PF_X;
        segments[2].p_vaddr = 0x402000;
        segments[2].p_filesz = 0x100;
    }
    std::uintptr_t start() const { return reinterpret_cast<std::uintptr_t>(this); }
};

}  // namespace

TEST_CASE("module_segments: addresses count from where the first loaded segment was linked") {
    const header_page page;
    module_segments found;
    REQUIRE(find_module_segments(page.start(), found));
    CHECK(found.count == 3);
    CHECK(found.base == page.start() - 0x400000);
    CHECK(found.holder_of(page.start() + 0x10, PF_R) == &found.first[1]);
    CHECK(found.holder_of(page.start() + 0x80f, PF_R) == &found.first[1]);
    CHECK(found.holder_of(page.start() + 0xf, PF_R) == nullptr);
    CHECK(found.holder_of(page.start() + 0x810, PF_R) == nullptr);  // not in the file
    CHECK(found.holder_of(page.start() + 0x10, PF_X) == nullptr);
    CHECK(found.holder_of(page.start() + 0x2000, PF_X) == &found.first[2]);
    CHECK(found.holder_of(page.start() + 0x2100, PF_X) == nullptr);
}

TEST_CASE("module_segments: a list that may not be in the header's page is not used") {
    module_segments found;
    header_page page;
    page.header.e_phnum = 200;
    CHECK_FALSE(find_module_segments(page.start(), found));
    page = header_page{};
    page.header.e_phoff = 4096 - 2 * sizeof(Elf64_Phdr);
    CHECK_FALSE(find_module_segments(page.start(), found));
    page.header.e_phoff = ~std::uint64_t{0};
    CHECK_FALSE(find_module_segments(page.start(), found));
    page = header_page{};
    page.header.e_phentsize = 32;
    CHECK_FALSE(find_module_segments(page.start(), found));
    page = header_page{};
    page.header.e_phnum = 0;
    CHECK_FALSE(find_module_segments(page.start(), found));
    page.header.e_phnum = 1;  // only the one that is not loaded
    CHECK_FALSE(find_module_segments(page.start(), found));
}

TEST_CASE("module_segments: where no header is, this module's own is taken") {
    // As in a statically linked program, whose map is said to begin with the code.
    const auto own = reinterpret_cast<std::uintptr_t>(&__ehdr_start[0]);
    REQUIRE(own != 0);
    module_segments found;
    REQUIRE(find_module_segments(own, found));
    const auto code = reinterpret_cast<std::uintptr_t>(&find_module_segments);
    const Elf64_Phdr* const segment = found.holder_of(code, PF_X);
    REQUIRE(segment != nullptr);
    module_segments again;
    REQUIRE(find_module_segments(found.base + segment->p_vaddr, again));
    CHECK(again.first == found.first);
    CHECK(again.base == found.base);
}
