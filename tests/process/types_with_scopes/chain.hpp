// chain.hpp - a class template whose members are in a file of their own, as many libraries do it.

#ifndef ALLOCSCOPE_TESTS_PROCESS_TYPES_WITH_SCOPES_CHAIN_HPP
#define ALLOCSCOPE_TESTS_PROCESS_TYPES_WITH_SCOPES_CHAIN_HPP

namespace other {

template <class T>
class chain {
public:
    void grow(T value);
    void clear();

private:
    struct link {
        T value;
        link* next;
    };
    template <class U>
    struct slots {
        U all[5];
    };

    link* first_ = nullptr;
    slots<T>* slots_ = nullptr;
};

}  // namespace other

#include "chain_members.hpp"

#endif  // ALLOCSCOPE_TESTS_PROCESS_TYPES_WITH_SCOPES_CHAIN_HPP
