// A section that is read where somebody looks must say the same as one that was read at once.
#include "../../support/scale.hpp"

#include <allocscope/symbols/debug_object.hpp>
#include <allocscope/symbols/section_pieces.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <unistd.h>

using allocscope::detail::byte_view;
using allocscope::detail::file_identity;
using allocscope::detail::file_reader;
using allocscope::detail::want;
using allocscope::detail::want_text;
using allocscope::plain::arena;
using allocscope::plain::borrowed_memory;
using allocscope::symbolize::code_frame;
using allocscope::symbolize::code_location;
using allocscope::symbolize::debug_object;
using allocscope::symbolize::kept_texts;
using allocscope::symbolize::section_pieces;

namespace {

constexpr std::uint64_t begin = 1000;  // of the section in its file
constexpr std::uint64_t bytes = 100000;

class file_with_section {
public:
    file_with_section() : path_("/tmp/allocscope_pieces_" + std::to_string(::getpid())) {
        write('a');
    }
    ~file_with_section() { ::unlink(path_.c_str()); }

    void write(char first) const {
        std::string content(begin + bytes, first);
        for (std::size_t i = 0; i < content.size(); ++i) {
            content[i] = static_cast<char>(first + static_cast<char>(i % 23));
        }
        std::ofstream{path_, std::ios::binary} << content;
    }
    const char* path() const { return path_.c_str(); }
    file_identity identity() const { return file_reader{path()}.identity(); }

private:
    std::string path_;
};

char expected_at(std::uint64_t at) {
    return static_cast<char>('a' + static_cast<char>((begin + at) % 23));
}

// What has not been read may be anything, such as the same section of the test before.
void clear(byte_view section) {
    std::memset(const_cast<std::uint8_t*>(section.data), 0, section.size);
}

std::uint64_t known_bytes(byte_view section) {
    std::uint64_t known = 0;
    for (std::uint64_t i = 0; i < section.size; ++i) {
        if (section.data[i] == 0) continue;
        CHECK(section.data[i] == static_cast<std::uint8_t>(expected_at(i)));
        ++known;
    }
    return known;
}

}  // namespace

TEST_CASE("section_pieces: what is wanted is there, and little else") {
    const file_with_section file;
    arena memory;
    section_pieces pieces{memory, file.path(), file.identity(), begin, bytes};
    clear(pieces.bytes());
    CHECK(known_bytes(pieces.bytes()) == 0);
    want(&pieces, 5000, 1);
    CHECK(pieces.bytes().data[5000] == static_cast<std::uint8_t>(expected_at(5000)));
    CHECK(known_bytes(pieces.bytes()) <= 4096);
    want(&pieces, 4095, 4098);  // the end of one piece, a whole one, the beginning of one
    CHECK(known_bytes(pieces.bytes()) == 3 * 4096);
    want(&pieces, bytes - 1, 1);
    want(&pieces, bytes, 1);
    want(&pieces, ~std::uint64_t{0}, ~std::uint64_t{0});
    CHECK(known_bytes(pieces.bytes()) == 3 * 4096 + bytes % 4096);
    want(&pieces, 0, ~std::uint64_t{0});
    CHECK(known_bytes(pieces.bytes()) == bytes);
}

TEST_CASE("section_pieces: what is wanted in order is read with what follows") {
    const file_with_section file;
    arena memory;
    section_pieces pieces{memory, file.path(), file.identity(), begin, bytes};
    clear(pieces.bytes());
    want(&pieces, 0, 1);
    CHECK(known_bytes(pieces.bytes()) == 4096);
    want(&pieces, 4096, 1);
    CHECK(known_bytes(pieces.bytes()) == 17 * 4096);
    want(&pieces, 16 * 4096, 1);  // is there
    CHECK(known_bytes(pieces.bytes()) == 17 * 4096);
    want(&pieces, 17 * 4096, 1);
    CHECK(known_bytes(pieces.bytes()) == bytes);
}

TEST_CASE("section_pieces: a text is wanted to its end") {
    const std::string path = "/tmp/allocscope_text_" + std::to_string(::getpid());
    const std::string text(40000, 'x');
    std::ofstream{path, std::ios::binary} << text << '\0' << std::string(20000, 'y');
    arena memory;
    section_pieces pieces{memory, path.c_str(), file_reader{path.c_str()}.identity(), 0, 60001};
    want_text(&pieces, pieces.bytes(), 10, 65536);
    const char* seen = reinterpret_cast<const char*>(pieces.bytes().data) + 10;
    CHECK(std::strlen(seen) == 39990);
    ::unlink(path.c_str());
}

TEST_CASE("section_pieces: another file at its path is not read") {
    const file_with_section file;
    arena memory;
    section_pieces pieces{memory, file.path(), file.identity(), begin, bytes};
    clear(pieces.bytes());
    want(&pieces, 0, 1);
    ::unlink(file.path());
    file.write('A');
    want(&pieces, 0, bytes);
    CHECK(known_bytes(pieces.bytes()) == 4096);
}

TEST_CASE("section_pieces: what cannot be read is zero, whatever was in its memory before") {
    const file_with_section file;
    arena memory;
    {
        const borrowed_memory meanwhile{memory};
        for (int i = 0; i < 100; ++i) std::memset(memory.allocate(20000), 'Z', 20000);
    }
    section_pieces pieces{memory, file.path(), file.identity(), begin, bytes};
    want(&pieces, 0, 1);
    ::unlink(file.path());
    want(&pieces, 0, bytes);
    CHECK(known_bytes(pieces.bytes()) == 4096);
}

// The program of this test has several megabytes of debug information.
TEST_CASE("section_pieces: a program is named as from its whole bytes") {
    std::ifstream stream{"/proc/self/exe", std::ios::binary};
    const std::vector<char> whole{std::istreambuf_iterator<char>{stream}, {}};
    arena kept;
    kept_texts texts{kept};
    debug_object at_once{
        texts, byte_view{reinterpret_cast<const std::uint8_t*>(whole.data()), whole.size()}};
    debug_object in_pieces{texts, "/proc/self/exe"};
    const std::uint64_t from = at_once.address_of("main");
    REQUIRE(from != 0);
    std::size_t with_lines = 0;
    const std::uint64_t step = allocscope_test::is_sanitized ? 1009 : 37;
    for (std::uint64_t address = from - 20000; address < from + 20000; address += step) {
        CAPTURE(address);
        code_location one;
        code_location two;
        at_once.resolve(address, one);
        in_pieces.resolve(address, two);
        REQUIRE(one.frames.size() == two.frames.size());
        CHECK(one.symbol == two.symbol);
        for (std::size_t i = 0; i < one.frames.size(); ++i) {
            const code_frame& a = one.frames[i];
            const code_frame& b = two.frames[i];
            CHECK(a.function == b.function);
            CHECK(a.file == b.file);
            CHECK(a.line == b.line);
            CHECK(a.column == b.column);
            with_lines += a.line > 0 ? 1U : 0U;
        }
    }
    CHECK(with_lines > (allocscope_test::is_sanitized ? 30U : 500U));
    CHECK(in_pieces.types_at(from) != nullptr);
    CHECK(at_once.types_at(from)->has("arena") == in_pieces.types_at(from)->has("arena"));
}
