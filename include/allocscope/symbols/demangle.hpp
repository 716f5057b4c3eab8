// demangle.hpp - linker names as the programmer wrote them.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   for every function and data name of a report
// Threads:  any
// Memory:   the answer; the C++ runtime's demangler allocates while it works
//
// The runtime's demangler is good but trusting: nested back references let forty characters stand
// for gigabytes. So a name is measured first, and what is too long, too deep or too large once
// written out keeps its linker name.
//
//     demangled("_ZN3app4loadEi")    // "app::load(int)"
//     demangled("main")              // "main"

#ifndef ALLOCSCOPE_SYMBOLS_DEMANGLE_HPP
#define ALLOCSCOPE_SYMBOLS_DEMANGLE_HPP

#include <allocscope/config.hpp>
#include <allocscope/symbols/mangled_size.hpp>

#include <cstdlib>  // free
#include <cstring>  // strlen, strncmp
#include <string>   // string

#include <cxxabi.h>  // __cxa_demangle

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

inline std::string demangled(const char* name) {
    if (name[0] != '_' || name[1] != 'Z') return name;
    if (!is_demanglable(name)) return name;
    int status = 0;
    char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    if (text == nullptr || status != 0) {
        std::free(text);
        return name;
    }
    std::string answer = text;
    std::free(text);
    return answer;
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_DEMANGLE_HPP
