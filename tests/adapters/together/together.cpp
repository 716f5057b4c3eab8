// together FRAMEWORK [ARGUMENT...]: runs the tests of one framework; all are in this one file.
// Danger: two adapters define one name in two ways, or a block asserts in the wrong framework.
#define CATCH_CONFIG_RUNNER
#define CATCH_CONFIG_PREFIX_ALL
#define DOCTEST_CONFIG_IMPLEMENT
#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <allocscope/allocscope.hpp>
#include <allocscope/integrations/catch2.hpp>
#include <allocscope/integrations/doctest.hpp>
#include <allocscope/integrations/gtest.hpp>

#include <cstring>
#include <string>

ALLOCSCOPE_CATCH2_CHECK_EVERY_CASE();
ALLOCSCOPE_DOCTEST_CHECK_EVERY_CASE();
ALLOCSCOPE_GTEST_CHECK_EVERY_TEST();

namespace {

void* volatile kept = nullptr;

void leak_one() {
    kept = new int(1);
}

void use_and_free() {
    const std::string text(100, 'x');
    kept = const_cast<std::string*>(&text);
}

const std::string& filled_by_the_first() {
    static std::string cache;
    if (cache.empty()) cache.assign(1000, 'c');
    return cache;
}

}  // namespace

// Each framework has the same tests, which end as their names say.

DOCTEST_TEST_CASE("passes: decorated" * allocscope::expect_leaks(2)) {
    leak_one();
    leak_one();
}
DOCTEST_TEST_CASE("passes: said in the body") {
    allocscope::expect_leaks("leak:leak_one");
    leak_one();
}
DOCTEST_TEST_CASE("passes: repeated") {
    allocscope::only_repeated_leaks();
    DOCTEST_CHECK(filled_by_the_first().size() == 1000);
}
DOCTEST_TEST_CASE("passes: blocks") {
    ALLOCSCOPE_CHECK_NO_LEAKS {
        use_and_free();
    }
    ALLOCSCOPE_REQUIRE_WITHIN_BUDGET(allocscope::detail::allocations_at_most(1)) {
        use_and_free();
    }
}
DOCTEST_TEST_CASE("leaks: one") {
    leak_one();
}
DOCTEST_TEST_CASE("leaks: at each run") {
    allocscope::only_repeated_leaks();
    leak_one();
}
DOCTEST_TEST_CASE("leaks: in a block" * allocscope::ignore_leaks()) {
    ALLOCSCOPE_CHECK_NO_LEAKS {
        leak_one();
    }
}

TEST(passes, said_in_the_body) {
    allocscope::expect_leaks("leak:leak_one");
    leak_one();
}
TEST(passes, repeated) {
    allocscope::only_repeated_leaks();
    EXPECT_EQ(filled_by_the_first().size(), 1000U);
}
TEST(passes, blocks) {
    ALLOCSCOPE_EXPECT_NO_LEAKS {
        use_and_free();
    }
    ALLOCSCOPE_ASSERT_WITHIN_BUDGET(allocscope::detail::allocations_at_most(1)) {
        use_and_free();
    }
}
TEST(leaks, one) {
    leak_one();
}
TEST(leaks, at_each_run) {
    allocscope::only_repeated_leaks();
    leak_one();
}
TEST(leaks, in_a_block) {
    allocscope::ignore_leaks();
    ALLOCSCOPE_EXPECT_NO_LEAKS {
        leak_one();
    }
}

CATCH_TEST_CASE("passes: said in the body", "[passes]") {
    allocscope::expect_leaks("leak:leak_one");
    leak_one();
}
CATCH_TEST_CASE("passes: repeated", "[passes]") {
    allocscope::only_repeated_leaks();
    CATCH_CHECK(filled_by_the_first().size() == 1000);
}
CATCH_TEST_CASE("passes: blocks", "[passes]") {
    ALLOCSCOPE_CHECK_NO_LEAKS {
        use_and_free();
    }
    ALLOCSCOPE_REQUIRE_WITHIN_BUDGET(allocscope::detail::allocations_at_most(1)) {
        use_and_free();
    }
}
CATCH_TEST_CASE("leaks: one", "[leaks]") {
    leak_one();
}
CATCH_TEST_CASE("leaks: at each run", "[leaks]") {
    allocscope::only_repeated_leaks();
    leak_one();
}
CATCH_TEST_CASE("leaks: in a block", "[leaks]") {
    allocscope::ignore_leaks();
    ALLOCSCOPE_CHECK_NO_LEAKS {
        leak_one();
    }
}

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    const char* framework = argv[1];
    argv[1] = argv[0];
    --argc;
    ++argv;
    if (std::strcmp(framework, "doctest") == 0) return doctest::Context(argc, argv).run();
    if (std::strcmp(framework, "catch2") == 0) return Catch::Session{}.run(argc, argv);
    if (std::strcmp(framework, "gtest") != 0) return 2;
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
