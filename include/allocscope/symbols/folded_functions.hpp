// folded_functions.hpp - which function a call means, if the stack shows another one, or none.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/debug_object.hpp and symbolizer.hpp; by tools/
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
// debug information of the caller says that it calls make_b, the call means make_b. A call of a
// function that is only declared may also reach make_a under another name: by an alias, an asm
// label, or the linker's --wrap.
//
// If the machine code calls a third function, that one ended with a jump to make_a, and is not on
// the stack. It was there if no other jump leads out of it:
//
//     a* make_c() { log(); return make_a(); }    make_c:  call log; jmp make_a
//     d* make_d() { return new d; }              make_d:  jmp operator new

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
#include <allocscope/symbols/rare_forms.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int32_t, int64_t, uint8_t, uint64_t
#include <cstring>  // memcpy

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Whether a demangled name is that of operator new, or of one of malloc's family.
inline bool is_allocating(text name) noexcept {
    const text others[] = {"malloc",        "calloc",   "realloc", "reallocarray",
                           "aligned_alloc", "memalign", "strdup",  "strndup"};
    for (const text each : others) {
        if (name == each) return true;
    }
    return name.starts_with("operator new");
}

class folded_functions {
public:
    folded_functions(debug_units& units, entry_names& names, const object_bytes& object)
        : units_(units), names_(names), sites_(units.memory()), exits_(units.memory()) {
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

    // What the call before a return address leads to.
    code_target called_by(std::uint64_t return_address) const {
        const std::uint64_t direct = called_before(return_address);
        if (direct != 0) return {direct, false};
        return {word_before(return_address, call_of_word), true};
    }

    // Whether a function that is known begins at an address.
    bool begins_function(std::uint64_t address) {
        const function found = function_at(address);
        return found.range != nullptr && found.range->low == address;
    }

    // Whether the function with this entry is operator new, or one of malloc's family.
    bool allocates(std::uint64_t entry) {
        return entry != 0 && is_allocating(names_.of(entry).function);
    }

    // The same for the function that begins at an address.
    bool allocates_at(std::uint64_t address) {
        if (address == allocating_) return true;
        const function found = function_at(address);
        if (found.range == nullptr || found.range->low != address) return false;
        if (!allocates(found.range->value)) return false;
        allocating_ = address;
        return true;
    }

    // Where a function leaves by a jump.
    struct exit_jump {
        std::uint64_t behind = 0;  // 0: nowhere, or at several places
        code_target target;
        std::uint64_t called = 0;  // the entry of the function that is meant
    };

    // The only jump by which the function that begins at an address may leave.
    const exit_jump& only_exit(std::uint64_t begin) {
        exit_jump*& known = exits_[begin];
        if (known == nullptr) known = units_.memory().make<exit_jump>(find_exit(begin));
        return *known;
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
            if (called_before(at) == called || long_jump_before(at) == called) return true;
        }
        return false;
    }

private:
    static constexpr std::uint8_t call = 0xe8;
    static constexpr std::uint8_t jump = 0xe9;
    static constexpr std::uint8_t indirect = 0xff;
    static constexpr std::uint8_t call_of_word = 0x15;
    static constexpr std::uint8_t jump_to_word = 0x25;
    static constexpr std::uint64_t call_bytes = 5;
    static constexpr std::uint64_t short_bytes = 2;

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

    // clang does not describe the jumps to functions that the source does not declare. So the code
    // is looked through, too. Instructions are not told apart: whatever may be a jump out counts.
    exit_jump find_exit(std::uint64_t begin) {
        const function from = function_at(begin);
        if (from.range == nullptr || from.range->low != begin) return {};
        const call_sites& sites = sites_of(from);
        exit_jump found = described_exit(sites.only_jump());
        if (sites.has_jump() && found.behind == 0) return {};
        const bool is_described = sites.has_jump() || !sites.is_empty();
        const std::uint64_t described = found.behind;
        // Optimisers move code that rarely runs away from the rest of its function.
        for (const address_range& part : from.unit->functions.all()) {
            if (part.value != from.range->value) continue;
            for (std::uint64_t at = part.low + short_bytes; at <= part.high; ++at) {
                if (at == described) continue;
                if (!is_described && may_jump_anywhere(at)) return {};
                const code_target targets[] = {{long_jump_before(at), false},
                                               {short_jump_before(at), false},
                                               {word_before(at, jump_to_word), true}};
                for (const code_target& target : targets) {
                    const bool is_long = &target == targets;
                    if (target.address == 0 || !leads_out(target, part, is_long)) continue;
                    if (found.behind != 0) return {};
                    found = {at, target, target.is_word ? 0 : function_of(target.address)};
                }
            }
        }
        return found;
    }

    const call_sites& sites_of(const function& from) {
        call_sites*& known = sites_[from.range->value];
        if (known == nullptr) {
            known = units_.memory().make<call_sites>(units_, *from.unit, from.range->value);
        }
        return *known;
    }

    // The address that the direct call before `return_address` leads to; 0 if another instruction
    // is there.
    std::uint64_t called_before(std::uint64_t return_address) const {
        const detail::byte_view bytes = code_before(return_address, call_bytes);
        if (bytes.empty()) return 0;
        std::int32_t distance = 0;
        std::memcpy(&distance, bytes.data + 1, sizeof distance);
        if (*bytes.data != call) return 0;
        return return_address + static_cast<std::uint64_t>(std::int64_t{distance});
    }

    // Whether what may be a jump in a part of a function leads to another function.
    bool leads_out(const code_target& target, const address_range& part, bool is_long) {
        if (target.is_word) return true;
        if (target.address >= part.low && target.address < part.high) return false;
        const function to = function_at(target.address);
        // Compilers do not know how close a stub will be.
        if (to.range == nullptr) return is_long && may_be_stub(target.address);
        return to.range->low == target.address && to.range->value != part.value;
    }

    // Whether a jump to the address may be one to another module: linkers put their stubs close to
    // the code.
    bool may_be_stub(std::uint64_t target) const {
        constexpr std::uint64_t close = 1U << 20U;
        const bool is_code = target - begin_ < code_.size;
        return !is_code && target - (begin_ - close) < code_.size + 2 * close;
    }

    // What clang has described seems to be a long jump, whatever it is.
    exit_jump described_exit(const call_sites::site& told) const {
        constexpr std::uint64_t more = call_bytes - short_bytes;
        if (told.behind == 0) return {};
        std::uint64_t target = long_jump_before(told.behind);
        if (target != 0) return {told.behind, {target, false}, told.called};
        target = short_jump_before(told.behind);
        if (target != 0) return {told.behind, {target, false}, told.called};
        target = short_jump_before(told.behind - more);
        if (target != 0) return {told.behind - more, {target, false}, told.called};
        for (std::uint64_t at = told.behind; at <= told.behind + 1; ++at) {
            target = word_before(at, jump_to_word);
            if (target != 0) return {at, {target, true}, told.called};
        }
        return {};
    }

    // The target of a jump, perhaps with a condition, that ends at an address; 0: there is none.
    std::uint64_t long_jump_before(std::uint64_t behind) const {
        const detail::byte_view bytes = code_before(behind, call_bytes + 1);
        if (bytes.empty()) return 0;
        const bool is_conditional = bytes.data[0] == 0x0f && (bytes.data[1] & 0xf0U) == 0x80;
        if (bytes.data[1] != jump && !is_conditional) return 0;
        std::int32_t distance = 0;
        std::memcpy(&distance, bytes.data + 2, sizeof distance);
        return behind + static_cast<std::uint64_t>(std::int64_t{distance});
    }
    std::uint64_t short_jump_before(std::uint64_t behind) const {
        const detail::byte_view bytes = code_before(behind, short_bytes);
        if (bytes.empty()) return 0;
        if (bytes.data[0] != 0xeb && (bytes.data[0] & 0xf0U) != 0x70) return 0;
        const auto distance = static_cast<std::int8_t>(bytes.data[1]);
        return behind + static_cast<std::uint64_t>(std::int64_t{distance});
    }

    // The address of the word from which the call or jump before an address takes where it leads,
    // as with -fno-plt; 0: there is none.
    std::uint64_t word_before(std::uint64_t behind, std::uint8_t kind) const {
        const detail::byte_view bytes = code_before(behind, call_bytes + 1);
        if (bytes.empty() || bytes.data[0] != indirect || bytes.data[1] != kind) return 0;
        std::int32_t distance = 0;
        std::memcpy(&distance, bytes.data + 2, sizeof distance);
        return behind + static_cast<std::uint64_t>(std::int64_t{distance});
    }

    // Whether the last two bytes may be a jump to where a register or some memory says. Compilers
    // describe these jumps if they describe calls at all.
    bool may_jump_anywhere(std::uint64_t behind) const {
        const detail::byte_view bytes = code_before(behind, short_bytes);
        return !bytes.empty() && bytes.data[0] == indirect && (bytes.data[1] & 0x38U) == 0x20U &&
               bytes.data[1] != jump_to_word;
    }

    // The last `count` bytes of code before an address; none if it is not in .text.
    detail::byte_view code_before(std::uint64_t behind, std::uint64_t count) const {
        const std::uint64_t offset = behind - count - begin_;
        const detail::byte_view bytes = code_.part(offset, count);
        if (!bytes.empty()) detail::want(late_, offset, count);
        return bytes;
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
    table<std::uint64_t, exit_jump*> exits_;   // by where the function begins
    detail::byte_view code_;
    detail::late_bytes* late_ = nullptr;  // null: all of the code has been read
    std::uint64_t begin_ = 0;
    std::uint64_t allocating_ = 0;  // the operator new that was called last
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_FOLDED_FUNCTIONS_HPP
