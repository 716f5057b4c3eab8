// inflated.hpp - unpacks what gzip_stream packs, from RFC 1951 and without a look at the packer.

#ifndef ALLOCSCOPE_TESTS_UNIT_FORMATS_INFLATED_HPP
#define ALLOCSCOPE_TESTS_UNIT_FORMATS_INFLATED_HPP

#include <cstddef>    // size_t
#include <cstdint>    // uint32_t
#include <stdexcept>  // runtime_error
#include <string>     // string

namespace allocscope_tests {

class inflater {
public:
    explicit inflater(const std::string& packed) : packed_(packed) {}

    // Throws when something is wrong, the checksum and the length included.
    std::string unpack() {
        if (packed_.compare(0, 4, std::string("\x1f\x8b\x08\0", 4)) != 0) fail("not gzip");
        bit_ = 80;
        for (bool is_last = false; !is_last;) {
            is_last = bits(1) == 1;
            if (bits(2) != 1) fail("only blocks with the fixed codes are known here");
            block();
        }
        bit_ = (bit_ + 7) / 8 * 8;
        std::uint32_t sum = ~0U;
        for (const char c : text_) {
            sum ^= static_cast<unsigned char>(c);
            for (int i = 0; i < 8; ++i) sum = (sum & 1U) != 0 ? sum >> 1U ^ 0xedb88320U : sum >> 1U;
        }
        if (bits(32) != static_cast<std::uint32_t>(~sum)) fail("the checksum is wrong");
        if (bits(32) != static_cast<std::uint32_t>(text_.size())) fail("the length is wrong");
        if (bit_ != packed_.size() * 8) fail("there is more behind the end");
        return text_;
    }

private:
    [[noreturn]] static void fail(const char* why) { throw std::runtime_error(why); }

    std::uint32_t bits(unsigned count) {
        std::uint32_t value = 0;
        for (unsigned i = 0; i < count; ++i, ++bit_) {
            if (bit_ / 8 >= packed_.size()) fail("the file is cut");
            const auto byte = static_cast<unsigned char>(packed_[bit_ / 8]);
            value |= (byte >> (bit_ % 8) & 1U) << i;
        }
        return value;
    }

    std::uint32_t code(unsigned count) {
        std::uint32_t value = 0;
        for (unsigned i = 0; i < count; ++i) value = value << 1U | bits(1);
        return value;
    }

    std::uint32_t symbol() {
        std::uint32_t value = code(7);
        if (value <= 0x17) return 256 + value;
        value = value << 1U | bits(1);
        if (value >= 0x30 && value <= 0xbf) return value - 0x30;
        if (value >= 0xc0 && value <= 0xc7) return value - 0xc0 + 280;
        value = value << 1U | bits(1);
        return value - 0x190 + 144;
    }

    void block() {
        static constexpr std::uint32_t first_length[] = {
            3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
            31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
        static constexpr unsigned length_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                   2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
        static constexpr std::uint32_t first_distance[] = {
            1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
            193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
        for (;;) {
            const std::uint32_t next = symbol();
            if (next == 256) return;
            if (next < 256) {
                text_ += static_cast<char>(next);
                continue;
            }
            if (next > 285) fail("no such length");
            std::uint32_t length = first_length[next - 257] + bits(length_bits[next - 257]);
            const std::uint32_t number = code(5);
            if (number > 29) fail("no such distance");
            const unsigned extra = number < 4 ? 0 : number / 2 - 1;
            const std::size_t distance = first_distance[number] + bits(extra);
            if (distance > text_.size() || distance > 32768) fail("too far back");
            for (; length > 0; --length) text_ += text_[text_.size() - distance];
        }
    }

    const std::string& packed_;
    std::size_t bit_ = 0;
    std::string text_;
};

inline std::string inflated(const std::string& packed) {
    return inflater{packed}.unpack();
}

}  // namespace allocscope_tests

#endif  // ALLOCSCOPE_TESTS_UNIT_FORMATS_INFLATED_HPP
