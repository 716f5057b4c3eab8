// gtest_listener.hpp - measures each test of GoogleTest, and each suite on request.
//
// Room:     integrations (floor 11), not malloc-safe
// Called:   by GoogleTest, when the listener has been appended
// Threads:  GoogleTest runs tests one after the other; what the threads of a test allocate is
//           charged to the test, unless the options say threads::current
// Memory:   about 1 KiB
//
//     int main(int argc, char** argv) {
//         ::testing::InitGoogleTest(&argc, argv);
//         auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
//         listeners.Append(new allocscope::gtest_leak_listener);
//         return RUN_ALL_TESTS();
//     }
//
// The listener is appended, because GoogleTest reports ends in reverse order: so the failure is
// recorded before the printer says OK. The window of a test includes its fixture's constructor,
// SetUp, body, TearDown and destructor. A test that failed or was skipped is not judged: it is
// expected to leave objects behind. The child of a death test reports nothing to listeners and is
// not judged either.

#ifndef ALLOCSCOPE_INTEGRATIONS_GTEST_LISTENER_HPP
#define ALLOCSCOPE_INTEGRATIONS_GTEST_LISTENER_HPP

#include <allocscope/config.hpp>
#include <allocscope/integrations/checked_test.hpp>
#include <allocscope/integrations/framework_stacks.hpp>
#include <allocscope/integrations/gtest_framework.hpp>
#include <allocscope/integrations/leak_remarks.hpp>
#include <allocscope/measure/check_result.hpp>
#include <allocscope/measure/leak_check.hpp>
#include <allocscope/measure/scope.hpp>

#include <gtest/gtest.h>  // EmptyTestEventListener, TestInfo, ADD_FAILURE_AT

#include <memory>    // unique_ptr
#include <optional>  // optional
#include <string>    // string

ALLOCSCOPE_NAMESPACE_BEGIN

struct gtest_leak_options {
    leak_options leaks;          // what every test may leave alive; the texts must stay valid
    bool checks_tests = true;    // each test by itself
    bool checks_suites = false;  // each suite from SetUpTestSuite to TearDownTestSuite
    int warm_up_iterations = 0;  // of --gtest_repeat: not judged, so that caches are filled
};

namespace detail {

// GoogleTest has no public way to run a test again. An explicit template instantiation may name
// private members; these two have existed in every release of GoogleTest.
template <::testing::internal::TestFactoryBase* const ::testing::TestInfo::*factory,
          void (::testing::Test::*run)()>
struct gtest_privates {
    friend ::testing::Test* make_gtest_fixture(const ::testing::TestInfo& test) {
        return (test.*factory)->CreateTest();
    }
    friend void run_gtest_fixture(::testing::Test& made) { (made.*run)(); }
};
template struct gtest_privates<&::testing::TestInfo::factory_, &::testing::Test::Run>;
::testing::Test* make_gtest_fixture(const ::testing::TestInfo& test);
void run_gtest_fixture(::testing::Test& made);

// One window of the listener: that of a test or that of a suite.
class gtest_window {
public:
    void open(std::string name, const leak_options& wanted) {
        name_ = static_cast<std::string&&>(name);
        wanted_ = &wanted;
        leaks_.emplace(name_.c_str(), wanted, own_leaks<gtest_names>(wanted_));
    }
    void drop() { leaks_.reset(); }
    bool is_open() const noexcept { return leaks_.has_value(); }

    check_result close(said_of_leaks& said) {
        check_result found = leaks_->finish(limits(said));
        leaks_.reset();
        return found;
    }
    // Like close(), but for a test that fills caches.
    check_result close_repeated(said_of_leaks& said, const ::testing::TestInfo& test) {
        if (leaks_->counts().live_objects() == 0) return close(said);
        leaks_.reset();
        return judge_repeated(
            name_.c_str(), limits(said), own_leaks<gtest_names>(wanted_), [&test] {
                const std::unique_ptr<::testing::Test> made{make_gtest_fixture(test)};
                run_gtest_fixture(*made);
            });
    }

private:
    // The result points into `said`.
    leak_options limits(said_of_leaks& said) const {
        const pause_recording pause;
        return said.add_to(*wanted_);
    }

    std::string name_;
    const leak_options* wanted_ = nullptr;
    std::optional<leak_check> leaks_;
};

}  // namespace detail

class gtest_leak_listener : public ::testing::EmptyTestEventListener {
public:
    // Throws std::invalid_argument as leak_check does, naming what is wrong with the options.
    ALLOCSCOPE_EXCEPTIONS_TAG explicit gtest_leak_listener(const gtest_leak_options& wanted = {})
        : wanted_(wanted) {
        detail::checked_tolerance(wanted.leaks);
        detail::check_expected(wanted.leaks.expected);
        detail::checked_count("gtest_leak_options", "warm_up_iterations",
                              wanted.warm_up_iterations);
    }

    // The result of the last test; it has not passed if none was judged.
    const check_result& last_result() const noexcept { return last_; }

    void OnTestProgramStart(const ::testing::UnitTest&) override {
        SUCCEED();  // for its first result GoogleTest allocates what it keeps
        detail::hide_runners(detail::gtest_names);
        refuse_without_hooks();
    }

    void OnTestIterationStart(const ::testing::UnitTest&, int iteration) override {
        is_warm_ = iteration >= wanted_.warm_up_iterations;
    }

    void OnTestSuiteStart(const ::testing::TestSuite& suite) override {
        const pause_recording pause;
        suite_said_ = detail::said_of_leaks{};
        detail::test_that_runs.begin();
        if (wanted_.checks_suites && can_judge()) suite_.open(suite.name(), wanted_.leaks);
    }

    void OnTestStart(const ::testing::TestInfo& test) override {
        const pause_recording pause;
        suite_said_.add(detail::test_that_runs.take());  // of SetUpTestSuite
        if (!wanted_.checks_tests || !can_judge()) return;
        test_.open(std::string{test.test_suite_name()} + '.' + test.name(), wanted_.leaks);
    }

    void OnTestEnd(const ::testing::TestInfo& test) override {
        detail::said_of_leaks said = take_said();
        if (!test_.is_open()) return;
        if (said.is_ignored() || has_end_of_its_own(test)) return test_.drop();
        if (said.is_repeated() || wanted_.leaks.only_repeated_leaks) {
            last_ = test_.close_repeated(said, test);
            detail::test_that_runs.take();  // drops its remarks: they were heard on the first run
            if (has_end_of_its_own(test)) return;
        } else {
            last_ = test_.close(said);
        }
        const pause_recording pause;
        if (!last_) ADD_FAILURE_AT(test.file(), test.line()) << last_.message();
    }

    void OnTestSuiteEnd(const ::testing::TestSuite& suite) override {
        const pause_recording pause;
        suite_said_.add(detail::test_that_runs.end());  // of TearDownTestSuite
        if (!suite_.is_open()) return;
        // The window of the suite also contains what a skipped test left behind, and the caches of
        // a test that is repeated.
        if (suite_said_.is_ignored() || suite_said_.is_repeated() ||
            wanted_.leaks.only_repeated_leaks || suite.Failed() ||
            suite.skipped_test_count() != 0) {
            return suite_.drop();
        }
        const check_result found = suite_.close(suite_said_);
        if (found) return;
        const ::testing::TestInfo& first = *suite.GetTestInfo(0);
        ADD_FAILURE_AT(first.file(), first.line()) << found.message();
    }

private:
    // Fails once, outside any test: the exit code is then 1.
    void refuse_without_hooks() {
        const char* refusal = detail::engine_refusal(detail::find_engine());
        is_refused_ = refusal[0] != '\0';
        if (is_refused_) ADD_FAILURE() << "allocscope: no test is checked for leaks: " << refusal;
    }
    bool can_judge() const noexcept { return is_warm_ && !is_refused_; }
    detail::said_of_leaks take_said() {
        const pause_recording pause;
        detail::said_of_leaks said = detail::test_that_runs.take();
        suite_said_.add(said);
        return said;
    }
    static bool has_end_of_its_own(const ::testing::TestInfo& test) {
        return test.result()->Failed() || test.result()->Skipped();
    }

    gtest_leak_options wanted_;
    bool is_refused_ = false;
    bool is_warm_ = true;
    detail::gtest_window test_;
    detail::gtest_window suite_;
    detail::said_of_leaks suite_said_;
    check_result last_;
};

namespace detail {

ALLOCSCOPE_EXCEPTIONS_TAG inline bool check_every_gtest_test(
    const gtest_leak_options& wanted = {}) {
    ::testing::UnitTest::GetInstance()->listeners().Append(new gtest_leak_listener{wanted});
    return true;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

// For programs that get their main() from GoogleTest. Use it in one .cpp, at namespace scope. The
// argument is the gtest_leak_options.
#define ALLOCSCOPE_GTEST_CHECK_EVERY_TEST(...)                     \
    [[maybe_unused]] static const bool allocscope_gtest_is_there = \
        ::allocscope::detail::check_every_gtest_test(__VA_ARGS__)

#endif  // ALLOCSCOPE_INTEGRATIONS_GTEST_LISTENER_HPP
