// folded_functions.hpp - which function a call means, if several share the code that it leads to.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/debug_object.hpp
// Threads:  one
// Memory:   none
//
// Compilers keep one of several functions with equal code, and all calls go to that one:
//
//     a* make_a() { return fill(new a); }        make_a:  the code of both
//     b* make_b() { return fill(new b); }
//     make_b();                                  call make_a
//
// On a stack, the next inner address lies in make_a. If the machine code calls make_a, and the
// debug information of the caller says that it calls make_b, the call means make_b. A call of a
// function that is only declared may also reach make_a under another name: by an alias, an asm
// label, or the linker's --wrap.

#ifndef ALLOCSCOPE_SYMBOLS_FOLDED_FUNCTIONS_HPP
#define ALLOCSCOPE_SYMBOLS_FOLDED_FUNCTIONS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/call_sites.hpp>
#include <allocscope/symbols/entry_names.hpp>
#include <allocscope/symbols/machine_code.hpp>
#include <allocscope/symbols/module_functions.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Whether two names are equal but for references.
inline bool are_equal_values(const text& a, const text& b) {
    std::size_t at = 0;
    for (const char letter : b) {
        if (letter == '&' || letter == ' ') continue;
        while (at < a.size() && (a[at] == '&' || a[at] == ' ')) ++at;
        if (at == a.size() || a[at++] != letter) return false;
    }
    while (at < a.size() && (a[at] == '&' || a[at] == ' ')) ++at;
    return at == a.size();
}

// Whether two names certainly belong to different functions. One of them may lack its scopes and
// parameters. Instantiations of one template for a visitor and for a reference to it have the same
// lines and allocate the same types.
inline bool are_different(const entry_name& meant, const entry_name& found) {
    if (meant.function.empty() || found.function.empty()) return false;
    const bool is_same_template =
        meant.line != 0 && meant.line == found.line && meant.file == found.file;
    if (is_same_template && are_equal_values(meant.function, found.function)) return false;
    if (meant.linkage.empty() == found.linkage.empty()) return meant.function != found.function;
    const text plain = meant.linkage.empty() ? meant.function : found.function;
    const text whole = meant.linkage.empty() ? found.function : meant.function;
    const std::size_t scope = plain.rfind(':');
    return !whole.contains(scope == text::npos ? plain : plain.substr(scope + 1));
}

// The entry of the function that the call before `return_address` means; 0 if it is the function at
// `callee`, or is not certain.
inline std::uint64_t folded_meaning(module_functions& functions, std::uint64_t return_address,
                                    std::uint64_t callee) {
    const module_functions::function from = functions.at(return_address - 1);
    const module_functions::function inner = functions.at(callee);
    if (from.range == nullptr || inner.range == nullptr) return 0;
    if (functions.code().called_before(return_address) != inner.range->low) return 0;
    const std::uint64_t meant = functions.sites_of(from).called_before(return_address);
    if (meant == 0 || meant == inner.range->value) return 0;
    const bool is_folded =
        are_different(functions.name_of(meant), functions.name_of(inner.range->value));
    return is_folded && !functions.may_be_alias(meant) ? meant : 0;
}

// Calls `visit(return_address, entry)` for each direct call between two addresses of a function:
// the entry of the function that it means in the source, as far as that is described.
template <class Visit>
void each_call(module_functions& functions, std::uint64_t begin, std::uint64_t end,
               const Visit& visit) {
    const module_functions::function from = functions.at(begin);
    if (from.range == nullptr) return;
    const call_sites& sites = functions.sites_of(from);
    for (std::uint64_t at = begin + machine_code::call_bytes; at <= end; ++at) {
        const std::uint64_t callee = functions.code().called_before(at);
        if (callee == 0) continue;
        std::uint64_t meant = sites.called_before(at);
        // g++ describes no calls of constructors.
        if (meant == 0) meant = functions.entry_of(callee);
        if (meant != 0) visit(at, meant);
    }
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_FOLDED_FUNCTIONS_HPP
