// Uses both parts crosswise: what one opens the other reads and closes.
#include <cstddef>
#include <cstdio>

void print_layout1();
void print_layout2();
void open_window1(void* place);
void open_window2(void* place);
void print_and_close1(void* place);
void print_and_close2(void* place);
bool throws_on_bad_options();

namespace {
alignas(std::max_align_t) unsigned char place[256];
int* volatile kept;
}  // namespace

int main() {
    print_layout1();
    print_layout2();
    open_window1(place);
    kept = new int(1);
    print_and_close2(place);
    open_window2(place);
    kept = new int(2);
    print_and_close1(place);
    std::printf("bad options %s\n", throws_on_bad_options() ? "throw" : "do not throw");
    return 0;
}
