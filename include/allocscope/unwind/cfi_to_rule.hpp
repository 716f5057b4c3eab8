// cfi_to_rule.hpp - turns what an unwind table says about an address into one of a few rules.
//
// Room:     unwind (floor 3), malloc-safe
// Called:   by rule_cache.hpp, once for each return address
// Threads:  any; takes no lock: _dl_find_object (glibc 2.35) needs none of the loader's
// Memory:   none; some 550 bytes of stack in an optimised build, twice that in any other
//
// cfi_machine.hpp finds the row for the address. Most rows have one of these shapes:
//
//     address    CFA      rbp     return address          rule
//     1139       rsp+8    u       CFA-8                   from_sp, 8
//     113a       rsp+16   CFA-16  CFA-8                   from_sp, 16, restores_bp at -16
//     113d       rbp+16   CFA-16  CFA-8                   frame_pointer
//     113f       rsp+8    CFA-16  CFA-8                   from_sp, 8
//     1140       *(rbp-8) rbp     CFA-8                   realigned, -8, bp at 0
//     1144       *(rsp+8)+8  c-16 CFA-8                   saved_sp, 8, restores_bp at -16
//
// Code without any record (written in assembly) has the rule `no_table`, if the address follows a
// call. The module cannot be unloaded meanwhile, because its code is on the caller's stack.

#ifndef ALLOCSCOPE_UNWIND_CFI_TO_RULE_HPP
#define ALLOCSCOPE_UNWIND_CFI_TO_RULE_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/eh_frame.hpp>
#include <allocscope/binary/eh_frame_index.hpp>
#include <allocscope/unwind/cfi_machine.hpp>
#include <allocscope/unwind/holding_module.hpp>
#include <allocscope/unwind/module_segments.hpp>
#include <allocscope/unwind/return_address_check.hpp>
#include <allocscope/unwind/unoptimised_code.hpp>
#include <allocscope/unwind/unwind_rule.hpp>

#include <cstdint>  // int16_t ... uintptr_t

#include <elf.h>  // Elf64_Phdr

ALLOCSCOPE_COOL_BEGIN

namespace detail {

ALLOCSCOPE_INLINE unwind_rule rule_from_realigned_row(const cfi_row& row) noexcept {
    constexpr std::int32_t word = 8;
    if (row.bp != cfi_row::place::at_bp || row.bp_offset % word != 0 ||
        row.cfa_offset % word != 0) {
        return rule_kind::unsupported;
    }
    return {rule_kind::realigned, true, row.bp_offset, row.cfa_offset};
}

inline unwind_rule rule_from_row(const cfi_row& row) noexcept {
    constexpr std::int32_t word = 8;
    unwind_rule rule{rule_kind::unsupported};
    if (row.return_address == cfi_row::place::undefined) {
        rule.kind = rule_kind::outermost;
        return rule;
    }
    if (row.return_address != cfi_row::place::saved || row.cfa_from == cfi_row::base::other ||
        row.bp == cfi_row::place::other) {
        return rule;
    }
    if (row.cfa_from == cfi_row::base::word_at_bp) return rule_from_realigned_row(row);
    if (row.bp == cfi_row::place::at_bp) return rule;
    bool restores_bp = row.bp == cfi_row::place::saved;
    if (restores_bp && (row.bp_offset > -2 * word || row.bp_offset % word != 0)) return rule;
    if (row.cfa_from == cfi_row::base::bp) {
        if (row.cfa_offset == 2 * word && restores_bp && row.bp_offset == -2 * word) {
            return frame_pointer_rule;
        }
        rule.kind = rule_kind::from_bp;
    } else if (row.cfa_from == cfi_row::base::word_at_sp) {
        if (row.cfa_offset < 0 || row.cfa_offset % word != 0) return rule;
        rule.kind = rule_kind::saved_sp;
    } else {
        if (row.cfa_offset < word || row.cfa_offset % word != 0) return rule;
        // Behind `pop %rbp` the row still names the word, which is below sp by then. The register
        // has its value.
        restores_bp = restores_bp && row.cfa_offset + row.bp_offset >= 0;
        rule.kind = rule_kind::from_sp;
    }
    rule.restores_bp = restores_bp;
    rule.bp_offset = restores_bp ? row.bp_offset : std::int16_t{0};
    rule.cfa_offset = row.cfa_offset;
    return rule;
}

// Not inlined, like the search for the record: the two do not need their stack space at the same
// time.
ALLOCSCOPE_NOINLINE unwind_rule rule_from_program(const eh_frame_image& image,
                                                  const frame_description& about,
                                                  std::uint64_t code) noexcept {
    cfi_machine machine{image.frames, image.index_address, about};
    if (machine.run_to(code)) return rule_from_row(machine.row());
    return rule_kind::unsupported;
}

// The rule for a return address. `unknown`: no record covers the call before it. In a frame that a
// signal interrupted, the address is that of the next instruction, and there is no call before it.
ALLOCSCOPE_INLINE unwind_rule rule_from_eh_frame(const eh_frame_image& image,
                                                 std::uintptr_t pc) noexcept {
    frame_description about;
    fde_search search = fde_search::none;
    for (std::uintptr_t before = 1; search == fde_search::none; --before) {
        search = find_frame_description(image, pc - before, about);
        if (before != 0) continue;
        if (search == fde_search::none || !about.is_signal_frame) return rule_kind::unknown;
    }
    if (search == fde_search::unreadable) return rule_kind::unsupported;
    unwind_rule rule = rule_from_program(image, about, about.is_signal_frame ? pc : pc - 1);
    rule.is_unoptimised =
        rule.kind == rule_kind::frame_pointer && is_unoptimised(image.code, about.begin);
    return rule;
}

namespace cfi_to_rule_detail {

ALLOCSCOPE_INLINE bool find_segment(const module_segments& segments, std::uintptr_t address,
                                    mapped_bytes& out) noexcept {
    const Elf64_Phdr* const segment = segments.holder_of(address, PF_R);
    if (segment == nullptr) return false;
    out.address = segments.base + segment->p_vaddr;
    out.bytes = byte_view{reinterpret_cast<const std::uint8_t*>(out.address), segment->p_filesz};
    return true;
}

// The tables for code in `module`. Returns false when it has none, or there is no such module.
ALLOCSCOPE_NOINLINE bool find_live_image(const holding_module& module, std::uintptr_t code,
                                         eh_frame_image& image) noexcept {
    image.index_address = module.index;
    module_segments segments;
    if (module.index == 0 || !find_module_segments(module.start, segments) ||
        !find_segment(segments, module.index, image.index)) {
        return false;
    }
    const eh_frame_header header = read_eh_frame_header(image.index, image.index_address);
    if (!header.is_valid) return false;
    find_segment(segments, code, image.code);
    image.frames = image.index;
    return image.index.holds(header.frames_address) ||
           find_segment(segments, header.frames_address, image.frames);
}

// Not inlined, so that its stack space is not needed while a machine runs.
ALLOCSCOPE_NOINLINE unwind_rule rule_without_table(std::uintptr_t pc) noexcept {
    return is_return_address(pc) ? rule_kind::no_table : rule_kind::unknown;
}

}  // namespace cfi_to_rule_detail

// The rule for the frame that continues at the return address `pc`, which may be any number.
// `module` holds the byte before it.
ALLOCSCOPE_INLINE unwind_rule find_unwind_rule(std::uintptr_t pc,
                                               const holding_module& module) noexcept {
    unwind_rule rule{};
    eh_frame_image image;
    if (cfi_to_rule_detail::find_live_image(module, pc - 1, image)) {
        rule = rule_from_eh_frame(image, pc);
    }
    if (rule.kind != rule_kind::unknown) return rule;
    return cfi_to_rule_detail::rule_without_table(pc);
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_UNWIND_CFI_TO_RULE_HPP
