// deduced_class.hpp - finds the class that a compiler deduced for `new box(1)`.
//
// Room:     types (floor 9), not malloc-safe
// Called:   by naming/, with what it knows of a live object
// Threads:  any
// Memory:   of the given arena
//
// The source names only the template. The debug information has all classes that were made from it
// in this unit. The size of the block shows which one it is:
//
//     deduced_class(memory, "box<", known, 16)        // "app::box<int>"
//     deduced_class(memory, "box<long", known, 16)    // "": that one takes 32 bytes

#ifndef ALLOCSCOPE_TYPES_DEDUCED_CLASS_HPP
#define ALLOCSCOPE_TYPES_DEDUCED_CLASS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/class_size.hpp>
#include <allocscope/spelling/name_brackets.hpp>
#include <allocscope/spelling/pretty_type.hpp>
#include <allocscope/symbols/type_names.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Whether a type_answer::candidate names a template whose arguments the compiler has deduced.
ALLOCSCOPE_INLINE bool is_begun_class(text candidate) noexcept {
    return candidate.contains("<") && !has_all_arguments(candidate);
}

// Which of the types in "<int, app::part>" is as large as the block, as `fit(type)` says; "" if
// that is not certain.
template <class Fit>
text fitting_type(arena& memory, text types, const Fit& fit) {
    text found;
    for (const text each : split_arguments(memory, types)) {
        const text type = pretty_type(memory, each);
        const size_fit is_fit = fit(type);
        const bool is_second = is_fit == size_fit::same && !found.empty() && found != type;
        if (is_fit == size_fit::unknown || is_second) return {};
        if (is_fit == size_fit::same) found = type;
    }
    return found;
}

// The only class of the template that is as large as the block; "" if that is not certain. `begun`
// is "app::box<", followed by the first template argument if that is known.
inline text deduced_class(arena& memory, text begun, const type_names& known,
                          std::uint64_t block_bytes) {
    const text path = begun.substr(0, begun.find('<'));
    const text first = begun.substr(path.size() + 1);
    const std::size_t scopes = path.rfind(':');
    const text own = scopes == no_position ? path : path.substr(scopes + 1);
    text found;
    if (known.lacks_names()) return {};  // the class may be one without a name
    for (const named_type* each = known.all(own); each != nullptr; each = each->next) {
        const text whole = pretty_type(memory, each->whole);
        const list<text> arguments = split_arguments(memory, whole.substr(own.size()));
        if (arguments.empty() || (each->bytes == 0 && first.empty())) return {};
        if (!first.empty() && arguments[0] != first) continue;
        const bool is_there =
            each->qualified == path || each->qualified.ends_with(joined(memory, "::", path));
        if (!is_there || each->bytes == 0) return {};
        if (each->bytes != block_bytes) continue;
        const text type = joined(memory, each->qualified, whole.substr(own.size()));
        if (!found.empty() && found != type) return {};
        found = type;
    }
    return found;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_DEDUCED_CLASS_HPP
