// The sample that shadow.py has to find: a function in the namespace of ours calls one of the C
// library that allocates.
#include <allocscope/base/compiler.hpp>

#include <cstdlib>
#include <cstring>

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

ALLOCSCOPE_NOINLINE char* asks_for_memory() {
    char* volatile copy = ::strdup("a text");  // volatile: so that the call is no jump
    return copy;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

int main() {
    std::free(allocscope::detail::asks_for_memory());
}
