// The inputs of a fuzz target, which unit tests run again: what the fuzzer found interesting or
// wrong stays tested without it.
#ifndef ALLOCSCOPE_TESTS_SUPPORT_FUZZ_CORPUS_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_FUZZ_CORPUS_HPP

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace allocscope_tests {

// Calls run(bytes, size) for each file of a folder of tests/; the number of them.
template <class Run>
std::size_t run_inputs(const char* folder, const Run& run) {
    const std::filesystem::path here{__FILE__};
    std::size_t inputs = 0;
    for (const auto& file :
         std::filesystem::directory_iterator{here.parent_path() / ".." / folder}) {
        std::ifstream in{file.path(), std::ios::binary};
        const std::vector<char> bytes{std::istreambuf_iterator<char>{in}, {}};
        // Exactly as long as the input, so that a sanitizer sees every step beyond.
        const std::vector<std::uint8_t> input{bytes.begin(), bytes.end()};
        INFO(file.path().string());
        CHECK(run(input.data(), input.size()) == 0);
        ++inputs;
    }
    return inputs;
}

}  // namespace allocscope_tests

#endif  // ALLOCSCOPE_TESTS_SUPPORT_FUZZ_CORPUS_HPP
