// From the bytes of an ELF file to frames, types and symbols: no read beside the bytes, and an
// answer comes soon, whatever they are.
#ifndef ALLOCSCOPE_TESTS_FUZZ_DEBUG_SECTIONS_INPUT_HPP
#define ALLOCSCOPE_TESTS_FUZZ_DEBUG_SECTIONS_INPUT_HPP

#include <allocscope/symbols/debug_object.hpp>
#include <allocscope/symbols/kept_texts.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

namespace allocscope_tests {

namespace symbolize = allocscope::symbolize;
using allocscope::plain::arena;

inline int debug_sections_input(const std::uint8_t* data, std::size_t size) {
    // Of exactly this size, so that a sanitizer sees a byte too many.
    const std::unique_ptr<std::uint8_t[]> bytes{new std::uint8_t[size]};
    std::memcpy(bytes.get(), data, size);
    arena kept;
    symbolize::kept_texts texts{kept};
    symbolize::debug_object object{texts, allocscope::detail::byte_view{bytes.get(), size}};
    for (std::uint64_t address = 0x300; address < 0x700; address += 0x31) {
        symbolize::code_location location;
        object.resolve(address, location);
        if (location.frames.size() > 300) __builtin_trap();
        const symbolize::type_names* types = object.types_at(address);
        if (types != nullptr) static_cast<void>(types->qualified("cart", "shop::load"));
        symbolize::code_frame meant;
        for (std::uint64_t callee = 0x300; callee < 0x700; callee += 0x75) {
            static_cast<void>(object.find_folded(address, callee, meant));
        }
    }
    static_cast<void>(object.symbol_at(symbolize::symbol_kind::data, 0x3000, kept));
    static_cast<void>(object.address_of("main"));
    return 0;
}

}  // namespace allocscope_tests

#endif  // ALLOCSCOPE_TESTS_FUZZ_DEBUG_SECTIONS_INPUT_HPP
