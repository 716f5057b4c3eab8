// module_functions.hpp - the functions of a module, with the calls that are described in each.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/object_contents.hpp, folded_functions.hpp, function_exits.hpp and
//           symbolizer.hpp; by tools/
// Threads:  one
// Memory:   16 bytes for each direct call of a function that was asked about
//
// Addresses are linked addresses. A function is known by the offset of its entry in the debug
// information.

#ifndef ALLOCSCOPE_SYMBOLS_MODULE_FUNCTIONS_HPP
#define ALLOCSCOPE_SYMBOLS_MODULE_FUNCTIONS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/address_ranges.hpp>
#include <allocscope/symbols/call_sites.hpp>
#include <allocscope/symbols/debug_units.hpp>
#include <allocscope/symbols/entry_names.hpp>
#include <allocscope/symbols/machine_code.hpp>
#include <allocscope/symbols/object_bytes.hpp>
#include <allocscope/symbols/split_unit.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

ALLOCSCOPE_HIDDEN inline constexpr const char* names_of_malloc_family[] = {
    "malloc",        "calloc",   "realloc", "reallocarray",
    "aligned_alloc", "memalign", "strdup",  "strndup"};

// Whether a demangled name is that of operator new, or of one of malloc's family.
ALLOCSCOPE_PURE inline bool is_allocating(const text& name) noexcept {
    for (const char* each : names_of_malloc_family) {
        if (name == each) return true;
    }
    return name.starts_with("operator new");
}

class module_functions {
public:
    // `describe` finds what another file says about a unit; `contents` is passed to it.
    using describe_unit = described_unit (*)(void* contents, debug_unit& unit);

    module_functions(debug_units& units, entry_names& names, const object_bytes& object,
                     void* contents, describe_unit describe)
        : code_(units.memory(), object),
          units_(units),
          names_(names),
          contents_(contents),
          describe_(describe),
          sites_(units.memory()) {}

    struct function {
        const debug_unit* unit = nullptr;
        const address_range* range = nullptr;  // null: the address is in no function that is known
        entry_names* names = nullptr;          // by the entries of the unit

        ALLOCSCOPE_PURE ALLOCSCOPE_INLINE bool begins_at(std::uint64_t address) const {
            return range != nullptr && range->low == address;
        }
    };

    // Functions that another file describes are not known here.
    function at(std::uint64_t address) const {
        const debug_unit* unit = units_.unit_at(address);
        if (unit == nullptr || *unit->split_name != '\0') return {};
        return {unit, unit->functions.find(address), &names_};
    }

    // The same, and functions that another file describes: their entries are numbers in that file.
    function anywhere_at(std::uint64_t address) const {
        debug_unit* unit = units_.unit_at(address);
        if (unit == nullptr) return {};
        const described_unit described = describe_(contents_, *unit);
        if (described.unit == nullptr) return {};
        return {described.unit, described.unit->functions.find(address), described.names};
    }

    // The entry of the function whose code is at an address; 0: not known.
    std::uint64_t entry_at(std::uint64_t address) const {
        const function found = at(address);
        return found.range != nullptr ? found.range->value : 0;
    }

    // The same for the function that begins at an address.
    std::uint64_t entry_of(std::uint64_t begin) const {
        const function found = at(begin);
        return found.begins_at(begin) ? found.range->value : 0;
    }

    ALLOCSCOPE_INLINE entry_name name_of(std::uint64_t entry) const { return names_.of(entry); }
    ALLOCSCOPE_INLINE bool may_be_alias(std::uint64_t entry) const {
        return names_.may_be_alias(entry);
    }

    const call_sites& sites_of(const function& from) {
        if (from.names != &names_) {  // asked once, by function_exits
            return *memory().make<call_sites>(*from.unit->home, *from.unit, from.range->value);
        }
        call_sites*& known = sites_[from.range->value];
        if (known == nullptr) {
            known = memory().make<call_sites>(units_, *from.unit, from.range->value);
        }
        return *known;
    }

    // Whether the function with this entry of the unit of `of` is operator new, or one of malloc's
    // family.
    static bool allocates(const function& of, std::uint64_t entry) {
        return entry != 0 && is_allocating(of.names->of(entry).function);
    }

    // The same for the function that begins at an address.
    bool allocates_at(std::uint64_t address) const {
        const function found = anywhere_at(address);
        return found.begins_at(address) && allocates(found, found.range->value);
    }

    ALLOCSCOPE_INLINE const machine_code& code() const { return code_; }
    ALLOCSCOPE_INLINE arena& memory() const { return units_.memory(); }

private:
    machine_code code_;
    debug_units& units_;
    entry_names& names_;
    void* contents_;
    describe_unit describe_;
    table<std::uint64_t, call_sites*> sites_;  // by the function's entry
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_MODULE_FUNCTIONS_HPP
