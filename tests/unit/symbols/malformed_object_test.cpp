// Files that are broken on purpose. Whatever the bytes say, an answer comes back soon, it may only
// be poorer. Run it under AddressSanitizer and UndefinedBehaviorSanitizer to see every stray read.

#include "fixture_bytes.hpp"

#include <allocscope/binary/elf_image.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/symbols/debug_object.hpp>
#include <allocscope/symbols/kept_texts.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

using allocscope::detail::byte_view;
using allocscope::plain::arena;
using allocscope::symbolize::code_location;
using allocscope::symbolize::debug_object;
using allocscope::symbolize::kept_texts;
using allocscope::symbolize::named_section;
using allocscope::symbolize::object_bytes;
using allocscope::symbolize::symbol_kind;

const char* const fixture_names[] = {"gcc_dwarf5_o2.so",   "gcc_dwarf4_o2.so", "clang_dwarf5_o2.so",
                                     "clang_dwarf4_o2.so", "gcc_split.so",     "gcc_compressed.so"};

// Asks about addresses all over the code. The bytes are read where they are, so that a
// sanitizer sees every read behind the file.
std::size_t ask_everything(const std::vector<std::uint8_t>& bytes, std::uint64_t step) {
    std::size_t frames = 0;
    arena kept;
    kept_texts texts{kept};
    debug_object object{texts, fixture::view_of(bytes)};
    for (std::uint64_t address = 0x300; address < 0x700; address += step) {
        code_location location;
        object.resolve(address, location);
        frames += location.frames.size();
        REQUIRE(location.frames.size() < 300);
    }
    frames += object.symbol_at(symbol_kind::data, 0x3000, kept).size();
    return frames;
}

struct span {
    std::uint64_t begin, end;
};

// The bytes worth breaking: the parts that are parsed, rather than code.
std::vector<span> parsed_parts(const std::vector<std::uint8_t>& bytes) {
    std::vector<span> parts;
    parts.push_back(span{0, 64});
    arena memory;
    const object_bytes object{memory, fixture::view_of(bytes)};
    for (const named_section& named : object.sections()) {
        const std::string name = named.name;
        if (name.compare(0, 7, ".debug_") == 0 || name == ".symtab" || name == ".strtab" ||
            name == ".shstrtab") {
            parts.push_back(span{named.section.offset, named.section.offset + named.section.size});
        }
    }
    const auto header = allocscope::detail::read_elf_header(fixture::view_of(bytes));
    parts.push_back(span{header.sections_offset, bytes.size()});
    return parts;
}

const std::uint8_t interesting[] = {0x00, 0x01, 0x7f, 0x80, 0xff, 0xfe, 0x3f, 0x40, 0x16, 0x21};

void mutate(std::vector<std::uint8_t>& bytes, const span& part, std::mt19937& random) {
    const std::uint64_t length = part.end - part.begin;
    if (length == 0 || part.end > bytes.size()) return;
    const unsigned changes = 1 + random() % 8;
    for (unsigned i = 0; i < changes; ++i) {
        const std::size_t at = static_cast<std::size_t>(part.begin + random() % length);
        switch (random() % 4) {
            case 0:
                bytes[at] = static_cast<std::uint8_t>(random());
                break;
            case 1:
                bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ (1U << (random() % 8)));
                break;
            case 2:
                bytes[at] = interesting[random() % sizeof interesting];
                break;
            default: {  // a wide number
                const std::uint64_t wide = random() % 2 == 0 ? ~std::uint64_t{0} : random();
                const std::size_t room = std::min<std::size_t>(sizeof wide, bytes.size() - at);
                std::memcpy(bytes.data() + at, &wide, room);
                break;
            }
        }
    }
}

}  // namespace

TEST_CASE("debug_object: thousands of broken copies never crash and never hang") {
    std::mt19937 random{20240607};
    std::size_t answers = 0;
    for (const char* name : fixture_names) {
        CAPTURE(name);
        const std::vector<std::uint8_t> whole = fixture::bytes_of(name);
        REQUIRE(whole.size() > 1000);
        const std::vector<span> parts = parsed_parts(whole);
        REQUIRE(parts.size() > 6);
        for (int round = 0; round < 150; ++round) {
            for (const span& part : parts) {
                std::vector<std::uint8_t> broken = whole;
                mutate(broken, part, random);
                answers += ask_everything(broken, 13);
            }
        }
    }
    CHECK(answers > 10000);  // most copies still say something
}

TEST_CASE("debug_object: a file cut off at any length says less, not nonsense") {
    for (const char* name : fixture_names) {
        CAPTURE(name);
        const std::vector<std::uint8_t> whole = fixture::bytes_of(name);
        for (std::size_t length = 0; length < whole.size(); length += 61) {
            const std::vector<std::uint8_t> cut(
                whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
            CHECK(ask_everything(cut, 97) == 0);  // the section table stands at the end
        }
    }
}

TEST_CASE("debug_object: sections cut off at any length do not lead outside") {
    const std::vector<std::uint8_t> whole = fixture::bytes_of("gcc_dwarf5_o2.so");
    const auto header = allocscope::detail::read_elf_header(fixture::view_of(whole));
    arena memory;
    const object_bytes object{memory, fixture::view_of(whole)};
    std::size_t answers = 0;
    for (std::size_t i = 0; i < object.sections().size(); ++i) {
        const std::uint64_t size = object.sections()[i].section.size;
        if (std::string(object.sections()[i].name).compare(0, 7, ".debug_") != 0) continue;
        for (std::uint64_t length = 0; length < size; length += 1 + size / 200) {
            std::vector<std::uint8_t> cut = whole;
            std::memcpy(cut.data() + header.sections_offset + i * header.section_bytes + 32,
                        &length, sizeof length);
            answers += ask_everything(cut, 37);
        }
    }
    CHECK(answers > 1000);
}

TEST_CASE("debug_object: bytes without any meaning are refused") {
    std::mt19937 random{7};
    for (int round = 0; round < 2000; ++round) {
        std::vector<std::uint8_t> noise(random() % 2000);
        for (std::uint8_t& byte : noise) byte = static_cast<std::uint8_t>(random());
        if (round % 2 == 0 && noise.size() > 16) std::memcpy(noise.data(), "\177ELF\2\1\1", 7);
        ask_everything(noise, 101);
    }
}
