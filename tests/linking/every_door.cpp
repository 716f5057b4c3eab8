// Every header that users include, and what they write with those of test frameworks, in one file.
#if __has_include(<catch2/catch.hpp>)
    #define CATCH_CONFIG_EXTERNAL_INTERFACES  // of version 2 of Catch2
#endif
#define CATCH_CONFIG_PREFIX_ALL
#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <allocscope/allocscope.hpp>
#include <allocscope/debug_forms.hpp>
#include <allocscope/define_once/malloc_family.hpp>
#include <allocscope/define_once/operator_new_delete.hpp>
#include <allocscope/hooks.hpp>
#include <allocscope/integrations/baselines.hpp>
#include <allocscope/pools.hpp>
#include <allocscope/report.hpp>
#include <allocscope/time_series.hpp>
#if __has_include(<benchmark/benchmark.h>)
    #include <allocscope/integrations/google_benchmark.hpp>
#endif
#if __has_include(<doctest/doctest.h>)
    #include <allocscope/integrations/doctest.hpp>
#endif
#if __has_include(<gtest/gtest.h>)
    #include <allocscope/integrations/gtest.hpp>
#endif
#if __has_include(<catch2/catch.hpp>) || __has_include(<catch2/catch_test_macros.hpp>)
    #include <allocscope/integrations/catch2.hpp>
#endif
// What other headers include behind ours.
#if __has_include(<immintrin.h>)
    #include <immintrin.h>
#endif

namespace {

void use_and_free() {
    delete new int;
}

#if __has_include(<doctest/doctest.h>)
ALLOCSCOPE_DOCTEST_CHECK_EVERY_CASE();
DOCTEST_TEST_CASE("blocks of doctest" * allocscope::expect_leaks(0)) {
    ALLOCSCOPE_CHECK_NO_LEAKS {
        use_and_free();
    }
    ALLOCSCOPE_CHECK_ALLOCATIONS_AT_MOST(1) {
        use_and_free();
    }
    allocscope::only_repeated_leaks();
}
#endif

#if __has_include(<gtest/gtest.h>)
ALLOCSCOPE_GTEST_CHECK_EVERY_TEST();
TEST(every_door, blocks_of_gtest) {
    ALLOCSCOPE_EXPECT_NO_ALLOCATIONS {}
    ALLOCSCOPE_ASSERT_WITHIN_BUDGET(allocscope::allocation_budget{}) {
        use_and_free();
    }
}
#endif

#if __has_include(<catch2/catch.hpp>) || __has_include(<catch2/catch_test_macros.hpp>)
ALLOCSCOPE_CATCH2_CHECK_EVERY_CASE();
CATCH_TEST_CASE("blocks of Catch2") {
    ALLOCSCOPE_REQUIRE_NO_LEAKS {
        use_and_free();
    }
    ALLOCSCOPE_REQUIRE_NO_ALLOCATIONS {}
}
#endif

#if __has_include(<benchmark/benchmark.h>)
void loop(benchmark::State& state) {
    const allocscope::benchmark_scope scope(state);
    for (auto _ : state) use_and_free();
}
BENCHMARK(loop);
#endif

}  // namespace

#if __has_include(<benchmark/benchmark.h>)
ALLOCSCOPE_BENCHMARK_MAIN();
#else
int main() {}
#endif
