// type_names.hpp - which names of types the debug information of one unit knows.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/debug_object.hpp, when a name in a source file may be that of a macro
// Threads:  one
// Memory:   a table over the names, in the arena of the debug data
//
// What stands behind `new` in a source file is a type, or a macro that a header or the command line
// defines. Only the compiler knows; what it made of a type it describes.

#ifndef ALLOCSCOPE_SYMBOLS_TYPE_NAMES_HPP
#define ALLOCSCOPE_SYMBOLS_TYPE_NAMES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/dwarf_constants.hpp>
#include <allocscope/binary/dwarf_forms.hpp>
#include <allocscope/binary/dwarf_units.hpp>
#include <allocscope/config.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/debug_entries.hpp>
#include <allocscope/symbols/debug_units.hpp>

#include <cstdint>  // uint16_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

class type_names {
public:
    // The unit must have been loaded.
    type_names(const debug_units& units, const debug_unit& unit) : names_(units.memory()) {
        entry_walker walker{units.sections(), unit.header, unit.abbreviations,
                            unit.header.first_entry};
        while (walker.next()) {
            if (walker.shape() == nullptr || !names_a_type(walker.shape()->tag)) continue;
            std::uint16_t name = 0;
            detail::dwarf_value value;
            while (walker.next_value(name, value)) {
                if (name != detail::dwarf::at_name) continue;
                const text whole = detail::dwarf_text(units.sections(), unit.header, value);
                names_[whole.substr(0, whole.find('<'))] = true;
            }
        }
    }

    // A type or a namespace, by its own name: "widget" for app::widget<int>.
    bool has(text name) const { return names_.find(name) != nullptr; }

private:
    static bool names_a_type(std::uint16_t tag) noexcept {
        return tag == detail::dwarf::tag_class_type || tag == detail::dwarf::tag_structure_type ||
               tag == detail::dwarf::tag_union_type || tag == detail::dwarf::tag_enumeration_type ||
               tag == detail::dwarf::tag_typedef || tag == detail::dwarf::tag_namespace ||
               tag == detail::dwarf::tag_imported_declaration;
    }

    table<text, bool> names_;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_TYPE_NAMES_HPP
