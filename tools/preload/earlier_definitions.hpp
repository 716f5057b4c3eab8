// earlier_definitions.hpp - what modules that the loader searches before this library define.
//
// Called:   when the recording begins, and when this library is loaded
// Threads:  any; under the loader's lock, which keeps modules mapped
// Memory:   none
//
// dlsym() does not tell: for a function whose address a program at a fixed place takes, it finds a
// jump in the program, which leads to the first definition, wherever that is.
#ifndef ALLOCSCOPE_TOOLS_PRELOAD_EARLIER_DEFINITIONS_HPP
#define ALLOCSCOPE_TOOLS_PRELOAD_EARLIER_DEFINITIONS_HPP

#include "defined_symbols.hpp"

#include <allocscope/hooks/module_slots.hpp>

#include <cstddef>
#include <cstdint>

#include <link.h>

namespace allocscope {
namespace detail {

struct earlier_search {
    const char* name;
    bool is_found;
};

// Modules come in the order in which they were loaded, and those in LD_PRELOAD before all others.
inline int look_at_earlier_module(dl_phdr_info* info, std::size_t, void* search) noexcept {
    const loaded_segments segments{*info};
    const auto own_code = reinterpret_cast<std::uintptr_t>(&look_at_earlier_module);
    if (segments.holder_of(own_code, 1) != nullptr) return 1;
    auto* const wanted = static_cast<earlier_search*>(search);
    wanted->is_found = defined_symbols{segments}.find(wanted->name) != nullptr;
    return wanted->is_found ? 1 : 0;
}

inline bool is_defined_earlier(const char* name) noexcept {
    earlier_search search = {name, false};
    ::dl_iterate_phdr(&look_at_earlier_module, &search);
    return search.is_found;
}

}  // namespace detail
}  // namespace allocscope

#endif  // ALLOCSCOPE_TOOLS_PRELOAD_EARLIER_DEFINITIONS_HPP
