// debug_forms.hpp - the door to debug information in forms that few programs have.
//
// Room:     root, a door (above all floors)
// Called:   by the user, in the translation unit that has the hooks
// Threads:  see the headers behind it
// Memory:   see the headers behind it
//
//     #include <allocscope/define_once/operator_new_delete.hpp>
//     #include <allocscope/debug_forms.hpp>
//
// Reports that a process makes about itself then read these forms, too. `allocscope run` always
// reads them.
//
//     .gnu_debugaltlink, .debug_sup    what `dwz -m` has moved into a common file
//     prog.dwp                         what `dwp` has collected from the files of -gsplit-dwarf
//
// Including this header is enough. It costs no run time until a report meets such a file.

#ifndef ALLOCSCOPE_DEBUG_FORMS_HPP
#define ALLOCSCOPE_DEBUG_FORMS_HPP

#include <allocscope/symbols/rare_form_readers.hpp>

#endif  // ALLOCSCOPE_DEBUG_FORMS_HPP
