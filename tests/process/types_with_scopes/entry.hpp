// entry.hpp - classes of a header: the files that make such objects do not show their scopes.

#ifndef ALLOCSCOPE_TESTS_PROCESS_TYPES_WITH_SCOPES_ENTRY_HPP
#define ALLOCSCOPE_TESTS_PROCESS_TYPES_WITH_SCOPES_ENTRY_HPP

namespace shop {

// A name that another function, or a template, has for another type means nothing here.
struct entry {
    long numbers[3] = {};
};

// A function has another one.
struct leaf {
    long numbers[3] = {};
};

}  // namespace shop

namespace other {

// Not that of other::chain<T>.
struct link {
    double numbers[2];
};

}  // namespace other

#endif  // ALLOCSCOPE_TESTS_PROCESS_TYPES_WITH_SCOPES_ENTRY_HPP
