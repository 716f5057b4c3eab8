// led_operators.hpp - leads calls of another allocator's operators to those of this library.
//
// Called:   when the recording begins, and when this library is loaded
// Threads:  any; under the loader's lock, which keeps modules mapped
// Memory:   none
//
// This library does not define operator new under its name: it would come before operators that a
// library opened later defines, and every program with glibc's malloc would pay for the detour.
// Only if the allocator behind our malloc defines operators, they are replaced, in two steps:
//
//     the allocator's symbol table    from now on, the loader finds our operator under the name of
//                                     theirs: for libraries that are opened, in dlsym(), and at the
//                                     first call through a word that is bound late
//     words of other modules          those that hold the address of theirs get that of ours
//
// In this order no word is missed. A module that is being relocated meanwhile gets one address or
// the other, and the second walk, before main, finds the rest. Operators that the program itself
// defines, or libstdc++ if it comes first, are found as before and call malloc.
//
// The allocator is a module like any other here, but its calls of malloc get along with its
// operators: see forwarded_operators.hpp.
#ifndef ALLOCSCOPE_TOOLS_PRELOAD_LED_OPERATORS_HPP
#define ALLOCSCOPE_TOOLS_PRELOAD_LED_OPERATORS_HPP

#include "begin_recording.hpp"
#include "defined_symbols.hpp"
#include "forwarded_operators.hpp"

#include <allocscope/hooks/attached_functions.hpp>
#include <allocscope/hooks/module_slots.hpp>
#include <allocscope/hooks/underlying_allocator.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <elf.h>
#include <link.h>

namespace allocscope {
namespace detail {

struct led_operator {
    const char* name;
    std::uintptr_t ours;
    std::uintptr_t theirs;  // 0: the allocator does not define it
};

#define ALLOCSCOPE_PRIVATE_COUNT(name, symbol, parameters, arguments) +1
inline led_operator led_operators[ALLOCSCOPE_OPERATORS_NEW(ALLOCSCOPE_PRIVATE_COUNT)
                                      ALLOCSCOPE_OPERATORS_DELETE(ALLOCSCOPE_PRIVATE_COUNT)] = {};
#undef ALLOCSCOPE_PRIVATE_COUNT

// What is done is kept for the second walk.
struct leading_state {
    bool is_begun = false;     // the allocator is known
    bool are_any = false;      // it has operators
    bool is_refused = false;   // the kernel did not let us write
    bool is_complete = false;  // the walk before main is done
};
inline leading_state leading;

// --- the allocator's symbols ---

template <class Function>
inline led_operator operator_in(const defined_symbols& symbols, const char* name, Function*& theirs,
                                Function* ours) noexcept {
    const Elf64_Sym* const symbol = symbols.find(name);
    const std::uintptr_t address = symbol != nullptr ? symbols.address_of(*symbol) : 0;
    std::memcpy(&theirs, &address, sizeof address);
    return {name, address_of_function(ours), address};
}

// Writes into the symbol of each operator what `chosen` says. Returns false if the kernel refuses.
inline bool lead_symbols(const loaded_segments& segments, const defined_symbols& symbols,
                         std::uintptr_t led_operator::*chosen) noexcept {
    for (const led_operator& each : led_operators) {
        if (each.theirs == 0) continue;
        if (!symbols.lead(*symbols.find(each.name), each.*chosen, segments)) return false;
    }
    return true;
}

inline void lead_symbols(const loaded_segments& segments) noexcept {
    const defined_symbols symbols{segments};
    led_operator* next = led_operators;
#define ALLOCSCOPE_PRIVATE_FIND(name, symbol, parameters, arguments) \
    *next++ = operator_in(symbols, symbol, their_##name, &our_##name);
    ALLOCSCOPE_OPERATORS_NEW(ALLOCSCOPE_PRIVATE_FIND)
    ALLOCSCOPE_OPERATORS_DELETE(ALLOCSCOPE_PRIVATE_FIND)
#undef ALLOCSCOPE_PRIVATE_FIND
    if (their_new_object == nullptr) return;
    // A trial first: if only the deletes were not seen, all objects would seem to stay alive.
    leading.is_refused = !lead_symbols(segments, symbols, &led_operator::theirs);
    if (leading.is_refused) return;
    look_for_operator_objects();
    leading.are_any = true;
    leading.is_refused = !lead_symbols(segments, symbols, &led_operator::ours);
}

// --- words ---

class led_words {
public:
    explicit led_words(const dl_phdr_info& info) noexcept
        : segments_(info), pages_(segments_), slots_(segments_) {}

    void lead(bool is_allocator) noexcept {
        slots_.for_each([this, is_allocator](const module_slot& slot) {
            if (const led_operator* const named = operator_of(slot)) {
                if (read(slot) == named->theirs) write(slot, named->ours);
            } else if (const std::uintptr_t own = is_allocator ? own_function(slot) : 0) {
                if (read(slot) != own) write(slot, own);
            }
        });
    }

private:
    static const led_operator* operator_of(const module_slot& slot) noexcept {
        if (slot.room < 4 || std::memcmp(slot.name, "_Z", 2) != 0) return nullptr;
        for (const led_operator& each : led_operators) {
            if (each.theirs != 0 && is_named(slot, each.name)) return &each;
        }
        return nullptr;
    }

    // What the allocator is to call in place of malloc or one of its family; 0: it is another name.
    static std::uintptr_t own_function(const module_slot& slot) noexcept {
#define ALLOCSCOPE_PRIVATE_OWN(result, name, parameters, arguments) \
    if (is_named(slot, #name)) return address_of_function(&own_##name);
        ALLOCSCOPE_UNDERLYING_FUNCTIONS(ALLOCSCOPE_PRIVATE_OWN)
#undef ALLOCSCOPE_PRIVATE_OWN
        return 0;
    }

    static std::uintptr_t read(const module_slot& slot) noexcept {
        return __atomic_load_n(slot.word, __ATOMIC_RELAXED);
    }
    void write(const module_slot& slot, std::uintptr_t function) noexcept {
        if (pages_.open_for(reinterpret_cast<std::uintptr_t>(slot.word))) {
            __atomic_store_n(slot.word, function, __ATOMIC_RELEASE);
        } else {
            leading.is_refused = true;
        }
    }

    loaded_segments segments_;
    relocated_pages pages_;
    slots_of_module slots_;
};

inline module_range range_of(const dl_phdr_info& info) noexcept {
    module_range found = {~std::uintptr_t{0}, 0};
    for (std::size_t i = 0; i < info.dlpi_phnum; ++i) {
        const Elf64_Phdr& each = info.dlpi_phdr[i];
        if (each.p_type != PT_LOAD) continue;
        const std::uintptr_t begin = info.dlpi_addr + each.p_vaddr;
        if (begin < found.begin) found.begin = begin;
        if (begin + each.p_memsz > found.end) found.end = begin + each.p_memsz;
    }
    return found;
}

template <class Function>
inline bool is_in(const module_range& range, Function function) noexcept {
    return range.has(reinterpret_cast<const void*>(address_of_function(function)));
}

inline int lead_allocator(dl_phdr_info* info, std::size_t, void*) noexcept {
    const module_range range = range_of(*info);
    if (is_in(range, &our_new_object)) own_range = range;
    if (!is_in(range, function_in(next_definitions.malloc))) return 0;
    allocator_range = range;
    lead_symbols(loaded_segments{*info});
    return 0;
}

inline int lead_words(dl_phdr_info* info, std::size_t, void*) noexcept {
    led_words{*info}.lead(is_in(range_of(*info), function_in(next_definitions.malloc)));
    return 0;
}

// --- all together ---

inline void begin_leading() noexcept {
    leading.is_begun = true;
    if (function_in(next_definitions.malloc) == nullptr) choose_underlying();
    if (is_glibc_underlying.load(memory_order::relaxed)) return;
    ::dl_iterate_phdr(&lead_allocator, nullptr);
}

// Does nothing while the loader is relocating the libraries of the program. A forked child inherits
// what was done.
void lead_operators() noexcept {
    if (own_recording == nullptr || leading.is_complete) return;
    if (_r_debug.r_state != r_debug::RT_CONSISTENT) return;
    if (!leading.is_begun) begin_leading();
    if (leading.are_any) ::dl_iterate_phdr(&lead_words, nullptr);
    if (!leading.is_refused || allocator_not_seen != nullptr) return;
    allocator_not_seen = module_of{function_in(next_definitions.malloc)}.file;
    say_what_is_not_seen(*own_recording);
}

inline void lead_operators_before_main() noexcept {
    lead_operators();
    leading.is_complete = true;
}

}  // namespace detail
}  // namespace allocscope

#endif  // ALLOCSCOPE_TOOLS_PRELOAD_LED_OPERATORS_HPP
