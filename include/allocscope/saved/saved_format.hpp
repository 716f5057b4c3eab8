// saved_format.hpp - the parts of a saved snapshot.
//
// Room:     saved (floor 11), not malloc-safe
// Called:   by saved/save_snapshot.hpp and saved/load_snapshot.hpp
// Threads:  constants and plain values
// Memory:   none
//
//     magic | version | record | record | ... | end record
//     record = tag, length of its payload, payload
//
// docs/snapshot_format.md describes every record. All numbers are unsigned LEB128, as in DWARF; a
// negative number is written as its two's complement. A reader skips records with unknown tags, and
// the bytes of a record after the fields that it knows. So fields and records can be added without
// a new version.

#ifndef ALLOCSCOPE_SAVED_SAVED_FORMAT_HPP
#define ALLOCSCOPE_SAVED_SAVED_FORMAT_HPP

#include <allocscope/config.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint8_t, uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr char saved_magic[] = "allocscope snapshot\n";  // without the zero byte
constexpr std::size_t saved_magic_bytes = sizeof saved_magic - 1;
constexpr std::uint64_t saved_version = 1;

// A new record gets a new letter. The switch in load_snapshot.hpp has a case for each letter, so a
// letter that is used twice does not compile.
enum class saved_tag : unsigned char {
    text = 't',   // numbered from 1; number 0 is ""
    frame = 'f',  // numbered from 0
    stack = 'l',  // the numbers of its frames; numbered from 0
    info = 'i',   // once, before rows and sums
    loss = 'x',
    family = 'y',
    moment = 'o',
    memory = 'u',  // where the resident memory was
    module = 'm',
    row = 'r',
    sums = 's',     // what snapshot::stacks() says of one stack
    merged = 'g',   // how many windows were merged
    thread = 'h',   // numbered from 0
    age = 'a',      // between two age marks; numbered from 0
    part = 'p',     // what one thread allocated at the stack before it, of one age
    details = 'd',  // those of the stack or part before it
    end = 'e'       // the checksum of all bytes before it: eight bytes, lowest first
};

// FNV-1a of 64 bits: www.isthe.com/chongo/tech/comp/fnv
class saved_checksum {
public:
    void add(const char* bytes, std::size_t count) noexcept {
        std::uint64_t value = value_;
#pragma GCC unroll 8
        for (std::size_t i = 0; i < count; ++i) {
            value = (value ^ static_cast<std::uint8_t>(bytes[i])) * 0x100000001b3U;
        }
        value_ = value;
    }
    std::uint64_t value() const noexcept {
        return value_;
    }

private:
    std::uint64_t value_ = 0xcbf29ce484222325U;
};

constexpr std::uint64_t saved_is_difference = 1;
constexpr std::uint64_t saved_is_of_two_windows = 2;
constexpr std::uint64_t saved_has_stacks = 4;
constexpr std::uint64_t saved_is_filtered = 8;
constexpr std::uint64_t saved_has_details = 16;
constexpr std::uint64_t saved_has_peak_details = 32;
constexpr std::uint64_t saved_is_backwards = 64;

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SAVED_SAVED_FORMAT_HPP
