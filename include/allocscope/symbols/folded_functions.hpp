// folded_functions.hpp - which function a call means, if its code is that of another one.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/debug_object.hpp
// Threads:  one
// Memory:   16 bytes for each direct call of a function that was asked about, and the pieces of
//           .text that were looked at
//
// Compilers keep one of several functions with equal code, and all calls go to that one:
//
//     a* make_a() { return fill(new a); }        make_a:  the code of both
//     b* make_b() { return fill(new b); }
//     make_b();                                  call make_a
//
// On a stack, the next inner address lies in make_a. If the machine code calls make_a, and the
// debug information of the caller says that it calls make_b, the call means make_b. If the machine
// code calls a third function, that one ended with a jump to make_a: then nothing is known. A call
// of a function that is only declared may also reach make_a under another name: by an alias, an asm
// label, or the linker's --wrap.

#ifndef ALLOCSCOPE_SYMBOLS_FOLDED_FUNCTIONS_HPP
#define ALLOCSCOPE_SYMBOLS_FOLDED_FUNCTIONS_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/elf_image.hpp>
#include <allocscope/binary/late_bytes.hpp>
#include <allocscope/config.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/address_ranges.hpp>
#include <allocscope/symbols/call_sites.hpp>
#include <allocscope/symbols/debug_units.hpp>
#include <allocscope/symbols/entry_names.hpp>
#include <allocscope/symbols/object_bytes.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int32_t, int64_t, uint8_t, uint64_t
#include <cstring>  // memcpy

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

class folded_functions {
public:
    folded_functions(debug_units& units, entry_names& names, const object_bytes& object)
        : units_(units), names_(names), sites_(units.memory()) {
        const detail::elf_section* section = object.find(".text");
        if (section == nullptr) return;
        begin_ = section->address;
        code_ = object.read(units.memory(), section, object_bytes::largest_read, &late_);
    }

    // The entry of the function that the call before `return_address` means; 0 if it is the
    // function at `callee`, or is not certain. All addresses are linked addresses.
    std::uint64_t meant_by(std::uint64_t return_address, std::uint64_t callee) {
        const function from = function_at(return_address - 1);
        const function inner = function_at(callee);
        if (from.range == nullptr || inner.range == nullptr) return 0;
        if (called_before(return_address) != inner.range->low) return 0;
        const std::uint64_t meant = sites_of(from).called_before(return_address);
        if (meant == 0 || meant == inner.range->value) return 0;
        const bool is_folded = is_other(names_.of(meant), names_.of(inner.range->value));
        return is_folded && !names_.may_be_alias(meant) ? meant : 0;
    }

    // The entry of the function whose code is at an address; 0: not known.
    std::uint64_t function_of(std::uint64_t address) {
        const function found = function_at(address);
        return found.range != nullptr ? found.range->value : 0;
    }

    // Calls `visit(return_address, entry)` for each direct call between two addresses of a function
    // if it is certain which function the call means.
    template <class Visit>
    void each_call(std::uint64_t begin, std::uint64_t end, const Visit& visit) {
        const function from = function_at(begin);
        if (from.range == nullptr) return;
        const call_sites& sites = sites_of(from);
        for (std::uint64_t at = begin + call_bytes; at <= end; ++at) {
            const std::uint64_t callee = called_before(at);
            if (callee == 0) continue;
            std::uint64_t meant = sites.called_before(at);
            if (sites.is_empty()) {
                const function inner = function_at(callee);
                if (inner.range != nullptr && inner.range->low == callee) {
                    meant = inner.range->value;
                }
            }
            if (meant != 0) visit(at, meant);
        }
    }

    // Whether the code from `begin` to `end` calls what the call before a return address calls, or
    // jumps to it. True also if that is not known.
    bool calls_the_same(std::uint64_t begin, std::uint64_t end,
                        std::uint64_t return_address) const {
        const std::uint64_t called = called_before(return_address);
        if (called == 0) return true;
        for (std::uint64_t at = begin + call_bytes; at <= end; ++at) {
            if (called_before(at) == called || called_before(at, jump) == called) return true;
        }
        return false;
    }

private:
    static constexpr std::uint8_t call = 0xe8;
    static constexpr std::uint8_t jump = 0xe9;
    static constexpr std::uint64_t call_bytes = 5;

    struct function {
        const debug_unit* unit = nullptr;
        const address_range* range = nullptr;  // null: the address is in no function that is known
    };

    // Functions that another file describes are not known here.
    function function_at(std::uint64_t address) {
        const debug_unit* unit = units_.unit_at(address);
        if (unit == nullptr || *unit->split_name != '\0') return {};
        return {unit, unit->functions.find(address)};
    }

    const call_sites& sites_of(const function& from) {
        call_sites*& known = sites_[from.range->value];
        if (known == nullptr) {
            known = units_.memory().make<call_sites>(units_, *from.unit, from.range->value);
        }
        return *known;
    }

    // The address that the direct call or jump before `return_address` leads to; 0 if another
    // instruction is there.
    std::uint64_t called_before(std::uint64_t return_address,
                                std::uint8_t instruction = call) const {
        const std::uint64_t offset = return_address - call_bytes - begin_;
        const detail::byte_view bytes = code_.part(offset, call_bytes);
        if (bytes.empty()) return 0;
        detail::want(late_, offset, call_bytes);
        std::int32_t distance = 0;
        std::memcpy(&distance, bytes.data + 1, sizeof distance);
        if (*bytes.data != instruction) return 0;
        return return_address + static_cast<std::uint64_t>(std::int64_t{distance});
    }

    // Whether two names certainly belong to different functions. One of them may lack its scopes
    // and parameters.
    static bool is_other(const entry_name& meant, const entry_name& found) {
        if (meant.function.empty() || found.function.empty()) return false;
        if (meant.linkage.empty() == found.linkage.empty()) return meant.function != found.function;
        const text plain = meant.linkage.empty() ? meant.function : found.function;
        const text whole = meant.linkage.empty() ? found.function : meant.function;
        const std::size_t scope = plain.rfind(':');
        return !whole.contains(scope == text::npos ? plain : plain.substr(scope + 1));
    }

    debug_units& units_;
    entry_names& names_;
    table<std::uint64_t, call_sites*> sites_;  // by the function's entry
    detail::byte_view code_;
    detail::late_bytes* late_ = nullptr;  // null: all of the code has been read
    std::uint64_t begin_ = 0;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_FOLDED_FUNCTIONS_HPP
