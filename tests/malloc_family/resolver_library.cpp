// A library whose resolver of an indirect function allocates, while the program is still being
// linked by the loader.
#include <cstdlib>

namespace {

void* kept = nullptr;

int one() {
    return 1;
}

}  // namespace

extern "C" {

// Not static: clang would give it another name than the attribute below.
__attribute__((visibility("hidden"))) int (*resolve_picked())() {
    kept = std::malloc(32);
    return &one;
}

int picked() __attribute__((ifunc("resolve_picked")));

void* kept_by_resolver() {
    return kept;
}
}
