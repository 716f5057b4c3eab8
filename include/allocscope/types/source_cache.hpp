// source_cache.hpp - source files, each read and taken apart once for a report.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by type_from_source.hpp; naming/ keeps one cache and releases it when a report is made
// Threads:  one cache belongs to one thread
// Memory:   an arena of its own: per file up to ten times its size; at most 256 files of 2 MiB
//
// Only regular files are read, and never waited for. A file that is not there is asked for once.
//
//     source_cache sources;
//     const source_outline* file = sources.find("/home/me/project/main.cpp");   // null: not there

#ifndef ALLOCSCOPE_TYPES_SOURCE_CACHE_HPP
#define ALLOCSCOPE_TYPES_SOURCE_CACHE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/platform/file_reader.hpp>
#include <allocscope/types/new_expressions.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

constexpr std::uint64_t max_source_bytes = 2 * 1024 * 1024;
constexpr std::size_t max_source_files = 256;

class source_cache {
public:
    source_cache() noexcept : files_(memory_) {}
    source_cache(const source_cache&) = delete;
    source_cache& operator=(const source_cache&) = delete;

    // Null when the file cannot be read, is no regular file, or is larger than 2 MiB.
    const source_outline* find(text path) {
        if (source_outline* const* known = files_.find(path)) return *known;
        if (files_.size() >= max_source_files) return nullptr;
        const text kept = copy_of(memory_, path);
        source_outline* outline = read(kept.data());
        files_[kept] = outline;
        return outline;
    }

    // Forgets all files.
    void release() noexcept {
        files_ = table<text, source_outline*>{memory_};
        memory_.release();
    }

private:
    source_outline* read(const char* path) {
        const detail::file_reader file{path};
        const std::uint64_t size = file.identity().size_bytes;
        if (!file.is_open() || size > max_source_bytes) return nullptr;
        auto* bytes = static_cast<char*>(memory_.allocate(size));
        const text source{bytes, file.read_at(0, bytes, size)};
        return memory_.make<source_outline>(memory_, source);
    }

    arena memory_;
    table<text, source_outline*> files_;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_SOURCE_CACHE_HPP
