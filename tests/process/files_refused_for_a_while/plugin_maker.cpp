// A library whose file is opened for the first time when there is no descriptor for it.

extern "C" char* make_in_library() {
    char* const made = new char[100];
    __asm__ volatile("" : : "r"(made) : "memory");
    return made;
}
