// debug_forms.hpp - the door to debug information in forms that few programs have.
//
// Room:     root, a door (floor 10)
// Called:   by the user, in the translation unit that has the hooks
// Threads:  see the headers behind it
// Memory:   see the headers behind it
//
//     #include <allocscope/define_once/operator_new_delete.hpp>
//     #include <allocscope/debug_forms.hpp>
//
// Reports of the process itself then read these, too; `allocscope run` reads them always:
//
//     .gnu_debugaltlink, .debug_sup    what `dwz -m` has put into a common file
//     prog.dwp                         what `dwp` has put together of the files of -gsplit-dwarf
//
// To include it is enough. It costs a program no time before a report meets such a file.

#ifndef ALLOCSCOPE_DEBUG_FORMS_HPP
#define ALLOCSCOPE_DEBUG_FORMS_HPP

#include <allocscope/symbols/rare_form_readers.hpp>

#endif  // ALLOCSCOPE_DEBUG_FORMS_HPP
