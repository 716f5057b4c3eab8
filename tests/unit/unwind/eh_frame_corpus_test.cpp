// Runs the fuzz target over its corpus, each input once: what the fuzzer found interesting or wrong
// stays tested without it.

#include "../../fuzz/eh_frame_fuzzer.cpp"

#include "support/fuzz_corpus.hpp"

TEST_CASE("eh_frame_corpus: every input gives rules that keep their promises, or none") {
    CHECK(allocscope_tests::run_inputs("fuzz/corpus/eh_frame", LLVMFuzzerTestOneInput) > 20);
}
