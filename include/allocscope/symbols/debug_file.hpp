// debug_file.hpp - finds the separate file with the debug information of a module.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/object_contents.hpp, when a file has no debug information of its own; by
//           package_file.hpp and supplementary_file.hpp
// Threads:  one
// Memory:   of the given arena
//
// Packages and build systems keep debug information in a separate file. It is looked for by the
// build id, and by the name in .gnu_debuglink:
//
//     /usr/lib/debug/.build-id/ab/cdef.debug          packages
//     ~/.cache/debuginfod_client/abcdef/debuginfo     fetched by a debugger before
//     NAME, .debug/NAME                               beside the module
//     /usr/lib/debug/FOLDER/NAME
//
// A file is believed if it has the build id of the module. For a module without build id, it must
// have the checksum in .gnu_debuglink.

#ifndef ALLOCSCOPE_SYMBOLS_DEBUG_FILE_HPP
#define ALLOCSCOPE_SYMBOLS_DEBUG_FILE_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/byte_cursor.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/platform/file_reader.hpp>
#include <allocscope/symbols/object_bytes.hpp>

#include <climits>  // PATH_MAX
#include <cstddef>  // size_t
#include <cstdint>  // uint8_t, uint32_t, uint64_t
#include <cstdlib>  // realpath, secure_getenv

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// The checksum of a whole file as in .gnu_debuglink (CRC-32); 0 if the file cannot be read.
inline std::uint32_t checksum_of_file(const char* path) noexcept {
    std::uint32_t table[256];
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) value = value >> 1U ^ ((value & 1U) * 0xedb88320U);
        table[i] = value;
    }
    const detail::file_reader file{path};
    std::uint8_t buffer[4096];
    std::uint32_t sum = ~std::uint32_t{0};
    std::uint64_t at = 0;
    for (;;) {
        const std::size_t got = file.read_at(at, buffer, sizeof buffer);
        if (got == 0) break;
        for (std::size_t i = 0; i < got; ++i) {
            sum = table[(sum ^ buffer[i]) & 255U] ^ sum >> 8U;
        }
        at += got;
    }
    return at == 0 ? 0 : ~sum;
}

// The possible paths of a file with that build id, the likeliest first; "": there is no such path.
struct paths_of_build_id {
    text paths[3];

    paths_of_build_id(arena& memory, const detail::build_id& id) {
        char digits[2 * detail::build_id::longest];
        for (std::size_t i = 0; i < 2 * id.size; ++i) {
            const unsigned byte = id.bytes[i / 2];
            digits[i] = "0123456789abcdef"[byte >> (i % 2 == 0 ? 4U : 0U) & 15U];
        }
        const text name{digits, 2 * id.size};
        if (name.empty()) return;
        const text folder = joined(memory, "/usr/lib/debug/.build-id/", name.substr(0, 2), "/");
        paths[0] = joined(memory, folder, name.substr(2), ".debug");
        const struct {
            const char* variable;
            const char* folder;
        } caches[] = {{"DEBUGINFOD_CACHE_PATH", "/"}, {"HOME", "/.cache/debuginfod_client/"}};
        for (int i = 0; i < 2; ++i) {
            const char* home = ::secure_getenv(caches[i].variable);
            if (home == nullptr || *home != '/') continue;
            paths[1 + i] = joined(memory, home, caches[i].folder, name, "/debuginfo");
        }
    }
};

// The path of a file after all links have been followed.
class real_path {
public:
    ALLOCSCOPE_INLINE explicit real_path(const char* path) {
        if (path == nullptr || ::realpath(path, path_) == nullptr) *path_ = '\0';
    }
    ALLOCSCOPE_INLINE text path() const noexcept { return path_; }  // "": it is unknown
    ALLOCSCOPE_INLINE text folder() const noexcept {
        return path().substr(0, path().rfind('/') + 1);
    }

private:
    char path_[PATH_MAX];
};

class debug_file_search {
public:
    // `path` is a path at which the module's own file can be opened.
    ALLOCSCOPE_INLINE debug_file_search(arena& memory, const object_bytes& object, const char* path)
        : memory_(memory), object_(object), home_(path) {
        read_link();
    }

    // Returns null if there is no file that can be believed.
    object_bytes* find() {
        const text folder = home_.folder();
        object_bytes* found = nullptr;
        const paths_of_build_id known{memory_, object_.id()};
        for (const text path : known.paths) {
            if (found == nullptr && !path.empty()) found = opened(path);
        }
        if (found != nullptr || link_.empty() || folder.empty()) return found;
        found = opened(joined(memory_, folder, link_));
        if (found == nullptr) found = opened(joined(memory_, folder, ".debug/", link_));
        if (found == nullptr) found = opened(joined(memory_, "/usr/lib/debug", folder, link_));
        return found;
    }

private:
    // The name ends with a zero byte; the checksum follows at a multiple of four.
    void read_link() {
        const detail::byte_view bytes = object_.read(memory_, object_.find(".gnu_debuglink"));
        if (bytes.size < 8 || bytes.size > PATH_MAX) return;
        const text name = detail::text_at(bytes, 0);
        if (name.empty() || name.contains("/")) return;
        detail::byte_cursor in{bytes, (name.size() + 4) & ~std::size_t{3}};
        checksum_ = in.u32();
        if (in.ok()) link_ = name;
    }

    object_bytes* opened(const text& path) {
        auto* made = memory_.make<object_bytes>(memory_, path.data());
        if (!made->is_readable() || !made->has(".debug_info")) return nullptr;
        const detail::build_id& id = object_.id();
        const bool is_right =
            id.known() ? made->id().equals(id) : checksum_of_file(path.data()) == checksum_;
        return is_right ? made : nullptr;
    }

    arena& memory_;
    const object_bytes& object_;
    real_path home_;
    text link_;
    std::uint32_t checksum_ = 0;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_DEBUG_FILE_HPP
