// entry_names.hpp - the name of the function that an entry of the debug information describes.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/inline_lookup.hpp
// Threads:  one
// Memory:   one cached name for each entry that was asked for
//
// The linker name is best: demangled it has all template arguments and parameters. An inlined copy
// points to its abstract entry, that one to the declaration in its class:
//
//     inlined call --abstract_origin--> function --specification--> member declaration (names here)
//
// Functions that no other file can see often have no linker name. Then the names of the enclosing
// namespaces and classes are put in front: "app::(anonymous namespace)::cache<int>::grow".

#ifndef ALLOCSCOPE_SYMBOLS_ENTRY_NAMES_HPP
#define ALLOCSCOPE_SYMBOLS_ENTRY_NAMES_HPP

#include <allocscope/binary/dwarf_constants.hpp>
#include <allocscope/binary/dwarf_units.hpp>
#include <allocscope/config.hpp>
#include <allocscope/symbols/debug_entries.hpp>
#include <allocscope/symbols/debug_units.hpp>
#include <allocscope/symbols/demangle.hpp>

#include <cstddef>        // size_t
#include <cstdint>        // uint16_t, uint64_t
#include <cstring>        // strcmp
#include <string>         // string
#include <unordered_map>  // unordered_map
#include <utility>        // move

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

struct entry_name {
    std::string function;  // demangled or put together; "" unknown
    std::string linkage;   // "" when the debug information has none
};

class entry_names {
public:
    explicit entry_names(debug_units& units) : units_(units) {}

    const entry_name& of(std::uint64_t entry) {
        const auto known = names_.find(entry);
        if (known != names_.end()) return known->second;
        entry_name name = read(entry, 0);
        return names_.emplace(entry, std::move(name)).first->second;
    }

private:
    static constexpr int most_links = 16;
    static constexpr int most_scopes = 64;
    static constexpr int most_nested_functions = 8;
    static constexpr std::size_t longest_name = 65536;

    struct facts {
        const char* name = "";
        const char* linkage = "";
        std::uint64_t next = 0;  // the entry that says more
        std::uint16_t tag = 0;
    };

    facts read_facts(const debug_unit& unit, std::uint64_t entry) const {
        facts found;
        entry_walker walker{units_.sections(), unit.header, unit.abbreviations, entry};
        if (!walker.next() || walker.shape() == nullptr) return found;
        found.tag = walker.shape()->tag;
        walker.values([&](std::uint16_t name, const detail::dwarf_value& value) {
            switch (name) {
                case detail::dwarf::at_name:
                    found.name = detail::dwarf_text(units_.sections(), unit.header, value);
                    break;
                case detail::dwarf::at_linkage_name:
                case detail::dwarf::at_mips_linkage_name:
                    found.linkage = detail::dwarf_text(units_.sections(), unit.header, value);
                    break;
                case detail::dwarf::at_abstract_origin:
                case detail::dwarf::at_specification:
                    found.next = detail::dwarf_reference(unit.header, value);
                    break;
                default:
                    break;
            }
        });
        return found;
    }

    entry_name read(std::uint64_t entry, int nesting) {
        entry_name answer;
        const char* plain = "";
        const debug_unit* home = nullptr;
        std::uint64_t last = entry;
        for (int links = 0; links < most_links && entry != 0; ++links) {
            const debug_unit* unit = units_.unit_of_entry(entry);
            if (unit == nullptr) break;
            const facts found = read_facts(*unit, entry);
            if (*found.linkage != '\0') {
                answer.linkage = found.linkage;
                answer.function = demangled(found.linkage);
                if (answer.function != answer.linkage) return answer;
            }
            if (*found.name != '\0') plain = found.name;
            home = unit;
            last = entry;
            entry = found.next;
        }
        if (*plain == '\0') return answer;
        answer.function = home == nullptr ? plain : scope_of(*home, last, plain, nesting) + plain;
        return answer;
    }

    // The enclosing names, each followed by "::".
    std::string scope_of(const debug_unit& unit, std::uint64_t entry, const char* plain,
                         int nesting) {
        std::string scope;
        std::size_t number = enclosing(unit, entry);
        for (int levels = 0; levels < most_scopes && number != 0; ++levels) {
            const entry_scope& outer = unit.scopes[number - 1];
            const facts found = read_facts(unit, outer.begin);
            if (found.tag == detail::dwarf::tag_subprogram) {
                if (nesting >= most_nested_functions) break;
                const entry_name function = read(outer.begin, nesting + 1);
                return function.function.empty() ? scope : function.function + "::" + scope;
            }
            const char* name = found.name;
            if (*name == '\0') {
                name = found.tag == detail::dwarf::tag_namespace ? "(anonymous namespace)"
                       : std::strcmp(plain, "operator()") == 0   ? "{lambda}"
                                                                 : "{unnamed type}";
            }
            if (scope.size() > longest_name) break;
            scope = std::string(name) + "::" + scope;
            number = outer.parent;
        }
        return scope;
    }

    // The number + 1 of the innermost scope around an entry; 0: none.
    static std::size_t enclosing(const debug_unit& unit, std::uint64_t entry) {
        std::size_t first = 0;
        std::size_t last = unit.scopes.size();
        while (first < last) {  // the first scope that begins at or after the entry
            const std::size_t middle = first + (last - first) / 2;
            if (unit.scopes[middle].begin < entry) {
                first = middle + 1;
            } else {
                last = middle;
            }
        }
        std::size_t number = first;
        while (number != 0 && unit.scopes[number - 1].end <= entry) {
            number = unit.scopes[number - 1].parent;
        }
        return number;
    }

    debug_units& units_;
    std::unordered_map<std::uint64_t, entry_name> names_;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_ENTRY_NAMES_HPP
