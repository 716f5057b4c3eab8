// makers.hpp - functions of another source, so that they are not inlined. Most end with a jump.

#ifndef ALLOCSCOPE_TESTS_PROCESS_TAIL_CALLS_MAKERS_HPP
#define ALLOCSCOPE_TESTS_PROCESS_TAIL_CALLS_MAKERS_HPP

#include <string>
#include <vector>

struct item {
    int numbers[3];
};
struct other_item {
    long number;
};
struct named {
    std::string name;
};

struct job {
    virtual ~job() = default;
    virtual void add_to(std::vector<short>& numbers) = 0;
    virtual void add_to(std::vector<signed char>& numbers) = 0;
};

item* make_item();
job* make_job(bool is_first);
item* make_beside();
item* make_by_two_jumps();
void* make_either(bool is_first);
void* make_or_ask(bool is_asking);
void grow(std::vector<long>& numbers);
void set_name(named& person, const std::string& name);
void* make_by_pointer(void* (*make)(), bool is_asking);
void* make_checked(int kind);
void* make_rarely(int kind);
void* make_after_switch(int kind);
void* make_after_loop();
void* make_after_call();
void* make_after_mask();
void* make_after_stub();
void* make_by_pointer_with_number(void* (*make)(int), bool is_asking);
void* make_last(void* (*make)(int), bool is_asking);
extern const int line_behind_switch;

extern const int line_of_item;
extern const int line_of_job;
extern const int line_behind_two_jumps;
extern const int line_of_grow;
extern const int line_of_checked;
extern const int line_of_set_name;
extern const int line_after_loop;
extern const int line_after_call;
extern const int line_after_mask;
extern const int line_after_stub;

#endif  // ALLOCSCOPE_TESTS_PROCESS_TAIL_CALLS_MAKERS_HPP
