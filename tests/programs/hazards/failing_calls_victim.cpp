// failing_calls_victim.cpp - allocates on many places, in threads that end and in a child, and says
// what it did. It is run while single system calls of the library fail.
#include <sys/wait.h>
#include <unistd.h>
#include <thread>
#include <vector>

#include "rounds.hpp"

namespace {

// As many stacks as there are paths through this function.
void* descend(int depth, unsigned path) {
    if (depth == 0) return block_of(24 + path % 5);
    void* volatile result =
        (path & 1) != 0 ? descend(depth - 1, path >> 1) : descend(depth - 1, path >> 1);
    return result;
}

void work() {
    std::vector<void*> blocks;
    for (unsigned i = 0; i < 3000; ++i) blocks.push_back(descend(6, i));
    for (std::size_t i = 0; i < blocks.size(); i += 2) std::free(blocks[i]);
}

}  // namespace

int main() {
    for (int i = 0; i < 3; ++i) std::thread(work).join();
    const pid_t child = ::fork();
    if (child == 0) {
        work();
        ::_exit(7);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    work();
    std::printf("the child ended with %d\n", WEXITSTATUS(status));
    return 3;
}
