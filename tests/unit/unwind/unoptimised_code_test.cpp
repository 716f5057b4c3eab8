// Functions that were compiled without optimisation are recognised by how they begin.

#include <allocscope/binary/eh_frame.hpp>
#include <allocscope/unwind/unoptimised_code.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

using allocscope::detail::is_unoptimised;
using allocscope::detail::mapped_bytes;

namespace {

constexpr std::uint64_t address = 0x401000;

// A function that begins with these bytes, in code that goes on for 64 more.
bool begins_unoptimised(std::initializer_list<int> bytes) {
    std::string code{"\x90\x90"};
    for (const int each : bytes) code += static_cast<char>(each);
    code.resize(code.size() + 64, '\xcc');
    mapped_bytes segment;
    segment.bytes = {reinterpret_cast<const std::uint8_t*>(code.data()), code.size()};
    segment.address = address;
    return is_unoptimised(segment, address + 2);
}

}  // namespace

TEST_CASE("unoptimised_code: a function that writes its first argument to its frame") {
    CHECK(begins_unoptimised({0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0x48, 0x89, 0x7d}));
    CHECK(begins_unoptimised({0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0x7d, 0xf8}));
    CHECK(begins_unoptimised({0x55, 0x48, 0x89, 0xe5, 0x89, 0x7d, 0xfc}));
    // endbr64, saved rbx and r12, a large frame, and a far slot of it
    CHECK(
        begins_unoptimised({0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x41, 0x54, 0x53, 0x48,
                            0x81, 0xec, 0x80, 0x01, 0x00, 0x00, 0x48, 0x89, 0xbd, 0x78, 0xfe}));
    // clang++, the result goes to memory
    CHECK(begins_unoptimised({0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0x48, 0x89, 0xf8,
                              0x48, 0x89, 0x45, 0xe8}));
    CHECK(begins_unoptimised({0x55, 0x48, 0x89, 0xe5, 0xf3, 0x0f, 0x11, 0x45, 0xfc}));  // float
    CHECK(begins_unoptimised({0x55, 0x48, 0x89, 0xe5, 0xf2, 0x0f, 0x11, 0x45, 0xf8}));  // double
}

TEST_CASE("unoptimised_code: every other function") {
    CHECK_FALSE(begins_unoptimised({}));
    CHECK_FALSE(begins_unoptimised({0x48, 0x89, 0x7d, 0xf8}));  // without a frame pointer
    CHECK_FALSE(begins_unoptimised({0x55, 0x48, 0x89, 0xe5, 0xe8, 0x00, 0x00, 0x00, 0x00}));
    CHECK_FALSE(begins_unoptimised({0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xfb}));  // mov %rdi,%rbx
    CHECK_FALSE(begins_unoptimised({0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0x3b}));  // mov %rdi,(%rbx)
    // It saves five registers: an optimised function that ran out of them.
    CHECK_FALSE(begins_unoptimised({0x55, 0x48, 0x89, 0xe5, 0x41, 0x57, 0x41, 0x56, 0x41, 0x55,
                                    0x41, 0x54, 0x53, 0x48, 0x89, 0x7d, 0xf8}));
}

TEST_CASE("unoptimised_code: nothing is read outside of the code") {
    static const std::uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0x7d, 0xf8};
    mapped_bytes segment;
    CHECK_FALSE(is_unoptimised(segment, address));
    segment.bytes = {code, sizeof code};
    segment.address = address;
    CHECK_FALSE(is_unoptimised(segment, address));
    CHECK_FALSE(is_unoptimised(segment, address - 1));
    CHECK_FALSE(is_unoptimised(segment, address + sizeof code));
}
