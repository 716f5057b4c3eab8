// reader.hpp - a class whose type has another name where objects of it are made.
//
// Room:     tests/process
// Called:   by main.cpp
// Threads:  any
// Memory:   what its users ask for

#ifndef ALLOCSCOPE_TESTS_PROCESS_TYPES_OF_GONE_OBJECTS_READER_HPP
#define ALLOCSCOPE_TESTS_PROCESS_TYPES_OF_GONE_OBJECTS_READER_HPP

#include <memory>  // unique_ptr

namespace shop {

struct reader {
    explicit reader(long first);
    long numbers[5];
};

class parser {
public:
    typedef reader reader_type;
    void start(long first);
    void stop() { reader_.reset(); }

private:
    std::unique_ptr<reader_type> reader_;
};

}  // namespace shop

#endif  // ALLOCSCOPE_TESTS_PROCESS_TYPES_OF_GONE_OBJECTS_READER_HPP
