// Danger: whoever compiles with -U_GNU_SOURCE gets a hundred errors about functions of Linux.
// flags: -U_GNU_SOURCE -D_POSIX_C_SOURCE=200809L
// expect: ^((In file included| +) ?from .*\n)*.*error:.*allocscope needs _GNU_SOURCE
#include <allocscope/hooks.hpp>

#ifndef ALLOCSCOPE_BAD
    #ifndef _GNU_SOURCE
        #error "the compiler defines it"
    #endif
#else
// The second time the line `// flags:` takes it away.
#endif
