// entry_facts.hpp - what one entry of the debug information says about a function or a type.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/entry_names.hpp and entry_types.hpp
// Threads:  one
// Memory:   none; the texts belong to the sections

#ifndef ALLOCSCOPE_SYMBOLS_ENTRY_FACTS_HPP
#define ALLOCSCOPE_SYMBOLS_ENTRY_FACTS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/dwarf_constants.hpp>
#include <allocscope/binary/dwarf_forms.hpp>
#include <allocscope/binary/dwarf_units.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/debug_entries.hpp>
#include <allocscope/symbols/debug_units.hpp>

#include <cstdint>  // uint16_t, uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

struct entry_facts {
    static constexpr std::uint64_t no_file = ~std::uint64_t{0};

    text name;
    detail::dwarf_value linkage;  // the linker's name
    std::uint64_t type = 0;       // the entry of its type; 0: void, or not known
    std::uint64_t more = 0;       // the entry that this one copies or completes; 0: there is none
    std::uint64_t signature = 0;  // the entry of a type that is in a unit of its own; 0: it is here
    std::uint64_t file = no_file;
    std::uint64_t line = 0;
    std::uint16_t tag = 0;
    bool has_type = false;
    bool has_children = false;
    bool is_declaration = false;
    bool is_implicit = false;  // the compiler made it
    bool is_inline = false;    // a namespace whose names are also those of the scope around it

    // The entry that has what this one of a class lacks; 0: there is none.
    std::uint64_t completed() const noexcept { return more != 0 ? more : signature; }
};

// Reads the values of the entry at which the walker is.
inline entry_facts read_facts(const debug_unit& unit, entry_walker& walker) {
    entry_facts found;
    found.tag = walker.shape()->tag;
    found.has_children = walker.shape()->has_children;
    std::uint16_t name = 0;
    detail::dwarf_value value;
    while (walker.next_value(name, value)) {
        switch (name) {
            case detail::dwarf::at_name:
                found.name = detail::dwarf_text(unit.home->sections(), unit.header, value);
                break;
            case detail::dwarf::at_linkage_name:
            case detail::dwarf::at_mips_linkage_name:
                found.linkage = value;
                break;
            case detail::dwarf::at_type:
                found.type = value.form == detail::dwarf::form_ref_sig8
                                 ? unit.home->entry_of_type(value.number)
                                 : detail::dwarf_reference(unit.header, value);
                found.has_type = true;
                break;
            case detail::dwarf::at_abstract_origin:
            case detail::dwarf::at_specification:
                found.more = detail::dwarf_reference(unit.header, value);
                break;
            case detail::dwarf::at_signature:
                found.signature = unit.home->entry_of_type(value.number);
                break;
            case detail::dwarf::at_decl_file:
                found.file = value.number;
                break;
            case detail::dwarf::at_decl_line:
                found.line = value.number;
                break;
            case detail::dwarf::at_declaration:
                found.is_declaration = true;
                break;
            case detail::dwarf::at_export_symbols:
                found.is_inline = true;
                break;
            case detail::dwarf::at_artificial:
            case detail::dwarf::at_defaulted:
                found.is_implicit = value.number != 0;
                break;
            default:
                break;
        }
    }
    return found;
}

// The same for the entry at an offset. Without a tag, it cannot be read.
inline entry_facts read_facts(const debug_unit& unit, std::uint64_t entry) {
    entry_walker walker = unit.walk(entry);
    return walker.begin() ? read_facts(unit, walker) : entry_facts{};
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_ENTRY_FACTS_HPP
