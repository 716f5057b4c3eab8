// inflate.hpp - decompresses a section in zlib's format (RFC 1950 and 1951).
//
// Room:     binary (floor 2), malloc-safe
// Called:   by symbols/object_bytes.hpp
// Threads:  any
// Memory:   3 KB of stack; the result goes to memory of the caller
//
// Linkers and packagers compress debug information. The section says how long it will be. A byte of
// the stream cannot become more than 1032 bytes, so nobody allocates more than that. A stream that
// is damaged anywhere is refused as a whole.

#ifndef ALLOCSCOPE_BINARY_INFLATE_HPP
#define ALLOCSCOPE_BINARY_INFLATE_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>

#include <cstdint>  // uint8_t ... uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

constexpr std::uint64_t largest_inflation = 1032;

// A set of prefix codes. Codes of up to nine bits are found in one step, longer ones bit by bit.
class inflate_codes {
public:
    static constexpr unsigned fast_bits = 9;
    static constexpr unsigned longest = 15;

    // Returns false if there are more codes of some length than possible. As in zlib, there may be
    // fewer if there is only one code.
    bool build(const std::uint8_t* lengths, unsigned count, bool may_be_empty) noexcept;

    // The symbol and the length of its code; a length of 0 means that no code begins like this.
    struct found {
        unsigned symbol, bits;
    };
    found find(std::uint64_t window) const noexcept {
        const unsigned entry = fast_[window & ((1U << fast_bits) - 1)];
        return entry != 0 ? found{entry >> 4U, entry & 15U} : find_long(window);
    }

private:
    found find_long(std::uint64_t window) const noexcept;

    std::uint16_t counts_[longest + 1];
    std::uint16_t symbols_[288];
    std::uint16_t fast_[1U << fast_bits];
};

ALLOCSCOPE_NOINLINE bool inflate_codes::build(const std::uint8_t* lengths, unsigned count,
                                              bool may_be_empty) noexcept {
    for (std::uint16_t& each : counts_) each = 0;
    for (std::uint16_t& each : fast_) each = 0;
    for (unsigned i = 0; i < count; ++i) ++counts_[lengths[i]];
    const unsigned used = count - counts_[0];
    int left = 1;  // unused codes of the length
    std::uint16_t begins[longest + 2] = {};
    unsigned codes[longest + 2] = {};
    for (unsigned bits = 1; bits <= longest; ++bits) {
        left = 2 * left - counts_[bits];
        if (left < 0) return false;
        begins[bits + 1] = static_cast<std::uint16_t>(begins[bits] + counts_[bits]);
        codes[bits + 1] = (codes[bits] + counts_[bits]) << 1U;
    }
    if (left != 0 && !(may_be_empty && (used == 0 || (used == 1 && counts_[1] == 1)))) return false;
    for (unsigned symbol = 0; symbol < count; ++symbol) {
        const unsigned bits = lengths[symbol];
        if (bits == 0) continue;
        symbols_[begins[bits]++] = static_cast<std::uint16_t>(symbol);
        const unsigned code = codes[bits]++;
        if (bits > fast_bits) continue;
        unsigned reversed = 0;
        for (unsigned i = 0; i < bits; ++i) reversed |= ((code >> i) & 1U) << (bits - 1 - i);
        for (unsigned i = reversed; i < 1U << fast_bits; i += 1U << bits) {
            fast_[i] = static_cast<std::uint16_t>(symbol << 4U | bits);
        }
    }
    return true;
}

ALLOCSCOPE_NOINLINE inflate_codes::found inflate_codes::find_long(
    std::uint64_t window) const noexcept {
    int code = 0;
    int first = 0;
    int index = 0;
    for (unsigned bits = 1; bits <= longest; ++bits, window >>= 1U) {
        code |= static_cast<int>(window & 1U);
        const int count = counts_[bits];
        if (code - count < first) return {symbols_[index + code - first], bits};
        index += count;
        first = (first + count) << 1;
        code <<= 1;
    }
    return {0, 0};
}

class inflater {
public:
    inflater(byte_view in, std::uint8_t* out, std::uint64_t size) noexcept
        : next_(in.data), end_(in.data + in.size), out_(out), size_(size) {}

    bool run() noexcept;

private:
    // Whether the header is that of zlib.
    bool is_zlib() noexcept {
        const std::uint64_t head = take(16);
        return (head & 15U) == 8 && (head >> 4U & 15U) <= 7 && (head & 0x2000U) == 0 &&
               ((head & 255U) << 8U | head >> 8U) % 31 == 0;
    }

    // Provides at least the next 32 bits; after the end they are zero.
    void fill() noexcept {
        while (bits_ <= 56) {
            if (next_ != end_) {
                window_ |= std::uint64_t{*next_++} << bits_;
            } else {
                ++missing_;
            }
            bits_ += 8;
        }
    }

    void drop(unsigned count) noexcept {
        window_ >>= count;
        bits_ -= count;
        if (missing_ != 0 && bits_ < missing_ * 8) is_failed_ = true;
    }

    std::uint64_t take(unsigned count) noexcept;

    void stored() noexcept {
        drop(bits_ & 7U);
        const std::uint64_t length = take(16);
        if ((take(16) ^ length) != 0xffffU || length > size_ - done_) {
            is_failed_ = true;
            return;
        }
        for (std::uint64_t i = 0; i < length && !is_failed_; ++i) {
            out_[done_++] = static_cast<std::uint8_t>(take(8));
        }
    }

    ALLOCSCOPE_INLINE void fixed_codes() noexcept {
        std::uint8_t lengths[288];
        for (unsigned i = 0; i < 288; ++i) {
            lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
        }
        literals_.build(lengths, 288, false);
        for (unsigned i = 0; i < 32; ++i) lengths[i] = 5;
        distances_.build(lengths, 32, false);
    }

    bool read_codes() noexcept;
    void coded() noexcept;

    bool is_sum_right() noexcept {
        drop(bits_ & 7U);
        std::uint32_t wanted = 0;
        for (int i = 0; i < 4; ++i) wanted = wanted << 8U | static_cast<std::uint32_t>(take(8));
        std::uint32_t low = 1;
        std::uint32_t high = 0;
        for (std::uint64_t at = 0; at < size_;) {
            // This many bytes cannot overflow before the remainder is taken.
            const std::uint64_t stop = size_ - at < 5552 ? size_ : at + 5552;
            for (; at < stop; ++at) high += low += out_[at];
            low %= 65521;
            high %= 65521;
        }
        return !is_failed_ && wanted == (high << 16U | low);
    }

    const std::uint8_t* next_;
    const std::uint8_t* end_;
    std::uint8_t* out_;
    std::uint64_t size_;
    std::uint64_t done_ = 0;
    std::uint64_t window_ = 0;
    unsigned bits_ = 0;     // in the window
    unsigned missing_ = 0;  // bytes in it that are beyond the end
    bool is_failed_ = false;
    inflate_codes literals_;
    inflate_codes distances_;
};

ALLOCSCOPE_NOINLINE bool inflater::run() noexcept {
    if (!is_zlib()) return false;
    bool is_last = false;
    while (!is_last && !is_failed_) {
        is_last = take(1) != 0;
        const std::uint64_t kind = take(2);
        if (kind == 0) {
            stored();
        } else if (kind == 1 || (kind == 2 && read_codes())) {
            if (kind == 1) fixed_codes();
            coded();
        } else {
            return false;
        }
    }
    return !is_failed_ && done_ == size_ && is_sum_right();
}

ALLOCSCOPE_NOINLINE std::uint64_t inflater::take(unsigned count) noexcept {
    fill();
    const std::uint64_t value = window_ & ((std::uint64_t{1} << count) - 1);
    drop(count);
    return value;
}

// The lengths of the codes are themselves encoded.
ALLOCSCOPE_NOINLINE bool inflater::read_codes() noexcept {
    const auto literals = static_cast<unsigned>(take(5)) + 257;
    const auto distances = static_cast<unsigned>(take(5)) + 1;
    const auto count = static_cast<unsigned>(take(4)) + 4;
    if (literals > 286 || distances > 30) return false;
    constexpr std::uint8_t order[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                      11, 4,  12, 3, 13, 2, 14, 1, 15};
    std::uint8_t lengths[286 + 30] = {};
    for (unsigned i = 0; i < count; ++i) lengths[order[i]] = static_cast<std::uint8_t>(take(3));
    if (!literals_.build(lengths, 19, false)) return false;
    for (std::uint8_t& each : lengths) each = 0;
    const unsigned all = literals + distances;
    for (unsigned i = 0; i < all && !is_failed_;) {
        fill();
        const inflate_codes::found found = literals_.find(window_);
        if (found.bits == 0) return false;
        drop(found.bits);
        if (found.symbol < 16) {
            lengths[i++] = static_cast<std::uint8_t>(found.symbol);
            continue;
        }
        if (found.symbol == 16 && i == 0) return false;
        const std::uint8_t repeated = found.symbol == 16 ? lengths[i - 1] : std::uint8_t{0};
        std::uint64_t times = found.symbol == 16   ? 3 + take(2)
                              : found.symbol == 17 ? 3 + take(3)
                                                   : 11 + take(7);
        if (times > all - i) return false;
        for (; times != 0; --times) lengths[i++] = repeated;
    }
    // A block without a code for its end would not end.
    return !is_failed_ && lengths[256] != 0 && literals_.build(lengths, literals, true) &&
           distances_.build(lengths + literals, distances, true);
}

// The least lengths and distances of their codes.
ALLOCSCOPE_HIDDEN inline constexpr std::uint16_t inflated_lengths[] = {
    3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
    31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
ALLOCSCOPE_HIDDEN inline constexpr std::uint16_t inflated_distances[] = {
    1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
    193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};

ALLOCSCOPE_NOINLINE void inflater::coded() noexcept {
    while (!is_failed_) {
        fill();
        const inflate_codes::found found = literals_.find(window_);
        if (found.bits == 0) break;
        drop(found.bits);
        if (found.symbol < 256) {
            if (done_ == size_) break;
            out_[done_++] = static_cast<std::uint8_t>(found.symbol);
            continue;
        }
        if (found.symbol == 256) return;
        const unsigned length_code = found.symbol - 257;
        if (length_code > 28) break;
        const unsigned more = length_code < 8 || length_code == 28 ? 0 : (length_code - 4) / 4;
        std::uint64_t length = inflated_lengths[length_code] + take(more);
        fill();
        const inflate_codes::found back = distances_.find(window_);
        if (back.bits == 0 || back.symbol > 29) break;
        drop(back.bits);
        const unsigned more_back = back.symbol < 4 ? 0 : (back.symbol - 2) / 2;
        const std::uint64_t distance = inflated_distances[back.symbol] + take(more_back);
        if (distance > done_ || length > size_ - done_) break;
        const std::uint8_t* from = out_ + done_ - distance;
        std::uint8_t* to = out_ + done_;
        done_ += length;
        for (; length != 0; --length) *to++ = *from++;
    }
    is_failed_ = true;
}

// Returns true if the stream is complete and fills the `size` bytes at `out` exactly.
ALLOCSCOPE_INLINE bool inflate(byte_view stream, std::uint8_t* out, std::uint64_t size) noexcept {
    return inflater{stream, out, size}.run();
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_BINARY_INFLATE_HPP
