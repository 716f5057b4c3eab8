// share.hpp - how many rows of a snapshot are placed in the program's own file.
//
// Each program here uses a library as its users do, and holds what it made. At the end it prints
// the rows that lie elsewhere, and fails when those are more than one of twenty, or when a type is
// not spelled as a person would write it.

#ifndef ALLOCSCOPE_TESTS_OWN_LINES_SHARE_HPP
#define ALLOCSCOPE_TESTS_OWN_LINES_SHARE_HPP

#include <allocscope/allocscope.hpp>

#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace testing {

inline bool is_in(const allocscope::snapshot::row& row, const char* own_file) {
    if (row.line == 0 || row.user_frame >= row.frame_count) return false;
    const char* file = row.frames[row.user_frame].file;
    return std::strcmp(file, own_file) == 0;
}

// Whether no row has one of these types.
inline int lacks_types(const allocscope::snapshot& seen, std::initializer_list<const char*> types) {
    int lacks = 0;
    for (const char* type : types) {
        bool has = false;
        for (const allocscope::snapshot::row& row : seen) {
            has = has || std::strcmp(row.type, type) == 0;
        }
        if (!has) std::printf("no row has the type %s\n", type);
        if (!has) lacks = 1;
    }
    if (lacks == 0) return 0;
    for (const allocscope::snapshot::row& row : seen) {
        std::printf("  %s:%d:%s\n", row.file, row.line, row.type);
    }
    return 1;
}

// `least`: rows that there must be, so that nothing is not taken for everything.
inline int own_lines(const allocscope::snapshot& seen, const char* own_file, std::size_t least) {
    std::size_t own = 0;
    for (const allocscope::snapshot::row& row : seen) {
        if (is_in(row, own_file)) {
            ++own;
            continue;
        }
        std::printf("  %s:%d+0x%llx:%.60s\n", row.file, row.line,
                    static_cast<unsigned long long>(row.offset), row.type);
        for (std::size_t i = 0; i < row.frame_count; ++i) {
            const allocscope::snapshot::frame& frame = row.frames[i];
            std::printf("      %s:%d %.90s %s\n", frame.file, frame.line, frame.function,
                        frame.module);
        }
    }
    std::printf("%zu of %zu rows are in %s\n%s", own, seen.size(), own_file,
                seen.info().not_recording);
    return seen.size() >= least && own * 20 >= seen.size() * 19 ? 0 : 1;
}

}  // namespace testing

#endif  // ALLOCSCOPE_TESTS_OWN_LINES_SHARE_HPP
