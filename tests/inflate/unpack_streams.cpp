// Unpacks streams for zlib_test.py. Standard input: for each stream the length that it should have
// and its own, 8 bytes each, then the stream. Standard output: for each '1' and the bytes, or '0'.

#include <allocscope/binary/inflate.hpp>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

namespace {

bool read_number(std::uint64_t& number) {
    return std::fread(&number, sizeof number, 1, stdin) == 1;
}

}  // namespace

int main(int count, char**) {
    // Without arguments, as a test of its own, there is nothing to read.
    if (count < 2) return 0;
    std::uint64_t size = 0;
    std::uint64_t packed_size = 0;
    while (read_number(size) && read_number(packed_size)) {
        // Of exactly these sizes, so that a sanitizer sees a byte too many.
        const std::unique_ptr<std::uint8_t[]> packed{new std::uint8_t[packed_size]};
        const std::unique_ptr<std::uint8_t[]> out{new std::uint8_t[size]};
        if (std::fread(packed.get(), 1, packed_size, stdin) != packed_size) return 1;
        const bool is_whole =
            allocscope::detail::inflate({packed.get(), packed_size}, out.get(), size);
        std::putchar(is_whole ? '1' : '0');
        if (is_whole) std::fwrite(out.get(), 1, size, stdout);
    }
    return 0;
}
