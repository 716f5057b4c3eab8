// depot.hpp - classes whose functions are in another file.
//
// Room:     tests/process
// Called:   by depot.cpp and main.cpp
// Threads:  any
// Memory:   none

#ifndef ALLOCSCOPE_TESTS_PROCESS_TYPES_IN_HEADERS_DEPOT_HPP
#define ALLOCSCOPE_TESTS_PROCESS_TYPES_IN_HEADERS_DEPOT_HPP

#include <array>
#include <memory>
#include <vector>

namespace shop {

struct shelf {
    long places[5];
};

class depot {
public:
    depot();
    void fill();

private:
    using cell = std::array<double, 7>;

    std::unique_ptr<shelf> first_{new shelf};
    std::vector<short> levels_ = {1, 2, 3};
    std::vector<std::unique_ptr<cell>> cells_;
    void* crate_ = nullptr;
    char16_t* labels_ = nullptr;
};

struct crate {
    long sides[3];
};

}  // namespace shop

#endif  // ALLOCSCOPE_TESTS_PROCESS_TYPES_IN_HEADERS_DEPOT_HPP
