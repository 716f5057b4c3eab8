// Tests of which the suite's name tells what the listener must make of them: passes_..., leaks_...,
// fails_... (for another reason). matrix_test.py runs this program in many ways and looks at exit
// codes, console and XML.
#include <allocscope/allocscope.hpp>
#include <allocscope/integrations/gtest.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/escape.hpp"

namespace {

using allocscope_test::opaque;

struct thing {
    int number = 0;
};

using allocscope::detail::is_of_namespace;
static_assert(is_of_namespace("testing::Test::Run()", "testing::"));
static_assert(is_of_namespace("void testing::internal::f<int>(int)", "testing::"));
static_assert(is_of_namespace("std::map<int, a::b>& testing::f<a>()", "testing::"));
static_assert(is_of_namespace("decltype ((declval<a>()).get()) testing::f<a>(b)", "testing::"));
static_assert(is_of_namespace("testing::(anonymous namespace)::f()", "testing::"));
static_assert(is_of_namespace("testing::a::operator std::string() const", "testing::"));
static_assert(is_of_namespace("testing::operator<< <char>(a, b)", "testing::"));
static_assert(!is_of_namespace("testing::AssertionResult mine::f<a>(testing::b)", "testing::"));
static_assert(!is_of_namespace("mine::testing::f()", "testing::"));
static_assert(!is_of_namespace("mine::f(testing::Test*)", "testing::"));
static_assert(!is_of_namespace("(anonymous namespace)::f<testing::Test>()", "testing::"));
static_assert(!is_of_namespace("mine::operator testing::Test() const", "testing::"));
static_assert(!is_of_namespace("", "testing::"));

// A user's code may have been inlined into what names something of the user's.
using allocscope::detail::names_only;
static_assert(names_only("testing::TestResult::RecordProperty(std::string const&)", "testing::"));
static_assert(
    names_only("void std::vector<testing::a, std::allocator<testing::a> >::f<testing::a "
               "const&>(__gnu_cxx::it<testing::a*, 3ul>, unsigned long)",
               "testing::"));
static_assert(names_only("testing::a::operator bool() const", "testing::"));
static_assert(!names_only("testing::f(mine::a)", "testing::"));
static_assert(!names_only("void std::vector<thing>::push_back(thing const&)", "testing::"));
static_assert(!names_only("std::f<testing::g()::{lambda()#1}>()", "testing::"));
static_assert(!names_only("testing::f((anonymous namespace)::a)", "testing::"));
static_assert(!names_only("main", "testing::"));
static_assert(!names_only("", "testing::"));

// What a leak is kept in, so that no compiler can see that nobody uses it.
void* volatile kept_somewhere = nullptr;

void leak_one() {
    kept_somewhere = opaque(new thing);
}

void use_and_free() {
    const std::unique_ptr<thing> owned{opaque(new thing)};
}

}  // namespace

// --- must pass ---

TEST(passes, empty) {}

TEST(passes, frees_everything) {
    use_and_free();
    std::vector<std::string> words(100, std::string(50, 'a'));
    EXPECT_EQ(words.size(), 100U);
}

TEST(passes, a_static_made_at_its_first_use) {
    static const std::vector<std::string> names(3, std::string(100, 's'));
    EXPECT_EQ(names.size(), 3U);
}

TEST(passes, first_use_of_streams_and_strings) {
    std::ostringstream out;
    out << 1.5 << ' ' << std::string(100, 'b');
    EXPECT_EQ(out.str().size(), 104U);
    std::cout << "printed through std::cout" << std::endl;
}

TEST(passes, throws_and_catches) {
    EXPECT_THROW(throw std::runtime_error(std::string(100, 'c')), std::runtime_error);
}

TEST(passes, keeps_gtest_busy) {
    SCOPED_TRACE("a trace that is longer than a short string");
    RecordProperty("a_property_with_a_long_name", "a value that is longer than a short string");
    EXPECT_TRUE(std::strlen("x") == 1) << "never shown";
}

TEST(passes, threads_that_free) {
    std::vector<std::thread> workers;
    for (int i = 0; i < 4; ++i) workers.emplace_back([] { use_and_free(); });
    for (std::thread& each : workers) each.join();
}

TEST(passes, thread_local_cache_of_a_thread_that_ends) {
    std::thread{[] {
        thread_local std::string cache;
        cache.assign(1000, 'd');
    }}.join();
}

namespace {
std::unique_ptr<thing> born_before{opaque(new thing)};
}  // namespace

TEST(passes, frees_what_is_older) {
    born_before.reset();
}

TEST(passes, expected_leaks) {
    allocscope::expect_leaks(2);
    leak_one();
    leak_one();
}

TEST(passes, expected_leaks_between) {
    allocscope::expect_leaks(0, 2);
    leak_one();
}

TEST(passes, expected_leaks_by_name) {
    allocscope::expect_leaks("leak:leak_one");
    allocscope::expect_leaks(0);
    leak_one();
    leak_one();
    leak_one();
}

TEST(passes, ignored) {
    allocscope::ignore_leaks();
    leak_one();
}

TEST(passes, paused) {
    const allocscope::pause_recording pause;
    leak_one();
}

TEST(passes, skipped_after_a_leak) {
    leak_one();
    GTEST_SKIP() << "was skipped";
}

class passes_skipped_by_its_fixture : public ::testing::Test {
protected:
    void SetUp() override {
        leak_one();
        GTEST_SKIP() << "by SetUp";
    }
};
TEST_F(passes_skipped_by_its_fixture, never_runs) {
    leak_one();
}

TEST(passes, DISABLED_leaks_when_it_is_run) {
    leak_one();
}

// A cache that is filled once: the program fills it before the tests, as a warm-up.
namespace {
const std::string& filled_once() {
    static const std::string cache(1000, 'e');
    return cache;
}
}  // namespace

TEST(passes, static_cache_that_was_warmed_up) {
    EXPECT_EQ(filled_once().size(), 1000U);
}

TEST(passes, blocks) {
    ALLOCSCOPE_EXPECT_NO_LEAKS {}
    ALLOCSCOPE_ASSERT_NO_LEAKS {
        use_and_free();
    }
    ALLOCSCOPE_EXPECT_NO_LEAKS_ON_THIS_THREAD {
        use_and_free();
    }
    ALLOCSCOPE_EXPECT_NO_ALLOCATIONS {}
    ALLOCSCOPE_ASSERT_NO_ALLOCATIONS {
        EXPECT_EQ(1, 1);
        ASSERT_TRUE(true);
        EXPECT_STREQ("a", "a");
    }
    ALLOCSCOPE_EXPECT_ALLOCATIONS_AT_MOST(0) {}
    ALLOCSCOPE_ASSERT_ALLOCATIONS_AT_MOST(2) {
        use_and_free();
        ALLOCSCOPE_EXPECT_ALLOCATIONS_AT_MOST(1) use_and_free();
    }
// A macro of the user is one line.
#define ALLOCSCOPE_TEST_NOTHING_LEAKS_OR_IS_ALLOCATED \
    ALLOCSCOPE_ASSERT_NO_LEAKS ALLOCSCOPE_ASSERT_ALLOCATIONS_AT_MOST(0)
    ALLOCSCOPE_TEST_NOTHING_LEAKS_OR_IS_ALLOCATED {}
    allocscope::allocation_budget limits;
    limits.allocations = allocscope::between(1, 2);
    limits.bytes = sizeof(thing);
    limits.live_objects = 0;
    ALLOCSCOPE_EXPECT_WITHIN_BUDGET(limits) {
        use_and_free();
    }
    if (limits.bytes.most().bits == 0)
        ALLOCSCOPE_ASSERT_WITHIN_BUDGET(limits) use_and_free();
    else
        use_and_free();
}

TEST(passes, blocks_in_many_threads) {
    std::vector<std::thread> workers;
    for (int i = 0; i < 4; ++i) {
        workers.emplace_back([] {
            for (int round = 0; round < 20; ++round) {
                ALLOCSCOPE_EXPECT_NO_LEAKS_ON_THIS_THREAD {
                    use_and_free();
                }
                ALLOCSCOPE_EXPECT_ALLOCATIONS_AT_MOST(1) {
                    use_and_free();
                }
                use_and_free();
            }
        });
    }
    for (std::thread& each : workers) each.join();
}

namespace {
int leave_a_block_early() {
    ALLOCSCOPE_EXPECT_NO_LEAKS {
        use_and_free();
        return 1;
    }
    return 0;
}
}  // namespace

TEST(passes, block_that_is_left_early) {
    EXPECT_EQ(leave_a_block_early(), 1);
    ALLOCSCOPE_EXPECT_NO_LEAKS {
        break;
    }
    EXPECT_THROW(
        ALLOCSCOPE_EXPECT_NO_LEAKS { throw 1; }, int);
}

class passes_fixture : public ::testing::Test {
protected:
    static void SetUpTestSuite() { shared_ = new std::string(100, 'f'); }
    static void TearDownTestSuite() { delete shared_; }
    void SetUp() override { text_ = std::make_unique<std::string>(100, 'g'); }

    static std::string* shared_;
    std::unique_ptr<std::string> text_;
    std::string word_ = std::string(100, 'h');
};
std::string* passes_fixture::shared_ = nullptr;

TEST_F(passes_fixture, one) {
    EXPECT_EQ(shared_->size(), 100U);
}
TEST_F(passes_fixture, two) {
    EXPECT_EQ(word_.size(), text_->size());
}

class passes_values : public ::testing::TestWithParam<std::string> {};
TEST_P(passes_values, have_a_size) {
    const std::string copy = GetParam() + std::string(50, 'i');
    EXPECT_GE(copy.size(), 50U);
}
INSTANTIATE_TEST_SUITE_P(some, passes_values,
                         ::testing::Values("a parameter that is longer than a short string", "b"));

template <class Value>
class passes_types : public ::testing::Test {};
using some_types = ::testing::Types<int, std::string>;
TYPED_TEST_SUITE(passes_types, some_types, );
TYPED_TEST(passes_types, frees) {
    const std::unique_ptr<TypeParam> owned{opaque(new TypeParam{})};
    EXPECT_NE(owned, nullptr);
}

using passes_DeathTest = ::testing::Test;
TEST(passes_DeathTest, dies_after_a_leak) {
    EXPECT_DEATH(
        {
            leak_one();
            std::fputs("the end", stderr);
            std::abort();
        },
        "the end");
    EXPECT_EXIT(std::exit(3), ::testing::ExitedWithCode(3), "");
}

// --- must fail, and say where ---

TEST(leaks, in_the_body) {
    kept_somewhere = opaque(new thing);  // line of leaks.in_the_body
}

TEST(leaks, in_another_thread) {
    std::thread{[] { leak_one(); }}.join();
}

TEST(leaks, in_a_static) {
    static std::vector<int> grows;
    grows.assign(100, 1);
    grows.push_back(2);
}

TEST(leaks, in_a_thread_local_of_this_thread) {
    thread_local std::string cache;
    cache.assign(1000, 'j');
}

TEST(leaks, less_than_was_said) {
    allocscope::expect_leaks(3);
    leak_one();
    leak_one();
}

TEST(leaks, more_than_was_said) {
    allocscope::expect_leaks(1);
    leak_one();
    leak_one();
}

TEST(leaks, after_an_exception_was_caught) {
    EXPECT_THROW(
        {
            leak_one();
            throw 1;
        },
        int);
}

namespace {
struct printed {};
std::ostream& operator<<(std::ostream& out, const printed&) {
    leak_one();
    return out << "printed";
}
}  // namespace

TEST(leaks, in_what_gtest_calls) {
    EXPECT_EQ(::testing::PrintToString(printed{}), "printed");
}

class leaks_fixture : public ::testing::Test {
protected:
    leaks_fixture() { kept_somewhere = opaque(new thing); }
};
TEST_F(leaks_fixture, in_the_constructor) {}

class leaks_tear_down : public ::testing::Test {
protected:
    void TearDown() override { leak_one(); }
};
TEST_F(leaks_tear_down, in_tear_down) {}

class leaks_values : public ::testing::TestWithParam<int> {};
TEST_P(leaks_values, for_odd_numbers) {
    if (GetParam() % 2 == 1) leak_one();
}
INSTANTIATE_TEST_SUITE_P(some, leaks_values, ::testing::Values(1));

template <class Value>
class leaks_types : public ::testing::Test {};
TYPED_TEST_SUITE(leaks_types, ::testing::Types<double>, );
TYPED_TEST(leaks_types, of_the_type) {
    kept_somewhere = opaque(new TypeParam{});
}

TEST(leaks, in_four_threads_at_a_time) {
    std::vector<std::thread> workers;
    for (int i = 0; i < 4; ++i) workers.emplace_back([] { leak_one(); });
    for (std::thread& each : workers) each.join();
}

namespace {
const std::string& filled_by_the_first() {
    static std::string cache;
    if (cache.empty()) cache.assign(1000, 'l');
    return cache;
}
}  // namespace

TEST(leaks, in_a_cache_that_the_first_fills) {
    EXPECT_EQ(filled_by_the_first().size(), 1000U);
}

// What the child does is not the test's, what the parent does is.
using leaks_DeathTest = ::testing::Test;
TEST(leaks_DeathTest, beside_a_child_that_leaks_too) {
    leak_one();
    EXPECT_EXIT(
        {
            leak_one();
            leak_one();
            std::exit(0);
        },
        ::testing::ExitedWithCode(0), "");
}

// --- blocks that must fail ---

TEST(blocks, expect_goes_on) {
    ALLOCSCOPE_EXPECT_NO_LEAKS {
        leak_one();
    }
    std::puts("went on");
}

TEST(blocks, assert_returns) {
    ALLOCSCOPE_ASSERT_NO_LEAKS {
        leak_one();
    }
    std::puts("went on");
}

TEST(blocks, no_allocations) {
    ALLOCSCOPE_EXPECT_NO_ALLOCATIONS {
        use_and_free();
    }
}

TEST(blocks, at_most) {
    ALLOCSCOPE_EXPECT_ALLOCATIONS_AT_MOST(2) {
        use_and_free();
        use_and_free();
        use_and_free();
    }
}

TEST(blocks, at_least) {
    allocscope::allocation_budget limits;
    limits.allocations = allocscope::at_least(2);
    ALLOCSCOPE_ASSERT_WITHIN_BUDGET(limits) {
        use_and_free();
    }
}

TEST(blocks, left_by_return) {
    ALLOCSCOPE_EXPECT_NO_LEAKS {
        leak_one();
        return;
    }
}

TEST(blocks, negative) {
    ALLOCSCOPE_EXPECT_ALLOCATIONS_AT_MOST(-1) {}
}

// --- fail by themselves: nothing is said about leaks ---

TEST(fails, by_an_assertion) {
    leak_one();
    EXPECT_EQ(1, 2);
}

TEST(fails, by_an_exception) {
    leak_one();
    throw std::runtime_error("thrown by the test");
}

TEST(fails, by_a_fatal_assertion_in_a_block) {
    ALLOCSCOPE_EXPECT_NO_LEAKS {
        leak_one();
        ASSERT_EQ(1, 2);
    }
}

TEST(fails, by_a_negative_number) {
    allocscope::expect_leaks(-2);
}

// --- for --per-suite ---

class suite_that_leaks : public ::testing::Test {
protected:
    static void SetUpTestSuite() { leak_one(); }
};
TEST_F(suite_that_leaks, one) {}
TEST_F(suite_that_leaks, two) {}

class suite_that_expects : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        leak_one();
        allocscope::expect_leaks(1);
    }
};
TEST_F(suite_that_expects, one) {
    leak_one();
    allocscope::expect_leaks(1);
}

// --- for --gtest_repeat ---

TEST(first_time, fills_a_cache) {
    static std::string cache;
    if (cache.empty()) cache.assign(1000, 'k');
    EXPECT_EQ(cache.size(), 1000U);
}

// --- run three times more ---

class repeated : public ::testing::TestWithParam<int> {
protected:
    std::vector<int> made_ = std::vector<int>(100);
};
TEST_P(repeated, fills_a_cache) {
    allocscope::only_repeated_leaks();
    static std::string caches[2];
    caches[GetParam()].assign(1000, 'r');
    EXPECT_EQ(made_.size(), 100U);
}
INSTANTIATE_TEST_SUITE_P(both, repeated, ::testing::Range(0, 2));

TEST(repeated_leaks, one_at_each_run) {
    allocscope::only_repeated_leaks();
    leak_one();
}

TEST(repeated_leaks, only_at_first_and_one_is_said) {
    allocscope::only_repeated_leaks();
    allocscope::expect_leaks(1);
    leak_one();
}

namespace {

// Its OnTestEnd comes before the listener's, which was appended later; so it tells at the start of
// the next test what became of the last.
class last_result_printer : public ::testing::EmptyTestEventListener {
public:
    explicit last_result_printer(const allocscope::gtest_leak_listener& leaks) : leaks_(leaks) {}
    void OnTestEnd(const ::testing::TestInfo& test) override {
        const allocscope::check_result& found = leaks_.last_result();
        std::cout << "measured " << test.name() << ": "
                  << (found.passed() ? found.counts().live_objects() : 1) << " alive\n";
    }

private:
    const allocscope::gtest_leak_listener& leaks_;
};

// A listener that keeps what it hears, as one that writes a report at the end does. What it keeps
// is no leak of a test, even where it is told of its start and end while the test is measured.
class collector : public ::testing::EmptyTestEventListener {
    void OnTestStart(const ::testing::TestInfo&) override { keep(); }
    void OnTestPartResult(const ::testing::TestPartResult&) override { keep(); }
    void OnTestEnd(const ::testing::TestInfo&) override { keep(); }

    void keep() { heard_.push_back(std::make_unique<std::string>(100, 'h')); }
    std::vector<std::unique_ptr<std::string>> heard_;
};

bool has_argument(int count, char** texts, const char* wanted) {
    for (int i = 1; i < count; ++i) {
        if (std::strcmp(texts[i], wanted) == 0) return true;
    }
    return false;
}

}  // namespace

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    filled_once();
    allocscope::gtest_leak_options options;
    options.checks_suites = has_argument(argc, argv, "--per-suite");
    if (options.checks_suites) options.checks_tests = !has_argument(argc, argv, "--no-tests");
    if (has_argument(argc, argv, "--warm-up")) options.warm_up_iterations = 1;
    options.leaks.only_repeated_leaks = has_argument(argc, argv, "--repeated");
    if (has_argument(argc, argv, "--expect-thing")) options.leaks.expected = "leak:leak_one";
    ::testing::TestEventListeners& listeners = ::testing::UnitTest::GetInstance()->listeners();
    auto* leaks = new allocscope::gtest_leak_listener{options};
    if (has_argument(argc, argv, "--print")) listeners.Append(new last_result_printer{*leaks});
    listeners.Append(leaks);
    if (!has_argument(argc, argv, "--print")) listeners.Append(new collector);
    return RUN_ALL_TESTS();
}
