// Leaves as many objects alive as its argument says.
#include <cstdlib>

namespace {

int* volatile sink;

__attribute__((noinline)) void forget_one() {
    sink = new int;
}

}  // namespace

int main(int argc, char** argv) {
    sink = new int;
    delete sink;
    const int count = argc > 1 ? std::atoi(argv[1]) : 0;
    for (int i = 0; i < count; ++i) forget_one();
}
