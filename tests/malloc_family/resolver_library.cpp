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

// used: only the attribute below names it.
__attribute__((used)) static int (*resolve_picked())() {
    kept = std::malloc(32);
    return &one;
}

int picked() __attribute__((ifunc("resolve_picked")));

void* kept_by_resolver() {
    return kept;
}
}
