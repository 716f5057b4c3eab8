// From compressed bytes to the bytes they stand for: none is read or written beside the buffers,
// and a stream that is taken for whole is so again.
//
//     input     | length of the result: 2 bytes | the stream, with its head and checksum
#ifndef ALLOCSCOPE_TESTS_FUZZ_INFLATE_INPUT_HPP
#define ALLOCSCOPE_TESTS_FUZZ_INFLATE_INPUT_HPP

#include <allocscope/binary/inflate.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

namespace allocscope_tests {

inline int inflate_input(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const std::size_t length = data[0] + 256U * data[1];
    // Of exactly these sizes, so that a sanitizer sees a byte too many.
    const std::size_t packed_size = size - 2;
    const std::unique_ptr<std::uint8_t[]> packed{new std::uint8_t[packed_size]};
    std::memcpy(packed.get(), data + 2, packed_size);
    const std::unique_ptr<std::uint8_t[]> first{new std::uint8_t[length]()};
    const std::unique_ptr<std::uint8_t[]> second{new std::uint8_t[length]()};
    const allocscope::detail::byte_view stream{packed.get(), packed_size};
    const bool is_whole = allocscope::detail::inflate(stream, first.get(), length);
    if (allocscope::detail::inflate(stream, second.get(), length) != is_whole) __builtin_trap();
    if (is_whole && std::memcmp(first.get(), second.get(), length) != 0) __builtin_trap();
    return 0;
}

}  // namespace allocscope_tests

#endif  // ALLOCSCOPE_TESTS_FUZZ_INFLATE_INPUT_HPP
