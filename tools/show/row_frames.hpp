// row_frames.hpp - the stacks of the rows that are shown, when several files make the rows.
#ifndef ALLOCSCOPE_TOOLS_SHOW_ROW_FRAMES_HPP
#define ALLOCSCOPE_TOOLS_SHOW_ROW_FRAMES_HPP

#include <allocscope/report.hpp>

#include <vector>

namespace allocscope_tools {

// A file whose rows have only the frame that gave them their place.
struct loaded_file {
    allocscope::snapshot rows;
    const allocscope::detail::loaded_parts* parts;
};

// Gives the rows of `made` that a report shows all of their frames, in `memory`. They were made of
// the rows of `files`, and nobody else has them yet. Throws std::bad_alloc.
void lay_out_shown_frames(const allocscope::snapshot& made, const std::vector<loaded_file>& files,
                          const allocscope::text_options& text, allocscope::detail::arena& memory);

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_SHOW_ROW_FRAMES_HPP
