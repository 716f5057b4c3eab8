// gzip_stream.hpp - compresses a file like gzip, in one fast pass.
//
// Room:     formats (floor 12), not malloc-safe
// Called:   by formats/pprof_format.hpp
// Threads:  one
// Memory:   200 KiB of the arena, and a ninth more than the largest piece
//
//     gzip_stream zipped{job.memory, job.pieces};
//     zipped.add(piece);             // as often as needed; a megabyte at a time is best
//     zipped.finish();
//
// The format is RFC 1951 and 1952. Each piece becomes one block with the fixed codes. Text that
// occurred in the last 32 KiB of the piece is replaced by its distance and length. Of four bytes
// with the same hash, only the last position is remembered: that is fast, and most of a profile
// repeats what was written just before.

#ifndef ALLOCSCOPE_FORMATS_GZIP_STREAM_HPP
#define ALLOCSCOPE_FORMATS_GZIP_STREAM_HPP

#include <allocscope/config.hpp>
#include <allocscope/formats/format_job.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint8_t, uint16_t, uint32_t, uint64_t
#include <cstring>  // memcpy, memset

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The checksum of RFC 1952, computed eight bytes at a time.
class crc32_sum {
public:
    crc32_sum() noexcept {
        for (std::uint32_t i = 0; i < 256; ++i) {
            std::uint32_t value = i;
            for (int bit = 0; bit < 8; ++bit) {
                value = (value & 1U) != 0 ? value >> 1U ^ 0xedb88320U : value >> 1U;
            }
            after_[0][i] = value;
        }
        for (std::uint32_t i = 0; i < 256; ++i) {
            for (int n = 1; n < 8; ++n) {
                const std::uint32_t before = after_[n - 1][i];
                after_[n][i] = before >> 8U ^ after_[0][before & 0xffU];
            }
        }
    }

    void add(const text& bytes) noexcept {
        std::uint32_t sum = ~sum_;
        const char* at = bytes.begin();
        for (; bytes.end() - at >= 8; at += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, at, 8);
            word ^= sum;
            sum = 0;
            for (unsigned i = 0; i < 8; ++i) sum ^= after_[7 - i][word >> (8 * i) & 0xffU];
        }
        for (; at != bytes.end(); ++at) {
            sum = sum >> 8U ^ after_[0][(sum ^ static_cast<unsigned char>(*at)) & 0xffU];
        }
        sum_ = ~sum;
    }

    std::uint32_t value() const noexcept { return sum_; }

private:
    std::uint32_t after_[8][256];  // [n]: what a byte does to the sum if n bytes follow it
    std::uint32_t sum_ = 0;
};

// Writes bits, the lowest of each byte first, to a buffer that is large enough.
class bit_writer {
public:
    void begin(char* at) noexcept { at_ = at; }
    char* at() const noexcept { return at_; }

    // Writes at most 32 bits.
    void put(std::uint32_t bits, unsigned count) noexcept {
        waiting_ |= std::uint64_t{bits} << waiting_count_;
        waiting_count_ += count;
        if (waiting_count_ < 32) return;
        const auto word = static_cast<std::uint32_t>(waiting_);
        std::memcpy(at_, &word, 4);
        at_ += 4;
        waiting_ >>= 32U;
        waiting_count_ -= 32;
    }

    // Fills up the last byte with zero bits.
    void flush() noexcept {
        for (; waiting_count_ > 0; waiting_count_ -= waiting_count_ < 8 ? waiting_count_ : 8) {
            *at_++ = static_cast<char>(waiting_);
            waiting_ >>= 8U;
        }
    }

private:
    char* at_ = nullptr;
    std::uint64_t waiting_ = 0;
    unsigned waiting_count_ = 0;
};

// The fixed codes of RFC 1951, 3.2.6, as they are written: the first bit of a code is the lowest.
struct deflate_codes {
    struct code {
        std::uint32_t bits;
        std::uint8_t count;
    };
    static constexpr std::uint32_t longest_match = 258;

    code literals[256];
    code lengths[longest_match + 1];  // with the extra bits

    deflate_codes() noexcept {
        for (std::uint32_t i = 0; i < 256; ++i) literals[i] = symbol(i);
        for (std::uint32_t length = 3; length <= longest_match; ++length) {
            lengths[length] = code_of_length(length);
        }
    }

    static code symbol(std::uint32_t number) noexcept {
        if (number < 144) return {reversed(0x30U + number, 8), 8};
        if (number < 256) return {reversed(0x190U + number - 144, 9), 9};
        if (number < 280) return {reversed(number - 256, 7), 7};
        return {reversed(0xc0U + number - 280, 8), 8};
    }

    // The code of a distance: 5 bits and up to 13 extra bits.
    static code distance(std::uint32_t distance) noexcept {
        const std::uint32_t back = distance - 1;
        if (back < 4) return {reversed(back, 5), 5};
        const unsigned top = 31U - static_cast<unsigned>(__builtin_clz(back));
        const unsigned extra = top - 1;
        const std::uint32_t number = 2 * top + (back >> extra & 1U);
        const std::uint32_t rest = back & ((1U << extra) - 1);
        return {reversed(number, 5) | rest << 5U, static_cast<std::uint8_t>(5 + extra)};
    }

private:
    static std::uint32_t reversed(std::uint32_t bits, unsigned count) noexcept {
        std::uint32_t result = 0;
        for (unsigned i = 0; i < count; ++i) result |= (bits >> i & 1U) << (count - 1 - i);
        return result;
    }

    static code code_of_length(std::uint32_t length) noexcept {
        if (length == longest_match) return symbol(285);
        const std::uint32_t over = length - 3;
        if (over < 8) return symbol(257 + over);
        const unsigned top = 31U - static_cast<unsigned>(__builtin_clz(over));
        const unsigned extra = top - 2;
        code result = symbol(257 + 4 * (top - 1) + (over >> extra & 3U));
        result.bits |= (over & ((1U << extra) - 1)) << result.count;
        result.count = static_cast<std::uint8_t>(result.count + extra);
        return result;
    }
};

class gzip_stream {
public:
    gzip_stream(arena& memory, piecewise_text& to)
        : memory_(memory), to_(to), state_(memory.make<state>()) {
        // No name and no time of change; made on Unix, which has number 3.
        to_.gathered << text{"\x1f\x8b\x08\0\0\0\0\0\0\x03", 10};
    }

    void add(const text& piece) {
        make_room(piece.size() + piece.size() / 8 + 64);
        bits_.begin(buffer_);
        bits_.put(2, 3);  // begins a block with the fixed codes that is not the last
        pack(piece);
        put(deflate_codes::symbol(256));
        to_.gathered << text{buffer_, static_cast<std::size_t>(bits_.at() - buffer_)};
        to_.may_go();
        state_->sum.add(piece);
        size_ += piece.size();
    }
    // The same, with the signature that a piecewise_text needs.
    static bool put_piece(void* self, const text& piece) {
        if (!piece.empty()) static_cast<gzip_stream*>(self)->add(piece);
        return true;
    }

    void finish() {
        make_room(64);
        bits_.begin(buffer_);
        bits_.put(3, 3);  // begins the last block, which is empty
        put(deflate_codes::symbol(256));
        bits_.flush();
        bits_.put(state_->sum.value(), 32);
        bits_.put(static_cast<std::uint32_t>(size_), 32);
        to_.gathered << text{buffer_, static_cast<std::size_t>(bits_.at() - buffer_)};
    }

private:
    static constexpr unsigned hash_bits = 15;
    static constexpr std::uint32_t farthest = 32768;

    struct state {
        crc32_sum sum;
        deflate_codes codes;
        std::uint32_t last[1U << hash_bits];  // by hash: where such four bytes were last, from 1
    };

    void put(deflate_codes::code code) noexcept { bits_.put(code.bits, code.count); }

    void pack(const text& piece) noexcept {
        std::memset(state_->last, 0, sizeof state_->last);
        bit_writer bits = bits_;  // a copy, which can stay in registers
        const auto put = [&bits](deflate_codes::code code) { bits.put(code.bits, code.count); };
        const char* bytes = piece.data();
        const std::size_t size = piece.size();
        std::size_t at = 0;
        while (at + 8 <= size) {
            const std::uint32_t length = length_of_match(bytes, at, size);
            if (length == 0) {
                put(state_->codes.literals[static_cast<unsigned char>(bytes[at++])]);
                continue;
            }
            put(state_->codes.lengths[length]);
            put(deflate_codes::distance(static_cast<std::uint32_t>(at - match_)));
            at += length;
        }
        for (; at < size; ++at) put(state_->codes.literals[static_cast<unsigned char>(bytes[at])]);
        bits_ = bits;
    }

    // How many bytes from `at` equal those from `match_`; 0 if there are too few.
    std::uint32_t length_of_match(const char* bytes, std::size_t at, std::size_t size) noexcept {
        std::uint32_t four = 0;
        std::memcpy(&four, bytes + at, 4);
        std::uint32_t& last = state_->last[four * 2654435761U >> (32 - hash_bits)];
        const std::size_t before = last;
        last = static_cast<std::uint32_t>(at + 1);
        if (before == 0 || at + 1 - before > farthest) return 0;
        match_ = before - 1;
        if (std::memcmp(bytes + match_, bytes + at, 4) != 0) return 0;
        std::uint32_t length = 4;
        const std::size_t most =
            size - at < deflate_codes::longest_match ? size - at : deflate_codes::longest_match;
        while (length + 8 <= most) {
            std::uint64_t here = 0;
            std::uint64_t there = 0;
            std::memcpy(&here, bytes + at + length, 8);
            std::memcpy(&there, bytes + match_ + length, 8);
            if (here != there) {
                return length + static_cast<std::uint32_t>(__builtin_ctzll(here ^ there)) / 8;
            }
            length += 8;
        }
        while (length < most && bytes[match_ + length] == bytes[at + length]) ++length;
        return length;
    }

    void make_room(std::size_t bytes) {
        if (bytes <= room_) return;
        buffer_ = static_cast<char*>(memory_.allocate(bytes));
        room_ = bytes;
    }

    arena& memory_;
    piecewise_text& to_;
    state* state_;
    bit_writer bits_;
    char* buffer_ = nullptr;
    std::size_t room_ = 0;
    std::size_t match_ = 0;
    std::uint64_t size_ = 0;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_FORMATS_GZIP_STREAM_HPP
