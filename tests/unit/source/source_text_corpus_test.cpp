// labels: fuzz
#include "../../fuzz/source_text_input.hpp"

#include "support/fuzz_corpus.hpp"

TEST_CASE("source_text_corpus: every input gives new-expressions that lie in the text") {
    CHECK(allocscope_tests::run_inputs("fuzz/corpus/source_text",
                                       allocscope_tests::source_text_input) >= 10);
}
