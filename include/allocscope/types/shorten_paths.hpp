// shorten_paths.hpp - file names without the directory that they all share.
//
// Room:     types (floor 8), not malloc-safe
// Called:   once for each snapshot, with the files of its rows
// Threads:  any
// Memory:   one string for each file
//
//     {"/home/me/p/src/a.cpp", "/home/me/p/test/b.cpp"}    -> {"src/a.cpp", "test/b.cpp"}
//     {"/home/me/p/src/a.cpp"}                             -> {"a.cpp"}
//     {"src/a.cpp", "/home/me/p/src/b.cpp"}                -> {"a.cpp", "b.cpp"}
//
// Absolute and relative paths are shortened each among themselves. Two different files never get
// one name: where they would, both stay whole.

#ifndef ALLOCSCOPE_TYPES_SHORTEN_PATHS_HPP
#define ALLOCSCOPE_TYPES_SHORTEN_PATHS_HPP

#include <allocscope/config.hpp>

#include <cstddef>      // size_t
#include <map>          // map
#include <set>          // set
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// "/a/b/../c/./d.cpp" as "/a/c/d.cpp". A relative path keeps the ".." it begins with.
inline std::string tidy_path(std::string_view path) {
    const bool is_absolute = !path.empty() && path[0] == '/';
    std::vector<std::string_view> parts;
    std::size_t at = 0;
    while (at < path.size()) {
        std::size_t end = path.find('/', at);
        if (end == std::string_view::npos) end = path.size();
        const std::string_view part = path.substr(at, end - at);
        at = end + 1;
        if (part.empty() || part == ".") continue;
        if (part == ".." && !parts.empty() && parts.back() != "..") {
            parts.pop_back();
        } else if (part != ".." || !is_absolute) {
            parts.push_back(part);
        }
    }
    std::string tidy;
    for (const std::string_view part : parts) {
        if (is_absolute || !tidy.empty()) tidy += '/';
        tidy += part;
    }
    return tidy;
}

// Length of the directory, its slash included, that all of them begin with.
inline std::size_t common_directory(const std::set<std::string>& paths) {
    if (paths.empty()) return 0;
    const std::string& first = *paths.begin();
    const std::string& last = *paths.rbegin();  // sorted: these two differ earliest
    std::size_t same = 0;
    while (same < first.size() && same < last.size() && first[same] == last[same]) ++same;
    const std::size_t slash = first.substr(0, same).rfind('/');
    return slash == std::string::npos ? 0 : slash + 1;
}

// The names in the order of the input; "" stays "".
inline std::vector<std::string> shorten_paths(const std::vector<std::string>& files) {
    std::vector<std::string> whole;
    std::set<std::string> absolute;
    std::set<std::string> relative;
    for (const std::string& file : files) {
        whole.push_back(tidy_path(file));
        if (whole.back().empty()) continue;
        (whole.back()[0] == '/' ? absolute : relative).insert(whole.back());
    }
    const std::size_t absolute_cut = common_directory(absolute);
    const std::size_t relative_cut = common_directory(relative);
    const auto shortened = [&](const std::string& path) {
        if (path.empty()) return path;
        return path.substr(path[0] == '/' ? absolute_cut : relative_cut);
    };
    std::map<std::string, int> meanings;  // of a short name
    for (const std::set<std::string>* group : {&absolute, &relative}) {
        for (const std::string& path : *group) ++meanings.emplace(shortened(path), 0).first->second;
    }
    std::vector<std::string> names;
    for (const std::string& path : whole) {
        const std::string name = shortened(path);
        names.push_back(!path.empty() && meanings.find(name)->second > 1 ? path : name);
    }
    return names;
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_SHORTEN_PATHS_HPP
