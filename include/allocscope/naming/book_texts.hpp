// book_texts.hpp - the texts that rows point to; equal texts are kept once.
//
// Room:     naming (floor 10), not malloc-safe
// Called:   by naming/name_book.hpp and stack_namer.hpp
// Threads:  one at a time, under the naming lock
// Memory:   the texts, among those of the symbolizer, and tables over them
//
// What is derived from a text is computed once for each text. The texts that are asked about must
// stay valid, and equal texts must be one copy, like those of symbolize::kept_texts, because they
// are distinguished by their addresses. All texts end with a zero byte.

#ifndef ALLOCSCOPE_NAMING_BOOK_TEXTS_HPP
#define ALLOCSCOPE_NAMING_BOOK_TEXTS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/places/shorten_paths.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/spelling/pretty_function.hpp>
#include <allocscope/spelling/pretty_type.hpp>
#include <allocscope/symbols/kept_texts.hpp>

ALLOCSCOPE_COLD_BEGIN

namespace detail {

class book_texts {
public:
    book_texts(symbolize::kept_texts& texts, arena& scratch) noexcept
        : texts_(texts),
          scratch_(scratch),
          functions_(texts.memory()),
          paths_(texts.memory()),
          types_(texts.memory()) {}

    // The only copy of an equal text.
    const char* keep(const text& wanted) {
        return wanted.empty() ? "" : texts_.keep(wanted).data();
    }

    // The function as people write it.
    const char* pretty_function(const text& function) {
        const auto known = functions_.insert(function.data());
        if (known.is_new) known.value = keep(symbolize::pretty_function(scratch_, function));
        return known.value;
    }

    const char* tidy_path(const text& path) {
        const auto known = paths_.insert(path.data());
        if (known.is_new) known.value = keep(symbolize::tidy_path(scratch_, path));
        return known.value;
    }

    // `type` is a text that keep() returned.
    const char* printed_type(const char* type) {
        const auto known = types_.insert(type);
        if (known.is_new) {
            known.value = keep(symbolize::without_unnamed_namespaces(scratch_, type));
        }
        return known.value;
    }

private:
    symbolize::kept_texts& texts_;
    arena& scratch_;
    table<const void*, const char*> functions_;
    table<const void*, const char*> paths_;
    table<const void*, const char*> types_;
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_BOOK_TEXTS_HPP
