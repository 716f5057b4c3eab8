// See debug_sections_input.hpp.
#include "debug_sections_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return allocscope_tests::debug_sections_input(data, size);
}
