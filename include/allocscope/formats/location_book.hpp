// location_book.hpp - numbers return addresses together with the calls inlined there.
//
// Room:     formats (floor 11), not malloc-safe
// Called:   by formats/pprof_format.hpp and formats/heaptrack_format.hpp
// Threads:  one at a time
// Memory:   of the arena that is passed in
//
//     location_book book{memory};
//     for (std::size_t i = 0; i < stack.frame_count;) use(book.next_location(stack, i));
//     book.for_each_frame(number, [](const snapshot::frame& frame) { ... });   // innermost first
//
// A stack has a frame for each inlined call. In formats that identify code by its address, these
// frames are one location with several lines.

#ifndef ALLOCSCOPE_FORMATS_LOCATION_BOOK_HPP
#define ALLOCSCOPE_FORMATS_LOCATION_BOOK_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/config.hpp>
#include <allocscope/grouping/frame_book.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// The outermost frame of a location, and the location of the frames inlined there; 0: none.
struct location_key {
    std::uint32_t inner;
    std::uint32_t frame;
};

inline bool operator==(location_key a, location_key b) noexcept {
    return a.inner == b.inner && a.frame == b.frame;
}
inline std::uint64_t hash_of_key(location_key key) noexcept {
    return hash_finish(hash_step(hash_seed, std::uint64_t{key.inner} << 32U | key.frame));
}

class location_book {
public:
    explicit location_book(arena& memory)
        : frames_(memory, frames_differ_by::address), locations_(memory), of_frame_(memory) {}

    // Returns the number, from 1, of the location that begins at frame `at`, and moves `at` behind
    // it.
    std::uint32_t next_location(const snapshot::stack& stack, std::size_t& at) {
        std::uint32_t number = location_of(stack.frames[at]);
        while (stack.frames[at++].is_inlined && at < stack.frame_count) {
            number = location_of({number, frames_.number_of(stack.frames[at])});
        }
        locations_.begin()[number - 1].value.is_met = true;
        return number;
    }

    // Numbers are from 1 to size(); some are only the inner part of others.
    std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(locations_.size()); }
    bool is_met(std::uint32_t number) const noexcept {
        return locations_.begin()[number - 1].value.is_met;
    }

    // The frame that was not inlined, if the stack has it.
    const snapshot::frame& outermost(std::uint32_t number) const noexcept {
        return frames_[locations_.begin()[number - 1].key.frame];
    }

    // Innermost first.
    template <class Work>
    void for_each_frame(std::uint32_t number, const Work& work) const {
        const location_key key = locations_.begin()[number - 1].key;
        if (key.inner != 0) for_each_frame(key.inner, work);
        work(frames_[key.frame]);
    }

    const frame_book& frames() const noexcept { return frames_; }

private:
    struct location {
        std::uint32_t number;
        bool is_met;
    };

    // The location of a single frame: most are, and they are found without hashing.
    std::uint32_t location_of(const snapshot::frame& frame) {
        const std::uint32_t number = frames_.number_of(frame);
        if (number >= of_frame_.size()) of_frame_.resize(number + 1);
        if (of_frame_[number] == 0) of_frame_[number] = location_of({0, number});
        return of_frame_[number];
    }
    std::uint32_t location_of(location_key key) {
        const auto known = locations_.insert(key);
        if (known.is_new) known.value.number = static_cast<std::uint32_t>(locations_.size());
        return known.value.number;
    }

    frame_book frames_;
    table<location_key, location> locations_;
    list<std::uint32_t> of_frame_;
};

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_FORMATS_LOCATION_BOOK_HPP
