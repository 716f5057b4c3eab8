// leak_patterns.hpp - which live objects are expected: lines as LeakSanitizer's suppressions.
//
// Room:     verdict (floor 10), not malloc-safe
// Called:   by verdict/check_window.hpp
// Threads:  a plain value
// Memory:   the standard library's
//
//     leak:load_locale        any frame whose function, file or module has that in it, or the type
//     leak:^parser::*node$    ^ and $ stand for the ends, * for any text
//     # a comment

#ifndef ALLOCSCOPE_VERDICT_LEAK_PATTERNS_HPP
#define ALLOCSCOPE_VERDICT_LEAK_PATTERNS_HPP

#include <allocscope/config.hpp>
#include <allocscope/naming/name_book.hpp>

#include <cstddef>      // size_t
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Whether `pattern`, in which * stands for any text, fits all of `text`. Linear but for the
// product of both lengths in the worst case: the last * takes one byte more each time.
inline bool fits_whole(std::string_view pattern, std::string_view text) noexcept {
    std::size_t at = 0;
    std::size_t in = 0;
    std::size_t star = std::string_view::npos;
    std::size_t star_in = 0;
    while (in < text.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            star_in = in;
        } else if (at < pattern.size() && pattern[at] == text[in]) {
            ++at;
            ++in;
        } else if (star != std::string_view::npos) {
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
    // "" or what is wrong with the lines. Then nothing is expected.
    std::string read(std::string_view lines) {
        std::size_t number = 0;
        while (!lines.empty()) {
            ++number;
            const std::size_t end = lines.find('\n');
            const std::string_view line = trimmed(lines.substr(0, end));
            lines = end == std::string_view::npos ? std::string_view{} : lines.substr(end + 1);
            if (line.empty() || line[0] == '#') continue;
            const bool is_leak = line.substr(0, 5) == "leak:";
            if (!is_leak || !add(trimmed(line.substr(5)))) {
                patterns_.clear();
                return "leak_options::expected, line " + std::to_string(number) + ": '" +
                       std::string{line.substr(0, 40)} +
                       (is_leak ? "' fits everything; name a function, file, module or type"
                                : "' is no pattern; write leak:<part of a name>");
            }
        }
        return "";
    }

    bool empty() const noexcept { return patterns_.empty(); }

    bool fits(const named_stack& stack) const {
        for (const std::string& pattern : patterns_) {
            if (fits_whole(pattern, stack.type)) return true;
            for (const snapshot::frame& frame : stack.frames) {
                if (fits_whole(pattern, frame.function) || fits_whole(pattern, frame.file) ||
                    fits_whole(pattern, frame.module)) {
                    return true;
                }
            }
        }
        return false;
    }

private:
    static std::string_view trimmed(std::string_view text) noexcept {
        const char* const blanks = " \t\r";
        const std::size_t begin = text.find_first_not_of(blanks);
        if (begin == std::string_view::npos) return {};
        return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
    }

    // False: it would fit everything.
    bool add(std::string_view text) {
        if (text.find_first_not_of("*^$") == std::string_view::npos) return false;
        std::string pattern;
        if (text.front() != '^') {
            pattern += '*';
        } else {
            text.remove_prefix(1);
        }
        const bool has_end = text.back() == '$';
        if (has_end) text.remove_suffix(1);
        pattern += text;
        if (!has_end) pattern += '*';
        patterns_.push_back(pattern);
        return true;
    }

    std::vector<std::string> patterns_;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_VERDICT_LEAK_PATTERNS_HPP
