// described_types.hpp - what the debug information at a stack's addresses says about types.
//
// Room:     naming (floor 10), not malloc-safe
// Called:   by naming/stack_namer.hpp and object_types.hpp
// Threads:  one at a time, under the naming lock
// Memory:   56 bytes for each size that a type is compared with, until rest()
//
// An address may have been in several modules, one after the other. The module is one that the
// stack goes through; if there is none, the only one that was seen at the address.

#ifndef ALLOCSCOPE_NAMING_DESCRIBED_TYPES_HPP
#define ALLOCSCOPE_NAMING_DESCRIBED_TYPES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/naming/named_stack.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/platform/met_modules.hpp>
#include <allocscope/source/class_size.hpp>
#include <allocscope/source/type_knowledge.hpp>
#include <allocscope/symbols/entry_types.hpp>
#include <allocscope/symbols/symbolizer.hpp>

#include <cstdint>  // uint32_t, uint64_t, uintptr_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// The module that contains the address. Null means the module that is there now; `is_certain` says
// whether that is right.
inline const met_module* home_of_address(const named_stack& stack, std::uintptr_t address,
                                         bool& is_certain) noexcept {
    if (stack.homes != nullptr) {
        for (const met_module* home : *stack.homes) {
            if (home->holds(address)) return home;
        }
    }
    const met_module* only = nullptr;
    for (std::uint32_t i = 0; i < modules_met.count(); ++i) {
        const met_module* each = modules_met.at(i);
        if (each == nullptr || !each->holds(address)) continue;
        is_certain = only == nullptr || only->tag() == each->tag();
        only = each;
        if (!is_certain) return nullptr;
    }
    return only;
}

// Results of comparing sizes of types and blocks. They are kept because many stacks ask the same.
class known_sizes {
public:
    ALLOCSCOPE_INLINE known_sizes() = default;
    known_sizes(const known_sizes&) = delete;
    known_sizes& operator=(const known_sizes&) = delete;

    // `type` is a text of the book, in which equal texts are one copy. `is_new`: the answer is that
    // of the unit alone.
    symbolize::size_fit& compare(arena& scratch, const text& type,
                                 const symbolize::type_names& known, std::uint64_t bytes,
                                 bool& is_new) {
        const auto fit = fits_.insert({{&known, type.data(), bytes}});
        is_new = fit.is_new;
        if (is_new) fit.value = symbolize::compare_size(scratch, type, known, bytes);
        return fit.value;
    }

    // Call it before the debug information is released.
    ALLOCSCOPE_INLINE void clear() noexcept {
        fits_ = table<by_bytes<question>, symbolize::size_fit>{memory_};
        memory_.release();
    }

private:
    struct question {
        const symbolize::type_names* known;
        const char* type;
        std::uint64_t bytes;
    };

    arena memory_;
    table<by_bytes<question>, symbolize::size_fit> fits_{memory_};
};

// The types that the unit of an address describes; null: nothing is known.
inline const symbolize::type_names* described_types_at(symbolize::symbolizer& symbols,
                                                       const named_stack& stack,
                                                       std::uintptr_t address) {
    bool is_certain = true;
    const met_module* home = home_of_address(stack, address, is_certain);
    if (!is_certain || address == 0) return nullptr;
    std::uint64_t linked = address;
    symbolize::debug_object* const object = symbols.object_at(linked, home);
    return object != nullptr ? object->types_at(linked) : nullptr;
}

// A type, and the unit that is asked about it. The text is one of the book, in which equal texts
// are one copy.
struct type_in_unit {
    const symbolize::type_names* known;
    const char* type;
};

// Whether a block can be one object of a type, according to the debug information of an address's
// unit.
struct described_sizes {
    symbolize::symbolizer& symbols;
    arena& scratch;
    known_sizes& sizes;

    const symbolize::type_names* types_at(const named_stack& stack, std::uintptr_t address) const {
        return described_types_at(symbols, stack, address);
    }

    symbolize::size_fit fit_at(const named_stack& stack, std::uintptr_t address, const text& type,
                               std::uint64_t bytes) const {
        const symbolize::type_names* known = types_at(stack, address);
        return known != nullptr ? symbolize::compare_size(scratch, type, *known, bytes)
                                : symbolize::size_fit::unknown;
    }

    // The same for a candidate, a text of the book, at the frame that asked for the memory. A
    // compiler may describe a class only in the unit of its constructors or of its first virtual
    // function.
    symbolize::size_fit fit_of_candidate(const named_stack& stack, const text& type,
                                         std::uint64_t bytes) const {
        std::uint64_t asking = stack.asking_address();
        bool is_certain = true;
        const met_module* home = home_of_address(stack, asking, is_certain);
        if (!is_certain || asking == 0) return symbolize::size_fit::unknown;
        symbolize::debug_object* const object = symbols.object_at(asking, home);
        const symbolize::type_names* known = object != nullptr ? object->types_at(asking) : nullptr;
        if (known == nullptr) return symbolize::size_fit::unknown;
        bool is_new = false;
        symbolize::size_fit& fit = sizes.compare(scratch, type, *known, bytes, is_new);
        if (!is_new || fit != symbolize::size_fit::unknown) return fit;
        text_out mangled{scratch};
        for (text left = type; !left.empty();) {
            const text name = left.substr(0, left.find("::"));
            mangled << decimal{name.size()} << name;
            left.remove_prefix(name.size() == left.size() ? name.size() : name.size() + 2);
        }
        constexpr int most_members = 16;
        std::uint64_t member = 0;
        for (int i = 0; i < most_members && fit == symbolize::size_fit::unknown; ++i) {
            member = object->member_behind(member, mangled.view());
            if (member == 0) break;
            known = object->types_at(member);
            if (known != nullptr) fit = symbolize::compare_size(scratch, type, *known, bytes);
        }
        return fit;
    }

    // The same for the stack's own type, at the frame that asked for the memory.
    symbolize::size_fit fit_of_answer(const named_stack& stack, const text& type,
                                      std::uint64_t bytes) const {
        const symbolize::type_names* known = types_at(stack, stack.asking_address());
        bool is_new = false;
        return known != nullptr ? sizes.compare(scratch, type, *known, bytes, is_new)
                                : symbolize::size_fit::unknown;
    }
};

// A place where a type is looked up by a name in the source.
struct asked_place {
    symbolize::symbolizer& symbols;
    std::uint64_t address;
    const met_module* home;
    text function = {};      // of the frame
    text file = {};          // of the frame
    bool is_folded = false;  // the code at the address is that of another function
    bool is_found = false;   // `object` is set, and the address is a linked one
    bool is_known = false;   // `known` is set
    symbolize::debug_object* object = nullptr;
    const symbolize::type_names* known = nullptr;

    symbolize::type_knowledge knowledge() noexcept {
        return {&asked_place::kind,
                this,
                &asked_place::qualified,
                &asked_place::only,
                &asked_place::bytes,
                &asked_place::are_classes,
                is_folded ? nullptr : &asked_place::meaning,
                is_folded ? nullptr : &asked_place::made,
                is_folded ? nullptr : &asked_place::has_call_at,
                symbolize::is_c_source(file)};
    }

private:
    static asked_place& found(void* place) {
        auto& asked = *static_cast<asked_place*>(place);
        if (!asked.is_found) asked.object = asked.symbols.object_at(asked.address, asked.home);
        asked.is_found = true;
        return asked;
    }
    static const symbolize::type_names* types(void* place) {
        asked_place& asked = found(place);
        if (!asked.is_known && asked.object != nullptr) {
            asked.known = asked.object->types_at(asked.address);
        }
        asked.is_known = true;
        return asked.known;
    }
    static symbolize::name_kind kind(void* place, const text& name) {
        const symbolize::type_names* known = types(place);
        if (known == nullptr) return symbolize::name_kind::unknown;
        if (!known->has(name)) {
            const bool is_usual = name.find_first_of(symbolize::lower_case) != text::npos;
            return is_usual && !known->has_sizes() ? symbolize::name_kind::undescribed
                                                   : symbolize::name_kind::unknown;
        }
        return known->is_template(name) ? symbolize::name_kind::class_template
                                        : symbolize::name_kind::type;
    }
    static text qualified(void* place, const text& name, const text& function) {
        const symbolize::type_names* known = types(place);
        return known != nullptr ? known->qualified(name, function) : text{};
    }
    static text only(void* place, const text& name, const text& function) {
        const symbolize::type_names* known = types(place);
        return known != nullptr ? known->only(name, function) : text{};
    }
    static std::uint64_t bytes(void* place, const text& name) {
        const symbolize::type_names* known = types(place);
        const symbolize::named_type* each = known != nullptr ? known->all(name) : nullptr;
        const std::uint64_t bytes = each != nullptr ? each->bytes : 0;
        for (; each != nullptr; each = each->next) {
            if (each->bytes != bytes) return 0;
        }
        return bytes;
    }
    static bool are_classes(void* place, const text& path) {
        const symbolize::type_names* known = types(place);
        return known != nullptr && known->are_classes(path);
    }
    static bool has_call_at(void* place, const text& file, int line, int column) {
        const asked_place& asked = found(place);
        return asked.object != nullptr &&
               asked.object->has_call_at(asked.address, file, line, column);
    }
    static text made(void* place, const text& own, const symbolize::source_places& places,
                     arena& memory) {
        const asked_place& asked = found(place);
        if (asked.object == nullptr) return no_text();
        return asked.object->made_at(asked.address, asked.function, asked.file, places, own,
                                     memory);
    }
    static text meaning(void* place, const text& name, symbolize::asked_name wanted,
                        arena& memory) {
        const asked_place& asked = found(place);
        if (asked.object == nullptr) return no_text();
        return asked.object->meaning_at(asked.address, asked.function, name, wanted, memory);
    }
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_DESCRIBED_TYPES_HPP
