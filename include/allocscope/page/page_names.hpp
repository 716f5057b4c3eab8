// page_names.hpp - numbers the texts, frames, paths and places of a page; equal ones are kept once.
//
// Room:     page (floor 9), not malloc-safe
// Called:   by page/page_data.hpp
// Threads:  one
// Memory:   of an arena: about 100 bytes for each frame, place and text; none for a stack
//           that has the path of another
//
//     meet_frames(frames)           of a few stacks, then
//     number_paths(stacks, ...)     of these, see page/page_paths.hpp
//     place_number(row)             of its file:line:type
//
// A frame is looked up by its number where it has one, as in a file; frames and places by the
// addresses of their texts, which are equal for most that are equal. Only what is new so is
// compared as text.

#ifndef ALLOCSCOPE_PAGE_PAGE_NAMES_HPP
#define ALLOCSCOPE_PAGE_PAGE_NAMES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/config.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/page/page_paths.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t, uintptr_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// A frame as a page shows it. Only a function without a name has an offset.
struct page_frame {
    std::uint32_t function, file, line, module;  // numbers of texts, but for the line
    std::uint64_t offset;
    bool is_inlined;
};

inline bool operator==(const page_frame& a, const page_frame& b) noexcept {
    return a.function == b.function && a.file == b.file && a.line == b.line &&
           a.module == b.module && a.offset == b.offset && a.is_inlined == b.is_inlined;
}

inline std::uint64_t hash_of_key(const page_frame& key) noexcept {
    std::uint64_t hash = hash_step(hash_seed, key.function | std::uint64_t{key.file} << 32U);
    hash = hash_step(hash, key.line | std::uint64_t{key.module} << 32U);
    return hash_finish(hash_step(hash, key.offset * 2 + (key.is_inlined ? 1 : 0)));
}

// A frame by the addresses of its texts.
struct frame_address {
    const char *function, *file, *module;
    std::uint64_t offset;
    std::uint32_t line;
    bool is_inlined;
};

inline bool operator==(const frame_address& a, const frame_address& b) noexcept {
    return a.function == b.function && a.line == b.line && a.file == b.file &&
           a.module == b.module && a.offset == b.offset && a.is_inlined == b.is_inlined;
}

inline std::uint64_t hash_of_key(const frame_address& key) noexcept {
    const auto word = [](const char* of) { return reinterpret_cast<std::uintptr_t>(of); };
    const std::uint64_t hash =
        hash_step(hash_seed, word(key.function) ^ std::uint64_t{key.line} << 40U);
    return hash_finish(hash_step(hash, word(key.file) ^ word(key.module) << 20U ^ key.offset));
}

// file:line:type, or file+offset:type, as in a row; the other members are those of the first one.
struct page_place {
    std::uint32_t file, line, type, function;
    std::uint64_t offset;
    std::uint32_t type_source;
};

inline bool operator==(const page_place& a, const page_place& b) noexcept {
    return a.file == b.file && a.line == b.line && a.type == b.type && a.offset == b.offset;
}

inline std::uint64_t hash_of_key(const page_place& key) noexcept {
    const std::uint64_t hash = hash_step(hash_seed, key.file | std::uint64_t{key.line} << 32U);
    return hash_finish(hash_step(hash, key.type ^ key.offset << 20U));
}

// A place by the addresses of its texts.
struct place_address {
    const char *file, *type, *function, *type_source;
    std::uint64_t offset;
    std::uint32_t line;
};

inline bool operator==(const place_address& a, const place_address& b) noexcept {
    return a.file == b.file && a.type == b.type && a.function == b.function &&
           a.type_source == b.type_source && a.line == b.line && a.offset == b.offset;
}

inline std::uint64_t hash_of_key(const place_address& key) noexcept {
    const auto word = [](const char* of) { return reinterpret_cast<std::uintptr_t>(of); };
    const std::uint64_t hash =
        hash_step(hash_seed, word(key.file) ^ std::uint64_t{key.line} << 40U);
    return hash_finish(hash_step(hash, word(key.type) ^ word(key.function) << 20U ^ key.offset));
}

class page_names {
public:
    static constexpr std::size_t at_once = 16;

    explicit page_names(arena& memory)
        : by_address_(memory),
          texts_(memory),
          frames_by_address_(memory),
          frames_(memory),
          known_frames_(memory),
          frame_numbers_(memory),
          paths_(memory),
          places_by_address_(memory),
          places_(memory) {}

    void reserve_paths(std::size_t stacks) { paths_.reserve(stacks); }

    std::uint32_t text_number(const char* shown) {
        const auto known = by_address_.insert(shown);
        if (known.is_new) {
            const auto at = texts_.insert(text{shown});
            if (at.is_new) at.value = static_cast<std::uint32_t>(texts_.size() - 1);
            known.value = at.value;
        }
        return known.value;
    }

    // Of the next row or stack whose path number_paths() is to give: it needs them no more.
    void meet_frames(const numbered_frames& frames) {
        std::size_t at = frame_numbers_.size();
        frame_numbers_.resize(at + frames.count);
        for (std::size_t k = 0; k < frames.count; ++k) {
            frame_numbers_[at++] = frame_number(frames, k);
        }
    }

    // Writes the paths of up to `at_once` rows or stacks that have been met to `paths`. The paths
    // are followed in parallel: each step waits for memory, and these waits can overlap.
    template <class Row>
    void number_paths(const Row* rows, std::size_t count, std::uint32_t* paths) {
        std::size_t begin[at_once];
        std::size_t deepest = 0;
        std::size_t next = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const Row& row = rows[i];
            begin[i] = next;
            next += row.frame_count;
            if (row.frame_count > deepest) deepest = row.frame_count;
            paths[i] = 0;
        }
        for (std::size_t depth = 1; depth <= deepest; ++depth) {
            const auto frame_of = [&](std::size_t i) {
                return frame_numbers_[begin[i] + rows[i].frame_count - depth];
            };
            for (std::size_t i = 0; i < count; ++i) {
                if (depth <= rows[i].frame_count) paths_.expect(paths[i], frame_of(i));
            }
            for (std::size_t i = 0; i < count; ++i) {
                if (depth <= rows[i].frame_count) paths[i] = paths_.below(paths[i], frame_of(i));
            }
        }
        frame_numbers_.clear();
    }

    // The number of the place of a row or a stack.
    template <class Row>
    std::uint32_t place_number(const Row& row) {
        const std::uint64_t offset = row.line == 0 ? row.offset : 0;
        const auto line = static_cast<std::uint32_t>(row.line);
        const auto known = places_by_address_.insert(
            {row.file, row.type, row.function, row.type_source, offset, line});
        if (!known.is_new) return known.value;
        const auto at =
            places_.insert({text_number(row.file), line, text_number(row.type),
                            text_number(row.function), offset, text_number(row.type_source)});
        if (at.is_new) at.value = static_cast<std::uint32_t>(places_.size() - 1);
        return known.value = at.value;
    }

    // Each in the order of the numbers: texts and places as keys.
    const table<text, std::uint32_t>& texts() const noexcept { return texts_; }
    const table<page_frame, std::uint32_t>& frames() const noexcept { return frames_; }
    const list<page_path>& paths() const noexcept { return paths_.all(); }
    const table<page_place, std::uint32_t>& places() const noexcept { return places_; }

private:
    std::uint32_t frame_number(const numbered_frames& frames, std::size_t at) {
        return known_frames_.find(
            frames, at, [this](const snapshot::frame& frame) { return frame_number(frame); });
    }
    std::uint32_t frame_number(const snapshot::frame& frame) {
        const bool is_named = frame.function[0] != '\0';
        const auto line = static_cast<std::uint32_t>(frame.line);
        const std::uint64_t offset = is_named ? 0 : frame.offset;
        const auto at = frames_by_address_.insert(
            {frame.function, frame.file, frame.module, offset, line, frame.is_inlined});
        if (!at.is_new) return at.value;
        const auto known =
            frames_.insert({text_number(frame.function), text_number(frame.file), line,
                            text_number(frame.module), offset, frame.is_inlined});
        if (known.is_new) known.value = static_cast<std::uint32_t>(frames_.size() - 1);
        return at.value = known.value;
    }

    table<const void*, std::uint32_t> by_address_;
    table<text, std::uint32_t> texts_;
    table<frame_address, std::uint32_t> frames_by_address_;
    table<page_frame, std::uint32_t> frames_;
    numbers_of_frames known_frames_;
    list<std::uint32_t> frame_numbers_;  // of the rows at hand
    page_paths paths_;
    table<place_address, std::uint32_t> places_by_address_;
    table<page_place, std::uint32_t> places_;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PAGE_PAGE_NAMES_HPP
