// dies_with_library.cpp WAY - a static vector in a library frees its elements when the library is
// destroyed, after every exit handler of an earlier library. Each round: 1 allocation of 16 bytes
// and its free. The storage of the vector is there in every run.
#include <csignal>
#include <cstring>

#include "rounds.hpp"

void fill(int count);

int main(int, char** arguments) {
    fill(rounds());
    if (std::strcmp(arguments[1], "killed") == 0) std::raise(SIGKILL);
    return 0;
}
