// Three modules, each pairing of who allocates with who frees. "shared" uses the operators of the
// process; "closed" has libstdc++ linked into itself and hidden: its operators are not ours.
#include <allocscope/allocscope.hpp>

#include <cstdio>
#include <new>

extern "C" {
void* shared_allocate(unsigned long size);
void shared_free(void* block);
void* closed_allocate(unsigned long size);
void closed_free(void* block);
}

namespace {

void* own_allocate(unsigned long size) {
    return ::operator new(size);
}
void own_free(void* block) {
    ::operator delete(block);
}

constexpr const char* names[] = {"own", "shared", "closed"};
void* (*const allocate[])(unsigned long) = {own_allocate, shared_allocate, closed_allocate};
void (*const release[])(void*) = {own_free, shared_free, closed_free};

}  // namespace

int main() {
    for (int maker = 0; maker < 3; ++maker) {
        for (int killer = 0; killer < 3; ++killer) {
            allocscope::scope window{"pairing"};
            for (int round = 0; round < 1000; ++round) {
                // The same addresses come back again and again; a record that nobody removed must
                // not be mistaken for the block that has its place now.
                void* block = allocate[maker](64);
                release[killer](block);
            }
            void* last = own_allocate(64);
            const auto counts = window.counts();
            own_free(last);
            std::printf("%s to %s: %llu allocations, %llu frees, then %llu\n", names[maker],
                        names[killer], static_cast<unsigned long long>(counts.allocations),
                        static_cast<unsigned long long>(counts.frees),
                        static_cast<unsigned long long>(window.counts().frees - counts.frees));
        }
    }
    return 0;
}
