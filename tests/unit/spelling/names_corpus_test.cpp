// labels: fuzz
#include "../../fuzz/names_input.hpp"

#include "support/fuzz_corpus.hpp"

TEST_CASE("names_corpus: every input gives a name, and nothing is read beside it") {
    CHECK(allocscope_tests::run_inputs("fuzz/corpus/names", allocscope_tests::names_input) >= 10);
}
