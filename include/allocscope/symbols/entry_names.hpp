// entry_names.hpp - finds what the debug information calls a function, and whether it has a source.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/debug_object.hpp, entry_types.hpp and folded_functions.hpp
// Threads:  one
// Memory:   one cached name for each entry that was asked about; the texts themselves are kept
//
// The linker name is best: demangled, it has all template arguments and parameters. An inlined copy
// refers to its abstract entry, and that one to the declaration in its class:
//
//     inlined call --abstract_origin--> function --specification--> member declaration (names here)
//
// Functions that are not visible to other files often have no linker name. Then the name is put
// together from those of the enclosing namespaces and classes:
// "app::(anonymous namespace)::cache<int>::grow".

#ifndef ALLOCSCOPE_SYMBOLS_ENTRY_NAMES_HPP
#define ALLOCSCOPE_SYMBOLS_ENTRY_NAMES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/dwarf_constants.hpp>
#include <allocscope/binary/dwarf_units.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/symbols/debug_entries.hpp>
#include <allocscope/symbols/debug_units.hpp>
#include <allocscope/symbols/demangle.hpp>
#include <allocscope/symbols/entry_facts.hpp>
#include <allocscope/symbols/kept_texts.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint16_t, uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

struct entry_name {
    ALLOCSCOPE_NOINLINE entry_name() noexcept {}  // as in code_frame

    text function;  // demangled or put together; "": unknown
    text linkage;   // "" when the debug information has none
    // Where the function is declared: the number of a file in the unit's line program, and the
    // line.
    std::uint64_t file = 0;
    std::uint64_t line = 0;  // 0: unknown
    std::uint64_t unit = 0;  // the offset of an entry in that unit
    // A constructor, destructor or assignment without a body in the source: the compiler made it.
    bool is_implicit = false;
    bool may_be_implicit = false;  // the debug information does not say
};

// In linker names: constructors, assignments, inherited constructors, destructors.
ALLOCSCOPE_HIDDEN inline constexpr const char* marks_of_special_members[] = {
    "C1E", "C2E", "C4E", "aSE", "CI1", "CI2", "CI4", "D0Ev", "D1Ev", "D2Ev", "D4Ev"};

// Whether a linker name may be that of a constructor, destructor or assignment. Other functions
// that the debug information calls artificial have lines of the user's: what initialises a file's
// globals, the body of a coroutine, the body of a lambda. A lambda in a constructor has the
// constructor's name in front of its own, which ends with "_cl", the call.
ALLOCSCOPE_PURE inline bool is_special_member(text linkage) noexcept {
    const std::size_t call = linkage.rfind(text{"_cl"});
    const bool is_call = call != text::npos && linkage.substr(call + 3).find_first_of("EI") == 0;
    if (is_call) linkage.remove_prefix(call);
    for (const char* kind : marks_of_special_members) {
        if (linkage.contains(kind)) return true;
    }
    return false;
}

class entry_names {
public:
    entry_names(debug_units& units, kept_texts& texts)
        : units_(units), texts_(texts), names_(units.memory()) {}

    entry_name of(std::uint64_t entry) { return of(entry, 0); }

    // Whether an entry only declares a function, with a name that does not say which one: that of
    // a C function, or one that the source gives the linker. The function may be any other.
    bool may_be_alias(std::uint64_t entry) {
        const debug_unit* unit = units_.unit_of_entry(entry);
        if (unit == nullptr) return true;
        const entry_facts found = read_facts(*unit, entry);
        if (!found.is_declaration || linkage_of(*unit, found).starts_with("_Z")) return false;
        const std::size_t around = enclosing(*unit, entry);  // a class, if it is a member
        return around == 0 || read_facts(*unit, unit->scopes[around - 1].begin).tag ==
                                  detail::dwarf::tag_namespace;
    }

    // The number + 1 of the innermost scope around an entry; 0: none.
    static std::size_t enclosing(const debug_unit& unit, std::uint64_t entry) {
        entry &= ~detail::dwarf_in_supplement;
        std::size_t number = count_below(unit.scopes, entry);
        while (number != 0 && unit.scopes[number - 1].end <= entry) {
            number = unit.scopes[number - 1].parent;
        }
        return number;
    }

private:
    static constexpr int most_links = 16;
    static constexpr std::size_t most_scopes = 64;
    static constexpr int most_nested_functions = 8;
    static constexpr std::size_t longest_name = 65536;

    static text linkage_of(const debug_unit& unit, const entry_facts& of) {
        return detail::dwarf_text(unit.home->sections(), unit.header, of.linkage);
    }

    entry_name of(std::uint64_t entry, int nesting) {
        if (const entry_name* known = names_.find(entry)) return *known;
        const borrowed_memory meanwhile{texts_.scratch()};
        const entry_name name = read(entry, nesting);
        names_[entry] = name;
        return name;
    }

    entry_name read(std::uint64_t entry, int nesting) {
        entry_name answer;
        text plain;
        const debug_unit* home = nullptr;
        bool has_file = true;
        bool is_named = false;
        std::uint64_t last = entry;
        for (int links = 0; links < most_links && entry != 0; ++links) {
            const debug_unit* unit = units_.unit_of_entry(entry);
            if (unit == nullptr) break;
            const entry_facts found = read_facts(*unit, entry);
            if (answer.line == 0 && found.line != 0) {
                answer.line = found.line;
                answer.unit = entry;
                has_file = false;
            }
            // clang: only the declaration may have it
            if (!has_file && found.file != entry_facts::no_file) {
                answer.file = found.file;
                answer.unit = entry;
                has_file = true;
            }
            const text linkage = is_named ? text{} : linkage_of(*unit, found);
            if (!linkage.empty()) {
                answer.linkage = texts_.keep(linkage);
                answer.function = texts_.keep(demangled(texts_.scratch(), linkage.data()));
                is_named = answer.function != answer.linkage;
                answer.may_be_implicit = is_special_member(answer.linkage);
            }
            if (is_named && !answer.may_be_implicit) return answer;
            answer.is_implicit = answer.is_implicit || found.is_implicit;
            if (!found.name.empty()) plain = found.name;
            home = unit;
            last = entry;
            entry = found.more;
        }
        if (is_named || plain.empty()) return answer;
        text_out function{texts_.scratch()};
        const text scope = write_scope(function, *home, last, plain, nesting);
        function << plain;
        const bool is_special = plain == "<lambda>" || plain == "operator=" ||
                                plain.starts_with("~") || plain == part_before(scope, '<');
        answer.is_implicit = answer.is_implicit && is_special;
        answer.may_be_implicit = is_special || scope.empty();
        answer.function = texts_.keep(function.view());
        return answer;
    }

    // Writes the enclosing names, each followed by "::". Returns the innermost.
    text write_scope(text_out& out, const debug_unit& unit, std::uint64_t entry, const text& plain,
                     int nesting) {
        text scopes[most_scopes];  // the innermost first
        std::size_t count = 0;
        std::size_t bytes = 0;
        std::size_t number = enclosing(unit, entry);
        while (count < most_scopes && number != 0 && bytes <= longest_name) {
            const entry_scope& outer = unit.scopes[number - 1];
            number = outer.parent;
            const entry_facts found = read_facts(unit, outer.begin);
            text name = found.name;
            if (found.tag == detail::dwarf::tag_subprogram) {
                number = 0;
                const std::uint64_t function = outer.begin | unit.header.file;
                if (nesting < most_nested_functions) name = of(function, nesting + 1).function;
                if (nesting >= most_nested_functions || name.empty()) break;
            } else if (name.empty()) {
                name = found.tag == detail::dwarf::tag_namespace ? "(anonymous namespace)"
                       : plain.starts_with("operator()")         ? "{lambda}"
                                                                 : "{unnamed type}";
            }
            scopes[count++] = name;
            bytes += name.size();
        }
        for (std::size_t i = count; i != 0; --i) out << scopes[i - 1] << "::";
        return count != 0 ? scopes[0] : text{};
    }

    debug_units& units_;
    kept_texts& texts_;
    table<std::uint64_t, entry_name> names_;  // by the offset of the entry
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_ENTRY_NAMES_HPP
