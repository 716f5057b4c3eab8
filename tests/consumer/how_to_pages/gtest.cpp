#include <allocscope/integrations/gtest.hpp>

TEST(a_test, leaks) {
    EXPECT_EQ(*new int(1), 1);
}

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    listeners.Append(new allocscope::gtest_leak_listener);
    return RUN_ALL_TESTS();
}
