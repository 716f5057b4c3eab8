// A library that allocates four calls deep, for messages that name only a few callers.
#ifndef ALLOCSCOPE_TESTS_UNIT_MEASURE_DEEP_LIBRARY_HPP
#define ALLOCSCOPE_TESTS_UNIT_MEASURE_DEEP_LIBRARY_HPP

namespace deep_library {

// `volatile`, so that no call becomes a jump.
template <int depth>
__attribute__((noinline)) char* load() {
    char* volatile loaded = nullptr;
    if constexpr (depth == 1) {
        loaded = new char[50];
    } else {
        loaded = load<depth - 1>();
    }
    return loaded;
}

}  // namespace deep_library

#endif
