// library_frames.hpp - declares your own code to be library code: rows then name its callers.
//
// Room:     measure (floor 8), not malloc-safe
// Called:   by the user, usually at the start of main or of a test file
// Threads:  any
// Memory:   none; the engine keeps up to 64 patterns of up to 255 characters
//
// A row belongs to the innermost frame that is not library code. The standard library, the C++
// runtime, allocscope and everything in the folders where packages are installed are known to be
// library code. Your own containers and pools are not:
//
//     allocscope::library_frames("mylib::");             // a namespace or class
//     allocscope::library_frames("xml*");                // functions whose name starts so
//     allocscope::library_frames("/home/me/mylib/");     // files below a folder
//     allocscope::library_frames("parts/");              // such a folder anywhere
//     allocscope::library_frames("!third_party/mine/");  // the user's code, wherever it lies

#ifndef ALLOCSCOPE_MEASURE_LIBRARY_FRAMES_HPP
#define ALLOCSCOPE_MEASURE_LIBRARY_FRAMES_HPP

#include <allocscope/base/fixed_text.hpp>
#include <allocscope/config.hpp>
#include <allocscope/link/engine.hpp>
#include <allocscope/measure/check_options.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_NAMESPACE_BEGIN

// Adds a pattern for every snapshot that the process takes from now on. A pattern that is known
// already changes nothing. Throws std::invalid_argument when the pattern is null, empty or longer
// than 255 characters, matches everything, has a '*' that is not its last character, or is the 65th
// (-fno-exceptions: prints the message and aborts).
ALLOCSCOPE_EXCEPTIONS_TAG void library_frames(const char* pattern);

// definitions

namespace detail {

[[noreturn]] ALLOCSCOPE_EXCEPTIONS_TAG inline void refuse_pattern(const char* pattern,
                                                                  const char* reason) {
    constexpr std::size_t shown_characters = 60;
    char space[256] = {};
    fixed_text message{space, sizeof space - 1};
    message.append("allocscope: library_frames(\"");
    for (std::size_t i = 0; pattern != nullptr && pattern[i] != '\0'; ++i) {
        if (i == shown_characters) {
            message.append("...");
            break;
        }
        message.append(pattern[i]);
    }
    message.append("\"): ");
    message.append(reason);
    refuse_options(space);
}

}  // namespace detail

inline void library_frames(const char* pattern) {
    const detail::engine* engine = detail::find_engine();
    if (detail::engine_refusal(engine)[0] != '\0') return;  // no snapshot will have rows
    const char* refusal = engine->library_frames(pattern);
    if (refusal[0] != '\0') detail::refuse_pattern(pattern, refusal);
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_LIBRARY_FRAMES_HPP
