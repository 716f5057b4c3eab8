// included_files.hpp - a source file and the headers of the project that it includes.
//
// Room:     source (floor 8), not malloc-safe
// Called:   by new_in_macro.hpp, implied_new.hpp, initialised_member.hpp, type_from_source.hpp and
//           called_name.hpp
// Threads:  one cache belongs to one thread
// Memory:   of the cache
//
//     #include "part.hpp"        in /home/me/project/src/core/pool.cpp: the first that exists of
//                                /home/me/project/src/core/part.hpp, .../core/include/part.hpp,
//                                .../core/src/part.hpp, /home/me/project/src/part.hpp, ...
//
// Debug information does not have the folders of -I. In most projects they are the folder of the
// project, or `include` or `src` in it.

#ifndef ALLOCSCOPE_SOURCE_INCLUDED_FILES_HPP
#define ALLOCSCOPE_SOURCE_INCLUDED_FILES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/source/class_bodies.hpp>
#include <allocscope/source/new_expressions.hpp>
#include <allocscope/source/source_cache.hpp>
#include <allocscope/symbols/code_location.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

using source_files = list<const source_outline*>;

// The folder around a folder; both end with a slash.
inline text outer_folder(text folder) noexcept {
    folder.remove_suffix(1);
    return folder.substr(0, folder.rfind('/') + 1);
}

// The header that a file of the folder includes by that name; null: it is not found.
inline const source_outline* find_included(source_cache& sources, text folder, text name,
                                           std::uint64_t built_ns) {
    while (name.starts_with("../") && folder.size() > 1) {  // each file has only one path
        name.remove_prefix(3);
        folder = outer_folder(folder);
    }
    constexpr int most_folders = 6;
    const char* const inside[] = {"", "include/", "src/"};
    for (int i = 0; i < most_folders && folder.size() > 1; ++i) {
        for (const char* inner : inside) {
            text_out path{sources.memory()};
            path << folder << inner << name;
            // Half is left for the files of frames.
            const source_outline* const found =
                sources.find(path.view(), built_ns, max_source_files / 2);
            if (found != nullptr) return found;
        }
        folder = outer_folder(folder);
    }
    return nullptr;
}

// `file` is the source of the frame, and comes first.
inline const source_files& included_files(source_cache& sources, const code_frame& frame,
                                          const source_outline& file) {
    constexpr std::size_t most_files = 64;
    // What is believed for an older module is believed for a newer one. 0, unknown, is the newest.
    if (file.included != nullptr && file.included_built_ns - 1 <= frame.built_ns - 1) {
        return *file.included;
    }
    auto* const files = sources.memory().make<source_files>(sources.memory());
    files->push_back(&file);
    for (std::size_t i = 0; i < files->size(); ++i) {
        const source_outline& from = *(*files)[i];
        const text folder = from.path.substr(0, from.path.rfind('/') + 1);
        for (const text& name : from.includes()) {
            const source_outline* const other =
                files->size() < most_files ? find_included(sources, folder, name, frame.built_ns)
                                           : nullptr;
            bool is_new = other != nullptr;
            for (const source_outline* each : *files) is_new = is_new && each != other;
            if (is_new) files->push_back(other);
        }
    }
    file.included = files;
    file.included_built_ns = frame.built_ns;
    return *files;
}

// Whether one of those files says this about a name: one of the meanings of source_outline.
ALLOCSCOPE_PURE inline bool is_known_in(const source_files& files, const text& name,
                                        unsigned meaning) noexcept {
    for (const source_outline* each : files) {
        if (each->is_known_as(name, meaning)) return true;
    }
    return false;
}

// The brace of the only definition of a class in those files.
inline found_token class_in_files(const source_files& files, const text& name) {
    found_token only;
    for (const source_outline* each : files) {
        const std::size_t open = body_of_class(*each, name);
        if (open != 0 && only.at != 0) return {};
        if (open != 0) only = {each, open};
    }
    return only;
}

// The brace of the class `name`; `at` is in its constructor, in the source of the frame. A
// constructor outside of its class may have that in a header.
inline found_token class_of_constructor(source_cache& sources, const code_frame& frame,
                                        const source_outline& file, std::size_t at,
                                        const text& name) {
    std::size_t open = file.is_at(at, name) ? class_body(file, at) : 0;
    if (open == 0) open = body_of_class(file, name);
    if (open != 0) return {&file, open};
    return class_in_files(included_files(sources, frame, file), name);
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SOURCE_INCLUDED_FILES_HPP
