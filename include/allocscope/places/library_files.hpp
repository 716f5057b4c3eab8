// library_files.hpp - which source files are other people's code, judged by their folders.
//
// Room:     places (floor 9), not malloc-safe
// Called:   by module_rule.hpp, known_frames.hpp and naming/stack_namer.hpp; by verdict/ for the
//           callers that a message shows
// Threads:  any
// Memory:   of the given arena, only while the function runs
//
// Everything below the program's own folder is the user's, except folders that hold copies of other
// people's code. Outside it, folders in which headers are installed belong to libraries, too.
//
//     own folder "/home/me/shop/"
//     /home/me/shop/src/cart.cpp               the user's
//     /home/me/shop/third_party/json.hpp       a library's
//     /usr/include/boost/any.hpp               a library's
//     /home/me/tools/log.hpp                   the user's: nothing says that it is not

#ifndef ALLOCSCOPE_PLACES_LIBRARY_FILES_HPP
#define ALLOCSCOPE_PLACES_LIBRARY_FILES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/places/shorten_paths.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/spelling/name_brackets.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Where packages put headers and libraries.
ALLOCSCOPE_PURE inline bool is_installed(const text& path) noexcept {
    constexpr text folders =
        "/usr/include/ /usr/lib/ /usr/lib32/ /usr/lib64/ /usr/libx32/ /usr/local/include/ "
        "/usr/share/ /lib/ /lib32/ /lib64/ /nix/store/ /gnu/store/ /snap/ /home/linuxbrew/";
    if (!listed_start(path, folders).empty()) return true;
    return path.starts_with("/opt/") && path.contains("/include/");
}

// A folder that holds other people's code, wherever it is.
inline bool is_library_folder(const text& name) noexcept {
    return is_listed(name,
                     "third_party third-party thirdparty ThirdParty 3rd_party 3rd-party 3rdparty "
                     "vendor Vendor vendored external External externals extern deps "
                     "dependencies Dependencies contrib submodules subprojects node_modules "
                     "site-packages _deps vcpkg vcpkg_installed .conan .conan2 .cache .local");
}

// `own_folder` ends with a slash; "" when it is not known.
inline bool is_library_file(arena& scratch, const text& file, const text& own_folder) {
    const borrowed_memory meanwhile{scratch};
    text path = tidy_path(scratch, file);
    if (!own_folder.empty() && path.starts_with(own_folder)) {
        path.remove_prefix(own_folder.size());
    } else if (is_installed(path)) {
        return true;
    }
    std::size_t slash = path.find('/');
    while (slash != text::npos) {
        if (is_library_folder(path.substr(0, slash))) return true;
        path.remove_prefix(slash + 1);
        slash = path.find('/');
    }
    return false;
}

// The folder of the program's own code: the folder of the file with main(), or the folder around it
// if the folder's name only says what kind of code it holds ("src"). A main() in a header belongs
// to a test framework and says nothing.
inline text own_folder_of(arena& memory, const text& file_of_main) {
    const text file = tidy_path(memory, file_of_main);
    const std::size_t dot = file.rfind('.');
    if (dot == text::npos || !listed_start(file.substr(dot), ".h .i").empty()) return no_text();
    const std::size_t slash = file.rfind('/');
    if (slash == text::npos || slash == 0) return no_text();
    const text folder = file.substr(0, slash);
    const std::size_t around = folder.rfind('/');
    const bool is_kind = around != text::npos && around > 0 &&
                         is_listed(folder.substr(around + 1),
                                   "src source sources app apps bin cmd main tool tools test tests "
                                   "example examples sample samples demo demos bench benchmarks");
    // "/usr/src" alone would contain too much.
    const bool is_deep = is_kind && folder.substr(1, around - 1).contains("/");
    return copy_of(memory, file.substr(0, (is_deep ? around : slash) + 1));
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_PLACES_LIBRARY_FILES_HPP
