// supplementary_file.hpp - the file to which dwz moved debug information that several files share.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/debug_units.hpp through rare_forms.hpp; by tools/missing_names.cpp
// Threads:  one
// Memory:   of the given arena
//
// `dwz -m` moves types, declarations and texts that several programs share to a supplementary file.
// Debian's packages of debug information are made with it. The programs then contain:
//
//     .gnu_debugaltlink    a path, and the build id of the file there
//     .debug_sup           DWARF 5: a version, whether this is such a file itself, path and id
//
// The path is relative to the folder of the file that contains it. If no file with that id is
// there, it is looked for by the id, as in debug_file.hpp. Another file is not believed.

#ifndef ALLOCSCOPE_SYMBOLS_SUPPLEMENTARY_FILE_HPP
#define ALLOCSCOPE_SYMBOLS_SUPPLEMENTARY_FILE_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/build_id.hpp>
#include <allocscope/binary/byte_cursor.hpp>
#include <allocscope/binary/dwarf_units.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/debug_file.hpp>
#include <allocscope/symbols/debug_units.hpp>
#include <allocscope/symbols/object_bytes.hpp>

#include <cstdint>  // uint64_t
#include <cstring>  // memcpy

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// What a file says about its supplementary file, or a supplementary file about itself.
struct supplement_note {
    text path;  // zero-terminated; "" in a supplementary file itself
    detail::build_id id;
    bool is_of_itself = false;
};

inline void read_id(detail::byte_view bytes, detail::build_id& id) {
    if (bytes.size == 0 || bytes.size > detail::build_id::longest) return;
    std::memcpy(id.bytes, bytes.data, bytes.size);
    id.size = bytes.size;
}

// The id is unknown if the object has no such note.
inline supplement_note supplement_noted_in(arena& memory, const object_bytes& object) {
    supplement_note note;
    const detail::byte_view linked = object.read(memory, object.find(".gnu_debugaltlink"));
    if (linked.size != 0) {
        note.path = detail::text_at(linked, 0);
        read_id(linked.from(note.path.size() + 1), note.id);
        return note;
    }
    detail::byte_cursor in{object.read(memory, object.find(".debug_sup"))};
    const std::uint16_t version = in.u16();
    note.is_of_itself = in.u8() != 0;
    note.path = in.text();
    const detail::byte_view id = in.block(in.uleb());
    if (in.ok() && version >= 2 && version <= 5) read_id(id, note.id);
    return note;
}

inline bool is_supplement(arena& memory, const object_bytes& file, const detail::build_id& id) {
    if (!file.is_readable() || !file.has(".debug_info")) return false;
    if (file.id().known()) return file.id().equals(id);
    const supplement_note own = supplement_noted_in(memory, file);
    return own.is_of_itself && own.id.equals(id);
}

// Returns null if `object` has no such note, or if the file is not there.
inline object_bytes* find_supplement(arena& memory, const object_bytes& object) {
    const supplement_note note = supplement_noted_in(memory, object);
    if (!note.id.known() || note.is_of_itself || note.path.empty()) return nullptr;
    const real_path home{object.path()};
    const paths_of_build_id known{memory, note.id};
    const bool is_whole = note.path.starts_with("/");
    const text noted = is_whole ? note.path : joined(memory, home.folder(), note.path);
    const text paths[] = {noted, known.paths[0], known.paths[1], known.paths[2]};
    for (const text path : paths) {
        if (!path.starts_with("/")) continue;
        auto* file = memory.make<object_bytes>(memory, path.data());
        if (is_supplement(memory, *file, note.id)) return file;
    }
    return nullptr;
}

inline debug_units* read_supplement(arena& memory, const object_bytes& object) {
    const object_bytes* file = find_supplement(memory, object);
    if (file == nullptr) return nullptr;
    return memory.make<debug_units>(memory, *file, detail::dwarf_in_supplement);
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_SUPPLEMENTARY_FILE_HPP
