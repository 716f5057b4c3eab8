// frames_of FILE FIRST END STEP: the frames of each address from FIRST on, as linked, by the reader
// that reports use. Compared by shared_forms.py with those of the same code in another form.

#include <allocscope/debug_forms.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/symbols/debug_object.hpp>
#include <allocscope/symbols/kept_texts.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace symbolize = allocscope::symbolize;

int main(int count, char** words) {
    if (count != 5) {
        std::fputs("frames_of FILE FIRST END STEP\n", stderr);
        return 2;
    }
    allocscope::plain::arena kept;
    symbolize::kept_texts texts{kept};
    symbolize::debug_object object{texts, words[1]};
    const std::uint64_t end = std::strtoull(words[3], nullptr, 0);
    const std::uint64_t step = std::strtoull(words[4], nullptr, 0);
    if (!object.is_readable() || step == 0) return 1;
    for (std::uint64_t at = std::strtoull(words[2], nullptr, 0); at < end; at += step) {
        symbolize::code_location location;
        object.resolve(at, location);
        std::printf("0x%llx\n", static_cast<unsigned long long>(at));
        for (const symbolize::code_frame& frame : location.frames) {
            std::printf("  %s %s %s:%d:%d%s%s\n", frame.function.data(), frame.linkage_name.data(),
                        frame.file.data(), frame.line, frame.column,
                        frame.is_inlined ? " inlined" : "", frame.is_nearby ? " nearby" : "");
        }
    }
    return 0;
}
