// source_cache.hpp - reads and parses each source file once for a report.
//
// Room:     source (floor 8), not malloc-safe
// Called:   by everything in source/, types/ and places/ that looks at files; naming/ keeps one
//           cache and releases it when a report is made
// Threads:  one cache belongs to one thread
// Memory:   an arena of its own: per file up to ten times its size; at most 256 files of 2 MiB
//
// Only regular files are read, so reading never blocks. A missing file is looked up only once. A
// file that was written after the module was built may not be what was compiled, so it is not
// believed.
//
//     source_cache sources;
//     const source_outline* file = sources.find("/home/me/project/main.cpp");   // null: not there
//
// A program that was built elsewhere, or with -ffile-prefix-map, names files that do not exist
// here. The environment variable ALLOCSCOPE_SOURCES says where they are: FROM=TO; several pairs are
// separated by colons.
//
//     ALLOCSCOPE_SOURCES=/build=/home/me/project       /build/src/main.cpp is read as
//                                                      /home/me/project/src/main.cpp

#ifndef ALLOCSCOPE_SOURCE_SOURCE_CACHE_HPP
#define ALLOCSCOPE_SOURCE_SOURCE_CACHE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/platform/file_reader.hpp>
#include <allocscope/source/new_expressions.hpp>
#include <allocscope/symbols/code_location.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <cstdlib>  // secure_getenv

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

constexpr std::size_t max_source_files = 1024;

// Where a file of the debug information is, according to `folders`, the value of
// ALLOCSCOPE_SOURCES: the first FROM counts that equals `path` up to one of its slashes. If none
// does, `path` itself.
inline text moved_source(arena& memory, const text& path, text folders) {
    while (!folders.empty()) {
        const std::size_t end = folders.find(':');
        const text one = folders.substr(0, end);
        folders = end == text::npos ? text{} : folders.substr(end + 1);
        const std::size_t equals = one.find('=');
        if (equals == text::npos || !path.starts_with(one.substr(0, equals))) continue;
        const text rest = path.substr(equals);
        const bool is_folder = equals == 0 || one[equals - 1] == '/' || rest.starts_with("/");
        if (is_folder) return joined(memory, one.substr(equals + 1), rest);
    }
    return path;
}

// A token of a source file; 0: there is none.
struct found_token {
    const source_outline* file = nullptr;
    std::size_t at = 0;
};

class source_cache {
public:
    source_cache() noexcept : files_(memory_), implied_(memory_) {}
    source_cache(const source_cache&) = delete;
    source_cache& operator=(const source_cache&) = delete;

    // Null if the file cannot be read, is not a regular file, has 2 MiB or more, or was changed
    // after `built_ns` (0: unknown); or if it would be read, and `most` have been.
    const source_outline* find(const text& path, std::uint64_t built_ns = 0,
                               std::size_t most = max_source_files) {
        // Most questions are about the file of the question before.
        if (path != last_.path) {
            const source_file* file = files_.find(path);
            if (file == nullptr) {
                if (read_files_ >= most) return nullptr;
                const text kept = copy_of(memory_, path);
                const char* folders = ::secure_getenv("ALLOCSCOPE_SOURCES");
                const text moved = folders != nullptr ? moved_source(memory_, kept, folders) : kept;
                const source_file made = read(kept, moved.data());
                file = &(files_[kept] = made);
            }
            last_ = *file;
        }
        return built_ns == 0 || last_.changed_ns <= built_ns ? last_.outline : nullptr;
    }

    // By the token of a constructor: the brace of its class, if only an initialiser of a member can
    // ask for memory there.
    ALLOCSCOPE_INLINE table<const void*, found_token>& implied() noexcept { return implied_; }

    ALLOCSCOPE_INLINE arena& memory() noexcept { return memory_; }

    // Forgets all files.
    void release() noexcept {
        files_.forget();
        implied_.forget();
        read_files_ = 0;
        last_ = {};
        memory_.release();
    }

private:
    struct source_file {
        text path;
        const source_outline* outline = nullptr;
        std::uint64_t changed_ns = 0;
    };

    source_file read(const text& asked, const char* path) {
        const detail::file_reader file{path};
        const std::uint64_t size = file.identity().size_bytes;
        if (!file.is_open() || size > max_source_bytes) return {asked};
        ++read_files_;
        auto* bytes = static_cast<char*>(memory_.allocate(size));
        const text source{bytes, file.read_at(0, bytes, size)};
        auto* const outline = memory_.make<source_outline>(memory_, source);
        outline->path = asked;
        return {asked, outline, file.identity().changed_ns};
    }

    arena memory_;
    table<text, source_file> files_;
    table<const void*, found_token> implied_;
    std::size_t read_files_ = 0;
    source_file last_;
};

// --- the source of a frame ---

// Returns null if the frame has no line, or if its source cannot be read.
inline const source_outline* source_of(const code_frame& frame, source_cache& sources) {
    if (frame.line <= 0 || frame.file.empty()) return nullptr;
    return sources.find(frame.file, frame.built_ns);
}

// The token at the place of a frame.
inline found_token token_of(const code_frame& frame, source_cache& sources) {
    if (frame.column <= 0 || frame.is_nearby) return {};
    const source_outline* const file = source_of(frame, sources);
    if (file == nullptr) return {};
    const std::size_t at = file->token_at(frame.line, frame.column);
    return {file, at != file->count() ? at : 0};
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SOURCE_SOURCE_CACHE_HPP
