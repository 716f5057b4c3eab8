// at_relocation.cpp - calls a function whose resolver allocates 32 bytes twice and frees one, while
// the loader is still relocating. 2 allocations, 1 free, 64 bytes.
extern "C" int chosen();

int main() {
    return chosen();
}
