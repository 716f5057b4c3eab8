// A copied window would end twice.
// expect: deleted function|call to deleted constructor
#include <allocscope/allocscope.hpp>

void sample() {
    allocscope::scope window;
#ifdef ALLOCSCOPE_BAD
    allocscope::scope copy = window;
#endif
}
