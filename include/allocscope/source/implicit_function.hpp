// implicit_function.hpp - recognises constructors, destructors, assignments of the compiler.
//
// Room:     source (floor 8), not malloc-safe
// Called:   by places/module_rule.hpp, for the frame that a row would be placed in
// Threads:  one at a time, under the naming lock
// Memory:   the tokens of the source, in the source cache
//
// What such a function allocates has the line of the class, which says nothing; the line of its
// caller says who copied the object:
//
//     struct person {                            the string of the copy has this line
//         std::string name;
//         person(const person&) = default;       or this one
//     };
//     persons.push_back(one);                    the line of the row
//
// `using vector::vector;` in a class makes such constructors, too. What copies a lambda is placed
// at its first bracket, and has no name with clang++ -g1 if it is inlined.
//
// The debug information of g++ and of clang++ -g has the first, that of g++ -g also the second. For
// other forms the source says it.

#ifndef ALLOCSCOPE_SOURCE_IMPLICIT_FUNCTION_HPP
#define ALLOCSCOPE_SOURCE_IMPLICIT_FUNCTION_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/source_cache.hpp>
#include <allocscope/symbols/code_location.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Whether the declaration that the token belongs to ends with "= default".
inline bool is_defaulted(const source_outline& file, std::size_t at) noexcept {
    while (at + 1 < file.count()) {
        const text token = file.token(at).spelling();
        if (is_listed(token, "; { }")) return false;
        if (token == "=" && file.is_at(++at, "default")) return true;
        ++at;
    }
    return false;
}

// Whether the token is in a using-declaration: `using base::base;` inherits constructors.
ALLOCSCOPE_PURE inline bool is_inherited(const source_outline& file, std::size_t at) noexcept {
    return file.is_at(file.back_to(at, "; { } using"), "using");
}

// Whether a function is a member of a lambda, but not its body: "main::{lambda()#1}::main(...)".
// With -g1, clang names it "(lambda at main.cpp:3:14)", or not at all.
inline bool is_copy_of_lambda(const text& function) noexcept {
    const std::size_t inner = function.rfind(text{"}::"});
    if (inner == text::npos) return function.empty() || function.starts_with("(lambda at ");
    return !function.has_at(inner + 3, "operator()");
}

inline bool is_implicit_function(const code_frame& frame, source_cache& sources) {
    const bool is_of_lambda = is_copy_of_lambda(frame.function);
    if (!frame.is_implicit && !frame.may_be_implicit && !is_of_lambda) return false;
    const source_outline* file = frame.is_nearby ? nullptr : source_of(frame, sources);
    if (file == nullptr) return frame.is_implicit;
    const std::size_t at = file->token_from(frame.line, frame.column);
    // clang++ has the initialiser of a member, which may be on the line of the class.
    const bool is_initialiser =
        file->is_at(at, "{") || (file->is_at(at - 1, "=") && !file->is_at(at, "["));
    if (frame.is_implicit) return frame.column == 0 || !is_initialiser;
    if (is_of_lambda) return file->is_at(at, "[");
    const std::size_t name = file->first_in_chain(at, "::");  // of `struct door::lock {`
    if (name != 0 && file->is_any_at(name - 1, "struct class")) return true;
    if (is_inherited(*file, at)) return true;
    // clang++ gives the copies of members columns inside the last word.
    return is_defaulted(*file, at) || is_defaulted(*file, file->token_from(frame.line, 0));
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SOURCE_IMPLICIT_FUNCTION_HPP
