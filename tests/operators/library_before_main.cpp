// A shared library whose constructor number CONSTRUCTOR_KIND allocates 1000 blocks and frees half.
#include <new>

namespace {

void* blocks[1000];

void allocate_and_free_half() {
    for (int i = 0; i < 1000; ++i) blocks[i] = ::operator new(100);
    for (int i = 0; i < 1000; i += 2) ::operator delete(blocks[i]);
}

#if CONSTRUCTOR_KIND == 1
__attribute__((constructor(101))) void early() {
    allocate_and_free_half();
}
#elif CONSTRUCTOR_KIND == 2
struct early_object {
    early_object() { allocate_and_free_half(); }
};
__attribute__((init_priority(101))) early_object early;
#else
struct ordinary_object {
    ordinary_object() { allocate_and_free_half(); }
};
ordinary_object ordinary;
#endif

}  // namespace
