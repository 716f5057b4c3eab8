// dwarf_constants.hpp - the constants of DWARF 2 to 5 that the readers use.
//
// Room:     binary (floor 2), malloc-safe
// Called:   by the DWARF readers
// Threads:  any
// Memory:   none
//
// Tags, attributes, forms, range list entries, line program operations. Names follow the standard.

#ifndef ALLOCSCOPE_BINARY_DWARF_CONSTANTS_HPP
#define ALLOCSCOPE_BINARY_DWARF_CONSTANTS_HPP

#include <allocscope/config.hpp>

#include <cstdint>  // uint8_t, uint16_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {
namespace dwarf {

constexpr std::uint16_t tag_array_type = 0x01;
constexpr std::uint16_t tag_class_type = 0x02;
constexpr std::uint16_t tag_enumeration_type = 0x04;
constexpr std::uint16_t tag_formal_parameter = 0x05;
constexpr std::uint16_t tag_imported_declaration = 0x08;
constexpr std::uint16_t tag_lexical_block = 0x0b;
constexpr std::uint16_t tag_member = 0x0d;
constexpr std::uint16_t tag_pointer_type = 0x0f;
constexpr std::uint16_t tag_reference_type = 0x10;
constexpr std::uint16_t tag_structure_type = 0x13;
constexpr std::uint16_t tag_typedef = 0x16;
constexpr std::uint16_t tag_union_type = 0x17;
constexpr std::uint16_t tag_inheritance = 0x1c;
constexpr std::uint16_t tag_inlined_subroutine = 0x1d;
constexpr std::uint16_t tag_base_type = 0x24;
constexpr std::uint16_t tag_const_type = 0x26;
constexpr std::uint16_t tag_subprogram = 0x2e;
constexpr std::uint16_t tag_template_type_parameter = 0x2f;
constexpr std::uint16_t tag_template_value_parameter = 0x30;
constexpr std::uint16_t tag_variable = 0x34;
constexpr std::uint16_t tag_volatile_type = 0x35;
constexpr std::uint16_t tag_namespace = 0x39;
constexpr std::uint16_t tag_partial_unit = 0x3c;
constexpr std::uint16_t tag_imported_unit = 0x3d;
constexpr std::uint16_t tag_rvalue_reference_type = 0x42;
constexpr std::uint16_t tag_call_site = 0x48;
constexpr std::uint16_t tag_template_template_parameter = 0x4106;  // a GNU extension
constexpr std::uint16_t tag_template_parameter_pack = 0x4107;      // likewise
constexpr std::uint16_t tag_gnu_call_site = 0x4109;                // of DWARF 4

constexpr std::uint16_t at_sibling = 0x01;
constexpr std::uint16_t at_name = 0x03;
constexpr std::uint16_t at_byte_size = 0x0b;
constexpr std::uint16_t at_stmt_list = 0x10;
constexpr std::uint16_t at_low_pc = 0x11;
constexpr std::uint16_t at_high_pc = 0x12;
constexpr std::uint16_t at_import = 0x18;
constexpr std::uint16_t at_comp_dir = 0x1b;
constexpr std::uint16_t at_default_value = 0x1e;
constexpr std::uint16_t at_abstract_origin = 0x31;
constexpr std::uint16_t at_artificial = 0x34;
constexpr std::uint16_t at_decl_file = 0x3a;
constexpr std::uint16_t at_decl_line = 0x3b;
constexpr std::uint16_t at_declaration = 0x3c;
constexpr std::uint16_t at_specification = 0x47;
constexpr std::uint16_t at_type = 0x49;
constexpr std::uint16_t at_ranges = 0x55;
constexpr std::uint16_t at_call_column = 0x57;
constexpr std::uint16_t at_call_file = 0x58;
constexpr std::uint16_t at_call_line = 0x59;
constexpr std::uint16_t at_signature = 0x69;
constexpr std::uint16_t at_linkage_name = 0x6e;
constexpr std::uint16_t at_str_offsets_base = 0x72;
constexpr std::uint16_t at_addr_base = 0x73;
constexpr std::uint16_t at_rnglists_base = 0x74;
constexpr std::uint16_t at_mips_linkage_name = 0x2007;
constexpr std::uint16_t at_dwo_name = 0x76;
constexpr std::uint16_t at_call_return_pc = 0x7d;
constexpr std::uint16_t at_call_origin = 0x7f;
constexpr std::uint16_t at_call_pc = 0x81;
constexpr std::uint16_t at_call_tail_call = 0x82;
constexpr std::uint16_t at_export_symbols = 0x89;
constexpr std::uint16_t at_defaulted = 0x8b;
constexpr std::uint16_t at_gnu_tail_call = 0x2115;  // of DWARF 4
constexpr std::uint16_t at_gnu_dwo_name = 0x2130;
constexpr std::uint16_t at_gnu_dwo_id = 0x2131;
constexpr std::uint16_t at_gnu_ranges_base = 0x2132;
constexpr std::uint16_t at_gnu_addr_base = 0x2133;

constexpr std::uint16_t form_addr = 0x01;
constexpr std::uint16_t form_block2 = 0x03;
constexpr std::uint16_t form_block4 = 0x04;
constexpr std::uint16_t form_data2 = 0x05;
constexpr std::uint16_t form_data4 = 0x06;
constexpr std::uint16_t form_data8 = 0x07;
constexpr std::uint16_t form_string = 0x08;
constexpr std::uint16_t form_block = 0x09;
constexpr std::uint16_t form_block1 = 0x0a;
constexpr std::uint16_t form_data1 = 0x0b;
constexpr std::uint16_t form_flag = 0x0c;
constexpr std::uint16_t form_sdata = 0x0d;
constexpr std::uint16_t form_strp = 0x0e;
constexpr std::uint16_t form_udata = 0x0f;
constexpr std::uint16_t form_ref_addr = 0x10;
constexpr std::uint16_t form_ref1 = 0x11;
constexpr std::uint16_t form_ref2 = 0x12;
constexpr std::uint16_t form_ref4 = 0x13;
constexpr std::uint16_t form_ref8 = 0x14;
constexpr std::uint16_t form_ref_udata = 0x15;
constexpr std::uint16_t form_indirect = 0x16;
constexpr std::uint16_t form_sec_offset = 0x17;
constexpr std::uint16_t form_exprloc = 0x18;
constexpr std::uint16_t form_flag_present = 0x19;
constexpr std::uint16_t form_strx = 0x1a;
constexpr std::uint16_t form_addrx = 0x1b;
constexpr std::uint16_t form_ref_sup4 = 0x1c;
constexpr std::uint16_t form_strp_sup = 0x1d;
constexpr std::uint16_t form_data16 = 0x1e;
constexpr std::uint16_t form_line_strp = 0x1f;
constexpr std::uint16_t form_ref_sig8 = 0x20;
constexpr std::uint16_t form_implicit_const = 0x21;
constexpr std::uint16_t form_loclistx = 0x22;
constexpr std::uint16_t form_rnglistx = 0x23;
constexpr std::uint16_t form_ref_sup8 = 0x24;
constexpr std::uint16_t form_strx1 = 0x25;
constexpr std::uint16_t form_strx2 = 0x26;
constexpr std::uint16_t form_strx3 = 0x27;
constexpr std::uint16_t form_strx4 = 0x28;
constexpr std::uint16_t form_addrx1 = 0x29;
constexpr std::uint16_t form_addrx2 = 0x2a;
constexpr std::uint16_t form_addrx3 = 0x2b;
constexpr std::uint16_t form_addrx4 = 0x2c;
constexpr std::uint16_t form_gnu_addr_index = 0x1f01;
constexpr std::uint16_t form_gnu_str_index = 0x1f02;
constexpr std::uint16_t form_gnu_ref_alt = 0x1f20;
constexpr std::uint16_t form_gnu_strp_alt = 0x1f21;

constexpr std::uint8_t unit_type_type = 0x02;
constexpr std::uint8_t unit_skeleton = 0x04;
constexpr std::uint8_t unit_split_compile = 0x05;
constexpr std::uint8_t unit_split_type = 0x06;

constexpr std::uint8_t range_base_addressx = 0x01;
constexpr std::uint8_t range_startx_endx = 0x02;
constexpr std::uint8_t range_startx_length = 0x03;
constexpr std::uint8_t range_offset_pair = 0x04;
constexpr std::uint8_t range_base_address = 0x05;
constexpr std::uint8_t range_start_end = 0x06;
constexpr std::uint8_t range_start_length = 0x07;

constexpr std::uint8_t line_copy = 1;
constexpr std::uint8_t line_advance_pc = 2;
constexpr std::uint8_t line_advance_line = 3;
constexpr std::uint8_t line_set_file = 4;
constexpr std::uint8_t line_set_column = 5;
constexpr std::uint8_t line_const_add_pc = 8;
constexpr std::uint8_t line_fixed_advance_pc = 9;
constexpr std::uint8_t line_end_sequence = 1;  // extended
constexpr std::uint8_t line_set_address = 2;   // extended
constexpr std::uint16_t line_content_path = 1;
constexpr std::uint16_t line_content_directory = 2;

}  // namespace dwarf
}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BINARY_DWARF_CONSTANTS_HPP
