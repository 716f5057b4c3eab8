// random_seed.hpp - 64 bits that differ from process to process and from call to call.
//
// Room:     platform (floor 1), malloc-safe
// Called:   once per sampled thread, and after a fork
// Threads:  any
// Memory:   none
//
// The kernel gives each program 16 random bytes at its start. Reading them costs no system call and
// cannot fail. getrandom() may be forbidden, or may block early at boot. A forked child has its
// parent's bytes, so the time and the process id are mixed in.

#ifndef ALLOCSCOPE_PLATFORM_RANDOM_SEED_HPP
#define ALLOCSCOPE_PLATFORM_RANDOM_SEED_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/platform/clocks.hpp>

#include <cstdint>  // uint64_t
#include <cstring>  // memcpy

#include <sys/auxv.h>  // getauxval
#include <unistd.h>    // getpid

ALLOCSCOPE_COLD_BEGIN

namespace detail {

inline std::uint64_t random_seed() noexcept {
    std::uint64_t of_program[2] = {};
    if (const auto* bytes = reinterpret_cast<const char*>(::getauxval(AT_RANDOM))) {
        std::memcpy(of_program, bytes, sizeof of_program);
    }
    std::uint64_t mixed = hash_step(hash_seed, of_program[0]);
    mixed = hash_step(mixed, of_program[1]);
    mixed = hash_step(mixed, monotonic_ns());
    mixed = hash_step(mixed, static_cast<std::uint64_t>(::getpid()));
    return hash_finish(mixed);
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_PLATFORM_RANDOM_SEED_HPP
