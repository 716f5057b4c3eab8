// module_fingerprint.hpp - one number that distinguishes modules at the same address.
//
// Room:     binary (floor 2), malloc-safe
// Called:   by unwind/module_identity.hpp and symbols/module_list.hpp for modules in memory, by
//           symbols/object_contents.hpp for files
// Threads:  any
// Memory:   none
//
// If there is a build id from the linker, the fingerprint comes from it. A module without one is
// identified by its first page, which has the header, the list of segments and in small modules the
// names of its symbols, and by the name with which it was opened. Two versions of a file that
// differ in neither count as the same.

#ifndef ALLOCSCOPE_BINARY_MODULE_FINGERPRINT_HPP
#define ALLOCSCOPE_BINARY_MODULE_FINGERPRINT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/binary/build_id.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <cstring>  // memcpy

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// The result is never 0.
inline std::uint64_t fingerprint_of(const build_id& id) noexcept {
    std::uint64_t hash = hash_seed;
    for (std::size_t at = 0; at < id.size; at += sizeof hash) {  // the remaining bytes are zero
        std::uint64_t word = 0;
        std::memcpy(&word, id.bytes + at, sizeof word);
        hash = hash_step(hash_finish(hash), word);
    }
    return hash_finish(hash) | 1U;
}

constexpr std::size_t fingerprinted_bytes = 4096;

// For a module without a build id. `page` is its first fingerprinted_bytes; a shorter file is
// followed by zeros, as the kernel maps it. The result is never 0.
inline std::uint64_t fingerprint_of(const void* page, const char* path) noexcept {
    constexpr std::size_t lanes = 4;  // multiplications that do not wait for each other
    const auto* at = static_cast<const char*>(page);
    const char* const end = at + fingerprinted_bytes;
    std::uint64_t hashes[lanes] = {hash_seed, hash_seed, hash_seed, hash_seed};
    for (; at != end; at += sizeof hashes) {
        std::uint64_t words[lanes];
        std::memcpy(words, at, sizeof words);
        for (std::size_t i = 0; i < lanes; ++i) {
            hashes[i] = hash_step(hash_finish(hashes[i]), words[i]);
        }
    }
    std::uint64_t hash = hash_seed;
    for (const std::uint64_t part : hashes) hash = hash_step(hash_finish(hash), part);
    for (; *path != '\0'; ++path) {
        hash = hash_step(hash_finish(hash), static_cast<unsigned char>(*path));
    }
    return hash_finish(hash) | 1U;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_BINARY_MODULE_FINGERPRINT_HPP
