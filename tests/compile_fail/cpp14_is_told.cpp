// Danger: whoever compiles with -std=c++14 gets an error deep in a header and no word of the cause.
// flags: -std=c++14
// expect: ^((In file included| +) ?from .*\n)*.*error:.*allocscope needs C\+\+17 or newer
#include <allocscope/allocscope.hpp>

#ifndef ALLOCSCOPE_BAD
static_assert(__cplusplus >= 201703L, "");
#else
// The second time the line `// flags:` asks for an older language.
#endif
