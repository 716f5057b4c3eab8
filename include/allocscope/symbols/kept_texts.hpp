// kept_texts.hpp - the texts of all resolved addresses; equal texts are kept once.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by the symbolizer and its helpers, for names of functions and files, and by
//           naming/book_texts.hpp
// Threads:  one at a time
// Memory:   the texts and a table over them, in the arena of the caller; a second arena for texts
//           that are still being built
//
// A thousand places name the same few functions and files again and again.

#ifndef ALLOCSCOPE_SYMBOLS_KEPT_TEXTS_HPP
#define ALLOCSCOPE_SYMBOLS_KEPT_TEXTS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>

ALLOCSCOPE_COOL_BEGIN

namespace symbolize {

class kept_texts {
public:
    ALLOCSCOPE_INLINE explicit kept_texts(arena& kept) noexcept : kept_(kept), texts_(kept) {}

    // A zero-terminated copy that lives as long as the arena.
    text keep(const text& wanted) {
        if (const text* known = texts_.find(wanted)) return *known;
        const text kept = copy_of(kept_, wanted);
        texts_[kept] = kept;
        return kept;
    }

    ALLOCSCOPE_INLINE arena& memory() const noexcept { return kept_; }

    // Memory that callers borrow to build a text before it is kept.
    arena& scratch() noexcept { return scratch_; }

private:
    arena& kept_;
    arena scratch_;
    table<text, text> texts_;
};

}  // namespace symbolize

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_SYMBOLS_KEPT_TEXTS_HPP
