// at_relocation_library.cpp - see at_relocation.cpp. There is no environment yet, so ROUNDS is a
// macro.
#include <cstdlib>

extern "C" {
static int zero() {
    return 0;
}
static void* volatile kept;
static int (*resolve())() {
    for (int i = 0; i < ROUNDS; ++i) {
        kept = std::malloc(32);
        void* volatile freed = std::malloc(32);
        std::free(freed);
    }
    return zero;
}
int chosen() __attribute__((ifunc("resolve")));
}
