// included_files.hpp - a source file and the headers of the project that it includes.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by new_in_macro.hpp and called_name.hpp
// Threads:  one cache belongs to one thread
// Memory:   of the given arena; the files are kept by the cache
//
// Only `#include "..."` is followed, from the folder of the file that includes, where compilers
// look first.

#ifndef ALLOCSCOPE_TYPES_INCLUDED_FILES_HPP
#define ALLOCSCOPE_TYPES_INCLUDED_FILES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/types/new_expressions.hpp>
#include <allocscope/types/source_cache.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

class included_files {
public:
    // `file` is the source of the frame.
    included_files(arena& memory, source_cache& sources, const code_frame& frame,
                   const source_outline& file)
        : memory_(memory), sources_(sources), built_ns_(frame.built_ns), files_(memory) {
        add(file, frame.file);
    }

    // The file itself comes first.
    ALLOCSCOPE_INLINE const list<const source_outline*>& all() const noexcept { return files_; }

private:
    static constexpr std::size_t most_files = 64;

    void add(const source_outline& file, text path) {
        files_.push_back(&file);
        for (text name : file.includes()) {
            text folder = path.substr(0, path.rfind('/') + 1);
            while (name.starts_with("../") && folder.size() > 1) {  // each file has only one path
                name.remove_prefix(3);
                folder.remove_suffix(1);
                folder = folder.substr(0, folder.rfind('/') + 1);
            }
            const text header = joined(memory_, folder, name);
            const source_outline* const other =
                files_.size() < most_files ? sources_.find(header, built_ns_) : nullptr;
            bool is_new = other != nullptr;
            for (const source_outline* each : files_) is_new = is_new && each != other;
            if (is_new) add(*other, header);
        }
    }

    arena& memory_;
    source_cache& sources_;
    const std::uint64_t built_ns_;
    list<const source_outline*> files_;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_INCLUDED_FILES_HPP
