// made_snapshot.hpp - snapshots from literal rows, without a window.

#ifndef ALLOCSCOPE_TESTS_SUPPORT_MADE_SNAPSHOT_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_MADE_SNAPSHOT_HPP

#include <allocscope/naming/build_snapshot.hpp>

#include <string>   // string
#include <utility>  // move
#include <vector>   // vector

namespace allocscope_tests {

// A row without a stack.
inline allocscope::detail::row_text made_row(std::uint64_t objects, std::uint64_t bytes,
                                             std::string file, int line, std::string type,
                                             std::string function = "") {
    allocscope::detail::row_text row;
    row.objects = objects;
    row.bytes = bytes;
    row.file = std::move(file);
    row.line = line;
    row.type = std::move(type);
    row.function = std::move(function);
    return row;
}

// The same, with one frame that has the whole path.
inline allocscope::detail::row_text made_row_at(std::uint64_t objects, std::uint64_t bytes,
                                                std::string path, std::string file, int line,
                                                std::string type) {
    allocscope::detail::row_text row =
        made_row(objects, bytes, std::move(file), line, std::move(type));
    row.frames.resize(1);
    row.frames[0].function = "work()";
    row.frames[0].file = std::move(path);
    row.frames[0].line = line;
    row.user_frame = 0;
    return row;
}

inline allocscope::snapshot made_snapshot(std::vector<allocscope::detail::row_text> rows,
                                          const allocscope::detail::info_text& about = {}) {
    return allocscope::snapshot{allocscope::detail::build_snapshot(std::move(rows), about)};
}

}  // namespace allocscope_tests

#endif  // ALLOCSCOPE_TESTS_SUPPORT_MADE_SNAPSHOT_HPP
