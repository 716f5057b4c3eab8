// constructed_class.hpp - the class whose constructor the code calls for the memory that it got.
//
// Room:     types (floor 9), not malloc-safe
// Called:   by type_ladder.hpp, where the source does not say what is made, or cannot be read
// Threads:  any
// Memory:   of the given arena
//
//     part* p = new part(3);    calls operator new, and app::part::part(int) at the same place
//     CHECK(n > 3);             throws a failure: likewise with the memory of the exception
//
// Other constructors may have that place, too: all those in the text of one macro, and those of
// what is converted to an argument. So these classes are candidates: one of them must be as large
// as the block.

#ifndef ALLOCSCOPE_TYPES_CONSTRUCTED_CLASS_HPP
#define ALLOCSCOPE_TYPES_CONSTRUCTED_CLASS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/source/type_knowledge.hpp>
#include <allocscope/spelling/name_brackets.hpp>
#include <allocscope/symbols/code_location.hpp>

#include <cstdint>  // uint32_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// "(app::part, app::whole)", a type_answer::candidate, for the frame that asked for the memory;
// "[app::failure]" for that of an exception; "" if there is none. Classes of the standard library
// do not count: an aggregate has no constructor, and that of its first member, mostly such a class,
// has its place. But exceptions, which are no templates, are thrown themselves.
inline text constructed_classes(arena& memory, const code_frame& frame,
                                const type_knowledge& knowledge, bool is_thrown) {
    const std::uint32_t word_and_space = is_thrown ? 6 : 4;
    const auto line = static_cast<std::uint32_t>(frame.line);
    const auto column = static_cast<std::uint32_t>(frame.column);
    // g++ places both calls at one token. clang places the constructor at the name of the class.
    const line_and_column places[] = {{line, column}, {line, column + word_and_space}};
    if (column == 0) return no_text();
    text_out classes{memory};
    const text made = knowledge.made_by({}, {places, 2}, memory);
    for (const text& each : split_arguments(memory, enclosed(memory, "(", made, ")"))) {
        if (each.starts_with("std::") && (!is_thrown || each.ends_with(">"))) continue;
        classes << (!classes.empty() ? ", " : is_thrown ? "[" : "(") << each;
    }
    return classes.empty() ? text{} : (classes << (is_thrown ? ']' : ')')).view();
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_CONSTRUCTED_CLASS_HPP
