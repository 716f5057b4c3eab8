// The words of a module are found, and a module whose tables say something wrong is never read or
// written to outside of its segments: it lies between pages that nobody may touch.

#include <allocscope/hooks/module_slots.hpp>

#include "support/dice.hpp"
#include "support/scale.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

using allocscope::detail::loaded_segments;
using allocscope::detail::module_slot;
using allocscope::detail::slots_of_module;
using allocscope_test::dice;

constexpr std::uintptr_t page = 4096;

// The file of the C++ library, which calls malloc.
std::string path_of_cxx_library() {
    std::string found;
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* given) {
            const std::string name = info->dlpi_name;
            if (name.find("/libstdc++.so") == std::string::npos &&
                name.find("/libc++.so") == std::string::npos)
                return 0;
            *static_cast<std::string*>(given) = name;
            return 1;
        },
        &found);
    return found;
}

// A library as the loader maps it, before it relocates it. Between its segments, before and behind
// it nothing can be touched.
class mapped_library {
public:
    explicit mapped_library(const std::string& path) {
        std::ifstream file{path, std::ios::binary};
        const std::vector<char> bytes{std::istreambuf_iterator<char>{file}, {}};
        REQUIRE(bytes.size() > sizeof(Elf64_Ehdr));
        Elf64_Ehdr header;
        std::memcpy(&header, bytes.data(), sizeof header);
        program_headers_.resize(header.e_phnum);
        std::memcpy(program_headers_.data(), bytes.data() + header.e_phoff,
                    header.e_phnum * sizeof(Elf64_Phdr));
        for (const Elf64_Phdr& each : program_headers_) {
            if (each.p_type == PT_LOAD) end_ = each.p_vaddr + each.p_memsz;
        }
        reserved_ = end_ + 4 * page;
        void* const room =
            ::mmap(nullptr, reserved_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        REQUIRE(room != MAP_FAILED);
        base_ = reinterpret_cast<std::uintptr_t>(room) + page;
        for (const Elf64_Phdr& each : program_headers_) {
            if (each.p_type != PT_LOAD) continue;
            const std::uintptr_t begin = (base_ + each.p_vaddr) & ~(page - 1);
            const std::uintptr_t end =
                (base_ + each.p_vaddr + each.p_memsz + page - 1) & ~(page - 1);
            REQUIRE(::mprotect(reinterpret_cast<void*>(begin), end - begin,
                               PROT_READ | PROT_WRITE) == 0);
            std::memcpy(reinterpret_cast<void*>(base_ + each.p_vaddr), bytes.data() + each.p_offset,
                        each.p_filesz);
        }
    }
    ~mapped_library() { ::munmap(reinterpret_cast<void*>(base_ - page), reserved_); }
    mapped_library(const mapped_library&) = delete;
    mapped_library& operator=(const mapped_library&) = delete;

    dl_phdr_info info() const {
        dl_phdr_info made = {};
        made.dlpi_addr = base_;
        made.dlpi_phdr = program_headers_.data();
        made.dlpi_phnum = static_cast<Elf64_Half>(program_headers_.size());
        return made;
    }
    std::uintptr_t base() const { return base_; }
    const Elf64_Phdr& segment(std::uint32_t type) const {
        for (const Elf64_Phdr& each : program_headers_) {
            if (each.p_type == type) return each;
        }
        FAIL("no such segment");
        return program_headers_.front();
    }
    // The value of an entry of its dynamic section.
    std::uint64_t& dynamic(std::int64_t tag) const {
        auto* entry = reinterpret_cast<Elf64_Dyn*>(base_ + segment(PT_DYNAMIC).p_vaddr);
        while (entry->d_tag != tag && entry->d_tag != DT_NULL) ++entry;
        REQUIRE(entry->d_tag == tag);
        return entry->d_un.d_val;
    }

    // Whether the word lies in a segment that the module may write to.
    bool has_variable(const std::uintptr_t* word) const {
        const auto at = reinterpret_cast<std::uintptr_t>(word) - base_;
        for (const Elf64_Phdr& each : program_headers_) {
            if (each.p_type == PT_LOAD && (each.p_flags & PF_W) != 0 && at >= each.p_vaddr &&
                at + sizeof *word <= each.p_vaddr + each.p_memsz)
                return true;
        }
        return false;
    }

private:
    std::vector<Elf64_Phdr> program_headers_;
    std::uintptr_t base_ = 0, end_ = 0, reserved_ = 0;
};

std::set<std::string> names_in(const mapped_library& library) {
    const dl_phdr_info info = library.info();
    const loaded_segments segments{info};
    std::set<std::string> names;
    slots_of_module{segments}.for_each([&](const module_slot& slot) {
        CHECK(library.has_variable(slot.word));
        names.insert(std::string{slot.name, ::strnlen(slot.name, slot.room)});
    });
    return names;
}

}  // namespace

TEST_CASE("the words of a library are found by name") {
    const mapped_library library{path_of_cxx_library()};
    const std::set<std::string> names = names_in(library);
    CHECK(names.count("malloc") == 1);
    CHECK(names.count("free") == 1);
    CHECK(names.count("no_such_name") == 0);
}

TEST_CASE("a table that says something wrong is left alone") {
    const mapped_library library{path_of_cxx_library()};
    for (const std::int64_t tag : {DT_STRTAB, DT_STRSZ, DT_SYMTAB, DT_SYMENT, DT_RELAENT}) {
        for (const std::uint64_t wrong :
             {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, std::uint64_t{1} << 62U}) {
            CAPTURE(tag);
            CAPTURE(wrong);
            std::uint64_t& value = library.dynamic(tag);
            const std::uint64_t right = value;
            value = wrong;
            CHECK(names_in(library).count("malloc") == 0);
            value = right;
        }
    }
    CHECK(names_in(library).count("malloc") == 1);
}

TEST_CASE("whatever the tables say, nothing outside of the segments is touched") {
    const mapped_library library{path_of_cxx_library()};
    const Elf64_Phdr& dynamic = library.segment(PT_DYNAMIC);
    const std::uintptr_t places[][2] = {
        {library.base() + dynamic.p_vaddr, dynamic.p_memsz},
        {library.base() + library.dynamic(DT_JMPREL), library.dynamic(DT_PLTRELSZ)},
        {library.base() + library.dynamic(DT_RELA), library.dynamic(DT_RELASZ)},
        {library.base() + library.dynamic(DT_SYMTAB), 64 * sizeof(Elf64_Sym)},
    };
    dice roll{20220119};
    std::size_t visited = 0;
    for (long round = allocscope_test::scaled(12000); round > 0; --round) {
        std::uint8_t* changed[8];
        std::uint8_t right[8];
        const std::size_t count = 1 + roll.below(8);
        for (std::size_t i = 0; i < count; ++i) {
            // Mostly the dynamic section: it is small, and everything hangs on it.
            const auto& place = places[roll.one_in(2) ? 0 : roll.below(4)];
            changed[i] = reinterpret_cast<std::uint8_t*>(place[0] + roll.below(place[1]));
            right[i] = *changed[i];
            *changed[i] = static_cast<std::uint8_t>(roll.next());
        }
        const dl_phdr_info info = library.info();
        const loaded_segments segments{info};
        slots_of_module{segments}.for_each([&](const module_slot& slot) {
            ++visited;
            if (!library.has_variable(slot.word)) FAIL("a word outside, round ", round);
            // The bytes of the name can be read.
            static_cast<void>(::strnlen(slot.name, slot.room));
        });
        for (std::size_t i = count; i-- > 0;) *changed[i] = right[i];
    }
    CHECK(visited > 1000);
    CHECK(names_in(library).count("malloc") == 1);
}
