// See names_input.hpp.
#include "names_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return allocscope_tests::names_input(data, size);
}
