// makers.hpp - functions of another source, so that they are not inlined. Most end with a jump.

#ifndef ALLOCSCOPE_TESTS_PROCESS_TAIL_CALLS_MAKERS_HPP
#define ALLOCSCOPE_TESTS_PROCESS_TAIL_CALLS_MAKERS_HPP

#include <vector>

struct item {
    int numbers[3];
};
struct other_item {
    long number;
};

item* make_item();
item* make_by_two_jumps();
void* make_either(bool is_first);
void* make_or_ask(bool is_asking);
void grow(std::vector<long>& numbers);
void* make_by_pointer(void* (*make)(), bool is_asking);
void* make_checked(int kind);
void* make_rarely(int kind);

extern const int line_of_item;
extern const int line_behind_two_jumps;
extern const int line_of_grow;
extern const int line_of_checked;

#endif  // ALLOCSCOPE_TESTS_PROCESS_TAIL_CALLS_MAKERS_HPP
