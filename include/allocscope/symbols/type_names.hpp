// type_names.hpp - the names of types in the debug information of one unit, and their sizes.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/debug_object.hpp, if a name in a source file may be that of a macro; by
//           source/class_size.hpp
// Threads:  one
// Memory:   a table over the names, in the arena of the debug data
//
// The name after `new` in a source file is a type, or a macro that a header or the command line
// defines. The source does not show which; the debug information has only types.
//
//     names.has("widget")                      // a class, an enumeration, an alias, a namespace
//     names.qualified("widget", "app::run")    // "app::widget": what it means in app::run
//     names.only("widget")                     // "app::widget", if no other type has this name
//     names.all("widget")                      // app::widget and all others with this name

#ifndef ALLOCSCOPE_SYMBOLS_TYPE_NAMES_HPP
#define ALLOCSCOPE_SYMBOLS_TYPE_NAMES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/dwarf_constants.hpp>
#include <allocscope/binary/dwarf_forms.hpp>
#include <allocscope/binary/dwarf_units.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/debug_entries.hpp>
#include <allocscope/symbols/debug_units.hpp>
#include <allocscope/symbols/entry_facts.hpp>
#include <allocscope/symbols/entry_names.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int64_t, uint16_t, uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// One type of a unit. Types with the same name form a chain.
struct named_type {
    text whole;               // its own name with its template arguments
    text qualified;           // with its scopes; "" if one of these is a function or a template
    text within;              // these scopes, if `qualified` is ""
    std::uint64_t bytes = 0;  // of an object; 0: unknown, or not a class
    const named_type* next = nullptr;
    std::size_t defaults = 0;  // how many of its last template arguments are the defaults
    bool is_inline = false;    // a namespace whose names are also those of the scope around it
};

class type_names {
public:
    // The unit must have been loaded. Types that dwz moved to partial units are included.
    explicit type_names(const debug_unit& unit) : names_(unit.home->memory()) {
        arena scratch;
        imported_units all{scratch, this};
        all.add(unit);
        for (std::size_t i = 0; i < all.units.size(); ++i) add_types_of(*all.units[i], all);
    }

    // A type or a namespace, by its own name: "widget" for app::widget<int>.
    ALLOCSCOPE_INLINE bool has(const text& name) const { return names_.find(name) != nullptr; }

    // Whether only classes with template arguments have this name.
    bool is_template(const text& name) const {
        const named_type* type = all(name);
        if (type == nullptr) return false;
        while (type != nullptr && type->whole.contains("<")) type = type->next;
        return type == nullptr;
    }

    // False with -g1: the unit describes no types, but perhaps the scopes of functions.
    ALLOCSCOPE_INLINE bool has_sizes() const noexcept { return has_sizes_; }

    // What the name means in `function`, which has its scopes before it: the name with the
    // namespaces and classes around it. The innermost scope is searched first. "" if the meaning is
    // not certain.
    text qualified(const text& name, const text& function) const {
        text found;
        std::size_t scope_bytes = 0;
        for (const named_type* type = all(name); type != nullptr; type = type->next) {
            if (type->qualified.empty()) {
                if (may_be_within(type->within, function)) return no_text();
                continue;
            }
            text scope = type->qualified.substr(0, type->qualified.size() - name.size());
            while (scope.size() > 2 && is_inline_namespace(scope.substr(0, scope.size() - 2))) {
                scope.remove_suffix(2);
                scope = scope.substr(0, scope.rfind(':') + 1);
            }
            const std::size_t bytes = scope.size();
            if (!is_around(scope, function)) continue;
            if (found.empty() || bytes > scope_bytes) {
                found = type->qualified;
                scope_bytes = bytes;
            }
        }
        return found;
    }

    // The only type with that name, with its scopes; "" if there are several, or if it is not
    // certain. A `using` or a base class can make it visible anywhere. With a function, those in
    // scopes around it count as one.
    text only(const text& name, text function = {}) const {
        const named_type* const first = all(name);
        for (const named_type* type = first; type != nullptr; type = type->next) {
            const bool is_same = type->qualified == first->qualified;
            if (!is_same && !(is_seen(*type, name, function) && is_seen(*first, name, function))) {
                return no_text();
            }
        }
        return first != nullptr ? first->qualified : text{};
    }

    // Whether all types with that path are classes or enumerations whose sizes are known. Those of
    // app::chain<int>::node and app::chain<char>::node have the path "app::chain::node".
    bool are_classes(const text& path) const {
        const std::size_t colons = path.rfind(':');
        const text own = path.substr(colons == text::npos ? 0 : colons + 1);
        const text scope = path.substr(0, colons == text::npos ? 0 : colons - 1);
        bool is_found = false;
        for (const named_type* type = all(own); type != nullptr; type = type->next) {
            const bool is_named = !type->qualified.empty();
            if (is_named ? type->qualified != path : type->within != scope) continue;
            if (type->bytes == 0) return false;
            is_found = true;
        }
        return is_found;
    }

    // Whether people leave out the last scope of that path. Compilers say so with DWARF 5.
    bool is_inline_namespace(const text& path) const {
        if (!has_inline_namespaces_) return false;
        const std::size_t colon = path.rfind(':');
        const named_type* type = all(path.substr(colon == text::npos ? 0 : colon + 1));
        while (type != nullptr && !(type->is_inline && type->qualified == path)) type = type->next;
        return type != nullptr;
    }

    // All types with that name. The name has no template arguments. Null: there are none.
    const named_type* all(const text& name) const {
        const named_type* const* first = names_.find(name);
        return first != nullptr ? *first : nullptr;
    }

private:
    struct open_scope {
        std::int64_t depth = 0;
        text name;
        bool is_named = true;        // whether a name in it can be spelled
        named_type* type = nullptr;  // if it is a class
    };

    // A unit, and the partial units that it imports, each once.
    struct imported_units {
        ALLOCSCOPE_INLINE imported_units(arena& memory, type_names* made)
            : of(made), units(memory), known(memory) {}
        void add(const debug_unit& unit) {
            type_names*& reader = known[unit.header.first_entry | unit.header.file];
            if (reader == nullptr) units.push_back(&unit);
            reader = of;
        }
        type_names* of;
        list<const debug_unit*> units;
        table<std::uint64_t, type_names*> known;
    };

    static constexpr text unnamed_namespace = "(anonymous namespace)";

    void add_types_of(const debug_unit& unit, imported_units& all);

    // Only partial units are added. With -flto whole units are imported, too: these are other
    // source files.
    static ALLOCSCOPE_INLINE void add_imported(const debug_unit& unit, entry_walker& walker,
                                               imported_units& all) {
        std::uint16_t name = 0;
        detail::dwarf_value value;
        while (walker.next_value(name, value)) {
            if (name != detail::dwarf::at_import) continue;
            const debug_unit* imported =
                unit.home->unit_of_entry(detail::dwarf_reference(unit.header, value));
            if (imported != nullptr && imported->is_partial) all.add(*imported);
        }
    }

    void read_entry(const debug_unit& unit, entry_walker& walker, named_type& into) {
        std::uint16_t name = 0;
        detail::dwarf_value value;
        while (walker.next_value(name, value)) {
            if (name == detail::dwarf::at_name) {
                into.whole = detail::dwarf_text(unit.home->sections(), unit.header, value);
            } else if (name == detail::dwarf::at_byte_size) {
                into.bytes = value.number;
            } else if (name == detail::dwarf::at_export_symbols) {
                into.is_inline = true;
            } else if (name == detail::dwarf::at_signature) {
                const debug_units::told_type told = unit.home->read_type(value.number);
                into.bytes = told.bytes;
                if (!into.whole.empty()) continue;
                into.whole = told.name;
                into.within = scopes_of(*unit.home, value.number);
            }
        }
    }

    // g++ writes a type that has a unit of its own without name and scopes where it is used. These
    // are the scopes in its unit.
    ALLOCSCOPE_NOINLINE static text scopes_of(debug_units& units, std::uint64_t signature) {
        const std::uint64_t entry = units.entry_of_type(signature);
        const debug_unit* const unit = units.unit_of_entry(entry);
        if (entry == 0 || unit == nullptr) return no_text();
        const std::uint64_t declared = read_facts(*unit, entry).more;
        std::size_t at = entry_names::enclosing(*unit, declared != 0 ? declared : entry);
        text path;
        while (at != 0) {
            const entry_scope& scope = unit->scopes[at - 1];
            text name = read_facts(*unit, scope.begin).name;
            if (name.empty()) name = unnamed_namespace;
            path = path.empty() ? name : joined(units.memory(), name, "::", path);
            at = scope.parent;
        }
        return path;
    }

    // "app::" encloses "app::run", and so does "app::(anonymous namespace)::".
    ALLOCSCOPE_PURE static bool is_around(text scope, text function) noexcept {
        constexpr text unnamed = "(anonymous namespace)::";
        while (!scope.empty()) {
            text& shorter = scope.starts_with(unnamed) ? scope : function;
            if (shorter.starts_with(unnamed)) {
                shorter.remove_prefix(unnamed.size());
            } else if (function.empty() || scope.front() != function.front()) {
                return false;
            } else {
                scope.remove_prefix(1);
                function.remove_prefix(1);
            }
        }
        return true;
    }

    ALLOCSCOPE_PURE static bool is_seen(const named_type& type, const text& name,
                                        const text& function) noexcept {
        if (type.qualified.empty() || function.empty()) return false;
        return is_around(type.qualified.substr(0, type.qualified.size() - name.size()), function);
    }

    // A type in a template or a function is meant only there. Some scopes have no names.
    ALLOCSCOPE_PURE static bool may_be_within(const text& scope, const text& function) noexcept {
        return scope.empty() || scope.ends_with("::") || scope.contains("::::") ||
               is_around(scope, function);
    }

    // Returns the new entry; null if there is an equal one.
    named_type* add(arena& memory, const text& own, const named_type& type) {
        has_sizes_ = has_sizes_ || type.bytes != 0;
        has_inline_namespaces_ = has_inline_namespaces_ || type.is_inline;
        const auto known = names_.insert(own);
        int looked_at = 0;  // the search is short, because equal entries are close to each other
        for (const named_type* at = known.value; at != nullptr && looked_at < 8; at = at->next) {
            if (at->qualified == type.qualified && at->within == type.within &&
                at->whole == type.whole && at->bytes == type.bytes) {
                return nullptr;
            }
            ++looked_at;
        }
        named_type* kept = memory.make<named_type>(type);
        kept->next = known.value;
        known.value = kept;
        return kept;
    }

    // Whether the argument of a template parameter is the default.
    static ALLOCSCOPE_INLINE bool is_default(entry_walker& walker) {
        std::uint16_t name = 0;
        detail::dwarf_value value;
        bool is_flagged = false;
        while (walker.next_value(name, value)) {
            is_flagged = is_flagged || name == detail::dwarf::at_default_value;
        }
        return is_flagged;
    }

    static ALLOCSCOPE_INLINE bool is_template_parameter(std::uint16_t tag) noexcept {
        return tag == detail::dwarf::tag_template_type_parameter ||
               tag == detail::dwarf::tag_template_value_parameter ||
               tag == detail::dwarf::tag_template_template_parameter;
    }

    table<text, const named_type*> names_;
    bool has_sizes_ = false;
    bool has_inline_namespaces_ = false;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

// The loop sees every entry of a unit, except those of functions that describe no type.
ALLOCSCOPE_COOL_BEGIN

namespace symbolize {

ALLOCSCOPE_NOINLINE void type_names::add_types_of(const debug_unit& unit, imported_units& all) {
    arena scratch;
    arena& memory = unit.home->memory();
    list<open_scope> open{scratch};
    std::size_t next_scope = 0;
    entry_walker walker = unit.walk(unit.header.first_entry);
    walker.next();  // the unit itself is not a scope
    while (walker.next()) {
        const abbreviation* shape = walker.shape();
        if (shape == nullptr) {
            if (!open.empty() && open.back().depth + 1 == walker.depth()) open.pop_back();
            continue;
        }
        const std::uint16_t tag = shape->tag;
        if (tag == detail::dwarf::tag_imported_unit) add_imported(unit, walker, all);
        if (!open.empty() && open.back().type != nullptr && is_template_parameter(tag) &&
            open.back().depth + 1 == walker.depth()) {
            // clang also marks one with another argument behind it.
            std::size_t& defaults = open.back().type->defaults;
            defaults = is_default(walker) ? defaults + 1 : 0;
        }
        if (!shape->opens_scope && !shape->names_type) continue;
        const std::int64_t depth = walker.depth();
        if (shape->opens_scope) {
            while (next_scope < unit.scopes.size() &&
                   unit.scopes[next_scope].begin < walker.offset()) {
                ++next_scope;
            }
            if (tag == detail::dwarf::tag_subprogram && next_scope < unit.scopes.size() &&
                unit.scopes[next_scope].begin == walker.offset() &&
                !unit.scopes[next_scope].has_types) {
                walker.skip_children(unit.scopes[next_scope].end);
                continue;
            }
        }
        const bool is_scope = shape->opens_scope;
        named_type type;
        read_entry(unit, walker, type);
        open_scope outer = open.empty() ? open_scope{} : open.back();
        if (!type.within.empty()) {
            outer.name = part_before(type.within, '<');
            outer.is_named = outer.name.size() == type.within.size();
            type.within = {};
        }
        const bool is_unnamed = tag == detail::dwarf::tag_namespace && type.whole.empty();
        const text own = is_unnamed ? unnamed_namespace : part_before(type.whole, '<');
        const text qualified = outer.name.empty() ? own : joined(memory, outer.name, "::", own);
        named_type* kept = nullptr;
        if (names_a_type(tag) && !type.whole.empty()) {
            (outer.is_named ? type.qualified : type.within) =
                outer.is_named ? qualified : outer.name;
            kept = add(memory, own, type);
        }
        if (!is_scope) continue;
        const bool is_named = outer.is_named && !own.empty() && own.size() >= type.whole.size() &&
                              tag != detail::dwarf::tag_subprogram;
        open.push_back({depth, qualified, is_named, kept});
    }
}

}  // namespace symbolize

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_SYMBOLS_TYPE_NAMES_HPP
