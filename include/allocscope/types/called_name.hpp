// called_name.hpp - the name of an inlined function with the template arguments of its class.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by type_ladder.hpp; bare_requests.hpp reads the place of a call with it
// Threads:  one cache belongs to one thread
// Memory:   of the arenas of read_names
//
// With -g1 an inlined function has only its own name. The source of its caller has the rest:
//
//     auto all = box<int>::make(1);        // "make" is "box<int>::make"

#ifndef ALLOCSCOPE_TYPES_CALLED_NAME_HPP
#define ALLOCSCOPE_TYPES_CALLED_NAME_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/types/declared_variable.hpp>
#include <allocscope/types/default_arguments.hpp>
#include <allocscope/types/function_name.hpp>
#include <allocscope/types/implied_new.hpp>
#include <allocscope/types/name_brackets.hpp>
#include <allocscope/types/new_expressions.hpp>
#include <allocscope/types/read_names.hpp>
#include <allocscope/types/source_cache.hpp>
#include <allocscope/types/source_of_frame.hpp>
#include <allocscope/types/source_tokens.hpp>
#include <allocscope/types/type_from_source.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// The function's name without scopes and arguments; "" if the text is not a function's name.
inline text own_name_of(const read_name& name) noexcept {
    return name.parts.is_known() ? name.parts.last().name : text{};
}

// The type in the tokens from `begin` to `end`, as it is meant at the place of a call in a frame;
// "" if that is not certain. The frame is not the one that `knowledge` is about.
inline text spelled_at(read_names& names, const code_frame& frame, const source_outline& file,
                       std::size_t at, std::size_t begin, std::size_t end,
                       type_knowledge knowledge) {
    knowledge.meaning = nullptr;
    new_expression place;
    place.begin = begin;
    place.scope = file.scope_of(at);
    const function_name& function = names.of(frame.function).parts;
    return source_spelling{names.scratch(), file, place, function, knowledge}.spelled(begin, end);
}

// The name of an inlined function as its caller writes it, if the caller writes template arguments:
// "box<int>::make" for `box<int>::make(1)`. Otherwise the name in the frame. Clang places the call
// at its first token; g++ at its last one, or at the bracket of the call that has it as an
// argument.
inline text called_name(read_names& names, const list<code_frame>& frames, std::size_t called,
                        source_cache& sources, const type_knowledge& knowledge) {
    const text function = frames[called].function;
    if (names.of(function).parts.components.size() != 1 || called + 1 == frames.size()) {
        return function;
    }
    const code_frame& caller = frames[called + 1];
    const source_outline* file = nullptr;
    const std::size_t at = token_of(caller, sources, file);
    if (at == 0 || !frames[called].is_inlined) return function;
    constexpr std::size_t far_away = 64;
    const text own = own_name_of(names.of(function));
    const text sign = file->text_at(at);
    const std::size_t partner = file->partner(at);
    const std::size_t first = sign == ")" && partner > 0 ? partner - 1 : at;
    const std::size_t end = sign == "(" ? partner : first + far_away;
    std::size_t name = 0;
    for (std::size_t i = first; i < end && i + 1 < file->tokens().size(); ++i) {
        if (file->text_at(i + 1) == "(" && file->text_at(i) == own) {
            if (name != 0) return function;
            name = i;
        }
        if (sign != "(" && file->text_at(i + 1) == "(") break;
    }
    const std::size_t begin =
        name > 2 && file->text_at(name - 1) == "::" ? begin_of_type(*file, name + 1) : 0;
    if (begin == 0 || (is_word(sign) && begin != at)) return function;
    const text scope = spelled_at(names, caller, *file, at, begin, name - 1, knowledge);
    if (!scope.ends_with(">")) return function;
    // A base class that has the function may have other arguments.
    const text whole = joined(names.memory(), scope, "::", own);
    const function_name& parts = names.of(whole).parts;
    const source_outline* inner = nullptr;
    const std::size_t inside = token_of(frames[called], sources, inner);
    if (inside == 0 || parts.components.size() < 2) return function;
    const std::size_t open =
        body_of_class(*inner, parts.components[parts.components.size() - 2].name);
    return open != 0 && open < inside && inside < inner->partner(open) ? whole : function;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_CALLED_NAME_HPP
