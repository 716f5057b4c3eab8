// mangled_reader.hpp - the letters of a linker name, and the sizes of its parts met so far.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/mangled_size.hpp
// Threads:  one
// Memory:   4 KiB where it stands, no other
//
// The half that knows letters and numbers but no grammar. Whatever goes wrong, the reader stands at
// the end of the name, so that every loop over it ends.

#ifndef ALLOCSCOPE_SYMBOLS_MANGLED_READER_HPP
#define ALLOCSCOPE_SYMBOLS_MANGLED_READER_HPP

#include <allocscope/config.hpp>

#include <cstddef>  // size_t
#include <cstring>  // strnlen, strchr

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

constexpr std::size_t longest_mangled_name = 4096;
constexpr std::size_t longest_demangled_name = std::size_t{1} << 18;

class mangled_reader {
protected:
    explicit mangled_reader(const char* name)
        : at_(name), end_(name + ::strnlen(name, longest_mangled_name + 1)) {}

    static constexpr int deepest = 96;
    static constexpr std::size_t most_parts = 256;
    static constexpr std::size_t most_arguments = 64;

    struct level {
        mangled_reader& reader;
        explicit level(mangled_reader& owner) : reader(owner) {
            if (++reader.depth_ > deepest) {
                reader.is_too_deep_ = true;
                reader.give_up();
            }
        }
        ~level() { --reader.depth_; }
    };

    char peek(std::size_t ahead = 0) const {
        return static_cast<std::size_t>(end_ - at_) > ahead ? at_[ahead] : '\0';
    }
    void skip(std::size_t count) {
        at_ += static_cast<std::size_t>(end_ - at_) < count ? static_cast<std::size_t>(end_ - at_)
                                                            : count;
    }
    bool take(char expected) {
        if (peek() != expected) return false;
        skip(1);
        return true;
    }
    bool take(const char* two) {
        if (peek() != two[0] || peek(1) != two[1]) return false;
        skip(2);
        return true;
    }
    static bool is_digit(char c) { return c >= '0' && c <= '9'; }
    static bool is_one_of(char c, const char* set) {
        return c != '\0' && std::strchr(set, c) != nullptr;
    }
    std::size_t give_up() {
        is_unknown_ = true;
        at_ = end_;
        return 0;
    }
    static std::size_t sum(std::size_t a, std::size_t b) {
        const std::size_t total = a + b;
        return total > longest_demangled_name ? longest_demangled_name + 1 : total;
    }
    std::size_t remember(std::size_t size) {
        if (part_count_ < most_parts) parts_[part_count_] = size;
        ++part_count_;
        return size;
    }
    std::size_t number() {
        std::size_t value = 0;
        while (is_digit(peek())) {
            value = sum(value * 10, static_cast<std::size_t>(peek() - '0'));
            skip(1);
        }
        return value;
    }
    void skip_past_underscore() {
        while (peek() != '\0' && peek() != '_') skip(1);
        skip(1);
    }

    // Compilers disagree about what inside "sr" counts as a part. After one, numbers may be off by
    // a few, and the largest part near by is taken.
    std::size_t part_size(std::size_t index) const {
        constexpr std::size_t most_off = 3;
        const std::size_t known = part_count_ < most_parts ? part_count_ : most_parts;
        if (!is_count_vague_) return index < known ? parts_[index] : longest_demangled_name + 1;
        std::size_t size = 0;
        const std::size_t first = index < most_off ? 0 : index - most_off;
        for (std::size_t i = first; i < known && i <= index + most_off; ++i) {
            if (parts_[i] > size) size = parts_[i];
        }
        return first < known ? size : longest_demangled_name + 1;
    }

    const char* at_;
    const char* const end_;
    std::size_t parts_[most_parts] = {};  // lengths of what can be referred back to
    std::size_t part_count_ = 0;
    std::size_t arguments_[most_arguments] = {};  // lengths of the last template arguments
    std::size_t argument_count_ = 0;
    std::size_t widest_argument_ = 16;
    int depth_ = 0;
    bool is_unknown_ = false;
    bool is_too_deep_ = false;
    bool is_count_vague_ = false;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_MANGLED_READER_HPP
