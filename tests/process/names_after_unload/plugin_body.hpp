// One plugin under two names: the same code at the same offsets, but its type and its source file
// have other names of the same length. NAME and SOURCE are defined by whoever includes this.

#include <cstddef>

struct NAME {
    virtual ~NAME() = default;
    virtual long first() { return numbers[0]; }
    long numbers[4] = {};
};

#line 100 SOURCE
extern "C" void make_objects(int count, void** to) {
    for (int i = 0; i < count; ++i) to[i] = new NAME;  // 101
}
