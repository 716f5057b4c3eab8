// demangle.hpp - demangles linker names to names as the programmer wrote them.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/object_contents.hpp and entry_names.hpp, once for each name
// Threads:  any
// Memory:   the result; the C++ runtime's demangler uses malloc while it works
//
// The runtime's demangler writes out everything to which a name refers back, and references nest:
// about forty characters can stand for gigabytes. So the length is estimated first. Names that may
// get too long, one of two thousand in large libraries, keep their linker names.
//
//     demangled(memory, "_ZN3app4loadEi")    // "app::load(int)"
//     demangled(memory, "main")              // "main"

#ifndef ALLOCSCOPE_SYMBOLS_DEMANGLE_HPP
#define ALLOCSCOPE_SYMBOLS_DEMANGLE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <cstdlib>  // free

// With a name of our own, <cxxabi.h> need not be compiled for this call alone.
extern "C" char* allocscope_demangle(const char* linkage_name, char* buffer, std::size_t* size,
                                     int* status) __asm__("__cxa_demangle");

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

constexpr std::size_t longest_mangled_name = 4096;
constexpr std::uint64_t longest_expansion = std::uint64_t{1} << 22;

// Where the reference ends whose number is at `at`, the "1" of "S1_"; 0: it is none.
inline std::size_t read_reference(const text& name, std::size_t at, std::uint64_t& part) noexcept {
    std::size_t end = at;
    for (; end < name.size() && part < longest_expansion; ++end) {
        const char digit = name[end];
        const bool is_number = digit >= '0' && digit <= '9';
        if (!is_number && (digit < 'A' || digit > 'Z')) break;
        part = part * 36 + static_cast<std::uint64_t>(digit - (is_number ? '0' : 'A' - 10));
    }
    if (end > at) ++part;  // "S_" is the part before "S0_"
    return name.substr(end, 1) == "_" ? end : 0;
}

// Whether a name gets at most so long, counted in characters of the linker name. A reference, "S1_"
// or "T0_", stands for at most what was written before it. "S1_" stands for less if the name
// referred to that part, or to a later one, before: the part was complete there. That is not so of
// parts with template arguments, which may get longer in another place. "Dp" and, in expressions,
// "sp" repeat what comes next for each argument of a pack, "J...E". If that is the pack itself,
// "DpOT0_", each argument is written once, so all together are as short as any other reference;
// but what follows a template in it, "DpT_I...E", is repeated. Identifiers that look like any of
// these make the estimate larger.
inline bool has_short_expansion(const text& name) noexcept {
    struct {
        std::uint64_t part;
        std::uint64_t length;  // of everything before the first reference to the part
    } seen[32];                // more would double the length as often
    std::size_t seen_count = 0;
    std::uint64_t length = 0;
    std::uint64_t copies = 1;
    std::size_t pack = 0;
    std::size_t repeated = 0;  // where the pack would be that "Dp" repeats by itself
    std::uint64_t copies_before = 1;
    bool has_expressions = false;
    bool has_arguments = false;
    for (std::size_t i = 0; i < name.size() && length <= longest_expansion; ++i) {
        const char sign = name[i];
        length += copies;
        if (sign == 'J' && pack == 0) pack = i;
        const char next = i + 1 < name.size() ? name[i + 1] : '\0';
        // A template argument, the bound of an array, a constraint; decltype, noexcept.
        const bool has_expression = sign == 'X' || sign == 'A' || sign == 'Q' ||
                                    (sign == 'D' && (next == 'T' || next == 't' || next == 'O'));
        has_expressions = has_expressions || has_expression;
        const bool is_repetition = sign == 'D' || (sign == 's' && has_expressions);
        if (is_repetition && next == 'p' && pack != 0) {
            copies_before = copies;
            copies *= i - pack;
            repeated = i + 2;
            while (repeated < name.size() && text{"RKOPV"}.find(name[repeated]) != text::npos) {
                ++repeated;
            }
        }
        if (copies > longest_expansion) return false;
        if (sign != 'S' && sign != 'T') continue;
        std::uint64_t part = 0;
        const std::size_t end = read_reference(name, i + 1, part);
        if (end == 0) continue;
        std::uint64_t most = length;
        for (std::size_t k = seen_count; sign == 'S' && k > 0; --k) {
            if (seen[k - 1].part >= part) most = seen[k - 1].length;
        }
        has_arguments = has_arguments || sign == 'T';
        if (!has_arguments && seen_count < 32) seen[seen_count++] = {part, length};
        if (sign == 'T' && i == repeated && name.substr(end + 1, 1) != "I") {
            length += copies;
            copies = copies_before;
        }
        length += copies * most;
        i = end;
    }
    return length <= longest_expansion;
}

inline bool is_demanglable(const text& name) noexcept {
    return name.size() <= longest_mangled_name && name.starts_with("_Z") &&
           has_short_expansion(name);
}

// The result is a zero-terminated text in `memory`.
inline text demangled(arena& memory, const char* linkage_name) {
    struct readable_name {
        char* characters = nullptr;
        ~readable_name() { std::free(characters); }
    } readable;
    if (is_demanglable(linkage_name)) {
        int status = 0;
        constexpr int no_memory = -1;
        readable.characters = ::allocscope_demangle(linkage_name, nullptr, nullptr, &status);
        if (status == no_memory) refuse_memory();
    }
    return copy_of(memory, readable.characters != nullptr ? readable.characters : linkage_name);
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_DEMANGLE_HPP
