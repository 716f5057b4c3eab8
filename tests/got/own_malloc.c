// A C library with a malloc of its own.

#include <stddef.h>

static char heap[4096];
static size_t used;

void *malloc(size_t bytes) {
    char *const block = heap + used;
    used = (used + bytes + 15) % (sizeof heap / 2);
    return block;
}

void free(void *block) {
    (void)block;
}

// Whether the block came from here.
int own_work(void) {
    char *volatile const block = malloc(10);
    const int is_own = block >= heap && block < heap + sizeof heap;
    free(block);
    return is_own;
}
