// One plugin under two names: the same code at the same offsets, but its type and its source file
// have other names of the same length. Whoever includes this defines the two macros.

#ifndef ALLOCSCOPE_TESTS_PROCESS_NAMES_AFTER_UNLOAD_PLUGIN_BODY_HPP
#define ALLOCSCOPE_TESTS_PROCESS_NAMES_AFTER_UNLOAD_PLUGIN_BODY_HPP

struct ALLOCSCOPE_TEST_TYPE {
    virtual ~ALLOCSCOPE_TEST_TYPE() = default;
    virtual long first() { return numbers[0]; }
    long numbers[4] = {};
};

#line 100 ALLOCSCOPE_TEST_SOURCE
extern "C" void make_objects(int count, void** to) {
    for (int i = 0; i < count; ++i) to[i] = new ALLOCSCOPE_TEST_TYPE;  // 101
}

#endif  // ALLOCSCOPE_TESTS_PROCESS_NAMES_AFTER_UNLOAD_PLUGIN_BODY_HPP
