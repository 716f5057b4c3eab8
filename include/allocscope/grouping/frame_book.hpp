// frame_book.hpp - gives each different frame of many stacks a number.
//
// Room:     grouping (floor 8), not malloc-safe
// Called:   by grouping/, saved/save_snapshot.hpp and the writers in formats/
// Threads:  one at a time
// Memory:   of the arena that is passed in: 160 bytes for each different frame; the texts stay in
//           the snapshot
//
//     frame_book book{memory, frames_differ_by::place};
//     for (std::size_t i = 0; i < stack.frame_count; ++i) use(book.number_of(stack.frames[i]));
//     book[number].function;       // of the first frame with this number
//
// Stacks share most of their frames. A copy of a frame that was met before is found by its address
// and pointers, without reading a text. Other frames are compared by their texts, because equal
// texts may lie in two places. The book copies the frames, so the originals need not stay. Where
// frames have numbers already, one look-up in a list is enough. In a file frames with different
// numbers are different, so their texts are not compared if the address matters.

#ifndef ALLOCSCOPE_GROUPING_FRAME_BOOK_HPP
#define ALLOCSCOPE_GROUPING_FRAME_BOOK_HPP

#include <allocscope/base/hash_mix.hpp>
#include <allocscope/config.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text_numbers.hpp>
#include <allocscope/snapshot/numbered_function.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t, uintptr_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

enum class frames_differ_by {
    address,  // two calls on one line are different frames
    place,    // function, file and line; if the function is unknown, module and offset; if it is
              // called by its number, module and function
    texts     // everything but the address, which differs between processes, and the column
};

struct frame_key {
    std::uint64_t address;
    std::uint64_t offset;
    std::uint32_t function, file, module;
    std::uint32_t line, column;
    std::uint32_t is_inlined;
};

// A frame as it was met: two of them are equal if they are copies of each other.
struct met_frame {
    snapshot::frame frame;
};

inline bool is_copy(const snapshot::frame& a, const snapshot::frame& b) noexcept {
    return a.address == b.address && a.function == b.function && a.line == b.line &&
           a.file == b.file && a.module == b.module && a.offset == b.offset &&
           a.column == b.column && a.is_inlined == b.is_inlined;
}
inline std::uint64_t hash_of_copy(const snapshot::frame& frame) noexcept {
    const std::uint64_t hash = hash_step(hash_seed, frame.address);
    return hash_finish(hash_step(hash, reinterpret_cast<std::uintptr_t>(frame.function) +
                                           static_cast<std::uint64_t>(frame.line)));
}

inline bool operator==(const met_frame& a, const met_frame& b) noexcept {
    return is_copy(a.frame, b.frame);
}
inline std::uint64_t hash_of_key(const met_frame& key) noexcept {
    return hash_of_copy(key.frame);
}

class frame_book {
public:
    frame_book(arena& memory, frames_differ_by identity)
        : identity_(identity),
          texts_(memory),
          frames_(memory),
          numbers_(memory),
          met_(memory),
          near_(memory),
          known_(memory) {
        near_.resize(near_count);
    }

    // The first number is 0.
    std::uint32_t number_of(const snapshot::frame& frame) {
        std::uint32_t& number_of_last = near_[hash_of_copy(frame) & (near_count - 1)];
        if (number_of_last != 0) {
            const auto& last = met_.begin()[number_of_last - 1];
            if (is_copy(last.key.frame, frame)) return last.value.number;
        }
        if (const met_number* known = met_.find({frame})) {
            number_of_last = known->met;
            return known->number;
        }
        const std::uint32_t number = number_by_texts(frame);
        if (met_.size() < most_met) {
            number_of_last = static_cast<std::uint32_t>(met_.size() + 1);
            met_[{frame}] = {number, number_of_last};
        }
        return number;
    }

    std::uint32_t number_of(const numbered_frames& frames, std::size_t at) {
        if (frames.numbers == nullptr) return number_of(frames[at]);
        const bool is_new = frames.are_different && identity_ == frames_differ_by::address;
        return known_.find(frames, at, [this, is_new](const snapshot::frame& frame) {
            return is_new ? added(frame) : number_by_texts(frame);
        });
    }

    std::size_t size() const noexcept { return frames_.size(); }
    // Valid until the next number_of().
    const snapshot::frame& operator[](std::size_t number) const noexcept { return frames_[number]; }

private:
    // A snapshot that was made by hand may have a separate copy of each text for each frame.
    static constexpr std::size_t most_met = std::size_t{1} << 20U;
    // Neighbouring stacks share most of their frames, which are found here at once.
    static constexpr std::size_t near_count = 8192;

    struct met_number {
        std::uint32_t number;
        std::uint32_t met;  // how many frames had been met, this one included
    };

    std::uint32_t number_by_texts(const snapshot::frame& frame) {
        const auto known = numbers_.insert({key_of(frame)});
        if (known.is_new) known.value = added(frame);
        return known.value;
    }
    std::uint32_t added(const snapshot::frame& frame) {
        frames_.push_back(frame);
        return static_cast<std::uint32_t>(frames_.size() - 1);
    }

    frame_key key_of(const snapshot::frame& frame) {
        frame_key key{};
        key.function = texts_.number_of(frame.function);
        key.file = texts_.number_of(frame.file);
        key.line = static_cast<std::uint32_t>(frame.line);
        const bool has_name = frame.function != nullptr && frame.function[0] != '\0';
        if (identity_ != frames_differ_by::place || !has_name) {
            key.module = texts_.number_of(frame.module);
            key.offset = frame.offset;
        } else if (is_numbered(frame)) {
            key.module = texts_.number_of(frame.module);  // its name is only the end of the path
        }
        if (identity_ != frames_differ_by::place) key.is_inlined = frame.is_inlined ? 1 : 0;
        if (identity_ == frames_differ_by::address) {
            key.address = frame.address;
            key.column = static_cast<std::uint32_t>(frame.column);
        }
        return key;
    }

    frames_differ_by identity_;
    text_numbers texts_;
    list<snapshot::frame> frames_;
    table<by_bytes<frame_key>, std::uint32_t> numbers_;
    table<met_frame, met_number> met_;
    list<std::uint32_t> near_;  // by hash: of the frame that was met there last, `met`; 0: none
    numbers_of_frames known_;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_GROUPING_FRAME_BOOK_HPP
