// text_numbers.hpp - gives equal texts the same number.
//
// Room:     plain (floor 2), not malloc-safe
// Called:   wherever texts are compared often: by grouping/, by saved/save_snapshot.hpp and by
//           formats/
// Threads:  one at a time
// Memory:   from its arena; the texts themselves belong to the caller and must stay
//
//     text_numbers names{memory};
//     names.number_of("a");        // 0
//     names[0];                    // "a"
//
// A text is read only once for each place where it lies. After that its pointer is found in a
// table.

#ifndef ALLOCSCOPE_PLAIN_TEXT_NUMBERS_HPP
#define ALLOCSCOPE_PLAIN_TEXT_NUMBERS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t

ALLOCSCOPE_COOL_BEGIN

namespace plain {

class text_numbers {
public:
    explicit text_numbers(arena& memory) noexcept
        : by_pointer_(memory), by_text_(memory), texts_(memory) {}

    // The number of a zero-ended text that stays where it is. A null pointer is the empty text.
    std::uint32_t number_of(const char* kept) {
        const auto known = by_pointer_.insert(kept);
        if (known.is_new) known.value = number_of_text(kept != nullptr ? kept : "");
        return known.value;
    }

    // The number of a text that stays where it is.
    std::uint32_t number_of_text(const text& kept) {
        const auto known = by_text_.insert(kept);
        if (known.is_new) {
            known.value = static_cast<std::uint32_t>(texts_.size());
            texts_.push_back(kept);
        }
        return known.value;
    }

    std::size_t size() const noexcept { return texts_.size(); }
    text operator[](std::size_t number) const noexcept { return texts_[number]; }

private:
    table<const void*, std::uint32_t> by_pointer_;
    table<text, std::uint32_t> by_text_;
    list<text> texts_;
};

}  // namespace plain

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_PLAIN_TEXT_NUMBERS_HPP
