// debug_object.hpp - everything that one program or library file says about its addresses.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/symbolizer.hpp; by tests with the bytes of a file
// Threads:  one
// Memory:   what was read of the file, until release()
//
// Addresses are as linked: run-time address minus the module's base. The debug sections are read
// when the first address is resolved; whatever cannot be read only makes the answer poorer.
//
//     debug_object object{"/usr/bin/example"};
//     code_location location;
//     object.resolve(0x1139, location);       // fills symbol and frames

#ifndef ALLOCSCOPE_SYMBOLS_DEBUG_OBJECT_HPP
#define ALLOCSCOPE_SYMBOLS_DEBUG_OBJECT_HPP

#include <allocscope/binary/build_id.hpp>
#include <allocscope/config.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/symbols/debug_units.hpp>
#include <allocscope/symbols/demangle.hpp>
#include <allocscope/symbols/entry_names.hpp>
#include <allocscope/symbols/inline_lookup.hpp>
#include <allocscope/symbols/line_lookup.hpp>
#include <allocscope/symbols/object_bytes.hpp>
#include <allocscope/symbols/symbol_lookup.hpp>

#include <climits>        // INT_MAX
#include <cstddef>        // size_t
#include <cstdint>        // uint64_t
#include <cstring>        // strcspn
#include <memory>         // unique_ptr
#include <string>         // string
#include <unordered_map>  // unordered_map
#include <utility>        // move

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

class debug_object {
public:
    explicit debug_object(std::string path) : bytes_(std::move(path)) {}
    // `expected`: the build id of the running module. A file with another one tells nothing.
    debug_object(std::string path, const detail::build_id& expected) : bytes_(std::move(path)) {
        is_trusted_ = !detail::build_ids_disagree(bytes_.id(), expected);
    }
    // The bytes must stay.
    explicit debug_object(detail::byte_view file) : bytes_(file) {}

    bool is_readable() const { return is_trusted_ && bytes_.is_readable(); }

    // Adds symbol and frames to `location`.
    void resolve(std::uint64_t linked_address, code_location& location) {
        if (!is_readable()) return;
        load();
        const found_symbol symbol = symbols_->function_at(linked_address);
        const std::string name = without_version(symbol.name);
        if (!name.empty()) {
            location.symbol = demangled(name.c_str());
            location.symbol_offset = symbol.offset;
        }
        add_frames(linked_address, location, name);
        if (location.frames.empty() && !name.empty()) {
            location.frames.emplace_back();
            location.frames.back().function = location.symbol;
            location.frames.back().linkage_name = name;
        }
    }

    // The demangled name of the variable, vtable or typeinfo that holds the address; "" none.
    std::string data_symbol_at(std::uint64_t linked_address) {
        if (!is_readable()) return std::string{};
        load_symbols();
        return demangled(without_version(symbols_->object_at(linked_address).name).c_str());
    }

    // The demangled function that holds the address, from the symbol table alone; "" none.
    std::string function_symbol_at(std::uint64_t linked_address) {
        if (!is_readable()) return std::string{};
        load_symbols();
        return demangled(without_version(symbols_->function_at(linked_address).name).c_str());
    }

    // Gives the memory back; the next question reads the file again.
    void release() {
        lines_.clear();
        names_.reset();
        units_.reset();
        symbols_.reset();
    }

    std::size_t bytes_in_memory() const {
        return (units_ == nullptr ? 0 : units_->bytes()) +
               (symbols_ == nullptr ? 0 : symbols_->bytes());
    }

private:
    void load_symbols() {
        if (symbols_ != nullptr) return;
        symbols_ = std::make_unique<symbol_index>();
        symbols_->build(bytes_);
    }

    void load() {
        load_symbols();
        if (units_ != nullptr) return;
        units_ = std::make_unique<debug_units>();
        units_->build(bytes_);
        names_ = std::make_unique<entry_names>(*units_);
    }

    // One line program may serve several units.
    const line_table& lines_of(const debug_unit& unit) {
        const auto known = lines_.find(unit.lines);
        if (known != lines_.end()) return known->second;
        line_table table = unit.has_lines ? line_table{*units_, unit} : line_table{};
        return lines_.emplace(unit.lines, std::move(table)).first->second;
    }

    static int small(std::uint64_t number) {
        return number > INT_MAX ? 0 : static_cast<int>(number);
    }

    void add_frames(std::uint64_t address, code_location& location, const std::string& symbol) {
        const debug_unit* unit = units_->unit_at(address);
        if (unit == nullptr) return;
        const line_table& lines = lines_of(*unit);
        const line_table::row* row = lines.find(address);
        const inlined_chain chain = inline_search{*units_, *unit, address}.run();
        if (row == nullptr && chain.function == 0) return;
        // Split debug information: what was inlined is told by another file. The library's line
        // would be taken for one of the function that the symbol names.
        const bool is_all_there = chain.function != 0 || row == nullptr;
        if (!is_all_there && is_standard_header(lines.path_of(row->file))) return;
        code_frame frame;
        if (row != nullptr) {
            frame.file = lines.path_of(row->file);
            frame.line = small(row->line);
            frame.column = small(row->column);
        }
        for (auto call = chain.calls.rbegin(); call != chain.calls.rend(); ++call) {
            const entry_name& name = names_->of(call->entry);
            frame.function = name.function;
            frame.linkage_name = name.linkage;
            frame.is_inlined = true;
            location.frames.push_back(std::move(frame));
            frame = code_frame{};
            frame.file = lines.path_of(call->call_file);
            frame.line = small(call->call_line);
            frame.column = small(call->call_column);
        }
        name_outermost(frame, chain.function, location.symbol, symbol);
        location.frames.push_back(std::move(frame));
    }

    // The symbol table's name is preferred, since it is always there and always whole. But where it
    // names a part that the compiler split off ("load.cold"), or another function that was merged
    // into the same code, the debug information says which function the lines belong to. So it does
    // when a name is too long to be demangled.
    void name_outermost(code_frame& frame, std::uint64_t function, const std::string& readable,
                        const std::string& symbol) {
        entry_name name;
        if (function != 0) name = names_->of(function);
        const bool has_own = !name.linkage.empty() && name.function != name.linkage;
        const bool is_unreadable = readable.compare(0, 2, "_Z") == 0 && !name.function.empty();
        if (symbol.empty() || (has_own && name.function != readable) || is_unreadable ||
            is_part_of(symbol, name.function)) {
            frame.function = std::move(name.function);
            frame.linkage_name = std::move(name.linkage);
        } else {
            frame.function = readable;
            frame.linkage_name = symbol;
        }
    }

    // "load.cold" is a part of "load".
    static bool is_part_of(const std::string& symbol, const std::string& whole) {
        return !whole.empty() && symbol.size() > whole.size() && symbol[whole.size()] == '.' &&
               symbol.compare(0, whole.size(), whole) == 0;
    }

    // "read@@LIBRARY_2" is "read".
    static std::string without_version(const char* symbol) {
        return symbol == nullptr ? std::string{} : std::string(symbol, std::strcspn(symbol, "@"));
    }

    object_bytes bytes_;
    bool is_trusted_ = true;
    std::unique_ptr<symbol_index> symbols_;
    std::unique_ptr<debug_units> units_;
    std::unique_ptr<entry_names> names_;
    std::unordered_map<std::uint64_t, line_table> lines_;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_DEBUG_OBJECT_HPP
