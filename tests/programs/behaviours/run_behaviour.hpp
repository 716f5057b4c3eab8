// run_behaviour.hpp - a program of many behaviours runs the one that its argument names.

#ifndef ALLOCSCOPE_TESTS_PROGRAMS_BEHAVIOURS_RUN_BEHAVIOUR_HPP
#define ALLOCSCOPE_TESTS_PROGRAMS_BEHAVIOURS_RUN_BEHAVIOUR_HPP

#include <cstddef>  // size_t
#include <cstring>  // strcmp

struct behaviour {
    const char* name;
    void (*run)();
};

// Returns the exit code of the program: 99 if there is no such behaviour.
template <std::size_t Count>
int run_behaviour(const behaviour (&known)[Count], const char* name) {
    for (const behaviour& each : known) {
        if (std::strcmp(each.name, name) == 0) {
            each.run();
            return 0;
        }
    }
    return 99;
}

#endif  // ALLOCSCOPE_TESTS_PROGRAMS_BEHAVIOURS_RUN_BEHAVIOUR_HPP
