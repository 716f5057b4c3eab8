// location_book.hpp - numbers return addresses together with the calls inlined there.
//
// Room:     formats (floor 12), not malloc-safe
// Called:   by formats/pprof_format.hpp and formats/heaptrack_format.hpp
// Threads:  one at a time
// Memory:   of the arena that is passed in
//
//     location_book book{memory};
//     for (std::size_t i = 0; i < frames.count;) use(book.next_location(frames, i));
//     book.for_each_frame(number, [](const snapshot::frame& frame) { ... });   // innermost first
//
// A stack has a frame for each inlined call. Formats that identify code by its address have one
// location, with several lines, for all calls at a return address. Most locations have one frame;
// if the source numbers its frames, such a location is found by the number of its frame.

#ifndef ALLOCSCOPE_FORMATS_LOCATION_BOOK_HPP
#define ALLOCSCOPE_FORMATS_LOCATION_BOOK_HPP

#include <allocscope/config.hpp>
#include <allocscope/grouping/frame_book.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The outermost frame of a location, and the location of the frames that are inlined in it, or 0.
struct location_key {
    std::uint32_t inner;
    std::uint32_t frame;
};

class location_book {
public:
    explicit location_book(arena& memory)
        : frames_(memory, frames_differ_by::address),
          locations_(memory),
          around_(memory),
          of_frame_(memory),
          of_number_(memory) {}

    // Returns the number, from 1, of the location that begins at frame `at`, and moves `at` to the
    // frame after the location.
    std::uint32_t next_location(const numbered_frames& frames, std::size_t& at) {
        if (frames.numbers == nullptr) return new_location(frames, at);
        const std::uint32_t first = frames.numbers[at];
        if (first >= of_number_.size()) of_number_.resize(first + std::size_t{1});
        if (of_number_[first] != 0) {
            ++at;
            return of_number_[first];
        }
        const bool is_alone = !frames[at].is_inlined;
        const std::uint32_t number = new_location(frames, at);
        if (is_alone) of_number_[first] = number;
        return number;
    }

    // Numbers go from 1 to size(). A location that is only the inner part of others is not met.
    std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(locations_.size()); }
    bool is_met(std::uint32_t number) const noexcept { return locations_[number - 1].is_met; }

    // The frame that was not inlined, if the stack has it.
    const snapshot::frame& outermost(std::uint32_t number) const noexcept {
        return frames_[locations_[number - 1].key.frame];
    }

    // Calls work(frame), innermost first.
    template <class Work>
    void for_each_frame(std::uint32_t number, const Work& work) const {
        const location_key key = locations_[number - 1].key;
        if (key.inner != 0) for_each_frame(key.inner, work);
        work(frames_[key.frame]);
    }

    const frame_book& frames() const noexcept { return frames_; }

private:
    struct location {
        location_key key;
        bool is_met;
    };

    std::uint32_t new_location(const numbered_frames& frames, std::size_t& at) {
        std::uint32_t number = location_alone(frames, at);
        while (frames[at++].is_inlined && at < frames.count) {
            number = location_around({number, frames_.number_of(frames, at)});
        }
        locations_[number - 1].is_met = true;
        return number;
    }

    // The location of one frame, found without hashing: most locations are such.
    std::uint32_t location_alone(const numbered_frames& frames, std::size_t at) {
        const std::uint32_t number = frames_.number_of(frames, at);
        if (number >= of_frame_.size()) of_frame_.resize(number + 1);
        if (of_frame_[number] == 0) of_frame_[number] = added({0, number});
        return of_frame_[number];
    }
    // The location of a frame together with the location that is inlined in it.
    std::uint32_t location_around(location_key key) {
        const auto known = around_.insert({key});
        if (known.is_new) known.value = added(key);
        return known.value;
    }
    std::uint32_t added(location_key key) {
        locations_.push_back({key, false});
        return static_cast<std::uint32_t>(locations_.size());
    }

    frame_book frames_;
    list<location> locations_;
    table<by_bytes<location_key>, std::uint32_t> around_;
    list<std::uint32_t> of_frame_;
    list<std::uint32_t> of_number_;  // of a numbered frame that is not inlined; 0: not met
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_FORMATS_LOCATION_BOOK_HPP
