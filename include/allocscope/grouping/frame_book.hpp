// frame_book.hpp - the different frames of many stacks, each with a number.
//
// Room:     grouping (floor 8), not malloc-safe
// Called:   by grouping/call_tree.hpp and by the writers in formats/
// Threads:  one at a time
// Memory:   of the arena that is given; the texts stay those of the snapshot
//
//     frame_book book{memory, frames_differ_by::place};
//     for (std::size_t i = 0; i < stack.frame_count; ++i) use(book.number_of(stack.frames[i]));
//     book[number].function;       // of the frame that came first
//
// Stacks share most of their frames, and a frame is most often one that was met a moment ago: a
// small cache finds it by its address and pointers, without reading a text. What the cache does not
// know is compared by its texts, as equal ones may lie in two places.

#ifndef ALLOCSCOPE_GROUPING_FRAME_BOOK_HPP
#define ALLOCSCOPE_GROUPING_FRAME_BOOK_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/config.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text_numbers.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t, uintptr_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

enum class frames_differ_by {
    address,  // two calls on one line are two frames
    place     // function, file and line; where the function is unknown, module and offset
};

struct frame_key {
    std::uint64_t address;
    std::uint64_t offset;
    std::uint32_t function, file, module;
    std::uint32_t line, column;
    std::uint32_t is_inlined;
};

inline bool operator==(const frame_key& a, const frame_key& b) noexcept {
    return a.address == b.address && a.offset == b.offset && a.function == b.function &&
           a.file == b.file && a.module == b.module && a.line == b.line && a.column == b.column &&
           a.is_inlined == b.is_inlined;
}

inline std::uint64_t hash_of_key(const frame_key& key) noexcept {
    std::uint64_t hash = hash_step(hash_seed, key.address);
    hash = hash_step(hash, key.offset + key.is_inlined);
    hash = hash_step(hash, std::uint64_t{key.function} << 32U | key.file);
    hash = hash_step(hash, std::uint64_t{key.module} << 32U | key.line);
    return hash_finish(hash_step(hash, key.column));
}

class frame_book {
public:
    frame_book(arena& memory, frames_differ_by identity)
        : identity_(identity),
          texts_(memory),
          frames_(memory),
          numbers_(memory),
          cache_(static_cast<cached*>(memory.allocate(cache_size * sizeof(cached)))) {
        for (std::size_t i = 0; i < cache_size; ++i) cache_[i] = {nullptr, 0};
    }

    // The first one is 0.
    std::uint32_t number_of(const snapshot::frame& frame) {
        cached& near = cache_[place_in_cache(frame)];
        if (near.frame != nullptr && is_copy(*near.frame, frame)) return near.number;
        const auto known = numbers_.insert(key_of(frame));
        if (known.is_new) {
            known.value = static_cast<std::uint32_t>(frames_.size());
            frames_.push_back(&frame);
        }
        near = {&frame, known.value};
        return known.value;
    }

    std::size_t size() const noexcept { return frames_.size(); }
    const snapshot::frame& operator[](std::size_t number) const noexcept {
        return *frames_[number];
    }

private:
    struct cached {
        const snapshot::frame* frame;
        std::uint32_t number;
    };
    static constexpr std::size_t cache_size = 8192;

    static std::size_t place_in_cache(const snapshot::frame& frame) noexcept {
        std::uint64_t hash = hash_step(hash_seed, frame.address);
        hash = hash_step(hash, reinterpret_cast<std::uintptr_t>(frame.function) +
                                   static_cast<std::uint64_t>(frame.line));
        return hash_finish(hash) & (cache_size - 1);
    }

    static bool is_copy(const snapshot::frame& a, const snapshot::frame& b) noexcept {
        return a.address == b.address && a.function == b.function && a.line == b.line &&
               a.file == b.file && a.module == b.module && a.offset == b.offset &&
               a.column == b.column && a.is_inlined == b.is_inlined;
    }

    frame_key key_of(const snapshot::frame& frame) {
        frame_key key{};
        key.function = texts_.number_of(frame.function);
        key.file = texts_.number_of(frame.file);
        key.line = static_cast<std::uint32_t>(frame.line);
        const bool has_name = frame.function != nullptr && frame.function[0] != '\0';
        if (identity_ == frames_differ_by::address || !has_name) {
            key.module = texts_.number_of(frame.module);
            key.offset = frame.offset;
        }
        if (identity_ == frames_differ_by::address) {
            key.address = frame.address;
            key.column = static_cast<std::uint32_t>(frame.column);
            key.is_inlined = frame.is_inlined ? 1 : 0;
        }
        return key;
    }

    frames_differ_by identity_;
    text_numbers texts_;
    list<const snapshot::frame*> frames_;
    table<frame_key, std::uint32_t> numbers_;
    cached* cache_;
};

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_GROUPING_FRAME_BOOK_HPP
