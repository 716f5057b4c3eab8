// object_contents.hpp - what was read of one program or library file, and of its debug information.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/debug_object.hpp
// Threads:  one
// Memory:   the parts of the file that were read, in an arena of its own until release()
//
// Each part is read when it is asked for first. If something cannot be read, it is as if it were
// not there. Addresses are linked addresses: the run-time address minus the module's base.

#ifndef ALLOCSCOPE_SYMBOLS_OBJECT_CONTENTS_HPP
#define ALLOCSCOPE_SYMBOLS_OBJECT_CONTENTS_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/build_id.hpp>
#include <allocscope/binary/elf_symbols.hpp>
#include <allocscope/binary/module_fingerprint.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/platform/file_reader.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/symbols/debug_file.hpp>
#include <allocscope/symbols/debug_units.hpp>
#include <allocscope/symbols/demangle.hpp>
#include <allocscope/symbols/entry_names.hpp>
#include <allocscope/symbols/function_exits.hpp>
#include <allocscope/symbols/inline_lookup.hpp>
#include <allocscope/symbols/kept_texts.hpp>
#include <allocscope/symbols/line_lookup.hpp>
#include <allocscope/symbols/module_functions.hpp>
#include <allocscope/symbols/module_symbols.hpp>
#include <allocscope/symbols/object_bytes.hpp>
#include <allocscope/symbols/rare_forms.hpp>
#include <allocscope/symbols/split_unit.hpp>
#include <allocscope/symbols/type_names.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// What is known about the module to which the file should belong. All members keep their defaults
// if there is no module.
struct expected_file {
    ALLOCSCOPE_NOINLINE expected_file() noexcept {}  // as in code_frame

    detail::build_id id;            // if there is one, the other members do not matter
    std::uint64_t inode = 0;        // 0: not known
    std::uint64_t fingerprint = 0;  // 0: there is none
    const char* loader_path = "";   // goes into the fingerprint; must stay valid
    bool is_known_by_id = false;    // the fingerprint was made from an id
};

class object_contents {
public:
    // If the file is not the expected one, it gives no answers. The path must stay valid.
    object_contents(kept_texts& texts, const char* path, const expected_file& expected = {})
        : texts_(texts), path_(path), expected_(expected) {}
    // The bytes must stay valid.
    object_contents(kept_texts& texts, detail::byte_view file) : texts_(texts), file_(file) {}
    object_contents(const object_contents&) = delete;
    object_contents& operator=(const object_contents&) = delete;

    bool is_readable() {
        open();
        return is_trusted_;
    }

    // The build id of the file; unknown if the file cannot be read.
    ALLOCSCOPE_INLINE detail::build_id build_id() {
        return is_readable() ? parts_->object->id() : detail::build_id{};
    }

    // Frees the memory; the next question reads the file again.
    void release() {
        parts_ = nullptr;
        memory_.release();
    }

    std::size_t bytes_in_memory() const { return memory_.mapped_bytes(); }

    // Null if the file cannot be read. Valid until release(), as all that follows.
    ALLOCSCOPE_INLINE const object_bytes* file() {
        return is_readable() ? parts_->object : nullptr;
    }

    // All that follows may be called only if is_readable() was true.

    struct described_function {
        const debug_unit* unit = nullptr;      // of its code
        const address_range* range = nullptr;  // with its entry; null: the function is not known
        const inlined_calls* calls = nullptr;
        debug_units* units = nullptr;
        entry_names* names = nullptr;
    };

    struct symbol_name {
        text readable;  // demangled
        text linkage;   // without a version
        bool is_kept = false;
    };

    const module_symbols& symbols() {
        if (parts_->symbols == nullptr) {
            parts_->symbols =
                memory_.make<module_symbols>(memory_, *parts_->object, *parts_->debug_bytes);
        }
        return *parts_->symbols;
    }

    debug_units& units() {
        if (parts_->units == nullptr) {
            auto* made = memory_.make<debug_units>(memory_, *parts_->debug_bytes);
            parts_->package = {parts_->object, parts_->debug_bytes};
            parts_->names = memory_.make<entry_names>(*made, texts_);
            parts_->units = made;
        }
        return *parts_->units;
    }

    entry_names& names() {
        units();
        return *parts_->names;
    }

    module_functions& functions() {
        if (parts_->functions == nullptr) {
            parts_->functions = memory_.make<module_functions>(
                units(), names(), *parts_->object, this, [](void* contents, debug_unit& unit) {
                    return static_cast<object_contents*>(contents)->describe(unit);
                });
        }
        return *parts_->functions;
    }

    function_exits& exits() {
        if (parts_->exits == nullptr) parts_->exits = memory_.make<function_exits>(functions());
        return *parts_->exits;
    }

    // Whether code of other modules may reach the function that begins at an address by its name.
    bool is_exported(std::uint64_t begin) {
        const detail::elf_section* section = parts_->object->find(".dynsym");
        if (section == nullptr) return false;
        arena scratch;
        detail::byte_cursor in{parts_->object->read(scratch, section)};
        detail::elf_symbol symbol;
        while (detail::next_elf_symbol(in, symbol)) {
            if (symbol.address == begin) return true;
        }
        return false;
    }

    // One line program may serve several units.
    const line_table& lines_of(const debug_unit& unit) {
        const std::uint64_t program = unit.has_lines ? unit.lines | unit.header.file : no_lines;
        line_table*& known = parts_->lines[program];
        if (known == nullptr) {
            known = unit.has_lines ? memory_.make<line_table>(*unit.home, unit)
                                   : memory_.make<line_table>();
        }
        return *known;
    }

    described_unit describe(debug_unit& unit) {
        if (*unit.split_name == '\0')
            return {parts_->units, parts_->names, &parts_->inlined, &unit};
        split_unit*& known = parts_->splits[unit.header.first_entry];
        if (known == nullptr) {
            known =
                memory_.make<split_unit>(memory_, texts_, *parts_->units, unit, parts_->package);
        }
        return known->describe();
    }

    // The function of the unit that holds the address, as the debug information has it.
    described_function function_in(debug_unit& unit, std::uint64_t address) {
        const described_unit described = describe(unit);
        if (described.unit == nullptr) return {};
        const address_range* range = described.unit->functions.find(address);
        if (range == nullptr) return {};
        return {&unit, range, &described.inlined_in(memory_, range->value, texts_.scratch()),
                described.units, described.names};
    }

    // The types and namespaces that a unit describes, or the one that was split off from it.
    const type_names& types_of(const debug_unit& unit, const described_unit& described) {
        type_names*& known = parts_->types[unit.header.first_entry];
        if (known == nullptr) known = memory_.make<type_names>(*described.unit);
        return *known;
    }

    // "read@@LIBRARY_2" becomes "read"; null has no name. Valid until the next call, but the texts
    // until release().
    symbol_name& name_of(const char* symbol) {
        symbol_name& name = parts_->symbol_names[symbol];
        if (symbol != nullptr && name.linkage.empty()) {
            name.linkage = copy_of(memory_, part_before(symbol, '@'));
            name.readable = demangled(memory_, name.linkage.data());
        }
        return name;
    }

    // The same with texts that stay valid.
    const symbol_name& kept_name_of(const char* symbol) {
        symbol_name& name = name_of(symbol);
        if (!name.is_kept) {
            name.readable = texts_.keep(name.readable);
            name.linkage = texts_.keep(name.linkage);
            name.is_kept = true;
        }
        return name;
    }

    ALLOCSCOPE_INLINE std::uint64_t changed_ns() const { return identity_.changed_ns; }
    ALLOCSCOPE_INLINE kept_texts& texts() { return texts_; }
    ALLOCSCOPE_INLINE arena& memory() { return memory_; }

private:
    // What was read of the file. It lies in memory_.
    struct parts {
        parts(arena& memory, object_bytes& whole)
            : object(&whole),
              debug_bytes(&whole),
              symbol_names(memory),
              lines(memory),
              inlined(memory),
              splits(memory),
              types(memory) {}

        object_bytes* object;
        object_bytes* debug_bytes;  // the file with the debug information: `object` or another
        // Null until they are needed.
        module_symbols* symbols = nullptr;
        debug_units* units = nullptr;
        entry_names* names = nullptr;
        module_functions* functions = nullptr;
        function_exits* exits = nullptr;
        table<const void*, symbol_name> symbol_names;  // by the address of the name
        table<std::uint64_t, line_table*> lines;       // by the offset of the line program
        table<std::uint64_t, inlined_calls*> inlined;  // by the function's entry
        table<std::uint64_t, split_unit*> splits;      // by the unit's first entry
        table<std::uint64_t, type_names*> types;       // by the unit's first entry
        package_place package;
    };

    static constexpr std::uint64_t no_lines = ~std::uint64_t{0};

    // A file that was replaced between two readings is not believed either.
    void open() {
        if (parts_ != nullptr) return;
        object_bytes& object = *memory_.make<object_bytes>(memory_, path_, file_);
        parts_ = memory_.make<parts>(memory_, object);
        if (!was_open_) identity_ = object.identity();
        was_open_ = object.is_readable();
        is_trusted_ = object.is_readable() && object.identity().equals(identity_) && is_expected();
        const bool is_whole = object.has(".debug_info") || path_ == nullptr;
        if (is_whole || !is_trusted_ || is_system_library(expected_.loader_path)) return;
        object_bytes* separate = debug_file_search{memory_, object, path_}.find();
        if (separate != nullptr) parts_->debug_bytes = separate;
    }

    // If the module has an id, a file without id does not belong to it.
    bool is_expected() const {
        const detail::build_id& id = parts_->object->id();
        if (expected_.id.known()) return id.equals(expected_.id);
        if (expected_.is_known_by_id) {
            return id.known() && detail::fingerprint_of(id) == expected_.fingerprint;
        }
        if (expected_.inode != 0 && expected_.inode != identity_.inode) return false;
        if (expected_.fingerprint == 0) return true;
        char page[detail::fingerprinted_bytes] = {};
        const detail::file_reader file{path_};
        if (!file.identity().equals(identity_)) return false;
        file.read_at(0, page, sizeof page);
        return detail::fingerprint_of(page, expected_.loader_path) == expected_.fingerprint;
    }

    kept_texts& texts_;
    const char* path_ = nullptr;  // null: file_ is the file
    detail::byte_view file_;
    expected_file expected_;
    detail::file_identity identity_;  // of the file when it was first opened
    bool was_open_ = false;
    bool is_trusted_ = false;
    arena memory_;
    parts* parts_ = nullptr;  // null: nothing was read, or it was released
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_OBJECT_CONTENTS_HPP
