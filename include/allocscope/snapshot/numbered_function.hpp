// numbered_function.hpp - whether a function is called by a number, because nothing names it.
//
// Room:     snapshot (floor 7), not malloc-safe
// Called:   by grouping/, report/ and formats/
// Threads:  any
// Memory:   none
//
// allocscope run calls a function of a stripped module by where it begins. Such a name is only as
// good as the number of a call in it: another build of the module has others.
//
//     git+0x2897a0        is_numbered(frame) == true
//     xmalloc             false

#ifndef ALLOCSCOPE_SNAPSHOT_NUMBERED_FUNCTION_HPP
#define ALLOCSCOPE_SNAPSHOT_NUMBERED_FUNCTION_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/snapshot/snapshot.hpp>

ALLOCSCOPE_COOL_BEGIN

namespace detail {

inline bool is_numbered(const snapshot::frame& frame) noexcept {
    if (frame.function == nullptr || frame.module == nullptr) return false;
    const text function{frame.function};
    const text file = file_name_of(frame.module);
    return !file.empty() && function.starts_with(file) &&
           function.substr(file.size()).starts_with("+0x");
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_SNAPSHOT_NUMBERED_FUNCTION_HPP
