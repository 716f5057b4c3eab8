// rare_form_readers.hpp - registers the readers of rare forms of debug information before main().
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by nothing; including it is enough
// Threads:  before there are any
// Memory:   none

#ifndef ALLOCSCOPE_SYMBOLS_RARE_FORM_READERS_HPP
#define ALLOCSCOPE_SYMBOLS_RARE_FORM_READERS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/symbols/package_file.hpp>
#include <allocscope/symbols/rare_forms.hpp>
#include <allocscope/symbols/supplementary_file.hpp>

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

inline bool read_rare_forms() {
    readers_of_rare_forms.supplement_of = read_supplement;
    readers_of_rare_forms.packaged_unit = read_packaged_unit;
    return true;
}

ALLOCSCOPE_HIDDEN inline const bool are_rare_forms_read = read_rare_forms();

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_RARE_FORM_READERS_HPP
