// every_function.cpp - each function of the family once in each round, also with the arguments that
// are special: 15 allocations, 15 frees, 1,464 bytes. realloc is an allocation and a free.
#include <malloc.h>
#include <new>

#include "rounds.hpp"

namespace {

volatile std::size_t opaque_most = ~std::size_t{0};

void round() {
    std::free(block_of(100));                          // 1, 100 bytes
    std::free(std::calloc(7, 13));                     // 2, 191
    void* volatile grown = std::realloc(nullptr, 50);  // 3, 241
    grown = std::realloc(grown, 150);                  // 4, 391, a free
    grown = ::reallocarray(grown, 10, 20);             // 5, 591, a free
    grown = std::realloc(grown, 0);                    // a free
    std::free(grown);                                  // nothing
    void* aligned = nullptr;
    if (::posix_memalign(&aligned, 64, 90) == 0) std::free(aligned);  // 6, 681
    if (::posix_memalign(&aligned, 24, 90) == 0) std::free(aligned);  // nothing
    void* volatile block = std::aligned_alloc(32, 96);                // 7, 777
    std::free(block);
    block = ::memalign(128, 99);  // 8, 876
    std::free(block);
    block = ::valloc(200);  // 9, 1,076
    std::free(block);
    block = std::malloc(0);  // 10
    std::free(block);
    block = std::malloc(opaque_most);     // nothing
    block = std::calloc(opaque_most, 2);  // nothing
    block = ::operator new(60);           // 11, 1,136
    ::operator delete(block);
    block = ::operator new[](70, std::nothrow);  // 12, 1,206
    ::operator delete[](block, std::nothrow);
    block = ::operator new (128, std::align_val_t{64});  // 13, 1,334
    ::operator delete (block, std::align_val_t{64});
    block = std::malloc(30);                                 // 14, 1,364
    void* volatile same = std::realloc(block, opaque_most);  // nothing, the block stays
    if (same == nullptr) std::free(block);
    block = std::calloc(1, 100);  // 15, 1,464
    std::free(block);
}

}  // namespace

int main() {
    for (int i = 0; i < rounds(); ++i) round();
    return 0;
}
