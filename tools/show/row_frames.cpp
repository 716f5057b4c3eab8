#include "row_frames.hpp"

#include <allocscope/report/report_rows.hpp>

namespace allocscope_tools {

namespace {

using namespace allocscope::detail;
using allocscope::snapshot;

// A row of a file, and what was made of it, by the addresses of texts in the file.
struct row_in_file {
    const char *path, *type;
    std::int64_t line;
};

// Rows without a line have all of their frames.
bool has_one_frame(const snapshot::row& row) noexcept {
    return row.line != 0 && row.frame_count == 1 && row.user_frame == 0;
}

by_bytes<row_in_file> key_of(const snapshot::row& row) noexcept {
    return {{row.frames->file, row.type, row.line}};
}

}  // namespace

void lay_out_shown_frames(const snapshot& made, const std::vector<loaded_file>& files,
                          const allocscope::text_options& text, arena& memory) {
    arena scratch;
    table<by_bytes<row_in_file>, const snapshot::row*> shown{scratch};
    for (const snapshot::row* row : select_rows(scratch, made, text.sort, text.rows).shown) {
        if (has_one_frame(*row)) shown[key_of(*row)] = row;
    }
    for (const loaded_file& file : files) {
        if (!can_be_source(*file.parts)) continue;  // its rows have all of their frames
        const stack_source source = source_of(*file.parts);
        for (std::size_t i = 0; i < file.rows.size(); ++i) {
            if (!has_one_frame(file.rows[i])) continue;
            const snapshot::row** const found = shown.find(key_of(file.rows[i]));
            if (found == nullptr) continue;
            const row_frames of = source.frames_of_row(source.of, i, scratch);
            auto& row = const_cast<snapshot::row&>(**found);
            row.frames = side_by_side(of.frames, memory);
            row.frame_count = of.frames.count;
            row.user_frame = of.user_frame;
        }
    }
}

}  // namespace allocscope_tools
