// A C library whose allocations are known: see known_work in known_library.h.

#include "known_library.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

void *(*volatile address_in_data)(size_t) = malloc;

// No address of malloc: attach_hooks() leaves this word alone, and does not count it either.
char *volatile address_in_malloc = (char *)malloc + 1;

void known_work(void) {
    void *volatile first = malloc(100);
    void *volatile zeroed = calloc(3, 50);
    void *volatile resized = realloc(NULL, 70);
    resized = realloc(resized, 80);
    char *volatile copied = strdup("hello");
    void *volatile through_address = address_in_data(7);
    void *volatile aligned = NULL;
    void *taken = NULL;
    if (posix_memalign(&taken, 64, 64) == 0) aligned = taken;
    free(first);
    free(zeroed);
    free(resized);
    free(copied);
    free(through_address);
    free(aligned);
}

void *known_block(size_t bytes) {
    return malloc(bytes);
}

void known_free(void *block) {
    free(block);
}

#ifdef HAS_ONE_WORD
// The word through which this library calls malloc: linked so, it has one, and can write to it.
void **known_word_of_malloc(void) {
    void **word;
    __asm__("lea malloc@GOTPCREL(%%rip), %0" : "=r"(word));
    return word;
}
#endif

#ifdef STOPS_WHILE_IT_IS_LOADED
// The loader calls a resolver when it relocates the library. The resolver calls no function, as the
// words for that may not be filled yet.
static long one_byte(long call, long descriptor) {
    char byte = 0;
    long result = call;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(descriptor), "S"(&byte), "d"(1L)
                     : "rcx", "r11", "memory");
    return result;
}

static void resolved(void) {
}

void (*known_resolver(void))(void) {
    one_byte(SYS_write, descriptor_that_says_so);
    one_byte(SYS_read, descriptor_that_waits);
    return resolved;
}

void needs_a_resolver(void) __attribute__((ifunc("known_resolver")));
void (*volatile address_of_it)(void) = needs_a_resolver;
#endif
