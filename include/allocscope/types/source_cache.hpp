// source_cache.hpp - source files, each read and taken apart once for a report.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by type_from_source.hpp; one cache lives as long as one report is made
// Threads:  one cache belongs to one thread
// Memory:   per file about ten times its size, until the cache goes; at most 256 files of 2 MiB
//
// Only regular files are read, and never waited for. A file that is not there is asked for once.
//
//     source_cache sources;
//     const source_outline* file = sources.find("/home/me/project/main.cpp");   // null: not there

#ifndef ALLOCSCOPE_TYPES_SOURCE_CACHE_HPP
#define ALLOCSCOPE_TYPES_SOURCE_CACHE_HPP

#include <allocscope/platform/file_reader.hpp>
#include <allocscope/types/new_expressions.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <map>      // map
#include <memory>   // unique_ptr
#include <string>   // string

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

constexpr std::uint64_t max_source_bytes = 2 * 1024 * 1024;
constexpr std::size_t max_source_files = 256;

class source_cache {
public:
    source_cache() = default;
    source_cache(const source_cache&) = delete;
    source_cache& operator=(const source_cache&) = delete;

    // Null when the file cannot be read, is no regular file, or is larger than 2 MiB.
    const source_outline* find(const std::string& path) {
        const auto known = files_.find(path);
        if (known != files_.end()) return known->second.get();
        if (files_.size() >= max_source_files) return nullptr;
        return files_.emplace(path, read(path)).first->second.get();
    }

private:
    static std::unique_ptr<source_outline> read(const std::string& path) {
        const detail::file_reader file{path.c_str()};
        const std::uint64_t size = file.identity().size_bytes;
        if (!file.is_open() || size > max_source_bytes) return nullptr;
        std::string text(static_cast<std::size_t>(size), '\0');
        text.resize(file.read_at(0, &text[0], text.size()));
        return std::make_unique<source_outline>(static_cast<std::string&&>(text));
    }

    std::map<std::string, std::unique_ptr<source_outline>> files_;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_SOURCE_CACHE_HPP
