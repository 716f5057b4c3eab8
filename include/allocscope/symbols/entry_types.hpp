// entry_types.hpp - finds the meaning of a name inside a function in the debug information.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/debug_object.hpp, when the source has `new T` in a template
// Threads:  one
// Memory:   results, in the given arena; the names of classes are kept by entry_names
//
// The entries below a function, and below the classes around it, say what the template parameters
// stand for, and which aliases are declared there:
//
//     class node<int>
//       template type parameter "K"  int     of_name(make, "K", parameter)      "int"
//       typedef "value"              int     of_name(make, "value", type)       "int"
//       function make
//         parameter "v"              long    of_name(make, "v", variable)       "long"
//
// An alias is replaced by what it stands for. The answer is "" for a type without a name, such as a
// lambda of g++, and for a name with two meanings.

#ifndef ALLOCSCOPE_SYMBOLS_ENTRY_TYPES_HPP
#define ALLOCSCOPE_SYMBOLS_ENTRY_TYPES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/dwarf_constants.hpp>
#include <allocscope/binary/dwarf_units.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/debug_entries.hpp>
#include <allocscope/symbols/debug_units.hpp>
#include <allocscope/symbols/entry_facts.hpp>
#include <allocscope/symbols/entry_names.hpp>

#include <cstdint>  // int64_t, uint16_t, uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// The kind of name that is looked up.
enum class asked_name {
    type,       // an alias or a class, or a member of it: "value::inner"
    parameter,  // of a template, or a member of it: "T::value_type"
    variable,   // a variable of the function or the file, or a member of it: "v.x", "v->x.y"
    element,    // what such a variable points to, without the bounds of arrays
    result      // what the function returns; the name is ""
};

class entry_types {
public:
    ALLOCSCOPE_INLINE entry_types(arena& memory, debug_units& units, entry_names& names) noexcept
        : memory_(memory), units_(units), names_(names) {}

    // Looks a name up in a function, which is given by its entry and may be inlined. Returns "" if
    // the meaning is not certain.
    text of_name(std::uint64_t function, const text& name, asked_name wanted) {
        if (wanted == asked_name::result) return spelled(result_of(function), 0);
        const text first = name.substr(0, name.find_first_of(":.-"));
        std::uint64_t scope = function;
        const bool is_element = wanted == asked_name::element;
        if (is_element) wanted = asked_name::variable;
        const bool is_variable = wanted == asked_name::variable;
        // Searched at the end.
        std::uint64_t unit = wanted != asked_name::parameter ? unit_around(function) : 0;
        for (int outer = 0; outer < most_links && scope != 0; ++outer) {
            const std::uint16_t tag = is_variable ? read(scope).tag : std::uint16_t{0};
            const found_type found = look_up(scope, first, wanted);
            if (found.count != 0) {
                if (found.count != 1) return no_text();
                const std::uint64_t type = member_type(found.type, name, first);
                return spelled(is_element ? object_of(type, true) : type, 0);
            }
            // A base class that another unit describes may have it.
            if (names_a_type(tag) && tag != detail::dwarf::tag_namespace) break;
            if (scope == 0) {
                scope = unit;
                unit = 0;
            }
        }
        return no_text();
    }

    // What a function makes whose own name is `own`: its class if it is a constructor, or else what
    // it returns. "" if that is not certain, or if the function has another name. If `own` is "",
    // only constructors count.
    text made_by(std::uint64_t function, const text& own) {
        text name;
        std::uint64_t result = 0;
        std::uint64_t last = 0;
        const std::uint64_t made = function;
        for (int links = 0; links < most_links && function != 0; ++links) {
            const entry_facts facts = read(function);
            if (facts.tag == 0) return no_text();
            if (name.empty()) name = facts.name;
            if (facts.has_type) result = facts.type;
            last = function;
            function = facts.more;
        }
        const debug_unit* unit = last != 0 ? units_.unit_of_entry(last) : nullptr;
        const text plain = part_before(name, '<');
        if (unit == nullptr || (!own.empty() && plain != own)) return no_text();
        if (result != 0) return own.empty() ? text{} : spelled(result, 0);
        const std::uint64_t around = entry_around(*unit, last);
        const entry_facts outer = read(around);
        const bool is_constructor =
            names_a_type(outer.tag) && part_before(outer.name, '<') == plain;
        if (is_constructor) return spelled(around, 0);
        // With -g1 no entry describes the class, but the name of the function has it.
        const entry_name whole = names_.of(made);
        if (!is_special_member(whole.linkage)) return no_text();
        const std::size_t end = whole.function.find(joined(memory_, "::", name, "("));
        const text path = end != text::npos ? whole.function.substr(0, end) : text{};
        const bool is_instance_of =
            path.ends_with(">") && path.contains(joined(memory_, name, "<"));
        return is_instance_of || path.ends_with(name) ? path : text{};
    }

private:
    static constexpr int most_links = 16;

    // What one scope says about a name.
    struct found_type {
        std::uint64_t type = 0;
        int count = 0;  // how many different meanings there are
    };

    entry_facts read(std::uint64_t entry) {
        const debug_unit* unit = entry != 0 ? units_.unit_of_entry(entry) : nullptr;
        return unit != nullptr ? read_facts(*unit, entry) : entry_facts{};
    }

    std::uint64_t result_of(std::uint64_t function) {
        for (int links = 0; links < most_links && function != 0; ++links) {
            const entry_facts facts = read(function);
            if (facts.has_type) return facts.type;
            function = facts.more;
        }
        return 0;
    }

    static bool is_wanted(std::uint16_t tag, asked_name wanted) noexcept {
        using namespace detail::dwarf;
        if (wanted == asked_name::variable) {
            return tag == tag_formal_parameter || tag == tag_variable || tag == tag_member;
        }
        if (wanted == asked_name::parameter) {
            return tag == tag_template_type_parameter || tag == tag_template_parameter_pack;
        }
        return names_a_type(tag) && tag != tag_imported_declaration;
    }

    // Searches all entries that describe the function or class `scope`, and then, for a type, its
    // base classes and inline namespaces. Then sets `scope` to the function or class around it, or
    // to 0 if there is none.
    found_type look_up(std::uint64_t& scope, const text& name, asked_name wanted, int depth = 0) {
        found_type found;
        list<std::uint64_t> bases{memory_};
        std::uint64_t last = 0;
        for (int links = 0; links < most_links && scope != 0; ++links) {
            const entry_facts facts = read(scope);
            if (facts.tag == 0) break;
            if (facts.has_children) look_at_children(scope, name, wanted, found, bases);
            last = scope;
            scope = facts.completed();
        }
        const debug_unit* unit = last != 0 ? units_.unit_of_entry(last) : nullptr;
        scope = unit != nullptr ? entry_around(*unit, last) : 0;
        for (std::size_t i = 0; found.count == 0 && i < bases.size() && depth < most_links; ++i) {
            std::uint64_t base = without_aliases(bases[i]);
            // A template finds no name in a base class that depends on its arguments.
            const bool is_unclear = depth == 0 && is_instance(last) && is_instance(base);
            found = look_up(base, name, wanted, depth + 1);
            if (found.count == 1 && is_unclear) found.count = 2;
        }
        return found;
    }

    bool is_instance(std::uint64_t entry) { return read(entry).name.contains("<"); }

    void look_at_children(std::uint64_t scope, const text& name, asked_name wanted,
                          found_type& found, list<std::uint64_t>& bases) {
        const debug_unit& unit = *units_.unit_of_entry(scope);
        entry_walker walker = unit.walk(scope);
        std::int64_t open = 1;  // children at this depth are its own, or those of its blocks
        walker.next();
        while (walker.next() && walker.depth() > 0) {
            const abbreviation* shape = walker.shape();
            if (shape == nullptr) {
                if (walker.depth() == 1) return;
                if (walker.depth() == open) --open;
                continue;
            }
            if (walker.depth() != open) continue;
            if (shape->tag == detail::dwarf::tag_lexical_block) {
                if (shape->has_children) ++open;
                continue;
            }
            const bool is_base = shape->tag == detail::dwarf::tag_inheritance;
            if (is_base ? wanted == asked_name::parameter : !is_wanted(shape->tag, wanted)) {
                if (shape->has_children) walker.skip_to_sibling();
                continue;
            }
            const std::uint64_t child = walker.offset() | unit.header.file;
            const entry_facts facts = read_facts(unit, walker);
            // The members of a struct or union without a name are those of the class around it.
            const bool is_part = facts.tag == detail::dwarf::tag_member && facts.name.empty();
            if (is_base || is_part) bases.push_back(facts.type);
            if (facts.is_inline) bases.push_back(child);
            if (is_base || facts.name != name) continue;
            const bool is_itself =
                names_a_type(facts.tag) && facts.tag != detail::dwarf::tag_typedef;
            const std::uint64_t type = is_itself ? child : facts.type;
            const bool is_told =
                type != 0 && facts.tag != detail::dwarf::tag_template_parameter_pack;
            if (found.count == 0 || !is_told || type != found.type) found.count += is_told ? 1 : 2;
            found.type = type;
        }
    }

    static std::uint64_t entry_around(const debug_unit& unit, std::uint64_t entry) {
        const std::size_t number = entry_names::enclosing(unit, entry);
        return number != 0 ? unit.scopes[number - 1].begin | unit.header.file : 0;
    }

    // The entry with all variables of the file. With -flto the code of a function is in another
    // unit than its source.
    std::uint64_t unit_around(std::uint64_t function) {
        const debug_unit* unit = nullptr;
        for (int links = 0; links < most_links && function != 0; ++links) {
            unit = units_.unit_of_entry(function);
            function = read(function).more;
        }
        return unit != nullptr ? unit->header.first_entry | unit->header.file : 0;
    }

    // `name` begins with `first`, which has the type `type`; the rest are members. 0: unknown.
    std::uint64_t member_type(std::uint64_t type, const text& name, const text& first) {
        for (text rest = name.substr(first.size()); !rest.empty();) {
            const bool is_type = rest.starts_with(":");
            const bool is_pointed = rest.starts_with("-");
            rest.remove_prefix(rest.starts_with(".") ? 1 : 2);
            const text member = rest.substr(0, rest.find_first_of(":.-"));
            rest.remove_prefix(member.size());
            std::uint64_t scope = is_type ? without_aliases(type) : object_of(type, is_pointed);
            const found_type found =
                look_up(scope, member, is_type ? asked_name::type : asked_name::variable, 1);
            if (found.count != 1) return 0;
            type = found.type;
        }
        return type;
    }

    // The type of the object that a variable of `type` is, or refers or points to; of an array that
    // of its elements.
    std::uint64_t object_of(std::uint64_t type, bool is_pointed) {
        using namespace detail::dwarf;
        for (;;) {
            type = without_aliases(type);
            const entry_facts facts = read(type);
            if (facts.tag == 0) return 0;
            if (facts.tag == tag_array_type) return facts.type;
            const bool is_pointer = facts.tag == tag_pointer_type;
            const bool is_reference =
                facts.tag == tag_reference_type || facts.tag == tag_rvalue_reference_type;
            if (!is_reference && is_pointer != is_pointed) return 0;
            if (!is_reference && !is_pointer) return type;
            is_pointed = is_pointed && !is_pointer;
            type = facts.type;
        }
    }

    std::uint64_t without_aliases(std::uint64_t type) {
        for (int links = 0; links < most_links; ++links) {
            const entry_facts facts = read(type);
            const bool is_alias = facts.tag == detail::dwarf::tag_typedef ||
                                  facts.tag == detail::dwarf::tag_const_type;
            if (!is_alias) return facts.tag != 0 ? type : 0;
            type = facts.type;
        }
        return 0;
    }

    // The type as a demangler writes it.
    text spelled(std::uint64_t type, int depth) {
        using namespace detail::dwarf;
        if (depth == most_links) return no_text();
        const entry_facts facts = read(type);
        const char* mark = nullptr;
        switch (facts.tag) {
            case tag_pointer_type:
                mark = "*";
                break;
            case tag_reference_type:
                mark = "&";
                break;
            case tag_rvalue_reference_type:
                mark = "&&";
                break;
            case tag_const_type:
                mark = " const";
                break;
            case tag_volatile_type:
                mark = " volatile";
                break;
            case tag_typedef:
                break;
            case tag_base_type:
            case tag_enumeration_type:
                return whole_name(type);
            case tag_class_type:
            case tag_structure_type:
            case tag_union_type:
                if (facts.name.empty()) return spelled(facts.completed(), depth + 1);
                return lacks_arguments(type, facts) ? text{} : whole_name(type);
            default:
                return no_text();
        }
        const text target = facts.has_type ? spelled(facts.type, depth + 1) : text{"void"};
        if (mark == nullptr && target.empty()) return whole_name(type);
        if (target.empty() || mark == nullptr) return target;
        return joined(memory_, target, mark);
    }

    // The name with its scopes; "" if one of them has no name, or is named in another unit.
    text whole_name(std::uint64_t type) {
        const detail::dwarf_unit& unit = units_.unit_of_entry(type)->header;
        if (unit.type_entry != 0 && (unit.type_entry | unit.file) != type) return no_text();
        const text name = names_.of(type).function;
        return name.contains("{unnamed type}") ? text{} : name;
    }

    // With -gsimple-template-names the name of box<int> is "box".
    bool lacks_arguments(std::uint64_t type, const entry_facts& facts) {
        if (facts.name.contains("<") || !facts.has_children) return false;
        const debug_unit& unit = *units_.unit_of_entry(type);
        entry_walker walker = unit.walk(type);
        walker.next();
        while (walker.next() && walker.depth() > 0) {
            const abbreviation* shape = walker.shape();
            if (walker.depth() != 1) continue;
            if (shape == nullptr) return false;
            if (shape->tag == detail::dwarf::tag_template_type_parameter ||
                shape->tag == detail::dwarf::tag_template_value_parameter ||
                shape->tag == detail::dwarf::tag_template_parameter_pack) {
                return true;
            }
        }
        return false;
    }

    arena& memory_;
    debug_units& units_;
    entry_names& names_;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_ENTRY_TYPES_HPP
