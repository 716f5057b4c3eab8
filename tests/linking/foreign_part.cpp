// A module that only allocates and frees, through whatever operators it was linked with.
#include <new>

extern "C" {
__attribute__((visibility("default"))) void* ALLOCATE(unsigned long size) {
    return ::operator new(size);
}

__attribute__((visibility("default"))) void FREE(void* block) {
    ::operator delete(block);
}
}
