// allocscope convert IN OUT
#include "option_words.hpp"
#include "report_formats.hpp"
#include "show/show_request.hpp"
#include "verbs.hpp"

#include <cstdio>

namespace allocscope_tools {

int convert(const arguments& words) {
    if (asks_for_help(words)) {
        std::printf(
            "usage: allocscope convert IN.allocscope... OUT\n"
            "\n"
            "Writes a saved snapshot in the format that the ending of OUT asks for:\n"
            "%s.\n"
            "Several snapshots, as of the processes of one program, are merged into one.\n"
            "docs/formats.md says which viewer opens which.\n"
            "\n"
            "exit code: 0; 2 when IN could not be read or OUT not be written; stderr says why\n",
            format_endings().c_str());
        return exit_fine;
    }
    struct nothing {};
    constexpr verb_option<nothing> no_options[] = {{"--", nullptr, false}};
    nothing asked;
    arguments files;
    std::string error = read_words("convert", words, no_options, asked, files);
    if (error.empty() && files.size() < 2) {
        error = wrong_number_of_files(files.size(), "convert IN.allocscope... OUT");
    }
    if (error.empty() && files.size() == 2) {
        error = convert_snapshot(files[0], files[1]);
    } else if (error.empty()) {
        const std::string out = files.back();
        files.pop_back();
        shown_snapshot merged;
        const auto* const format = format_of_path(out, error);
        if (format != nullptr) error = load_merged(files, {}, merged);
        if (format != nullptr && error.empty()) {
            allocscope::detail::try_write(format->body, merged.of.rows, out.c_str(), error,
                                          allocscope::stack_value::live_bytes, merged.of.source);
        }
    }
    return error.empty() ? exit_fine : refuse("convert", error);
}

}  // namespace allocscope_tools
