// A copied pause would be taken back twice.
// expect: deleted function|call to deleted constructor
#include <allocscope/allocscope.hpp>

void sample() {
    allocscope::pause_recording pause;
#ifdef ALLOCSCOPE_BAD
    allocscope::pause_recording copy = pause;
#endif
}
