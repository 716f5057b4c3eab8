// See source_text_input.hpp.
#include "source_text_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return allocscope_tests::source_text_input(data, size);
}
