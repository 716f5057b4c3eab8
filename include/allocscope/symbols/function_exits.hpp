// function_exits.hpp - the jump by which a function left that ended with a call.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/object_contents.hpp and symbolizer.hpp
// Threads:  one
// Memory:   48 bytes for each function that was asked about
//
// A function whose last act is a call may jump instead, and is not on a stack then:
//
//     a* make_c() { log(); return make_a(); }    make_c:  call log; jmp make_a
//     d* make_d() { return new d; }              make_d:  jmp operator new
//
//     struct reader : task { void run() override { all.push_back(1); } };   jmp _M_realloc_insert
//
// If the machine code calls make_c, and the stack shows make_a, make_c was there, provided that no
// other jump leads out of it. A call by a pointer may have led to any function. But nobody has a
// pointer to a member of a container: if the stack shows one, the function was there that is the
// only one with a jump to it.

#ifndef ALLOCSCOPE_SYMBOLS_FUNCTION_EXITS_HPP
#define ALLOCSCOPE_SYMBOLS_FUNCTION_EXITS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/symbols/address_ranges.hpp>
#include <allocscope/symbols/call_sites.hpp>
#include <allocscope/symbols/instruction.hpp>
#include <allocscope/symbols/machine_code.hpp>
#include <allocscope/symbols/module_functions.hpp>
#include <allocscope/symbols/rare_forms.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Where a function leaves by a jump.
struct function_exit {
    std::uint64_t behind = 0;  // 0: nowhere, or at several places
    code_target target;
    bool allocates = false;  // the function that is meant
};

// A jump of which the debug information may tell where it ends.
struct described_jump {
    jump_kind kind;
    std::int64_t further;  // it ends so many bytes behind the address
};
// What clang has described seems to be a long jump of five bytes, whatever it is.
ALLOCSCOPE_HIDDEN inline constexpr described_jump described_jumps[] = {{jump_kind::long_jump, 0},
                                                                       {jump_kind::short_jump, 0},
                                                                       {jump_kind::short_jump, -3},
                                                                       {jump_kind::indirect, 0},
                                                                       {jump_kind::indirect, 1}};

class function_exits {
public:
    explicit function_exits(module_functions& functions)
        : functions_(functions),
          code_(functions.code()),
          exits_(functions.memory()),
          entries_(functions.memory()) {}

    // The only jump by which the function that begins at an address may leave.
    const function_exit& only_exit(std::uint64_t begin) {
        function_exit*& known = exits_[begin];
        if (known == nullptr) {
            function_exit found;
            if (!find_exit(begin, found)) found = {};
            known = functions_.memory().make<function_exit>(found);
        }
        return *known;
    }

    // The address behind the only jump by which another function leaves to the one that begins at
    // an address; 0: there is none, or there are several.
    std::uint64_t only_entry(std::uint64_t begin) {
        const auto known = entries_.insert(begin);
        if (known.is_new) known.value = find_entry(begin);
        return known.value;
    }

private:
    // clang does not describe the jumps to functions that the source does not declare. So the code
    // is looked through, too. Compilers describe indirect jumps if they describe calls at all.
    // Returns false if it is not certain by which jump the function leaves.
    bool find_exit(std::uint64_t begin, function_exit& found) {
        const module_functions::function from = functions_.anywhere_at(begin);
        if (!from.begins_at(begin)) return false;
        const call_sites& sites = functions_.sites_of(from);
        const call_sites::site told = sites.only_jump();
        if (told.behind != 0) found = described_exit(told.behind);
        found.allocates = functions_.allocates(from, told.called);
        if (sites.has_jump() && found.behind == 0) return false;
        const bool is_described = sites.has_jump() || !sites.is_empty();
        const std::uint64_t described = found.behind;
        // Optimisers move code that rarely runs away from the rest of its function.
        for (const address_range& part : from.unit->functions.all()) {
            if (part.value != from.range->value) continue;
            for (std::uint64_t at = part.low; at < part.high;) {
                const instruction each = code_.instruction_at(at, part.high);
                if (each.bytes == 0) return false;
                const std::uint64_t opcode = at + each.opcode;
                at += each.bytes;
                if (each.jump == jump_kind::none || at == described) continue;
                const code_target target = target_of(each.jump, at);
                if (target.address == 0 && !is_described && !code_.is_jump_of_switch(opcode)) {
                    return false;
                }
                const bool is_long = each.jump == jump_kind::long_jump;
                if (target.address == 0 || !leads_out(target, from, part, is_long)) continue;
                if (found.behind != 0) return false;
                found = {at, target, !target.is_word && functions_.allocates_at(target.address)};
            }
        }
        return true;
    }

    std::uint64_t find_entry(std::uint64_t begin) const {
        const module_functions::function to = functions_.anywhere_at(begin);
        std::uint64_t only = 0;
        bool is_certain = to.begins_at(begin);
        code_.visit_jumps_to(begin, [&](std::uint64_t behind) {
            const module_functions::function from = functions_.anywhere_at(behind - 1);
            if (!is_certain || from.range == nullptr) return void(is_certain = false);
            if (from.unit == to.unit && from.range->value == to.range->value) return;
            is_certain = only == 0;
            only = behind;
        });
        return is_certain ? only : 0;
    }

    // Whether what may be a jump in a part of a function leads to another function.
    bool leads_out(const code_target& target, const module_functions::function& from,
                   const address_range& part, bool is_long) const {
        if (target.is_word) return true;
        if (target.address >= part.low && target.address < part.high) return false;
        const module_functions::function to = functions_.anywhere_at(target.address);
        // Compilers do not know how close a stub will be.
        if (to.range == nullptr) return is_long && code_.may_be_stub(target.address);
        return to.begins_at(target.address) &&
               (to.range->value != part.value || to.unit != from.unit);
    }

    // Where the jump leads that ends at `behind`. No address: where a register or some memory says.
    code_target target_of(jump_kind jump, std::uint64_t behind) const {
        if (jump == jump_kind::long_jump) return {code_.long_jump_before(behind), false};
        if (jump == jump_kind::short_jump) return {code_.short_jump_before(behind), false};
        return {code_.jump_word_before(behind), true};
    }

    // The jump that the debug information means by an address.
    function_exit described_exit(std::uint64_t told) const {
        for (const described_jump& each : described_jumps) {
            const std::uint64_t behind = told + static_cast<std::uint64_t>(each.further);
            const code_target target = target_of(each.kind, behind);
            if (target.address != 0) return {behind, target, false};
        }
        return {};
    }

    module_functions& functions_;
    const machine_code& code_;
    table<std::uint64_t, function_exit*> exits_;   // by where the function begins
    table<std::uint64_t, std::uint64_t> entries_;  // likewise
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_FUNCTION_EXITS_HPP
