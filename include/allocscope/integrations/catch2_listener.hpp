// catch2_listener.hpp - measures each pass through each test case of Catch2.
//
// Room:     integrations (floor 11), not malloc-safe
// Called:   by Catch2, if the program contains ALLOCSCOPE_CATCH2_CHECK_EVERY_CASE() or _MAIN()
// Threads:  Catch2 runs test cases one after the other; what the threads of a test allocate is
//           charged to the test, unless the options say threads::current
// Memory:   a copy of the list of test cases, during the run
//
// A listener of Catch2 must not assert. So this one only replaces, for the run, the invoker of each
// test case by its own. Its invoker opens a window, calls the test case, and then asserts that
// nothing of the window is alive, as if this were the last line of the test case. Catch2 calls the
// invoker once for each path through the SECTIONs, so each pass is judged separately, and tags,
// --abort and all reporters treat the assertion like any other. The window includes the fixture's
// constructor and destructor. A pass that failed or was skipped is not judged: it is expected to
// leave objects behind.

#ifndef ALLOCSCOPE_INTEGRATIONS_CATCH2_LISTENER_HPP
#define ALLOCSCOPE_INTEGRATIONS_CATCH2_LISTENER_HPP

#include <allocscope/config.hpp>
#include <allocscope/integrations/catch2_framework.hpp>
#include <allocscope/integrations/catch2_versions.hpp>
#include <allocscope/integrations/checked_test.hpp>
#include <allocscope/integrations/framework_stacks.hpp>
#include <allocscope/integrations/leak_remarks.hpp>
#include <allocscope/measure/check_result.hpp>
#include <allocscope/measure/leak_check.hpp>
#include <allocscope/measure/on_violation.hpp>
#include <allocscope/measure/scope.hpp>

#include <memory>   // unique_ptr
#include <ostream>  // rdbuf
#include <string>   // string
#include <vector>   // vector

#if ALLOCSCOPE_CATCH2_HAS_LISTENERS

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

    #if CATCH_VERSION_MAJOR == 2
using catch2_test = Catch::TestCase;
using catch2_listener_base = Catch::TestEventListenerBase;
    #else
using catch2_test = Catch::TestCaseHandle;
using catch2_listener_base = Catch::EventListenerBase;
    #endif

// What every test case may leave alive: the argument of the macro.
inline leak_options catch2_options;
// For the library's own main(): 1 if something was not checked that should have been.
inline int catch2_exit_code = 0;

// What is known about the run and about the current pass.
class catch2_run {
public:
    void begin() {
        own_output_ = Catch::cout().rdbuf();
        refusal_ = engine_refusal(find_engine());
        if (is_refused()) catch2_exit_code = 1;
        hide_runners(catch2_names);
    }

    void begin_case() {
        was_entered_ = false;
        was_repeated_ = false;
    }
    // Reports a test case that was never entered: this version of Catch2 keeps its test cases
    // elsewhere.
    void end_case() {
        if (was_entered_ || has_told_) return;
        has_told_ = true;
        catch2_exit_code = 1;
        print_line("allocscope: ", "this Catch2 ran a test case that could not be checked");
    }
    void end() {
        if (is_refused() && !has_told_)
            print_line("allocscope: no test case was checked: ", refusal_);
    }

    void enter_section(const std::string& name) {
        if (!is_in_test_) return;
        const pause_recording quietly;
        sections_ += sections_.empty() ? "" : " / ";
        sections_ += name;
    }
    void note_failure() noexcept { has_failed_ = true; }

    void run_pass(const catch2_test& test) {
        was_entered_ = true;
        has_failed_ = false;
        if (is_refused()) return run_unchecked(test);
        const Catch::TestCaseInfo& about = test.getTestCaseInfo();
        begin_pass(about);
        const expected_leaks own = own_leaks<catch2_names>(&catch2_options);
        leak_check leaks{name_.c_str(), catch2_options, own};
        const auto invoke = [&test] { test.invoke(); };
        // An exception passes through here and ends the window: the test case failed or was
        // skipped.
        allocscope_test_boundary(invoke);
        said_of_leaks said;
        const leak_options limits = limits_of_pass(said);
        if (has_failed_ || said.is_ignored()) return;
        if (can_be_repeated(said) && leaks.counts().live_objects() != 0) {
            was_repeated_ = true;
            const check_result found = judge_repeated(name_.c_str(), limits, own, invoke);
            if (!has_failed_) tell(about, found);
        } else {
            tell(about, leaks.finish(limits));
        }
    }

private:
    bool is_refused() const noexcept { return refusal_[0] != '\0'; }

    void begin_pass(const Catch::TestCaseInfo& about) {
        const pause_recording quietly;
        name_ = about.name;
        sections_.clear();
        is_in_test_ = true;
        test_that_runs.begin();
        catch2_holds_output = Catch::cout().rdbuf() != own_output_;
    }

    // The result points into `said`.
    leak_options limits_of_pass(said_of_leaks& said) {
        const pause_recording quietly;
        is_in_test_ = false;
        said = test_that_runs.end();
        return said.add_to(catch2_options);
    }

    // Sections and generators remember which way the pass went. A generator returns its current
    // value again, so the first pass can be repeated, but no later one. Sections would take another
    // way.
    bool can_be_repeated(const said_of_leaks& said) const noexcept {
        const bool is_wanted = said.is_repeated() || catch2_options.only_repeated_leaks;
        return is_wanted && sections_.empty() && !was_repeated_;
    }

    void tell(const Catch::TestCaseInfo& about, const check_result& found) {
        if (found) return;
        const pause_recording quietly;
        std::string message = found.message();
        if (!sections_.empty()) message += "\n  in section: " + sections_;
        fail(about, message.c_str());
    }

    // Fails once, in the first test case whose failure counts.
    void run_unchecked(const catch2_test& test) {
        const Catch::TestCaseInfo& about = test.getTestCaseInfo();
        if (!has_told_ && !about.okToFail() && !about.expectedToFail()) {
            has_told_ = true;
            fail(about, refusal_);
        }
        test.invoke();
    }

    static void fail(const Catch::TestCaseInfo& about, const char* message) {
        fail_catch2("ALLOCSCOPE_CATCH2_CHECK_EVERY_CASE",
                    {about.lineInfo.file, static_cast<int>(about.lineInfo.line), false, ""},
                    message);
    }

    const char* refusal_ = "";  // why nothing is recorded
    const std::streambuf* own_output_ = nullptr;
    std::string name_;
    std::string sections_;
    bool has_told_ = false;
    bool was_entered_ = false;
    bool was_repeated_ = false;  // in this test case
    bool is_in_test_ = false;
    bool has_failed_ = false;  // in this pass
};

// Replaces the invoker of a test case.
class catch2_invoker final : public Catch::ITestInvoker {
public:
    catch2_invoker(catch2_run& run, const catch2_test& test) : run_(run), test_(test) {}
    void invoke() const override { run_.run_pass(test_); }
    #if CATCH_VERSION_MAJOR > 3 || (CATCH_VERSION_MAJOR == 3 && CATCH_VERSION_MINOR >= 7)
    void prepareTestCase() override { test_.prepareTestCase(); }
    void tearDownTestCase() override { test_.tearDownTestCase(); }
    #endif

private:
    catch2_run& run_;
    catch2_test test_;
};

// Puts the invokers into Catch2's list and takes them out again.
class catch2_test_list {
public:
    // The elements are const only for the outside.
    void wrap(catch2_run& run, const std::vector<catch2_test>& tests) {
        for (const catch2_test& test : tests) {
            auto& place = const_cast<catch2_test&>(test);
            wrapped_.push_back({&place, place});
    #if CATCH_VERSION_MAJOR == 2
            Catch::TestCaseInfo about = place.getTestCaseInfo();
            place = Catch::TestCase{new catch2_invoker{run, place}, std::move(about)};
    #else
            invokers_.push_back(std::make_unique<catch2_invoker>(run, place));
            place = Catch::TestCaseHandle{
                const_cast<Catch::TestCaseInfo*>(&place.getTestCaseInfo()), invokers_.back().get()};
    #endif
        }
    }
    void unwrap() {
        for (const wrapped& each : wrapped_) *each.place = each.was;
        wrapped_.clear();
        invokers_.clear();
    }

private:
    struct wrapped {
        catch2_test* place;
        catch2_test was;
    };
    std::vector<wrapped> wrapped_;
    std::vector<std::unique_ptr<catch2_invoker>> invokers_;  // version 2 owns them itself
};

}  // namespace detail

class catch2_leak_listener : public detail::catch2_listener_base {
public:
    using detail::catch2_listener_base::catch2_listener_base;

    void testRunStarting(const Catch::TestRunInfo& info) override {
        detail::catch2_listener_base::testRunStarting(info);
        run_.begin();
        tests_.wrap(run_,
                    Catch::getRegistryHub().getTestCaseRegistry().getAllTestsSorted(*m_config));
    }
    void testRunEnded(const Catch::TestRunStats& end) override {
        tests_.unwrap();
        run_.end();
        detail::catch2_listener_base::testRunEnded(end);
    }
    void testCaseStarting(const Catch::TestCaseInfo& about) override {
        run_.begin_case();
        detail::catch2_listener_base::testCaseStarting(about);
    }
    void testCaseEnded(const Catch::TestCaseStats& end) override {
        run_.end_case();
        detail::catch2_listener_base::testCaseEnded(end);
    }
    void sectionStarting(const Catch::SectionInfo& about) override {
        run_.enter_section(about.name);
        detail::catch2_listener_base::sectionStarting(about);
    }

    #if CATCH_VERSION_MAJOR == 2
    bool assertionEnded(const Catch::AssertionStats& stats) override {
        if (!stats.assertionResult.isOk()) run_.note_failure();
        return detail::catch2_listener_base::assertionEnded(stats);
    }
    #else
    void assertionEnded(const Catch::AssertionStats& stats) override {
        if (!stats.assertionResult.isOk()) run_.note_failure();
    }
    #endif

private:
    detail::catch2_run run_;
    detail::catch2_test_list tests_;
};

namespace detail {

ALLOCSCOPE_EXCEPTIONS_TAG inline bool check_every_catch2_case(const leak_options& wanted = {}) {
    checked_tolerance(wanted);
    check_expected(wanted.expected);
    catch2_options = wanted;
    #if CATCH_VERSION_MAJOR == 2
    const Catch::ListenerRegistrar<catch2_leak_listener> registered;
    #else
    const Catch::ListenerRegistrar<catch2_leak_listener> registered{"allocscope"};
    #endif
    static_cast<void>(registered);
    return true;
}

    #if CATCH_VERSION_MAJOR > 2 || defined(CATCH_CONFIG_RUNNER)
inline int catch2_main(int argument_count, char* arguments[]) {
    const int code = Catch::Session{}.run(argument_count, arguments);
    return code != 0 ? code : catch2_exit_code;
}
    #endif

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

    // Use it in one .cpp of the program, at namespace scope: every test case must free what it
    // allocated. The argument is the leak_options for all test cases; their texts must stay valid.
    #define ALLOCSCOPE_CATCH2_CHECK_EVERY_CASE(...)                     \
        [[maybe_unused]] static const bool allocscope_catch2_is_there = \
            ::allocscope::detail::check_every_catch2_case(__VA_ARGS__)
    // The same with a main(). Its exit code is Catch2's; it is 1 instead of 0 if test cases could
    // not be checked.
    #define ALLOCSCOPE_CATCH2_MAIN(...)                                          \
        ALLOCSCOPE_CATCH2_CHECK_EVERY_CASE(__VA_ARGS__);                         \
        int main(int argument_count, char* arguments[]) {                        \
            return ::allocscope::detail::catch2_main(argument_count, arguments); \
        }

#else

    #define ALLOCSCOPE_CATCH2_CHECK_EVERY_CASE(...)                      \
        static_assert(false,                                             \
                      "define CATCH_CONFIG_RUNNER, CATCH_CONFIG_MAIN or" \
                      " CATCH_CONFIG_EXTERNAL_INTERFACES before Catch2 is included in this file")
    #define ALLOCSCOPE_CATCH2_MAIN(...) ALLOCSCOPE_CATCH2_CHECK_EVERY_CASE(__VA_ARGS__);

#endif

#endif  // ALLOCSCOPE_INTEGRATIONS_CATCH2_LISTENER_HPP
