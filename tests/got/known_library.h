// known_library.h - what the tests of attach_hooks() know of the library that they call.

#ifndef ALLOCSCOPE_TESTS_GOT_KNOWN_LIBRARY_H
#define ALLOCSCOPE_TESTS_GOT_KNOWN_LIBRARY_H

#include <stddef.h>

enum { known_allocations = 7, known_bytes = 100 + 150 + 70 + 80 + 6 + 7 + 64 };

// Descriptors through which a library compiled with STOPS_WHILE_IT_IS_LOADED says that it is being
// relocated, and waits.
enum { descriptor_that_says_so = 100, descriptor_that_waits = 101 };

#ifdef __cplusplus
extern "C" {
#endif
void known_work(void);
void* known_block(size_t bytes);
void known_free(void* block);
#ifdef __cplusplus
}
#endif

#endif  // ALLOCSCOPE_TESTS_GOT_KNOWN_LIBRARY_H
