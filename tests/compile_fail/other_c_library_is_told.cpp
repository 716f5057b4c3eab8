// Danger: whoever compiles for musl gets errors deep in the headers and no word of the cause.
// flags: -D_FEATURES_H
// expect: error:.*allocscope needs the GNU C library
#include <allocscope/allocscope.hpp>

#ifndef ALLOCSCOPE_BAD
static_assert(__GLIBC__ >= 2, "");
#else
// The second time the line `// flags:` leaves out the header that says which library it is.
#endif
