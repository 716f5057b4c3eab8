// Runs the fuzz target over its corpus, each input once: what the fuzzer found interesting or wrong
// stays tested without it.

#include "../../fuzz/eh_frame_fuzzer.cpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

TEST_CASE("eh_frame_corpus: every input gives rules that keep their promises, or none") {
    const std::filesystem::path here{__FILE__};
    const auto corpus = here.parent_path() / "../../fuzz/corpus/eh_frame";
    std::size_t inputs = 0;
    for (const auto& file : std::filesystem::directory_iterator{corpus}) {
        std::ifstream in{file.path(), std::ios::binary};
        const std::vector<char> bytes{std::istreambuf_iterator<char>{in}, {}};
        // Exactly as long as the input, so that a sanitizer sees every step beyond.
        const std::vector<std::uint8_t> input{bytes.begin(), bytes.end()};
        INFO(file.path().string());
        CHECK(LLVMFuzzerTestOneInput(input.data(), input.size()) == 0);
        ++inputs;
    }
    CHECK(inputs > 20);
}
