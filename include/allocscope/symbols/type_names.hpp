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
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/debug_entries.hpp>
#include <allocscope/symbols/debug_units.hpp>

#include <cstdint>  // int64_t, uint16_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

class type_names {
public:
    // The unit must have been loaded.
    type_names(const debug_units& units, const debug_unit& unit) : names_(units.memory()) {
        arena scratch;
        list<open_scope> open{scratch};
        entry_walker walker{units.sections(), unit.header, unit.abbreviations,
                            unit.header.first_entry};
        walker.next();  // the unit itself is no scope
        while (walker.next()) {
            const abbreviation* shape = walker.shape();
            if (shape == nullptr) {
                if (!open.empty() && open.back().depth + 1 == walker.depth()) open.pop_back();
                continue;
            }
            const bool is_scope = shape->has_children && opens_scope(shape->tag);
            const std::uint16_t tag = shape->tag;
            const std::int64_t depth = walker.depth();
            if (!is_scope && !names_a_type(tag)) continue;
            const text whole = read_name(units, unit, walker);
            const open_scope outer = open.empty() ? open_scope{} : open.back();
            const text own = whole.substr(0, whole.find('<'));
            const text qualified =
                outer.name.empty() ? own : joined(units.memory(), outer.name, "::", own);
            if (names_a_type(tag) && !whole.empty()) add(own, outer.is_named ? qualified : text{});
            if (!is_scope) continue;
            // Nobody writes the name of an unnamed namespace.
            const bool is_named = outer.is_named && !own.empty() && own.size() >= whole.size() &&
                                  tag != detail::dwarf::tag_subprogram;
            open.push_back({depth, qualified, is_named});
        }
    }

    // A type or a namespace, by its own name: "widget" for app::widget<int>.
    bool has(text name) const { return names_.find(name) != nullptr; }

    // With the namespaces and classes around it; "" when there are several of that name, and when
    // it is one of a function or of a template.
    text qualified(text name) const {
        const text* known = names_.find(name);
        return known != nullptr ? *known : text{};
    }

private:
    struct open_scope {
        std::int64_t depth = 0;
        text name;
        bool is_named = true;  // whether a name in it can be written down
    };

    static text read_name(const debug_units& units, const debug_unit& unit, entry_walker& walker) {
        text whole;
        std::uint16_t name = 0;
        detail::dwarf_value value;
        while (walker.next_value(name, value)) {
            if (name != detail::dwarf::at_name) continue;
            whole = detail::dwarf_text(units.sections(), unit.header, value);
        }
        return whole;
    }

    void add(text own, text qualified) {
        const auto known = names_.insert(own);
        if (known.is_new) {
            known.value = qualified;
        } else if (known.value != qualified) {
            known.value = {};
        }
    }

    static bool opens_scope(std::uint16_t tag) noexcept {
        return tag == detail::dwarf::tag_namespace || tag == detail::dwarf::tag_class_type ||
               tag == detail::dwarf::tag_structure_type || tag == detail::dwarf::tag_union_type ||
               tag == detail::dwarf::tag_subprogram;
    }

    static bool names_a_type(std::uint16_t tag) noexcept {
        return tag == detail::dwarf::tag_class_type || tag == detail::dwarf::tag_structure_type ||
               tag == detail::dwarf::tag_union_type || tag == detail::dwarf::tag_enumeration_type ||
               tag == detail::dwarf::tag_typedef || tag == detail::dwarf::tag_namespace ||
               tag == detail::dwarf::tag_imported_declaration;
    }

    table<text, text> names_;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_TYPE_NAMES_HPP
