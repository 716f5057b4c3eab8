#include "makers.hpp"

item* make_item() {
    return new item;
}
const int line_of_item = __LINE__ - 2;

// Another size than an item, so that its code is not the same.
static __attribute__((noinline)) item* make_several() {
    return new item[7];
}
const int line_behind_two_jumps = __LINE__ - 2;

item* make_by_two_jumps() {
    return make_several();
}

void* make_either(bool is_first) {
    if (is_first) return new other_item;
    return new char[40];
}

// clang describes the first of these jumps only.
static __attribute__((noinline)) void* asked() {
    return new long[9];
}
void* make_or_ask(bool is_asking) {
    if (is_asking) return asked();
    return new char[41];
}

void grow(std::vector<long>& numbers) {
    numbers.resize(40);
}
const int line_of_grow = __LINE__ - 2;

void set_name(named& person, const std::string& name) {
    person.name = name;
}
const int line_of_set_name = __LINE__ - 2;

namespace {

// Only one function of the program adds to a vector of short.
struct first_job final : job {
    short value = 5;
    signed char other = 3;
    void add_to(std::vector<short>& numbers) override { numbers.push_back(value); }
    void add_to(std::vector<signed char>& numbers) override { numbers.push_back(other); }
};
struct second_job final : job {
    signed char value = 7;
    void add_to(std::vector<short>&) override {}
    void add_to(std::vector<signed char>& numbers) override { numbers.push_back(value); }
};

}  // namespace
const int line_of_job = __LINE__ - 10;

job* make_job(bool is_first) {
    return is_first ? static_cast<job*>(new first_job) : new second_job;
}
