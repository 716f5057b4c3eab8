// written_link.hpp - where a call of another module leads: the loader has written it into a word.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbolizer.hpp, for calls and jumps in this process; its reading of stubs by
//           tools/run/, for those of a process that has ended
// Threads:  any
// Memory:   none
//
//     call  make_item@plt  ->  .plt: jmp *word(%rip)  ->  word: the address of make_item
//     call *word(%rip)                                    the same without a stub (-fno-plt)
//
// A call that is on the stack has been made, so the loader has found its function.

#ifndef ALLOCSCOPE_SYMBOLS_WRITTEN_LINK_HPP
#define ALLOCSCOPE_SYMBOLS_WRITTEN_LINK_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/probe_memory.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int32_t, int64_t, uint64_t
#include <cstring>  // memcpy

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

constexpr std::size_t longest_stub = 17;

// The word from which the stub at `address` takes its target; 0: these bytes are no stub of ld,
// gold, lld or mold: perhaps endbr64, perhaps the relocation's number, perhaps a prefix, then the
// jump.
inline std::uint64_t word_of_stub(const unsigned char (&stub)[longest_stub],
                                  std::uint64_t address) noexcept {
    std::size_t at = std::memcmp(stub, "\xf3\x0f\x1e\xfa", 4) == 0 ? 4 : 0;
    if (stub[at] == 0x41 && stub[at + 1] == 0xbb) at += 6;  // mov $n, %r11d
    if (stub[at] == 0xf2) ++at;
    if (stub[at] != 0xff || stub[at + 1] != 0x25) return 0;
    std::int32_t distance = 0;
    std::memcpy(&distance, stub + at + 2, sizeof distance);
    return address + at + 6 + static_cast<std::uint64_t>(std::int64_t{distance});
}

// The address that is in the word at `target`, or in that of the stub at `target`; 0: there is none
// that is known.
inline std::uint64_t written_link(std::uint64_t target, bool is_word) noexcept {
    if (!is_word) {
        unsigned char stub[longest_stub];
        if (!detail::probe_memory(target, stub, sizeof stub)) return 0;
        target = word_of_stub(stub, target);
        if (target == 0) return 0;
    }
    std::uint64_t address = 0;
    return detail::probe_memory(target, &address, sizeof address) ? address : 0;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_WRITTEN_LINK_HPP
