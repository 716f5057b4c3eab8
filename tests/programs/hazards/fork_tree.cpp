// fork_tree.cpp - five children, each with five of its own, each with five more: 156 processes.
// Each allocates 10 blocks of 30 bytes in each round after its birth.
#include <sys/wait.h>
#include <unistd.h>

#include "rounds.hpp"

int main() {
    int depth = 0;
    for (int i = 0; i < 5 && depth < 3; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            ++depth;
            i = -1;
        } else {
            ::waitpid(child, nullptr, 0);
        }
    }
    for (int i = 0; i < 10 * rounds(); ++i) block_of(30);
    return 0;
}
