// Danger: a call of another module is followed to somewhere else, or not at all.

#include <allocscope/symbols/written_link.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

using allocscope::symbolize::written_link;

namespace {

constexpr std::uint64_t function = 0x123456789;

// Machine code, and the word that it reads.
struct linked_code {
    linked_code(std::initializer_list<unsigned char> before_distance) {
        for (const unsigned char each : before_distance) code[length++] = each;
        const auto behind = reinterpret_cast<std::uintptr_t>(code + length + sizeof(std::int32_t));
        const auto distance =
            static_cast<std::int32_t>(reinterpret_cast<std::uintptr_t>(&word) - behind);
        std::memcpy(code + length, &distance, sizeof distance);
    }

    std::uint64_t leads_to() const {
        return written_link(reinterpret_cast<std::uintptr_t>(code), false);
    }

    unsigned char code[32] = {};
    std::size_t length = 0;
    std::uint64_t word = function;
};

}  // namespace

TEST_CASE("written_link: the stubs of the linkers") {
    CHECK(linked_code({0xff, 0x25}).leads_to() == function);  // ld, gold, lld
    CHECK(linked_code({0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25}).leads_to() == function);  // .plt.sec
    CHECK(linked_code({0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25}).leads_to() == function);
    CHECK(linked_code({0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0xbb, 1, 0, 0, 0, 0xff, 0x25}).leads_to() ==
          function);  // mold
}

TEST_CASE("written_link: other code leads nowhere") {
    CHECK(linked_code({0xff, 0x15}).leads_to() == 0);  // a call
    CHECK(linked_code({0xe9}).leads_to() == 0);
    CHECK(linked_code({0x90, 0xff, 0x25}).leads_to() == 0);
    CHECK(written_link(0, false) == 0);
    CHECK(written_link(std::uint64_t{1} << 62U, false) == 0);
}

TEST_CASE("written_link: a word that the code reads itself") {
    const std::uint64_t word = function;
    CHECK(written_link(reinterpret_cast<std::uintptr_t>(&word), true) == function);
    CHECK(written_link(8, true) == 0);
}
