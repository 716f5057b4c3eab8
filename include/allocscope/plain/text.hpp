// text.hpp - a view of characters that it does not own.
//
// Room:     plain (floor 2), not malloc-safe
// Called:   wherever names, paths and types are read
// Threads:  a plain value
// Memory:   none: the characters belong to an arena, a file's bytes or a literal
//
// It does what std::string_view does, without templates, so that the once-per-program header
// compiles it in a hundredth of the time. The functions have the standard's names and meanings.
//
// Functions take texts by reference, because code that is not optimised copies each of them twice
// otherwise. One that takes a text by value changes its copy.

#ifndef ALLOCSCOPE_PLAIN_TEXT_HPP
#define ALLOCSCOPE_PLAIN_TEXT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>

#include <cstddef>  // size_t
#include <cstring>  // memcmp, memchr, memcpy

ALLOCSCOPE_MILD_BEGIN

namespace plain {

class text {
public:
    static constexpr std::size_t npos = static_cast<std::size_t>(-1);

    // Not "= default", for which g++ would write zeros first. Not inlined, like all functions below
    // that take a literal, because code that is not optimised has hundreds of these calls.
    ALLOCSCOPE_NOINLINE constexpr text() noexcept {}
    ALLOCSCOPE_NOINLINE constexpr text(const char* zero_ended) noexcept
        : data_(zero_ended), size_(__builtin_strlen(zero_ended)) {}
    ALLOCSCOPE_INLINE constexpr text(const char* data, std::size_t size) noexcept
        : data_(data), size_(size) {}

    ALLOCSCOPE_INLINE constexpr const char* data() const noexcept { return data_; }
    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE constexpr std::size_t size() const noexcept { return size_; }
    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE constexpr bool empty() const noexcept { return size_ == 0; }
    ALLOCSCOPE_INLINE constexpr const char* begin() const noexcept { return data_; }
    ALLOCSCOPE_INLINE constexpr const char* end() const noexcept { return data_ + size_; }
    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE constexpr char operator[](std::size_t at) const noexcept {
        return data_[at];
    }
    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE constexpr char front() const noexcept { return data_[0]; }
    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE constexpr char back() const noexcept {
        return data_[size_ - 1];
    }

    ALLOCSCOPE_INLINE constexpr void remove_prefix(std::size_t count) noexcept {
        data_ += count;
        size_ -= count;
    }
    ALLOCSCOPE_INLINE constexpr void remove_suffix(std::size_t count) noexcept { size_ -= count; }

    // `at` is at most size(). Not inlined for the same reason.
    ALLOCSCOPE_NOINLINE constexpr text substr(std::size_t at) const noexcept {
        return text{data_ + at, size_ - at};
    }
    ALLOCSCOPE_NOINLINE constexpr text substr(std::size_t at, std::size_t count) const noexcept {
        return text{data_ + at, count < size_ - at ? count : size_ - at};
    }

    // These return positions, or npos.
    ALLOCSCOPE_PURE std::size_t find(char wanted, std::size_t from = 0) const noexcept;
    ALLOCSCOPE_PURE std::size_t find(const text& wanted, std::size_t from = 0) const noexcept;
    ALLOCSCOPE_PURE std::size_t rfind(char wanted) const noexcept;
    ALLOCSCOPE_PURE std::size_t rfind(const text& wanted) const noexcept;
    ALLOCSCOPE_PURE std::size_t find_first_of(const text& wanted,
                                              std::size_t from = 0) const noexcept;
    ALLOCSCOPE_PURE std::size_t find_first_not_of(const text& unwanted,
                                                  std::size_t from = 0) const noexcept;
    ALLOCSCOPE_PURE std::size_t find_last_not_of(const text& unwanted) const noexcept;

    // Whether `wanted` stands at `at`, which is at most size().
    ALLOCSCOPE_PURE bool has_at(std::size_t at, const char* wanted) const noexcept;
    ALLOCSCOPE_PURE bool starts_with(const text& start) const noexcept;
    ALLOCSCOPE_PURE bool starts_with(const char* start) const noexcept;
    ALLOCSCOPE_PURE bool ends_with(const text& end) const noexcept;
    ALLOCSCOPE_PURE bool ends_with(const char* end) const noexcept;
    ALLOCSCOPE_PURE bool contains(const text& wanted) const noexcept {
        return find(wanted) != npos;
    }
    ALLOCSCOPE_PURE bool contains(const char* wanted) const noexcept {
        return find(text{wanted}) != npos;
    }

    // Below 0, 0 or above 0; bytes are compared as unsigned numbers.
    ALLOCSCOPE_PURE int compare(const text& other) const noexcept;

private:
    const char* data_ = "";
    std::size_t size_ = 0;
};

// `return no_text();` is shorter than `return {};` where code is not optimised: the latter makes a
// text and copies it.
ALLOCSCOPE_NOINLINE text no_text() noexcept {
    return text{};
}

ALLOCSCOPE_PURE ALLOCSCOPE_NOINLINE bool operator==(const text& a, const text& b) noexcept {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}
ALLOCSCOPE_PURE ALLOCSCOPE_NOINLINE bool operator!=(const text& a, const text& b) noexcept {
    return !(a == b);
}
// Most comparisons end at the first character, where a call of strlen() would be most of the work.
ALLOCSCOPE_PURE ALLOCSCOPE_NOINLINE bool operator==(const text& a, const char* b) noexcept {
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] != b[i] || b[i] == '\0') return false;
    }
    return b[a.size()] == '\0';
}
ALLOCSCOPE_PURE ALLOCSCOPE_NOINLINE bool operator!=(const text& a, const char* b) noexcept {
    return !(a == b);
}
ALLOCSCOPE_PURE ALLOCSCOPE_INLINE bool operator<(const text& a, const text& b) noexcept {
    return a.compare(b) < 0;
}

// What follows the last slash. It is zero-ended if the path is.
ALLOCSCOPE_NOINLINE text file_name_of(const text& path) noexcept {
    return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

// The folder with which two paths begin, with its last slash; "" if they share none.
ALLOCSCOPE_NOINLINE text shared_folder(const text& a, const text& b) noexcept {
    std::size_t same = 0;
    while (same < a.size() && same < b.size() && a[same] == b[same]) ++same;
    return a.substr(0, a.substr(0, same).rfind('/') + 1);  // npos + 1 is 0
}

// What stands before the first `sign`; the whole text if it has none.
ALLOCSCOPE_NOINLINE text part_before(const text& whole, char sign) noexcept {
    return whole.substr(0, whole.find(sign));
}

// A zero-ended copy that lives as long as the arena.
ALLOCSCOPE_NOINLINE text copy_of(arena& memory, const text& original) {
    auto* bytes = static_cast<char*>(memory.allocate(original.size() + 1));
    std::memcpy(bytes, original.data(), original.size());
    bytes[original.size()] = '\0';
    return text{bytes, original.size()};
}

// Joins up to four texts into one zero-ended text, in the memory of the arena.
ALLOCSCOPE_NOINLINE text joined(arena& memory, const text& a, const text& b, const text& c,
                                const text& d) {
    const std::size_t size = a.size() + b.size() + c.size() + d.size();
    auto* bytes = static_cast<char*>(memory.allocate(size + 1));
    char* end = bytes;
    const text* const parts[] = {&a, &b, &c, &d};
    for (const text* part : parts) {
        std::memcpy(end, part->data(), part->size());
        end += part->size();
    }
    *end = '\0';
    return text{bytes, size};
}
ALLOCSCOPE_NOINLINE text joined(arena& memory, const text& a, const text& b, const text& c) {
    return joined(memory, a, b, c, {});
}
ALLOCSCOPE_NOINLINE text joined(arena& memory, const text& a, const text& b) {
    return joined(memory, a, b, {}, {});
}
ALLOCSCOPE_NOINLINE text joined(arena& memory, const text& a, const char* b) {
    return joined(memory, a, text{b});
}

ALLOCSCOPE_NOINLINE std::size_t text::find(char wanted, std::size_t from) const noexcept {
    if (from >= size_) return npos;
    const void* found = std::memchr(data_ + from, wanted, size_ - from);
    return found != nullptr ? static_cast<std::size_t>(static_cast<const char*>(found) - data_)
                            : npos;
}

ALLOCSCOPE_NOINLINE std::size_t text::find(const text& wanted, std::size_t from) const noexcept {
    if (wanted.empty()) return from <= size_ ? from : npos;
    if (wanted.size_ > size_) return npos;
    const std::size_t behind = size_ - wanted.size_ + 1;
    while (from < behind) {
        const void* const first = std::memchr(data_ + from, wanted.front(), behind - from);
        if (first == nullptr) break;
        const auto at = static_cast<std::size_t>(static_cast<const char*>(first) - data_);
        if (std::memcmp(data_ + at, wanted.data_, wanted.size_) == 0) return at;
        from = at + 1;
    }
    return npos;
}

ALLOCSCOPE_NOINLINE std::size_t text::rfind(char wanted) const noexcept {
    for (std::size_t at = size_; at > 0; --at) {
        if (data_[at - 1] == wanted) return at - 1;
    }
    return npos;
}

ALLOCSCOPE_NOINLINE std::size_t text::rfind(const text& wanted) const noexcept {
    if (wanted.size_ > size_) return npos;
    for (std::size_t at = size_ - wanted.size_ + 1; at > 0; --at) {
        if (std::memcmp(data_ + at - 1, wanted.data_, wanted.size_) == 0) return at - 1;
    }
    return npos;
}

ALLOCSCOPE_NOINLINE std::size_t text::find_first_of(const text& wanted,
                                                    std::size_t from) const noexcept {
    for (std::size_t at = from; at < size_; ++at) {
        if (wanted.find(data_[at]) != npos) return at;
    }
    return npos;
}

ALLOCSCOPE_NOINLINE std::size_t text::find_first_not_of(const text& unwanted,
                                                        std::size_t from) const noexcept {
    for (std::size_t at = from; at < size_; ++at) {
        if (unwanted.find(data_[at]) == npos) return at;
    }
    return npos;
}

ALLOCSCOPE_NOINLINE std::size_t text::find_last_not_of(const text& unwanted) const noexcept {
    for (std::size_t at = size_; at > 0; --at) {
        if (unwanted.find(data_[at - 1]) == npos) return at - 1;
    }
    return npos;
}

ALLOCSCOPE_NOINLINE bool text::starts_with(const text& start) const noexcept {
    return start.size_ <= size_ && std::memcmp(data_, start.data_, start.size_) == 0;
}

ALLOCSCOPE_NOINLINE bool text::ends_with(const text& end) const noexcept {
    return end.size_ <= size_ &&
           std::memcmp(data_ + (size_ - end.size_), end.data_, end.size_) == 0;
}

ALLOCSCOPE_NOINLINE bool text::starts_with(const char* start) const noexcept {
    return starts_with(text{start});
}

ALLOCSCOPE_NOINLINE bool text::ends_with(const char* end) const noexcept {
    return ends_with(text{end});
}

ALLOCSCOPE_NOINLINE bool text::has_at(std::size_t at, const char* wanted) const noexcept {
    return substr(at).starts_with(text{wanted});
}

ALLOCSCOPE_NOINLINE int text::compare(const text& other) const noexcept {
    const std::size_t shared = size_ < other.size_ ? size_ : other.size_;
    const int order = std::memcmp(data_, other.data_, shared);
    if (order != 0) return order;
    if (size_ == other.size_) return 0;
    return size_ < other.size_ ? -1 : 1;
}

}  // namespace plain

ALLOCSCOPE_MILD_END

#endif  // ALLOCSCOPE_PLAIN_TEXT_HPP
