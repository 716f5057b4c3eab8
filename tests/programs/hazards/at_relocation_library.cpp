// at_relocation_library.cpp - see at_relocation.cpp. There is no environment yet, so ROUNDS is a
// macro.
#include <cstdlib>

extern "C" {
// Not static: clang would give them other names than the attribute below.
__attribute__((visibility("hidden"))) int zero() {
    return 0;
}
static void* volatile kept;
__attribute__((visibility("hidden"))) int (*resolve())() {
    for (int i = 0; i < ROUNDS; ++i) {
        kept = std::malloc(32);
        void* volatile freed = std::malloc(32);
        std::free(freed);
    }
    return zero;
}
int chosen() __attribute__((ifunc("resolve")));
}
