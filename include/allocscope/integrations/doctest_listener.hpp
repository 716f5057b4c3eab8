// doctest_listener.hpp - measures each pass through each doctest case.
//
// Room:     integrations (floor 11), not malloc-safe
// Called:   by doctest, if the program contains ALLOCSCOPE_DOCTEST_CHECK_EVERY_CASE()
// Threads:  doctest runs cases one after the other on one thread; assertions come from any thread
// Memory:   about 300 bytes for a run, and the remarks of its decorators
//
// doctest has no hook around the function of a case, and an assertion in test_case_end comes too
// late to count. So while a case is running, run_case() replaces its function: it opens a window,
// calls the function, and asserts that nothing of the window is alive. doctest calls it once for
// each path through the SUBCASEs. This assertion belongs to the case like any other, so may_fail,
// should_fail, --abort-after and every reporter treat it like any other.

#ifndef ALLOCSCOPE_INTEGRATIONS_DOCTEST_LISTENER_HPP
#define ALLOCSCOPE_INTEGRATIONS_DOCTEST_LISTENER_HPP

#include <allocscope/config.hpp>
#include <allocscope/integrations/checked_test.hpp>
#include <allocscope/integrations/doctest_framework.hpp>
#include <allocscope/integrations/framework_stacks.hpp>
#include <allocscope/integrations/leak_remarks.hpp>
#include <allocscope/measure/check_result.hpp>
#include <allocscope/measure/leak_check.hpp>
#include <allocscope/measure/on_violation.hpp>
#include <allocscope/measure/scope.hpp>

#include <atomic>  // atomic

#ifndef DOCTEST_CONFIG_DISABLE

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class doctest_listener;

// The listener of the current run. There is at most one run: doctest itself keeps its state in a
// global variable, too.
inline doctest_listener* doctest_running = nullptr;
// The options for every case, from ALLOCSCOPE_DOCTEST_CHECK_EVERY_CASE(...).
inline leak_options doctest_defaults;

class doctest_listener : public doctest::IReporter {
public:
    explicit doctest_listener(const doctest::ContextOptions&) { doctest_running = this; }
    ~doctest_listener() override {
        put_function_back();
        if (doctest_running == this) doctest_running = nullptr;
    }
    doctest_listener(const doctest_listener&) = delete;
    doctest_listener& operator=(const doctest_listener&) = delete;

    void test_run_start() override {
        refusal_ = scope{}.stats();
        // doctest prints through a buffer for each thread and keeps it; this makes it before a case
        // does.
        doctest::detail::MessageBuilder first_use("", 0, doctest::assertType::is_warn);
        first_use.operator,("first use");
        hide_runners(doctest_names);
    }

    void test_case_start(const doctest::TestCaseData& started) override {
        // The object was not const when it was made. doctest keeps its cases in a set, which is not
        // ordered by this member.
        case_ = const_cast<doctest::detail::TestCase*>(
            static_cast<const doctest::detail::TestCase*>(&started));
        function_ = case_->m_test;
        const pause_recording quietly;
        decorated_ = said_by_decorators(function_, case_->m_test_suite);
        if (!decorated_.is_ignored()) case_->m_test = &run_case;
    }
    void test_case_end(const doctest::CurrentTestCaseStats&) override { put_function_back(); }

    void subcase_start(const doctest::SubcaseSignature&) override { has_subcases_ = true; }
    void log_assert(const doctest::AssertData& assertion) override {
        if (assertion.m_failed) note_failure(assertion.m_at);
    }
    void log_message(const doctest::MessageData& message) override {
        note_failure(message.m_severity);
    }

    // If a case may fail, its failure does not tell that nothing was checked; this does.
    void test_run_end(const doctest::TestRunStats& end) override {
        if (!is_refused() || end.numTestCasesPassingFilters == 0) return;
        if (end.numTestCasesFailed != 0) return;
        print_line("allocscope: no case was checked: ", refusal_.info().not_recording);
        // The object is doctest's own state and not const; doctest reads the exit code from it
        // next.
        const_cast<doctest::TestRunStats&>(end).numTestCasesFailed = 1;
    }

    void report_query(const doctest::QueryData&) override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_end() override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}

private:
    // Replaces the function of the case.
    static void run_case() { doctest_running->run_pass(); }

    void run_pass() {
        has_failed_.store(false, std::memory_order_relaxed);
        has_subcases_ = false;
        if (is_refused()) return run_unchecked();
        test_that_runs.begin();
        const expected_leaks own = own_leaks<doctest_names>(&doctest_defaults);
        leak_check leaks{case_->m_name, doctest_defaults, own};
        // An exception passes through here and ends the window: the case has failed.
        allocscope_test_boundary(function_);
        said_of_leaks said;
        const leak_options limits = limits_of_pass(said);
        if (has_failed() || said.is_ignored()) return;
        const bool is_repeated = said.is_repeated() || limits.only_repeated_leaks;
        if (is_repeated && !has_subcases_ && leaks.counts().live_objects() != 0) {
            return repeat(limits, own);
        }
        tell(leaks.finish(limits));
    }

    // The result points into `said`.
    leak_options limits_of_pass(said_of_leaks& said) const {
        const pause_recording quietly;
        said.add(decorated_);
        said.add(test_that_runs.end());
        return said.add_to(doctest_defaults);
    }

    void repeat(const leak_options& limits, const expected_leaks& own) {
        const check_result found = judge_repeated(case_->m_name, limits, own, function_);
        if (!has_failed()) tell(found);
    }

    // Without the hooks only the first case says so: there is only one mistake to report.
    void run_unchecked() {
        if (!has_told_) fail(refusal_.info().not_recording);
        has_told_ = true;
        function_();
    }

    void tell(const check_result& found) {
        if (!found) fail(found.message());
    }
    void fail(const char* message) {
        tell_doctest({case_->m_file.c_str(), static_cast<int>(case_->m_line), false, "no leaks"},
                     false, message, true);
    }

    void put_function_back() {
        if (case_ != nullptr) case_->m_test = function_;
        case_ = nullptr;
    }

    void note_failure(doctest::assertType::Enum kind) {
        if ((kind & doctest::assertType::is_warn) != 0) return;
        has_failed_.store(true, std::memory_order_relaxed);
    }
    bool has_failed() const { return has_failed_.load(std::memory_order_relaxed); }
    bool is_refused() const { return refusal_.info().not_recording[0] != '\0'; }

    snapshot refusal_;  // of no window; says why nothing is recorded, if so
    doctest::detail::TestCase* case_ = nullptr;
    doctest::detail::funcType function_ = nullptr;
    said_of_leaks decorated_;
    std::atomic<bool> has_failed_{false};  // in this pass
    bool has_subcases_ = false;            // in this pass
    bool has_told_ = false;
};

inline leak_options doctest_options() {
    return {};
}
inline leak_options doctest_options(threads from) {
    leak_options options;
    options.window.from = from;
    return options;
}
inline leak_options doctest_options(const leak_options& options) {
    return options;
}

inline bool check_every_doctest_case(const leak_options& defaults) {
    doctest_defaults = defaults;
    doctest::registerReporter<doctest_listener>("allocscope", 1, false);
    return true;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // DOCTEST_CONFIG_DISABLE

#endif  // ALLOCSCOPE_INTEGRATIONS_DOCTEST_LISTENER_HPP
