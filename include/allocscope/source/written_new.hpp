// written_new.hpp - a `new T` of a source file: where its parts stand, and what is around it.
//
// Room:     source (floor 8), not malloc-safe
// Called:   made by new_expressions.hpp, read by everything that looks at source
// Threads:  plain data
// Memory:   numbers only; the texts belong to the source

#ifndef ALLOCSCOPE_SOURCE_WRITTEN_NEW_HPP
#define ALLOCSCOPE_SOURCE_WRITTEN_NEW_HPP

#include <allocscope/config.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// Positions are indices of tokens.
struct new_expression {
    std::size_t begin = 0;       // of `new`, or of the `::` before it
    std::size_t last = 0;        // the token that g++ names
    std::size_t reach = 0;       // the largest `last` of this and all earlier expressions
    std::size_t type_begin = 0;  // the type, without the bounds of an array
    std::size_t type_end = 0;
    std::size_t scope = 0;  // its scope in template_scopes
    bool has_initialiser = false;
    bool has_type = false;  // false: it cannot be read
    // A value stands in place of the type: T(1) in `new auto(T(1))` and `new decltype(T(1))`, if T
    // is a type; in `new auto(x)` a literal, or what behind_variable() reads.
    bool is_of_value = false;
    bool is_of_variable = false;
    bool is_request = false;   // it asks for bytes: `operator new(n * sizeof(T))`
    bool has_more = false;     // behind the object: `malloc(sizeof(T) + n)`
    std::size_t callee = 0;    // the function that has it as a default argument; 0: none has
    std::size_t function = 0;  // the name of the function, not a lambda, around it; 0: none
    std::size_t outer = 0;     // the brace around that function; 0: there is none
};

// Where a name is declared: `using name =`, `struct name {`; or the first word of
// `typedef ... name;`, `using ...::name;` or `namespace name =`. The name "namespace" stands for
// `using namespace ...;`.
struct name_declaration {
    std::uint32_t at;                  // the token of the name, or the first word
    std::uint32_t block;               // the innermost brace that is open there; 0: there is none
    const name_declaration* previous;  // the last one before it with that name; null: none
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SOURCE_WRITTEN_NEW_HPP
