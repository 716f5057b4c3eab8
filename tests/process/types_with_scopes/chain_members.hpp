// chain_members.hpp - the source of the members has no definition of the classes that it names.

#ifndef ALLOCSCOPE_TESTS_PROCESS_TYPES_WITH_SCOPES_CHAIN_MEMBERS_HPP
#define ALLOCSCOPE_TESTS_PROCESS_TYPES_WITH_SCOPES_CHAIN_MEMBERS_HPP

#include "chain.hpp"

namespace other {

template <class T>
__attribute__((noinline)) void chain<T>::grow(T value) {
    first_ = new link{value, first_};
    slots_ = new slots<T>{};
}

template <class T>
void chain<T>::clear() {
    delete first_;
    delete slots_;
}

}  // namespace other

#endif  // ALLOCSCOPE_TESTS_PROCESS_TYPES_WITH_SCOPES_CHAIN_MEMBERS_HPP
