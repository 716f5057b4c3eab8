// A thousand small tests, for cost_per_test.py: with the listener, or (ALLOCSCOPE_UNCHECKED)
// without. The hooks are there in both.
#include <gtest/gtest.h>

#include <map>
#include <string>

#ifndef ALLOCSCOPE_UNCHECKED
    #include <allocscope/integrations/gtest.hpp>
ALLOCSCOPE_GTEST_CHECK_EVERY_TEST();
#endif

class small_test : public ::testing::TestWithParam<int> {};

TEST_P(small_test, fills_a_map) {
    std::map<int, std::string> words;
    for (int i = 0; i < 10; ++i) words[i] = std::string(static_cast<std::size_t>(20 + i), 'a');
    EXPECT_EQ(words.size(), 10U);
    EXPECT_EQ(words[GetParam() % 10].size(), static_cast<std::size_t>(20 + GetParam() % 10));
}

INSTANTIATE_TEST_SUITE_P(a_thousand, small_test, ::testing::Range(0, 1000));

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
