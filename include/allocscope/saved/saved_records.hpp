// saved_records.hpp - reads the records of a saved snapshot.
//
// Room:     saved (floor 11), not malloc-safe
// Called:   by the other files of saved/ and by formats/convert_snapshot.hpp; for the stacks, by
//           the first caller who asks for them
// Threads:  one at a time; what has been read never changes
// Memory:   in the block of the snapshot, which also has the file: texts are used in place
//
// Every number is checked before it is used: an index must be less than the count of what it
// numbers. A missing number is 0.

#ifndef ALLOCSCOPE_SAVED_SAVED_RECORDS_HPP
#define ALLOCSCOPE_SAVED_SAVED_RECORDS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/byte_cursor.hpp>
#include <allocscope/config.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/snapshot/snapshot_block.hpp>

#include <climits>  // INT_MAX
#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t, uint8_t
#include <cstring>  // memcpy

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// --- records ---

// Reads the fields of a record. A missing field is 0, because older versions wrote fewer.
//
// A large file has a hundred million numbers, nearly all of one to four bytes. This class reads
// numbers of up to ten bytes itself; a byte_cursor reads the others. Four bytes are read at once,
// so there must be `ahead` more bytes after the last field.
class saved_fields {
public:
    static constexpr std::size_t ahead = 3;

    explicit saved_fields(const text& bytes) noexcept
        : at_(reinterpret_cast<const std::uint8_t*>(bytes.data())), end_(at_ + bytes.size()) {}

    bool is_at_end() const noexcept { return at_ == end_; }
    bool is_damaged() const noexcept { return is_damaged_; }
    std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }

    ALLOCSCOPE_INLINE std::uint64_t number() noexcept {
        if (is_at_end()) return 0;
        return *at_ < 0x80U ? *at_++ : several_bytes();
    }
    // Reads a number that must be less than `count`, such as an index.
    std::size_t number_below(std::size_t count) noexcept { return checked(number(), count); }
    // Calls work(index) for each number that is left; each must be less than `count`. Returns how
    // many there are.
    template <class Work>
    ALLOCSCOPE_INLINE std::size_t for_each_index(std::size_t count, const Work& work) noexcept {
        saved_fields from = *this;  // in registers
        std::size_t found = 0;
        for (; !from.is_at_end(); ++found) {
            const std::uint64_t value = *from.at_ < 0x80U ? *from.at_++ : from.number_inlined();
            work(from.checked(value, count));
        }
        *this = from;
        return found;
    }
    int small_number() noexcept {
        return static_cast<int>(number_below(static_cast<std::size_t>(INT_MAX) + 1));
    }
    text bytes(std::uint64_t count) noexcept {
        if (count > left()) {
            fail();
            return {};
        }
        const std::size_t size = count;
        const text taken{reinterpret_cast<const char*>(at_), size};
        at_ += count;
        return taken;
    }
    estimate number_95() noexcept {
        estimate read{};
        read.value = number();
        read.low = read.value - number();
        read.high = read.value + number();
        return read;
    }

private:
    // From here on, every field is missing.
    void fail() noexcept {
        is_damaged_ = true;
        at_ = end_;
    }

    ALLOCSCOPE_INLINE std::size_t checked(std::uint64_t value, std::size_t count) noexcept {
        if (value < count) return value;
        fail();
        return 0;
    }

    ALLOCSCOPE_NOINLINE std::uint64_t several_bytes() noexcept { return number_inlined(); }

    // Up to four bytes. The last byte of a number, the first below 0x80, is found without a loop.
    // Then the groups of seven bits are moved together two by two.
    ALLOCSCOPE_INLINE std::uint64_t number_inlined() noexcept {
        std::uint32_t word = 0;
        std::memcpy(&word, at_, 4);
        const std::uint32_t last = ~word & 0x80808080U;
        const auto size = static_cast<std::size_t>(__builtin_ctz(last | 0x80000000U)) / 8 + 1;
        if (last == 0 || size > left()) {
            saved_fields rest = *this;  // so that this one can be in registers
            const std::uint64_t value = rest.long_number();
            *this = rest;
            return value;
        }
        at_ += size;
        word &= (last ^ (last - 1)) & 0x7f7f7f7fU;
        word = (word & 0x007f007fU) | (word & 0x7f007f00U) >> 1U;
        return (word & 0x00003fffU) | (word & 0x3fff0000U) >> 2U;
    }

    // The same for up to eight bytes. A negative number has ten; the last of them is its sign.
    ALLOCSCOPE_NOINLINE std::uint64_t long_number() noexcept {
        if (left() < 10) return any_number();
        std::uint64_t word = 0;
        std::memcpy(&word, at_, 8);
        const std::uint64_t last = ~word & 0x8080808080808080U;
        if (last == 0 && (at_[8] < 0x80U || at_[9] >= 0x80U)) return any_number();
        const std::uint64_t top = last == 0 ? std::uint64_t{at_[8] & 0x7fU} << 56U : 0;
        const std::uint64_t sign = last == 0 ? std::uint64_t{at_[9]} << 63U : 0;
        at_ += last == 0 ? 10 : static_cast<std::size_t>(__builtin_ctzll(last)) / 8 + 1;
        word &= (last ^ (last - 1)) & 0x7f7f7f7f7f7f7f7fU;
        word = (word & 0x007f007f007f007fU) | (word & 0x7f007f007f007f00U) >> 1U;
        word = (word & 0x00003fff00003fffU) | (word & 0x3fff00003fff0000U) >> 2U;
        return (word & 0x000000000fffffffU) | (word & 0x0fffffff00000000U) >> 4U | top | sign;
    }

    ALLOCSCOPE_NOINLINE std::uint64_t any_number() noexcept {
        byte_cursor rest{{at_, left()}};
        const std::uint64_t value = rest.uleb();
        if (rest.ok()) {
            at_ += rest.at();
        } else {
            fail();
        }
        return value;
    }

    const std::uint8_t* at_;
    const std::uint8_t* end_;
    bool is_damaged_ = false;
};

// How many numbers these bytes have. Each number ends with a byte below 0x80.
inline std::size_t count_of_numbers(const text& bytes) noexcept {
    std::size_t longer = 0;
    const char* at = bytes.data();
    const char* const end = at + bytes.size();
    for (; end - at >= 8; at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, at, sizeof word);
        longer += ((word >> 7U) & 0x0101010101010101U) * 0x0101010101010101U >> 56U;
    }
    for (; at != end; ++at) longer += static_cast<std::uint8_t>(*at) >> 7U;
    return bytes.size() - longer;
}

// --- the contents of the file ---

// A file may have a million stacks, so what is kept of each takes 16 bytes.
struct saved_stack {
    const char* frame_numbers;
    std::uint32_t bytes;  // of the numbers
    std::uint32_t frame_count;

    saved_fields numbers() const noexcept { return saved_fields{{frame_numbers, bytes}}; }
};

struct saved_sums {
    const char* record;
    std::uint32_t bytes;  // of the record
    std::uint32_t stack;  // in loaded_parts::stacks

    saved_fields fields() const noexcept { return saved_fields{{record, bytes}}; }
};

// What a stack has if several threads allocated there, or if the window has details.
struct more_of_sums {
    std::size_t first_part, part_count;  // in loaded_parts::thread_parts
    const snapshot::stack_details* details;
};

// All lists lie in the block of the snapshot, and so does the file.
struct loaded_parts {
    explicit loaded_parts(arena& memory) noexcept
        : texts(memory),
          frames(memory),
          stacks(memory),
          losses(memory),
          families(memory),
          moments(memory),
          ages(memory),
          modules(memory),
          threads(memory),
          thread_parts(memory),
          sums(memory),
          more(memory),
          laid_out(memory),
          stack_of_row(memory),
          user_frame_of_row(memory) {}

    list<const char*> texts;  // the first is ""
    list<snapshot::frame> frames;
    list<saved_stack> stacks;
    list<snapshot::loss> losses;
    list<snapshot::family> families;
    list<snapshot::moment> moments;
    list<snapshot::age> ages;
    list<snapshot::module> modules;
    list<snapshot::thread> threads;
    list<snapshot::thread_part> thread_parts;
    list<saved_sums> sums;
    list<more_of_sums> more;  // by the number of the sums, up to the last that has it
    list<const snapshot::frame*>
        laid_out;  // by the number of the stack; null, or past its end: not
    list<std::size_t> stack_of_row;
    list<std::uint32_t> user_frame_of_row;  // also for rows that get no frames
    snapshot::window_info info{};
    bool has_info = false;
    bool has_stacks = false;
    bool are_rows_in_order = false;  // the file has them in the order of a snapshot
    std::size_t rows_left_out = 0;   // how many of them the snapshot does not have
};

inline const char* read_text(const loaded_parts& parts, saved_fields& from) noexcept {
    return parts.texts[from.number_below(parts.texts.size())];
}

// Calls work(i, number of the frame) for each frame of a stack. A number that the loader did not
// check may be damaged; it and those after it count as 0.
template <class Work>
ALLOCSCOPE_INLINE void for_each_frame(const loaded_parts& parts, const saved_stack& stack,
                                      const Work& work) {
    std::size_t i = 0;
    stack.numbers().for_each_index(parts.frames.size(), [&](std::size_t frame) {
        if (i < stack.frame_count) work(i++, frame);
    });
    while (i < stack.frame_count) work(i++, 0);
}

// The frames of a stack, in `memory`, unless they were laid out before.
inline const snapshot::frame* frames_of(const loaded_parts& parts, std::size_t number,
                                        arena& memory) {
    const saved_stack& stack = parts.stacks[number];
    if (stack.frame_count == 0) return nullptr;
    if (number < parts.laid_out.size() && parts.laid_out[number] != nullptr) {
        return parts.laid_out[number];
    }
    auto* made =
        static_cast<snapshot::frame*>(memory.allocate(stack.frame_count * sizeof(snapshot::frame)));
    for_each_frame(parts, stack,
                   [&](std::size_t i, std::size_t frame) { made[i] = parts.frames[frame]; });
    return made;
}

// Reads the 95% intervals of objects and bytes. They are stored as distances from the numbers.
template <class Row>
void read_intervals(saved_fields& from, Row& into) noexcept {
    into.objects_low = into.objects - from.number();
    into.objects_high = into.objects + from.number();
    into.bytes_low = into.bytes - from.number();
    into.bytes_high = into.bytes + from.number();
}

// Reads the fields that rows and stacks have in common, except the frames. Returns the number of
// the saved_stack.
template <class Row>
std::size_t read_place(const loaded_parts& parts, saved_fields& from, Row& into) noexcept {
    if (parts.stacks.empty()) {
        from.number_below(0);  // damaged
        return 0;
    }
    const std::size_t stack = from.number_below(parts.stacks.size());
    into.frame_count = parts.stacks[stack].frame_count;
    into.user_frame = from.number_below(into.frame_count + 1);
    into.objects = from.number();
    into.bytes = from.number();
    into.file = read_text(parts, from);
    into.line = from.small_number();
    into.type = read_text(parts, from);
    into.function = read_text(parts, from);
    into.offset = from.number();
    into.samples = from.number();
    read_intervals(from, into);
    return stack;
}

// An age is a number of the file, or 0 in a file without ages.
inline std::size_t read_age(const loaded_parts& parts, saved_fields& from) noexcept {
    return parts.ages.empty() ? 0 : from.number_below(parts.ages.size());
}

inline std::size_t read_sums(const loaded_parts& parts, saved_fields& from,
                             snapshot::stack& into) noexcept {
    const std::size_t stack = read_place(parts, from, into);
    into.allocations = from.number();
    into.bytes_allocated = from.number();
    into.type_source = read_text(parts, from);
    const std::size_t thread =
        from.number_below(parts.threads.size() + 1);  // from 1; 0: several, or none
    into.thread_count = thread != 0 ? 1 : 0;
    into.thread = thread != 0 ? thread - 1 : 0;
    into.age = read_age(parts, from);
    return stack;
}

inline snapshot::thread_part read_part(const loaded_parts& parts, saved_fields& from) noexcept {
    snapshot::thread_part part{};
    part.thread = from.number_below(parts.threads.size());
    part.objects = from.number();
    part.bytes = from.number();
    part.allocations = from.number();
    part.bytes_allocated = from.number();
    part.samples = from.number();
    read_intervals(from, part);
    part.age = read_age(parts, from);
    return part;
}

// Reads what the file says about a stack, except its frames.
inline void read_stack(const loaded_parts& parts, std::size_t number, snapshot::stack& into) {
    saved_fields fields = parts.sums[number].fields();
    read_sums(parts, fields, into);
    if (number >= parts.more.size()) return;
    const more_of_sums& more = parts.more[number];
    into.details = more.details;
    if (more.part_count > 1) {
        into.thread_count = more.part_count;
        into.by_thread = parts.thread_parts.data() + more.first_part;
        into.thread = into.by_thread->thread;
        into.age = into.by_thread->age;
    }
}

// All records were checked when the file was loaded.
inline void find_stacks_of_file(const snapshot_data&, const void* source, later_stacks& made) {
    const auto& parts = *static_cast<const loaded_parts*>(source);
    arena scratch;
    list<const snapshot::frame*> frames{scratch};
    frames.resize(parts.stacks.size());
    list<snapshot::stack> stacks{made.memory};
    stacks.reserve(parts.sums.size());
    for (std::size_t i = 0; i < parts.sums.size(); ++i) {
        snapshot::stack stack{};
        read_stack(parts, i, stack);
        const snapshot::frame*& laid_out = frames[parts.sums[i].stack];
        if (laid_out == nullptr) laid_out = frames_of(parts, parts.sums[i].stack, made.memory);
        stack.frames = laid_out;
        stacks.push_back(stack);
    }
    made.table = {stacks.data(),        stacks.size(),        parts.modules.data(),
                  parts.modules.size(), parts.threads.data(), parts.threads.size()};
}

// The frames of a saved_stack by their numbers, in `memory`. `stack` serves as the path number.
inline numbered_frames numbered_frames_of(const loaded_parts& parts, std::size_t stack,
                                          arena& memory) {
    const saved_stack& of = parts.stacks[stack];
    auto* const numbers =
        static_cast<std::uint32_t*>(memory.allocate(of.frame_count * sizeof(std::uint32_t)));
    for_each_frame(parts, of, [numbers](std::size_t i, std::size_t frame) {
        numbers[i] = static_cast<std::uint32_t>(frame);
    });
    return {parts.frames.data(), numbers, of.frame_count, stack, true};
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SAVED_SAVED_RECORDS_HPP
