// A class template whose members are defined elsewhere, and a class that has none.
#ifndef ALLOCSCOPE_TESTS_TYPES_WITH_G1_GRID_HPP
#define ALLOCSCOPE_TESTS_TYPES_WITH_G1_GRID_HPP

namespace shop {

template <class T>
class grid {
public:
    struct cursor {
        T* at;
        long distance;
    };
    cursor* begin();

private:
    T cells_[4] = {};
};

struct marks {
    char16_t* first;
    long count;
};

}  // namespace shop

#endif  // ALLOCSCOPE_TESTS_TYPES_WITH_G1_GRID_HPP
