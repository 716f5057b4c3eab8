// See inflate_input.hpp.
#include "inflate_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return allocscope_tests::inflate_input(data, size);
}
