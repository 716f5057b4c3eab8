// entry.hpp - classes of a header: the files that make such objects do not show their scopes.

#ifndef ALLOCSCOPE_TESTS_PROCESS_TYPES_WITH_SCOPES_ENTRY_HPP
#define ALLOCSCOPE_TESTS_PROCESS_TYPES_WITH_SCOPES_ENTRY_HPP

#include <array>
#include <memory>

// What compilers call box<size_of_text> is box<short>.
using size_of_text = short;
enum seasons { spring = 2, summer, autumn, end_of_seasons };

template <class T>
struct box {
    T value[3] = {};
};

namespace shop {

// A name that another function, or a template, has for another type means nothing here.
struct entry {
    long numbers[3] = {};
};

// A function has another one.
struct leaf {
    long numbers[3] = {};
};

using number_of_parts = long;

class shelf {
public:
    void fill();

private:
    using parts = std::array<number_of_parts, end_of_seasons>;
    std::unique_ptr<parts> parts_;  // of what the alias stands for
};

}  // namespace shop

namespace other {

// Not that of other::chain<T>.
struct link {
    double numbers[2];
};

}  // namespace other

#endif  // ALLOCSCOPE_TESTS_PROCESS_TYPES_WITH_SCOPES_ENTRY_HPP
