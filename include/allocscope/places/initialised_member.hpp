// initialised_member.hpp - finds the initialiser of a member for which a constructor calls.
//
// Room:     places (floor 9), not malloc-safe
// Called:   by places/module_rule.hpp, for constructors that the compiler made, and by
//           naming/stack_namer.hpp, for the frame that gives a row its line
// Threads:  one
// Memory:   of the given arena and of the source_cache
//
//     struct index {
//         std::set<std::string> stop = {"a", "the"};    // the row gets this line
//         index() : n(1) {}                             // g++: the last token before the body
//         int n;
//     };
//
// g++ gives such calls the place of the class if it made the constructor. What the library's
// function is called must occur in one member only: as its type, or in its initialiser.

#ifndef ALLOCSCOPE_PLACES_INITIALISED_MEMBER_HPP
#define ALLOCSCOPE_PLACES_INITIALISED_MEMBER_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/class_bodies.hpp>
#include <allocscope/source/included_files.hpp>
#include <allocscope/source/source_cache.hpp>
#include <allocscope/spelling/function_name.hpp>
#include <allocscope/spelling/name_brackets.hpp>
#include <allocscope/symbols/code_location.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Whether the list of initialisers that ends at `last` names the member.
inline bool is_in_constructor_list(const source_outline& file, std::size_t last,
                                   const text& member) {
    for (std::size_t at = last; at > 0 && !file.is_any_at(at, "; : "); --at) {
        if (file.is_any_at(at, ") }") && file.partner(at) != 0) at = file.partner(at) - 1;
        if (file.text_at(at) == member) return true;
    }
    return false;
}

// Whether a brace opens the body of a constructor of the class `name`, and no block in it.
inline bool is_constructor_body(const source_outline& file, std::size_t brace, const text& name) {
    for (std::size_t at = brace - 1; at > 0; --at) {
        if (file.is_any_at(at, ") }") && file.partner(at) != 0) {
            at = file.partner(at);
            continue;
        }
        if (file.text_at(at) == name && file.is_at(at + 1, "(")) return true;
        if (file.is_any_at(at, "; { if for while switch catch")) return false;
    }
    return false;
}

// The only initialiser in a class that has to do with `callee`; 0: none or more. `place` is the
// last token before the body of the constructor in `own`, 0 if the compiler made it.
inline std::size_t initialiser_for(const found_token& owner, const text& callee,
                                   const source_outline& own, std::size_t place) {
    const source_outline& file = *owner.file;
    constexpr text others = "using typedef friend static template struct class union enum operator";
    constexpr text allocates_empty = "deque queue stack promise packaged_task";
    std::size_t found = 0;
    std::size_t first = owner.at + 1;  // of a declaration
    std::size_t sign = 0;              // begins its initialiser
    std::size_t behind = 0;            // the `>` of a type with arguments: `function<int(int)>`
    bool is_member = true;
    bool is_meant = false;
    for (std::size_t at = first; at < file.partner(owner.at); ++at) {
        const text token = file.text_at(at);
        if (token == callee) is_meant = true;
        if (token == "<" && sign == 0 && at >= behind) behind = file.behind_angles(at);
        const bool is_function = token == "(" && sign == 0 && at >= behind;
        if (is_function || is_listed(token, others)) is_member = false;
        if (is_listed(token, "= {") && sign == 0) sign = at;
        const bool is_of_lambda =
            token == "{" && sign != 0 && file.is_any_at(at - 1, ") ] mutable");
        const bool is_body = token == "{" && !is_member;
        const bool is_skipped = is_body || is_of_lambda || (token == "(" && !is_member);
        if (is_skipped && file.partner(at) > at) at = file.partner(at);
        const bool is_label = token == ":" && at == first + 1;
        if (token != ";" && !is_label && !(is_body && !file.is_at(at + 1, ";"))) continue;
        const bool has_list =
            place != 0 && sign != 0 && is_in_constructor_list(own, place, file.text_at(sign - 1));
        const std::size_t value = file.is_at(sign, "=") ? sign + 1 : sign;
        const bool is_empty = sign == 0 || file.partner(value) == value + 1;
        const bool may_ask = !is_empty || is_listed(callee, allocates_empty);
        if (is_member && is_meant && may_ask && !has_list) {
            if (sign == 0 || found != 0) return 0;
            found = file.is_at(value, "{") ? sign : value;
        }
        first = at + 1;
        sign = 0;
        is_member = true;
        is_meant = false;
    }
    return found;
}

// The initialiser for which the function of frame `at` calls the library; none: it is no
// constructor, or it is not certain.
inline found_token find_initialiser(arena& memory, const list<code_frame>& frames, std::size_t at,
                                    source_cache& sources) {
    const code_frame& frame = frames[at];
    if (at == 0 || frame.is_nearby || !is_standard_header(frames[at - 1].file)) return {};
    const source_outline* const file = source_of(frame, sources);
    if (file == nullptr) return {};
    const std::size_t place = file->token_from(frame.line, frame.column);
    const std::size_t brace = file->is_at(place, "{") ? place : place + 1;
    const bool is_body = file->is_any_at(place, ") } {") && file->is_at(brace, "{");
    if (!is_body && !file->is_word_at(place)) return {};
    const borrowed_memory meanwhile{memory};
    const function_name function = parse_function_name(memory, frame.function);
    if (!is_constructor(function) && function.components.size() != 1) return {};
    // One that the compiler made to copy or move an object initialises nothing anew.
    if (!is_body && frame.function.ends_with("&)")) return {};
    const text name = function.last().name;
    if (is_body ? !is_constructor_body(*file, brace, name) : file->text_at(place) != name)
        return {};
    const found_token owner = class_of_constructor(sources, frame, *file, place, name);
    const function_name called = parse_function_name(memory, frames[at - 1].function);
    if (owner.at == 0 || !called.is_known()) return {};
    text callee = called.last().name;
    const std::size_t depth = called.components.size();
    // `basic_string::_M_construct`, when the constructor itself is inlined without a trace.
    if (depth > 1 && callee.starts_with("_M_")) callee = called.components[depth - 2].name;
    if (callee == "basic_string") callee = "string";
    return {owner.file, initialiser_for(owner, callee, *file, is_body ? brace - 1 : 0)};
}

// Whether what the constructor of frame `at`, which the compiler made, asks for itself may be a
// `new` in the initialiser of a member. Otherwise it is one in a default argument:
//
//     struct shown { explicit shown(theme* t = new theme); };
//     struct window : shown {};                                g++ and clang place it here
//     window main_window;                                      the row gets this line
inline bool may_ask_in_initialiser(arena& memory, const code_frame& frame, source_cache& sources) {
    const source_outline* const file = source_of(frame, sources);
    if (file == nullptr) return true;
    const borrowed_memory meanwhile{memory};
    const function_name function = parse_function_name(memory, frame.function);
    const std::size_t at = file->token_from(frame.line, frame.column);
    if (!function.is_known() || file->text_at(at) != function.last().name) return true;
    if (file->is_at(at + 1, "<")) return true;  // a specialisation is another class
    const std::size_t open =
        class_of_constructor(sources, frame, *file, at, function.last().name).at;
    if (open == 0) return true;
    for (std::size_t i = open; i < file->partner(open); ++i) {
        const text word = file->text_at(i);
        const bool is_upper = file->is_word_at(i) && word.find_first_of(lower_case) == text::npos;
        // A macro may write whole members.
        if (file->is_macro(word) || (is_upper && file->is_at(i + 1, "("))) return true;
        if (word == "new" && is_in_initialiser(*file, open, i)) return true;
    }
    return false;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_PLACES_INITIALISED_MEMBER_HPP
