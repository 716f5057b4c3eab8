// shorten_paths.hpp - removes the directory that all files share from their names.
//
// Room:     places (floor 9), not malloc-safe
// Called:   by naming/, once for each snapshot, with the files of its rows
// Threads:  any
// Memory:   of the given arena, where the shorter names stay
//
//     {"/home/me/p/src/a.cpp", "/home/me/p/test/b.cpp"}    -> {"src/a.cpp", "test/b.cpp"}
//     {"/home/me/p/src/a.cpp"}                             -> {"a.cpp"}
//     {"src/a.cpp", "/home/me/p/src/b.cpp"}                -> {"a.cpp", "b.cpp"}
//     {"/usr/include/x.h", "/home/me/a.cpp"}               -> as they are
//
// Absolute and relative paths are shortened separately. If two different files would get the same
// name, both paths stay whole. Absolute paths that share only the root keep it, because an editor
// would not find them without it.

#ifndef ALLOCSCOPE_PLACES_SHORTEN_PATHS_HPP
#define ALLOCSCOPE_PLACES_SHORTEN_PATHS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Turns "/a/b/../c/./d.cpp" into "/a/c/d.cpp". A relative path keeps the ".." at its beginning.
inline text tidy_path(arena& memory, const text& path) {
    const bool is_absolute = path.starts_with("/");
    list<text> parts{memory};
    std::size_t at = 0;
    while (at < path.size()) {
        std::size_t end = path.find('/', at);
        if (end == text::npos) end = path.size();
        const text part = path.substr(at, end - at);
        at = end + 1;
        if (part.empty() || part == ".") continue;
        if (part == ".." && !parts.empty() && parts.back() != "..") {
            parts.pop_back();
        } else if (part != ".." || !is_absolute) {
            parts.push_back(part);
        }
    }
    text_out tidy{memory};
    for (const text part : parts) {
        if (is_absolute || !tidy.empty()) tidy << '/';
        tidy << part;
    }
    return tidy.view();
}

// Length of the directory, with its slash, with which all paths of one kind begin.
inline std::size_t common_directory(const list<text>& paths, bool is_absolute) noexcept {
    text shared;
    bool is_first = true;
    for (const text path : paths) {
        if (path.empty() || path.starts_with("/") != is_absolute) continue;
        shared = shared_folder(is_first ? path : shared, path);
        is_first = false;
    }
    return shared.size() == 1 ? 0 : shared.size();  // "/" is not cut off
}

// Changes the paths in place; "" stays "", and equal files get equal names.
inline void shorten_paths(arena& memory, list<text>& paths) {
    for (text& path : paths) path = tidy_path(memory, path);
    const std::size_t cuts[] = {common_directory(paths, false), common_directory(paths, true)};
    table<text, text> meanings{memory};  // for each short name: the path, or "" if there are two
    const auto name_of = [&](const text& path) {
        return path.substr(cuts[path.starts_with("/") ? 1 : 0]);
    };
    for (const text path : paths) {
        if (path.empty()) continue;
        const text name = name_of(path);
        const auto meaning = meanings.insert(name);
        if (meaning.is_new) {
            meaning.value = path;
        } else if (meaning.value != path) {
            meaning.value = {};
        }
    }
    for (text& path : paths) {
        if (path.empty()) continue;
        const text name = name_of(path);
        if (!meanings.find(name)->empty()) path = name;
    }
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_PLACES_SHORTEN_PATHS_HPP
