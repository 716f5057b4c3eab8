// type_from_vtable.hpp - the class whose vtable a live object points to.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by type_ladder.hpp, with the symbol that the object's first word points into
// Threads:  any
// Memory:   strings
//
//     type_from_vtable("vtable for app::widget")                       // "app::widget"
//     type_from_vtable("construction vtable for base-in-derived")      // "": it is half built

#ifndef ALLOCSCOPE_TYPES_TYPE_FROM_VTABLE_HPP
#define ALLOCSCOPE_TYPES_TYPE_FROM_VTABLE_HPP

#include <allocscope/types/pretty_type.hpp>
#include <allocscope/types/wrapped_type.hpp>

#include <string>       // string
#include <string_view>  // string_view

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// `symbol` is demangled. "" when it is not a vtable.
inline std::string type_from_vtable(std::string_view symbol) {
    constexpr std::string_view mark = "vtable for ";
    if (!starts_with(symbol, mark)) return {};
    const std::string type = pretty_type(symbol.substr(mark.size()));
    return type.empty() ? type : unwrapped_type(type);
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_TYPE_FROM_VTABLE_HPP
