// rare_forms.hpp - pointers to the readers for debug information that few programs have.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/debug_units.hpp, split_unit.hpp, object_bytes.hpp, module_symbols.hpp,
//           symbolizer.hpp and naming/stack_namer.hpp; set by rare_form_readers.hpp and tools/
// Threads:  set before main() begins, then read by any
// Memory:   none
//
// Every program with a window compiles only the check whether there is a reader. The readers come
// with the door debug_forms.hpp. The command-line program has more: two need a library, one must
// know with which modules the program began, and one finds the functions of stripped modules.

#ifndef ALLOCSCOPE_SYMBOLS_RARE_FORMS_HPP
#define ALLOCSCOPE_SYMBOLS_RARE_FORMS_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint8_t, uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {
struct dwarf_sections;
struct met_module;
}  // namespace detail

namespace symbolize {

class debug_package;
class debug_units;
class object_bytes;
class symbolizer;
struct code_location;

// Where a call or a jump leads.
struct code_target {
    std::uint64_t address = 0;  // linked; 0: not known
    bool is_word = false;       // a word is there, which has the address, as with -fno-plt
};

// What is behind a target that is not code of its module.
enum class link_end : std::uint8_t { unknown, function, sought };

// The files beside which a package file may be.
struct package_place {
    const object_bytes* program = nullptr;
    const object_bytes* debug = nullptr;  // the file with its debug information, or the same
    bool is_sought = false;
    debug_package* package = nullptr;  // null: not looked for yet, or there is none
};

// A function of a stripped module.
struct nameless_function {
    text name;                // where it begins, such as "git+0x2898a0"; "": that is not known
    bool hands_on = false;    // returns what the call returned, and does nothing else with it
    bool is_library = false;  // the user declared it to be library code
};

// A null member means that there is no reader.
struct rare_forms {
    // The units of the supplementary file that `object` shares with others, read into `memory`;
    // null if there is none that can be believed.
    debug_units* (*supplement_of)(arena& memory, const object_bytes& object);

    // The sections of the split unit with that number. False: no package file has it.
    bool (*packaged_unit)(arena& memory, package_place& place, std::uint64_t unit,
                          detail::dwarf_sections& into);

    // Decompresses a zstd frame of exactly `size` bytes. Returns false if it is damaged.
    bool (*unpack_zstd)(detail::byte_view compressed, void* out, std::size_t size);

    // The file in .gnu_debugdata, decompressed into `memory`; null if it is damaged. Its .symtab
    // has what .dynsym of the stripped file lacks.
    const object_bytes* (*unpack_symbols)(arena& memory, detail::byte_view compressed);

    // Follows the linker's stub, or the word, at a target in the module `home`, and changes both to
    // the function behind it. If that is the function of `sought`, or for null one that allocates,
    // it says so instead.
    link_end (*follow_link)(symbolizer& names, const code_location* sought,
                            const detail::met_module*& home, code_target& target);

    // What is known of the function around a call that no symbol names.
    nameless_function (*find_nameless)(symbolizer& names, const code_location& call,
                                       const detail::met_module* home);
};

ALLOCSCOPE_HIDDEN inline rare_forms readers_of_rare_forms{};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_RARE_FORMS_HPP
