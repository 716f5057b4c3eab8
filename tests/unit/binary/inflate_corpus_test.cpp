// labels: fuzz
#include "../../fuzz/inflate_input.hpp"

#include "support/fuzz_corpus.hpp"

TEST_CASE("inflate_corpus: every input gives the same bytes again, or none") {
    CHECK(allocscope_tests::run_inputs("fuzz/corpus/inflate", allocscope_tests::inflate_input) >=
          10);
}
