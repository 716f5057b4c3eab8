// dynamic_end.cpp - what ways_to_end.cpp becomes: allocates, too, which is not the answer's.
#include <cstdlib>

int main() {
    for (int i = 0; i < 777; ++i) {
        void* volatile kept = std::malloc(777);
        (void)kept;
    }
    return 5;
}
