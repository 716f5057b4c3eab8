// refusal.hpp - an exception whose class is described only where its destructor is defined.
//
// Room:     tests/process
// Called:   by main.cpp and refusal.cpp
// Threads:  one
// Memory:   none

#ifndef ALLOCSCOPE_TESTS_PROCESS_TYPES_OF_EXCEPTIONS_REFUSAL_HPP
#define ALLOCSCOPE_TESTS_PROCESS_TYPES_OF_EXCEPTIONS_REFUSAL_HPP

#include <stdexcept>

namespace shop {

class refusal : public std::runtime_error {
public:
    explicit refusal(const char* why) : std::runtime_error(why) {}
    ~refusal() override;
    int code = 7;
};

}  // namespace shop

#endif  // ALLOCSCOPE_TESTS_PROCESS_TYPES_OF_EXCEPTIONS_REFUSAL_HPP
