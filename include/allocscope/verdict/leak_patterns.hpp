// leak_patterns.hpp - which live objects are expected: lines like LeakSanitizer's suppressions.
//
// Room:     verdict (floor 11), not malloc-safe
// Called:   by verdict/expected_leaks.hpp and verdict/check_window.hpp
// Threads:  a plain value
// Memory:   of the arena that is passed in
//
//     leak:load_locale        any frame whose function, file or module contains this, or the type
//     leak:^parser::*node$    ^ and $ stand for the ends, * for any text
//     # a comment

#ifndef ALLOCSCOPE_VERDICT_LEAK_PATTERNS_HPP
#define ALLOCSCOPE_VERDICT_LEAK_PATTERNS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/naming/named_stack.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// Whether `pattern`, in which * stands for any text, fits all of `whole`. The time is linear in
// most cases. The worst case is the product of both lengths, because the last * takes one more byte
// at each attempt.
ALLOCSCOPE_PURE inline bool fits_whole(const text& pattern, const text& whole) noexcept {
    std::size_t at = 0;
    std::size_t in = 0;
    std::size_t star = text::npos;
    std::size_t star_in = 0;
    while (in < whole.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            star_in = in;
        } else if (at < pattern.size() && pattern[at] == whole[in]) {
            ++at;
            ++in;
        } else if (star != text::npos) {
            at = star + 1;
            in = ++star_in;
        } else {
            return false;
        }
    }
    while (at < pattern.size() && pattern[at] == '*') ++at;
    return at == pattern.size();
}

class leak_patterns {
public:
    explicit leak_patterns(arena& memory) noexcept : patterns_(memory) {}

    // Returns false if a line is wrong: `problem` says what is wrong, and nothing is expected.
    bool read(text lines, text_out& problem) {
        for (std::size_t number = 1; !lines.empty(); ++number) {
            const std::size_t end = lines.find('\n');
            const text line = trimmed(lines.substr(0, end));
            lines = end == text::npos ? text{} : lines.substr(end + 1);
            if (line.empty() || line[0] == '#') continue;
            const bool is_leak = line.starts_with("leak:");
            if (is_leak && add(trimmed(line.substr(5)))) continue;
            patterns_.clear();
            problem << "leak_options::expected, line " << decimal{number} << ": '"
                    << line.substr(0, 40)
                    << (is_leak ? "' fits everything; name a function, file, module or type"
                                : "' is not a pattern; write leak:<part of a name>");
            return false;
        }
        return true;
    }

    ALLOCSCOPE_INLINE bool empty() const noexcept { return patterns_.empty(); }

    bool fits(const named_stack& stack) const noexcept {
        for (const text pattern : patterns_) {
            if (fits_whole(pattern, stack.type)) return true;
            for (std::uint32_t i = 0; i < stack.frame_count; ++i) {
                const snapshot::frame& frame = stack.frames[i];
                if (fits_whole(pattern, frame.function) || fits_whole(pattern, frame.file) ||
                    fits_whole(pattern, frame.module)) {
                    return true;
                }
            }
        }
        return false;
    }

private:
    static text trimmed(const text& line) noexcept {
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin == text::npos) return no_text();
        return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
    }

    // Returns false for a pattern that would fit everything.
    bool add(text wanted) {
        if (wanted.find_first_not_of("*^$") == text::npos) return false;
        text_out pattern{patterns_.memory()};
        const bool has_begin = wanted.front() == '^';
        const bool has_end = wanted.back() == '$';
        if (has_begin) wanted.remove_prefix(1);
        if (has_end) wanted.remove_suffix(1);
        pattern << (has_begin ? "" : "*") << wanted << (has_end ? "" : "*");
        patterns_.push_back(pattern.view());
        return true;
    }

    list<text> patterns_;
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_VERDICT_LEAK_PATTERNS_HPP
