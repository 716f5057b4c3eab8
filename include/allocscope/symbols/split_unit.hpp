// split_unit.hpp - the part of a unit's debug information that is in a separate file.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/debug_object.hpp, when an address falls into such a unit
// Threads:  one
// Memory:   of the given arena
//
// With -gsplit-dwarf the program keeps a skeleton of each unit. The skeleton has the lines, and the
// name of the .dwo file with the functions and types. Both must have the same number, or the file
// is not believed. If there is no such file, a package file may have the unit.

#ifndef ALLOCSCOPE_SYMBOLS_SPLIT_UNIT_HPP
#define ALLOCSCOPE_SYMBOLS_SPLIT_UNIT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/dwarf_units.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/debug_units.hpp>
#include <allocscope/symbols/entry_names.hpp>
#include <allocscope/symbols/inline_lookup.hpp>
#include <allocscope/symbols/kept_texts.hpp>
#include <allocscope/symbols/object_bytes.hpp>
#include <allocscope/symbols/rare_forms.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// The unit that describes the functions: the unit itself, or the one that was split off from it.
struct described_unit {
    debug_units* units = nullptr;
    entry_names* names = nullptr;
    table<std::uint64_t, inlined_calls*>* inlined = nullptr;  // by the function's entry
    debug_unit* unit = nullptr;  // null: nothing is known about its functions

    const inlined_calls& inlined_in(arena& memory, std::uint64_t function, arena& scratch) const {
        inlined_calls*& known = (*inlined)[function];
        if (known != nullptr) return *known;
        const borrowed_memory meanwhile{scratch};
        return *(known = memory.make<inlined_calls>(*units, *unit, function, scratch));
    }
};

class split_unit {
public:
    ALLOCSCOPE_INLINE split_unit(arena& memory, kept_texts& texts, const debug_units& whole,
                                 const debug_unit& skeleton, package_place& package)
        : units_(read(memory, whole, skeleton, package)),
          names_(*units_, texts),
          inlined_(memory) {}

    ALLOCSCOPE_INLINE described_unit describe() {
        return {units_, &names_, &inlined_, units_->only_unit()};
    }

private:
    static const char* path_of(arena& memory, const debug_unit& skeleton) {
        const text name = skeleton.split_name;
        if (name.starts_with("/")) return skeleton.split_name;
        return joined(memory, skeleton.directory, "/", name).data();
    }

    static debug_units* read(arena& memory, const debug_units& whole, const debug_unit& skeleton,
                             package_place& package) {
        const object_bytes object{memory, path_of(memory, skeleton)};
        detail::dwarf_sections sections = debug_units::read_sections(memory, object, ".dwo");
        const auto packaged_unit = readers_of_rare_forms.packaged_unit;
        auto* units = memory.make<debug_units>(memory, sections, whole, skeleton);
        if (units->only_unit() != nullptr || packaged_unit == nullptr) return units;
        sections = {};
        if (!packaged_unit(memory, package, skeleton.header.split_id, sections)) return units;
        return memory.make<debug_units>(memory, sections, whole, skeleton);
    }

    debug_units* units_;
    entry_names names_;
    table<std::uint64_t, inlined_calls*> inlined_;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_SPLIT_UNIT_HPP
