// type_answer.hpp - a type's name, and what it was read from.
//
// Room:     types (floor 8), not malloc-safe
// Called:   returned by type_ladder.hpp and its rungs
// Threads:  plain values
// Memory:   one string

#ifndef ALLOCSCOPE_TYPES_TYPE_ANSWER_HPP
#define ALLOCSCOPE_TYPES_TYPE_ANSWER_HPP

#include <allocscope/config.hpp>

#include <string>  // string

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// The rungs of the ladder; what each of them means is told in docs/types_and_places.md.
enum class type_evidence {
    none,             // not known: the name is "?"
    explicit_tag,     // allocscope::allocator<T>, a tracked base class
    allocator_frame,  // std::allocator<T>::allocate called operator new
    make_frame,       // std::make_unique<T> and its like did
    vtable,           // the live object points to the vtable of T
    constructor,      // T's constructor was called right behind operator new
    source_text       // `new T` stands at that line and column
};

struct type_answer {
    std::string name = "?";
    type_evidence evidence = type_evidence::none;

    bool is_known() const noexcept { return evidence != type_evidence::none; }
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_TYPE_ANSWER_HPP
