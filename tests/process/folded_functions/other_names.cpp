// Functions that main.cpp calls by other names.

extern const int line_of_first = __LINE__ + 2;
extern "C" int* first() {
    int* const made = new int;
    *made = 1;
    return made;
}
extern "C" int* second_name_of_first() __attribute__((alias("first")));

extern const int line_of_second = __LINE__ + 2;
extern "C" int* label_of_second() {
    int* const made = new int;
    *made = 2;
    return made;
}

extern const int line_of_third = __LINE__ + 2;
extern "C" int* third() {
    int* const made = new int;
    *made = 3;
    return made;
}
// As the linker's --defsym and --wrap do.
asm(".globl name_for_the_linker\n.set name_for_the_linker, third");
