// closed_descriptors.cpp - closes every descriptor and opens three files in the places of stdin,
// stdout and stderr. Each round: 1 allocation of 80 bytes. The files must be empty: it ends with 1
// when somebody has written to one of them.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <initializer_list>

#include "rounds.hpp"

int main() {
    for (int file = 0; file < 1024; ++file) ::close(file);
    for (const char* name : {"first.db", "second.db", "third.db"}) {
        ::open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    }
    for (int i = 0; i < rounds(); ++i) block_of(80);
    for (int file = 0; file < 3; ++file) {
        struct stat status = {};
        if (::fstat(file, &status) != 0 || status.st_size != 0) return 1;
    }
    return ::open("/dev/null", O_RDONLY) == 3 ? 0 : 2;
}
