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

extern const int line_of_item;
extern const int line_behind_two_jumps;
extern const int line_of_grow;

#endif  // ALLOCSCOPE_TESTS_PROCESS_TAIL_CALLS_MAKERS_HPP
