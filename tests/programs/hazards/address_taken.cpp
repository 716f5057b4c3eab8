// address_taken.cpp - linked to a fixed place, it takes the address of malloc and free. That is
// then one in the program itself, of a jump to what the loader finds. Each round: a block of 64
// bytes, allocated and freed through the addresses. 1 allocation, 1 free, 64 bytes.
#include "rounds.hpp"

namespace {

void* (*const allocate)(std::size_t) = &std::malloc;
void (*const release)(void*) = &std::free;

}  // namespace

int main() {
    for (int i = 0; i < rounds(); ++i) {
        void* volatile block = allocate(64);
        release(block);
    }
    return 0;
}
