// labels: fuzz
#include "../../fuzz/debug_sections_input.hpp"

#include "support/fuzz_corpus.hpp"

TEST_CASE("debug_sections_corpus: every input is answered, and nothing is read beside it") {
    CHECK(allocscope_tests::run_inputs("fixtures/elf", allocscope_tests::debug_sections_input) >=
          10);
}
