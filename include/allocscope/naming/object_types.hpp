// object_types.hpp - what live objects of a stack say about their type.
//
// Room:     naming (floor 10), not malloc-safe
// Called:   by naming/name_book.hpp, for stacks whose type may still be found or rejected
// Threads:  one at a time, under the naming lock
// Memory:   of the arena that is passed in
//
// An object of a class with virtual functions begins with the address of a vtable, and the debug
// information says how large the objects of a class are. The objects may be freed in the meantime,
// so their memory is read through the kernel.

#ifndef ALLOCSCOPE_NAMING_OBJECT_TYPES_HPP
#define ALLOCSCOPE_NAMING_OBJECT_TYPES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/naming/described_types.hpp>
#include <allocscope/naming/named_stack.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/platform/met_modules.hpp>
#include <allocscope/platform/probe_memory.hpp>
#include <allocscope/source/class_size.hpp>
#include <allocscope/spelling/name_brackets.hpp>
#include <allocscope/spelling/pretty_type.hpp>
#include <allocscope/symbols/symbolizer.hpp>
#include <allocscope/types/type_ladder.hpp>

#include <cstdint>  // uint32_t, uint64_t, uintptr_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// A live object of a stack.
struct sample_block {
    std::uintptr_t address;
    std::uint64_t bytes;

    static constexpr std::uint32_t most = 4;  // the most objects that are looked at
};

// The size of an object if all are alike; 0: they cannot be, or are not counted one by one.
ALLOCSCOPE_INLINE std::uint64_t mean_bytes(std::uint64_t bytes, std::uint64_t objects,
                                           bool is_sampled) noexcept {
    return is_sampled || objects == 0 || bytes % objects != 0 ? 0 : bytes / objects;
}

// Whether what one of the objects says is true for all.
inline bool are_alike(const sample_block* blocks, std::uint32_t count,
                      std::uintptr_t first_word) noexcept {
    for (std::uint32_t i = 1; i < count; ++i) {
        std::uintptr_t word = 0;
        if (blocks[i].bytes < sizeof word || !probe_memory(blocks[i].address, &word, sizeof word)) {
            continue;
        }
        if (word != first_word || blocks[i].bytes != blocks[0].bytes) return false;
    }
    return true;
}

// Which of the types in "<int, app::part>" is as large as the block; "" if that is not certain.
inline text fitting_type(const described_sizes& known, const named_stack& stack, const text& types,
                         std::uint64_t bytes) {
    using symbolize::size_fit;
    text found;
    for (const text each : symbolize::split_arguments(known.scratch, types)) {
        const text type = symbolize::pretty_type(known.scratch, each);
        size_fit fit = known.fit_at(stack, stack.asking_address(), type, bytes);
        if (fit == size_fit::unknown) fit = known.fit_of_candidate(stack, each, bytes);
        const bool is_second = fit == size_fit::same && !found.empty() && found != type;
        if (fit == size_fit::unknown || is_second) return no_text();
        if (fit == size_fit::same) found = type;
    }
    return found;
}

// Improves what is known about the type of the stack. `first_word` is that of the first block; 0:
// the block is too small to have one.
inline void ask_objects(const described_sizes& known, const named_stack& stack,
                        const sample_block* blocks, std::uint32_t count, std::uintptr_t first_word,
                        symbolize::type_answer& type) {
    using symbolize::size_fit;
    arena& scratch = known.scratch;
    const std::uint64_t bytes = blocks[0].bytes;
    bool is_certain = true;
    const met_module* home = home_of_address(stack, first_word, is_certain);
    text symbol;
    if (is_certain) symbol = known.symbols.data_symbol_at(first_word, scratch, home);
    if (!symbol.starts_with("vtable for ") || !are_alike(blocks, count, first_word)) symbol = {};
    const auto fit_at = [&](std::uintptr_t address, const text& name) {
        return known.fit_at(stack, address, name, bytes);
    };
    symbolize::known_fits fits;
    if (type.is_known() && !type.is_array) {
        fits.of_answer = known.fit_of_answer(stack, type.name, bytes);
    }
    const text candidate = type.candidate;
    if (candidate == symbolize::path_components) {
        type = {symbolize::part_of_path(bytes), symbolize::type_evidence::make_frame};
        return;
    }
    constexpr std::uint64_t head_of_exception = 128;
    const bool is_thrown = candidate.starts_with("[");
    const bool is_constructed = candidate.starts_with("(") || is_thrown;
    if (candidate.starts_with("<") || is_constructed) {
        type.candidate =
            fitting_type(known, stack, candidate, is_thrown ? bytes - head_of_exception : bytes);
        if (!type.candidate.empty()) fits.of_candidate = size_fit::same;
        if (is_constructed) fits.candidate_evidence = symbolize::type_evidence::constructor;
    } else if (!type.candidate.empty()) {
        fits.of_candidate = known.fit_of_candidate(stack, type.candidate, bytes);
    }
    if (!symbol.empty()) {
        const text name = symbol.substr(11);
        fits.of_vtable = fit_at(stack.asking_address(), name);
        // A vtable of a class that the source makes there belongs to the whole object.
        if (fits.of_vtable == size_fit::unknown && symbolize::is_candidate_for(candidate, name)) {
            fits.of_vtable = size_fit::same;
        }
        // The unit that defines the virtual functions of a class describes the class.
        std::uintptr_t functions[4] = {};
        if (fits.of_vtable == size_fit::unknown) {
            probe_memory(first_word, functions, sizeof functions);
        }
        for (const std::uintptr_t function : functions) {
            if (fits.of_vtable != size_fit::unknown || function == 0) break;
            fits.of_vtable = fit_at(function, name);
        }
    }
    type = symbolize::with_vtable(scratch, type, symbol, fits);
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_OBJECT_TYPES_HPP
