// exit_handlers.cpp - in each round 32 functions for the end are registered, by the program's very
// first code: the C library has room for the first 32 and allocates it for the next ones, which
// then is the first allocation of the process. 1 allocation, 1 free, 1,040 bytes.
#include <cstring>

#include "rounds.hpp"

namespace {

// So early that getenv finds nothing yet.
void early(int, char**, char** environment) {
    int count = 0;
    for (char** each = environment; *each != nullptr; ++each) {
        if (std::strncmp(*each, "HAZARD_ROUNDS=", 14) == 0) count = std::atoi(*each + 14);
    }
    for (int i = 0; i < 32 * count; ++i) std::atexit([] {});
}
[[gnu::section(".preinit_array"), gnu::used]] void (*const at_first)(int, char**, char**) = early;

}  // namespace

int main() {
    return 0;
}
