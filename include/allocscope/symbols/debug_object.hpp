// debug_object.hpp - everything that one program or library file says about its addresses.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/symbolizer.hpp; by tests with the bytes of a file
// Threads:  one
// Memory:   that of object_contents.hpp; results are kept
//
// Addresses are linked addresses: the run-time address minus the module's base. If something cannot
// be read, answers say less.
//
//     debug_object object{texts, "/usr/bin/example"};
//     code_location location;
//     object.resolve(0x1139, location);       // fills symbol and frames

#ifndef ALLOCSCOPE_SYMBOLS_DEBUG_OBJECT_HPP
#define ALLOCSCOPE_SYMBOLS_DEBUG_OBJECT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/symbols/debug_units.hpp>
#include <allocscope/symbols/entry_names.hpp>
#include <allocscope/symbols/entry_types.hpp>
#include <allocscope/symbols/folded_functions.hpp>
#include <allocscope/symbols/inline_lookup.hpp>
#include <allocscope/symbols/line_lookup.hpp>
#include <allocscope/symbols/machine_code.hpp>
#include <allocscope/symbols/nearby_lines.hpp>
#include <allocscope/symbols/object_contents.hpp>
#include <allocscope/symbols/split_unit.hpp>
#include <allocscope/symbols/symbol_lookup.hpp>
#include <allocscope/symbols/type_names.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

ALLOCSCOPE_HIDDEN inline constexpr const char* parts_that_ask_for_elements[] = {
    "::_M_allocate_and_copy",
    "::_M_create_storage",
    "::_M_realloc_insert",
    "::_M_default_append",
    "::_M_allocate_node",
    "::_M_create_nodes",
    "::reserve"};

class debug_object : private object_contents {
public:
    using object_contents::build_id;
    using object_contents::bytes_in_memory;
    using object_contents::exits;
    using object_contents::file;
    using object_contents::functions;
    using object_contents::is_exported;
    using object_contents::is_readable;
    using object_contents::object_contents;
    using object_contents::release;

    // Adds symbol and frames to `location`. The frames lie in `memory`; if it is null, beside the
    // texts.
    void resolve(std::uint64_t linked_address, code_location& location, arena* memory = nullptr) {
        location.frames = list<code_frame>{memory != nullptr ? *memory : texts().memory()};
        if (!is_readable()) return;
        const found_symbol found = symbols().function_at(linked_address);
        const symbol_name& name = kept_name_of(found.name);
        location.symbol = name.readable;
        location.symbol_offset = found.offset;
        add_frames(linked_address, location, name);
        if (location.frames.empty() && !name.linkage.empty()) {
            code_frame frame;
            frame.function = name.readable;
            frame.linkage_name = name.linkage;
            add_frame(location, frame);
        }
        const std::uint64_t built_ns = changed_ns();
        for (code_frame& each : location.frames) each.built_ns = built_ns;
    }

    // The address at which a function of the symbol table begins; 0 if it is not there.
    ALLOCSCOPE_INLINE std::uint64_t address_of(const text& function) {
        return is_readable() ? symbols().address_of(function) : 0;
    }

    // See symbol_index.
    ALLOCSCOPE_INLINE std::uint64_t member_behind(std::uint64_t linked_address,
                                                  const text& mangled) {
        return is_readable() ? symbols().member_behind(linked_address, mangled) : 0;
    }

    // The types and namespaces that the unit of the address describes; null: nothing is known.
    const type_names* types_at(std::uint64_t linked_address) {
        debug_unit* unit = is_readable() ? units().unit_at(linked_address) : nullptr;
        if (unit == nullptr) return nullptr;
        described_unit described = describe(*unit);
        if (described.unit == nullptr) return nullptr;
        // With -flto, the unit of the code is not the unit of the source, and a function of one
        // source may be inlined in one of another.
        const address_range* range = described.unit->functions.find(linked_address);
        if (range != nullptr && described.units == &units()) {
            debug_unit* declared = units().unit_of_entry(described.names->of(range->value).unit);
            if (declared != described.unit) {
                const inlined_calls& calls =
                    described.inlined_in(memory(), range->value, texts().scratch());
                std::uint64_t entry = range->value;
                std::size_t inner = calls.innermost_at(linked_address);
                for (; inner != 0; inner = calls[inner - 1].parent) {
                    const std::uint64_t call = calls[inner - 1].entry;
                    if (described.names->of(call).function.starts_with("std::")) {
                        continue;  // it may be described in any unit
                    }
                    entry = call;
                    break;
                }
                declared = units().unit_of_entry(described.names->of(entry).unit);
            }
            const bool is_whole = declared != nullptr && !declared->is_partial;
            if (is_whole) described.unit = unit = declared;
        }
        return &types_of(*unit, described);
    }

    // The meaning of a name in the function at an address. `function` is the name of the function
    // in a frame. "" if the meaning is not certain.
    text meaning_at(std::uint64_t linked_address, const text& function, const text& name,
                    asked_name wanted, arena& memory) {
        const described_function found = function_at(linked_address);
        if (found.range == nullptr) return no_text();
        const std::size_t inlined = inlined_as(found, linked_address, function);
        const std::uint64_t entry =
            inlined != 0 ? (*found.calls)[inlined - 1].entry : found.range->value;
        return entry_types{memory, *found.units, *found.names}.of_name(entry, name, wanted);
    }

    // What is made at the first of these places that tells it, in the function of a frame of this
    // address: the only type that a constructor or function named `own` makes which is called or
    // inlined there. If `own` is "", the classes of all constructors there: "app::part, app::lid".
    // "" if no place tells it.
    text made_at(std::uint64_t linked_address, const text& function, const text& file,
                 const source_places& places, const text& own, arena& memory) {
        const described_function found = function_at(linked_address);
        if (found.range == nullptr) return no_text();
        const inlined_calls& calls = *found.calls;
        const std::size_t around = inlined_as(found, linked_address, function);
        const line_table& lines = lines_of(*found.unit);
        entry_types types{memory, *found.units, *found.names};
        struct made_type {
            std::size_t at;
            text type;
        };
        list<made_type> made{memory};
        const auto add = [&](std::size_t at, std::uint64_t entry) {
            const made_type found_type{at, types.made_by(entry, own)};
            bool is_new = !found_type.type.empty();
            for (const made_type& each : made) {
                is_new = is_new && (each.at != at || each.type != found_type.type);
            }
            if (is_new) made.push_back(found_type);
        };
        for (std::size_t i = 0; i < calls.size(); ++i) {
            const inlined_call& call = calls[i];
            if (call.parent != around) continue;
            const std::size_t at = places.find(call.call_line, call.call_column);
            if (at == places.count() || lines.path_of(call.call_file, texts()) != file) continue;
            add(at, call.entry);
        }
        const nearby_lines nearby = lines_in(found, linked_address);
        nearby_lines::code_piece piece = nearby.next_piece(nullptr, file, places);
        for (; piece.row != nullptr; piece = nearby.next_piece(piece.row, file, places)) {
            const auto visit = [&](std::uint64_t behind, std::uint64_t entry) {
                if (calls.innermost_at(behind - 1) == around) add(piece.place, entry);
            };
            each_call(functions(), piece.begin, piece.end, visit);
        }
        for (std::size_t at = 0; at < places.count(); ++at) {
            text_out all{memory};
            std::size_t count = 0;
            for (const made_type& each : made) {
                if (each.at == at) all << (count++ == 0 ? "" : ", ") << each.type;
            }
            if (count == 1 || (own.empty() && count != 0)) return all.view();
        }
        return no_text();
    }

    // The lines near the call in a frame that resolve() made for this address; `outer` frames of it
    // are further out. Rare code is moved away: what was inlined there counts where it begins.
    lines_near_call lines_near(std::uint64_t linked_address, const code_frame& frame,
                               std::size_t outer) {
        const described_function found = function_at(linked_address);
        if (found.range == nullptr) return {};
        const inlined_calls& calls = *found.calls;
        std::size_t call = calls.innermost_at(linked_address);
        std::size_t count = 0;
        for (std::size_t i = call; i != 0; i = calls[i - 1].parent) ++count;
        std::size_t inner = 0;
        for (; count > outer; --count) {
            inner = call;
            call = calls[call - 1].parent;
        }
        const lines_near_call here = lines_in(found, linked_address).around(call, frame);
        if (inner == 0 || frame.is_nearby) return here;
        const std::uint64_t begin = calls.begin_of(inner, found.range->low);
        return lines_in(found, begin).or_else(here, call, frame);
    }

    // Whether the function around a call has, for a place in the source, code that calls the same.
    bool has_call_at(std::uint64_t linked_address, const text& file, int line, int column) {
        const described_function found = function_at(linked_address);
        if (found.range == nullptr) return true;
        const machine_code& code = functions().code();
        const line_and_column place{static_cast<std::uint32_t>(line),
                                    static_cast<std::uint32_t>(column)};
        const source_places places{&place, 1};
        const nearby_lines nearby = lines_in(found, linked_address);
        nearby_lines::code_piece piece = nearby.next_piece(nullptr, file, places);
        while (piece.row != nullptr &&
               !code.calls_the_same(piece.begin, piece.end, linked_address + 1)) {
            piece = nearby.next_piece(piece.row, file, places);
        }
        return piece.row != nullptr;
    }

    // If the call before a return address means another function than the one at `callee`, sets
    // `frame` to the meant function, at the place of its declaration, and returns true. The frame
    // gets is_nearby if the declaration is in another unit.
    bool find_folded(std::uint64_t return_address, std::uint64_t callee, code_frame& frame) {
        if (!is_readable()) return false;
        const std::uint64_t entry = folded_meaning(functions(), return_address, callee);
        if (entry == 0) return false;
        const entry_name name = names().of(entry);
        frame.function = name.function;
        frame.linkage_name = name.linkage;
        frame.built_ns = changed_ns();
        const debug_unit* unit = name.line != 0 ? units().unit_of_entry(name.unit) : nullptr;
        frame.is_nearby = true;
        if (unit == nullptr) return true;
        const entry_name kept = names().of(functions().entry_at(callee));
        frame.is_nearby = kept.line == 0 || units().unit_of_entry(kept.unit) != unit;
        set_place(frame, lines_of(*unit), name.file, name.line, 0);
        return true;
    }

    // The demangled name of the function, or of the variable, vtable or typeinfo, that holds the
    // address, from the symbol table alone; "" none.
    text symbol_at(symbol_kind kind, std::uint64_t linked_address, arena& memory) {
        if (!is_readable()) return no_text();
        const found_symbol found = kind == symbol_kind::function
                                       ? symbols().function_at(linked_address)
                                       : symbols().object_at(linked_address);
        return copy_of(memory, name_of(found.name).readable);
    }

private:
    static constexpr std::size_t most_inlined = 256;
    static constexpr std::uint64_t no_file = ~std::uint64_t{0};  // a number that no file has

    described_function function_at(std::uint64_t linked_address) {
        debug_unit* const unit = is_readable() ? units().unit_at(linked_address) : nullptr;
        return unit != nullptr ? function_in(*unit, linked_address) : described_function{};
    }
    // The lines of the code around an address in the function.
    nearby_lines lines_in(const described_function& function, std::uint64_t linked_address) {
        return {lines_of(*function.unit), texts(), *function.calls, *function.range,
                linked_address};
    }

    // The number + 1 of the call inlined at an address that has this name; 0: the function itself.
    static std::size_t inlined_as(const described_function& found, std::uint64_t address,
                                  const text& function) {
        const inlined_calls& calls = *found.calls;
        std::size_t i = calls.innermost_at(address);
        while (i != 0 && found.names->of(calls[i - 1].entry).function.data() != function.data()) {
            i = calls[i - 1].parent;
        }
        return i;
    }

    static void add_frame(code_location& location, const code_frame& frame) {
        if (location.frames.empty()) location.frames.reserve(1);
        location.frames.push_back(frame);
    }

    void set_place(code_frame& frame, const line_table& lines, std::uint64_t file,
                   std::uint64_t line, std::uint64_t column) {
        frame.file = lines.path_of(file, texts());
        frame.line = as_line(line);
        frame.column = as_line(column);
    }

    void add_frames(std::uint64_t address, code_location& location, const symbol_name& symbol) {
        debug_unit* unit = units().unit_at(address);
        if (unit == nullptr) return;
        const line_table& lines = lines_of(*unit);
        const described_function function = function_in(*unit, address);
        code_frame frame;
        if (function.range == nullptr) {
            const line_table::row* const row = lines.find(address);
            if (row == nullptr) return;
            set_place(frame, lines, row->file, row->line, row->column);
            // If a .dwo file has the inlined calls, and it is missing, a line of the library would
            // be taken for a line of the function that the symbol names. In other units, the line
            // is the function's: clang -g1 leaves out functions without inlined calls.
            if (*unit->split_name != '\0' && is_standard_header(frame.file)) {
                if (symbol.linkage.empty()) return;
                set_place(frame, lines, no_file, 0, 0);
                frame.is_line_withheld = true;
            }
            name_outermost(frame, entry_name{}, symbol);
            frame.may_be_implicit = is_special_member(symbol.linkage);
            return add_frame(location, frame);
        }
        const inlined_calls& calls = *function.calls;
        const nearby_lines nearby = lines_in(function, address);
        const line_table::row* const row = nearby.row();
        if (row != nullptr) set_place(frame, lines, row->file, row->line, row->column);
        const frame_source source{*function.names, lines, nearby};
        const entry_name name = function.names->of(function.range->value);
        std::size_t innermost = calls.innermost_at(address);
        find_statement(frame, source, calls, function.range->value, innermost);
        add_inlined(calls, innermost, source, location, frame);
        find_line(frame, source, 0, name);
        set_kind(frame, name);
        name_outermost(frame, name, symbol);
        add_frame(location, frame);
    }

    // The data from which the frames of one function are made.
    struct frame_source {
        entry_names& names;
        const line_table& lines;
        const nearby_lines& nearby;
    };

    // On entry, `frame` has the place of the address, in the innermost call. On return, it has the
    // place of the outermost inlined call, in the function itself.
    void add_inlined(const inlined_calls& calls, std::size_t innermost, const frame_source& source,
                     code_location& location, code_frame& frame) {
        std::size_t count = 0;
        for (std::size_t i = innermost; i != 0; i = calls[i - 1].parent) ++count;
        std::size_t left_out = count < most_inlined ? 0 : count - most_inlined;
        location.frames.reserve(count - left_out + 1);
        for (std::size_t i = innermost; i != 0; i = calls[i - 1].parent) {
            const inlined_call& call = calls[i - 1];
            const entry_name name = source.names.of(call.entry);
            frame.function = name.function;
            frame.linkage_name = name.linkage;
            frame.is_inlined = true;
            find_line(frame, source, i, name);
            set_kind(frame, name);
            if (left_out == 0) {
                location.frames.push_back(frame);
            } else {
                --left_out;
            }
            frame.is_inlined = frame.is_nearby = false;
            set_place(frame, source.lines, call.call_file, call.call_line, call.call_column);
        }
    }

    // With -std=c++20 g++ forgets the inlined calls around some calls of operator new. What they
    // return to still belongs to the library's code of the same statement; the code before them may
    // be that of another block. `innermost` becomes the part of a container that has asked for
    // elements, if nothing it calls has begun, or else the function around the statement.
    void find_statement(code_frame& frame, const frame_source& source, const inlined_calls& calls,
                        std::uint64_t function, std::size_t& innermost) {
        if (!is_standard_header(frame.file)) return;
        if (innermost != 0) {
            const inlined_call& around = calls[innermost - 1];
            if (is_standard_header(source.lines.path_of(around.call_file, texts()))) return;
            function = around.entry;
        }
        const entry_name name = source.names.of(function);
        const bool is_users = !users_file_of(name, source).empty();
        const bool is_allocator = name.function.contains("new_allocator<");
        const bool may_forget =
            is_users || (frame.file.ends_with("/new_allocator.h") && !is_allocator);
        if (!may_forget) return;
        const nearby_lines& nearby = source.nearby;
        std::size_t part = 0;
        const std::size_t behind = nearby.call_behind(innermost, part);
        if (behind != 0 && !nearby.begins_behind(behind) &&
            source.names.of(calls[behind - 1].entry).function.contains("::_M_create_nodes")) {
            part = behind;  // a loop: the call is between its beginning and its end
        }
        const std::size_t number = is_users ? nearby.library_call_around(behind, innermost)
                                            : nearby.call_of_inlined_user(behind, innermost);
        if (is_users && number == 0) return;
        const std::size_t user = number != 0 ? calls[number - 1].parent : innermost;
        std::size_t inner = 0;  // what the part calls
        for (; part != 0 && part != user; part = calls[part - 1].parent) {
            if (asks_for_elements(source.names.of(calls[part - 1].entry).function)) break;
            inner = part;
        }
        const bool is_inside = part != 0 && part != user;
        const bool is_whole = part == user && inner != 0 && number == 0;
        const bool is_part = is_inside || (is_whole && asks_for_elements(name.function));
        if (is_part && (inner == 0 || nearby.begins_behind(inner))) {
            frame.is_nearby = true;
            innermost = part;
            return;
        }
        if (number == 0) return;
        const bool is_entered_later = user != innermost && nearby.begins_behind(user);
        if (is_entered_later) return;
        innermost = user;
        const inlined_call& call = calls[number - 1];
        set_place(frame, source.lines, call.call_file, call.call_line, 0);
        frame.is_nearby = true;
    }

    // Whether a function is a part of a container that asks for elements.
    static bool asks_for_elements(const text& function) {
        for (const char* part : parts_that_ask_for_elements) {
            if (function.contains(part)) return true;
        }
        return false;
    }

    // Finds the line of a frame that has none from the code around it: the line of the code before,
    // or that of its function. `call` is the number + 1 of the frame's inlined call, or 0 for the
    // function itself.
    void find_line(code_frame& frame, const frame_source& source, std::size_t call,
                   const entry_name& name) {
        const nearby_lines& nearby = source.nearby;
        if (is_standard_header(frame.file)) {
            // g++ forgets inlined calls if it merged the called function with another one. Then the
            // line is the library's, and not one of the function in the frame.
            const text own = users_file_of(name, source);
            if (own.empty()) return;
            const std::uint64_t before = nearby.before(call, 0, own, name.line);
            frame.file = own;
            frame.line = as_line(before != 0 ? before : name.line);
            frame.column = 0;
            frame.is_nearby = true;
            return;
        }
        const auto line = static_cast<std::uint64_t>(frame.line);
        if (frame.line != 0) return;
        const std::uint64_t before = nearby.before(call, line, frame.file);
        frame.column = 0;
        frame.is_nearby = true;
        if (before != 0) {
            frame.line = as_line(before);
            return;
        }
        if (name.line == 0) return;
        frame.file = file_of(name, source);
        frame.line = as_line(name.line);
    }

    // A member's initialiser has a line of its own in the constructor that the compiler made, with
    // clang++. g++ does not say where such a constructor is declared.
    static void set_kind(code_frame& frame, const entry_name& name) {
        frame.may_be_implicit = name.may_be_implicit;
        frame.is_implicit =
            name.is_implicit && (name.line == 0 || frame.line == as_line(name.line));
    }

    // The file in which a function is declared.
    text file_of(const entry_name& name, const frame_source& source) {
        if (name.line == 0) return no_text();
        // A split unit has no lines of its own.
        const debug_unit* unit =
            &source.names == &names() ? units().unit_of_entry(name.unit) : nullptr;
        const line_table& lines = unit != nullptr ? lines_of(*unit) : source.lines;
        return lines.path_of(name.file, texts());
    }

    // The same; "" for a function of the standard library.
    text users_file_of(const entry_name& name, const frame_source& source) {
        const text file = file_of(name, source);
        return is_standard_header(file) ? text{} : file;
    }

    // The symbol table's name is preferred, because it is always complete. The debug information
    // names the function if there is no symbol, if the symbol is a part that the compiler split
    // off ("load.cold") or another function merged into the same code, or if it was not demangled.
    void name_outermost(code_frame& frame, const entry_name& name, const symbol_name& symbol) {
        const bool has_own = !name.linkage.empty() && name.function != name.linkage;
        const bool is_unreadable = symbol.readable.starts_with("_Z") && !name.function.empty();
        if (symbol.linkage.empty() || (has_own && name.function != symbol.readable) ||
            is_unreadable || is_part_of(symbol.linkage, name.function)) {
            frame.function = name.function;
            frame.linkage_name = name.linkage;
        } else {
            frame.function = symbol.readable;
            frame.linkage_name = symbol.linkage;
        }
    }

    // "load.cold" is a part of "load".
    static ALLOCSCOPE_INLINE bool is_part_of(const text& symbol, const text& whole) {
        return !whole.empty() && symbol.size() > whole.size() && symbol[whole.size()] == '.' &&
               symbol.starts_with(whole);
    }
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_DEBUG_OBJECT_HPP
