// page_names.hpp - numbers the texts, frames, paths and places of a page; equal ones are kept once.
//
// Room:     page (floor 10), not malloc-safe
// Called:   by page/page_data.hpp
// Threads:  one
// Memory:   of an arena: about 100 bytes for each frame, place and text; none for a stack
//           that has the path of another
//
//     meet_frames(frames)           // for each of a few stacks, then
//     number_paths(stacks, ...)     // for all of these; see page/page_paths.hpp
//     place_number(row)             // the number of its file:line:type
//
// A frame that has a number, as in a file, is looked up by that number. Other frames, and places,
// are looked up by the addresses of their texts, because equal texts mostly have one address. Only
// what is not found in this way is compared as text.

#ifndef ALLOCSCOPE_PAGE_PAGE_NAMES_HPP
#define ALLOCSCOPE_PAGE_PAGE_NAMES_HPP

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

// A frame as a page shows it. It has an offset only if its function has no name.
struct page_frame {
    std::uint32_t function, file, module;  // numbers of texts
    std::uint32_t line : 31;
    bool is_inlined : 1;
    std::uint64_t offset;
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

// file:line:type, or file+offset:type, as in a row. The function comes from the first row or stack
// with this place.
struct page_place {
    std::uint32_t file, line, type, function;
    std::uint64_t offset;
};

struct numbered_place {
    std::uint32_t number;
    std::uint32_t type_source;  // of the first row or stack with this place
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
          new_frames_(memory),
          frame_numbers_(memory),
          paths_(memory),
          near_texts_(memory),
          near_places_(memory),
          near_frames_(memory),
          places_(memory) {
        near_texts_.resize(least_near_texts);
        near_places_.resize(near_place_count);
    }

    // Reserves memory; call it before the first stack. There may be fewer or more of each.
    void reserve(std::size_t stacks, std::size_t frames, std::size_t places) {
        paths_.reserve(stacks);
        known_frames_.reserve(frames);
        frames_.reserve(frames);
        places_.reserve(places);
        std::size_t count = least_near_texts;
        while (count < stacks / 16 && count < most_near_texts) count *= 2;
        near_texts_.resize(count);
    }

    std::uint32_t text_number(const char* shown) { return text_of(shown).number; }

    // Notes the frames of the next row or stack whose path number_paths() will find. Frames without
    // numbers may be released then. All frames between two calls of number_paths() must come from
    // one source.
    void meet_frames(const numbered_frames& frames) {
        std::size_t at = frame_numbers_.size();
        frame_numbers_.resize(at + frames.count);
        if (frames.numbers == nullptr) {
            for (std::size_t k = 0; k < frames.count; ++k) {
                frame_numbers_[at++] = number_by_address(frames.frames[k]);
            }
            return;
        }
        source_frames_ = frames.frames;
        for (std::size_t k = 0; k < frames.count; ++k) {
            const std::uint32_t given = frames.numbers[k];
            if (given < known_frames_.size()) __builtin_prefetch(&known_frames_[given]);
            frame_numbers_[at++] = given;
        }
    }

    // Writes to `paths` the paths of the rows or stacks whose frames were met, at most `at_once`.
    // It follows all paths in step: each step waits for memory, and so these waits overlap.
    template <class Row>
    void number_paths(const Row* rows, std::size_t count, std::uint32_t* paths) {
        if (source_frames_ != nullptr) number_frames();
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
                if (depth <= rows[i].frame_count) paths_.expect_first(paths[i]);
            }
            for (std::size_t i = 0; i < count; ++i) {
                if (depth <= rows[i].frame_count) paths_.expect(paths[i], frame_of(i));
            }
            for (std::size_t i = 0; i < count; ++i) {
                if (depth <= rows[i].frame_count) paths[i] = paths_.below(paths[i], frame_of(i));
            }
        }
        frame_numbers_.clear();
    }

    // Writes to `places` the numbers of the places of at most `at_once` rows or stacks.
    template <class Row>
    void number_places(const Row* rows, std::size_t count, std::uint32_t* places) {
        new_place made[at_once];
        for (std::size_t i = 0; i < count; ++i) {
            const place_address here = address_of_place(rows[i]);
            const near_place& last = near_of(here);
            places[i] = last.place == here ? last.number : unknown;
            if (places[i] != unknown) continue;
            made[i] = place_of(here);
            places_.expect(made[i].place);
        }
        for (std::size_t i = 0; i < count; ++i) {
            if (places[i] == unknown) places[i] = number_of(made[i], address_of_place(rows[i]));
        }
    }

    template <class Row>
    std::uint32_t place_number(const Row& row) {
        std::uint32_t place = 0;
        number_places(&row, 1, &place);
        return place;
    }

    // Each in the order of the numbers. In the tables, the keys are what is numbered.
    const table<text, std::uint32_t>& texts() const noexcept { return texts_; }
    const table<page_frame, std::uint32_t>& frames() const noexcept { return frames_; }
    const list<page_path>& paths() const noexcept { return paths_.all(); }
    const table<page_place, numbered_place>& places() const noexcept { return places_; }

private:
    // What was looked up last for each hash, so that it is found without a table.
    static constexpr std::size_t least_near_texts = 2048;
    static constexpr std::size_t most_near_texts = 32768;
    static constexpr std::size_t near_place_count = 8192;
    static constexpr std::size_t near_frame_count = 8192;
    struct near_text {
        const char* address;  // null: none
        std::uint32_t number;
        bool is_empty;
    };
    struct near_place {
        place_address place;  // without a file: none
        std::uint32_t number;
    };
    struct near_frame {
        frame_address frame;  // without a function: none
        std::uint32_t number;
    };
    struct new_place {
        page_place place;
        std::uint32_t type_source;
    };
    struct new_frame {
        page_frame frame;
        std::size_t at;       // its index in frame_numbers_
        std::uint32_t given;  // its number in the source
    };

    static constexpr std::uint32_t unknown = ~std::uint32_t{0};

    near_text text_of(const char* shown) {
        near_text& last = near_texts_[plain::hash_of_key(shown) & (near_texts_.size() - 1)];
        if (last.address == shown) return last;
        const auto known = by_address_.insert(shown);
        if (known.is_new) {
            const auto at = texts_.insert(text{shown});
            if (at.is_new) at.value = static_cast<std::uint32_t>(texts_.size() - 1);
            known.value = at.value;
        }
        return last = {shown, known.value, shown[0] == '\0'};
    }

    template <class Row>
    static place_address address_of_place(const Row& row) noexcept {
        return {row.file,
                row.type,
                row.function,
                row.type_source,
                row.line == 0 ? row.offset : 0,
                static_cast<std::uint32_t>(row.line)};
    }
    near_place& near_of(const place_address& place) const noexcept {
        return near_places_[hash_of_key(place) & (near_place_count - 1)];
    }
    new_place place_of(const place_address& here) {
        const std::uint32_t file = text_number(here.file);
        const std::uint32_t type = text_number(here.type);
        const std::uint32_t function = text_number(here.function);
        return {{file, here.line, type, function, here.offset}, text_number(here.type_source)};
    }
    std::uint32_t number_of(const new_place& made, const place_address& here) {
        const auto known = places_.insert(made.place);
        if (known.is_new) {
            known.value = {static_cast<std::uint32_t>(places_.size() - 1), made.type_source};
        }
        near_of(here) = {here, known.value.number};
        return known.value.number;
    }

    // Replaces the numbers of the source by those of the page. The lookups of new frames overlap,
    // too.
    void number_frames() {
        for (std::size_t i = 0; i < frame_numbers_.size(); ++i) {
            const std::uint32_t given = frame_numbers_[i];
            if (given >= known_frames_.size()) known_frames_.resize(given + std::size_t{1});
            if (known_frames_[given] != 0) {
                frame_numbers_[i] = known_frames_[given] - 1;
                continue;
            }
            new_frames_.push_back({frame_of(source_frames_[given]), i, given});
            frames_.expect(new_frames_.back().frame);
        }
        for (const new_frame& each : new_frames_) {
            std::uint32_t& known = known_frames_[each.given];
            if (known == 0) known = number_of(each.frame) + 1;
            frame_numbers_[each.at] = known - 1;
        }
        new_frames_.cut(0);
        source_frames_ = nullptr;
    }

    std::uint32_t number_by_address(const snapshot::frame& frame) {
        const frame_address here{frame.function,
                                 frame.file,
                                 frame.module,
                                 shown_offset(frame),
                                 static_cast<std::uint32_t>(frame.line),
                                 frame.is_inlined};
        if (near_frames_.empty()) near_frames_.resize(near_frame_count);
        near_frame& last = near_frames_[hash_of_key(here) & (near_frame_count - 1)];
        if (last.frame == here) return last.number;
        const auto at = frames_by_address_.insert(here);
        if (at.is_new) at.value = number_of(frame_of(frame));
        last = {here, at.value};
        return at.value;
    }
    page_frame frame_of(const snapshot::frame& frame) {
        const near_text function = text_of(frame.function);
        const std::uint32_t file = text_number(frame.file);
        return {function.number,           file,
                text_number(frame.module), static_cast<std::uint32_t>(frame.line) & 0x7fffffffU,
                frame.is_inlined,          function.is_empty ? frame.offset : 0};
    }
    std::uint32_t number_of(const page_frame& frame) {
        const auto known = frames_.insert(frame);
        if (known.is_new) known.value = static_cast<std::uint32_t>(frames_.size() - 1);
        return known.value;
    }
    static std::uint64_t shown_offset(const snapshot::frame& frame) noexcept {
        return frame.function[0] != '\0' ? 0 : frame.offset;
    }

    table<const void*, std::uint32_t> by_address_;
    table<text, std::uint32_t> texts_;
    table<frame_address, std::uint32_t> frames_by_address_;
    table<page_frame, std::uint32_t> frames_;
    list<std::uint32_t> known_frames_;  // by the number in the source, plus 1; 0: not met yet
    list<new_frame> new_frames_;
    const snapshot::frame* source_frames_ = nullptr;  // null: frame_numbers_ are those of the page
    list<std::uint32_t> frame_numbers_;               // of the frames that were met
    page_paths paths_;
    list<near_text> near_texts_;    // by hash
    list<near_place> near_places_;  // by hash
    list<near_frame> near_frames_;  // by hash
    table<page_place, numbered_place> places_;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PAGE_PAGE_NAMES_HPP
