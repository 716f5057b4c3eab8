// leak_remarks.hpp - lets a test say what it will leave alive.
//
// Room:     integrations (floor 11), not malloc-safe
// Called:   by the user in the body of a test of any framework; for doctest also as a decorator
// Threads:  any; a remark belongs to the test that is running
// Memory:   one text, charged to no window
//
//     TEST(registry, keeps_two) {
//         allocscope::expect_leaks(2);                     // exactly two objects
//         allocscope::expect_leaks("leak:load_locale");    // and any number that the pattern fits
//         ...
//     }
//     TEST_CASE("keeps two" * allocscope::expect_leaks(2)) { ... }     // doctest, for each pass
//
// If no adapter checks the running test, the calls do nothing.

#ifndef ALLOCSCOPE_INTEGRATIONS_LEAK_REMARKS_HPP
#define ALLOCSCOPE_INTEGRATIONS_LEAK_REMARKS_HPP

#include <allocscope/config.hpp>
#include <allocscope/measure/allocation_budget.hpp>
#include <allocscope/measure/leak_check.hpp>
#include <allocscope/measure/scope.hpp>

#include <cstdint>      // uint64_t
#include <mutex>        // mutex, lock_guard
#include <string>       // string
#include <type_traits>  // enable_if_t, is_integral_v

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// One remark of a test, or of a decorator.
struct leak_remark {
    enum class kind { objects, pattern, ignored, repeated };
    kind is = kind::ignored;
    typed_number least = 0;
    typed_number most = 0;
    const char* pattern = "";

    // doctest applies a decorator to a case or a suite with this; its adapter defines
    // remember_remark().
    template <class Decorated>
    void fill(Decorated& decorated) const {
        remember_remark(decorated, *this);
    }
};

// All remarks of a test; for the window of a suite, all remarks of its tests.
class said_of_leaks {
public:
    void add(const leak_remark& remark) {
        if (remark.is == leak_remark::kind::ignored) is_ignored_ = true;
        if (remark.is == leak_remark::kind::repeated) is_repeated_ = true;
        if (remark.is == leak_remark::kind::objects) add_objects(remark.least, remark.most);
        if (remark.is == leak_remark::kind::pattern) {
            patterns_ += remark.pattern;
            patterns_ += '\n';
        }
    }
    void add(const said_of_leaks& other) {
        is_ignored_ = is_ignored_ || other.is_ignored_;
        is_repeated_ = is_repeated_ || other.is_repeated_;
        if (other.counts_objects_) add_objects(other.least_, other.most_);
        patterns_ += other.patterns_;
    }

    bool is_ignored() const noexcept { return is_ignored_; }
    bool is_repeated() const noexcept { return is_repeated_; }

    // Adds the remarks to the options for all tests: the numbers replace those of the options, the
    // patterns are added to theirs. The result points into this object.
    leak_options add_to(const leak_options& wanted) {
        leak_options result = wanted;
        if (counts_objects_) {
            result.least_objects = least_;
            result.objects = most_;
        }
        if (wanted.expected != nullptr) patterns_ += wanted.expected;
        result.expected = patterns_.c_str();
        return result;
    }

private:
    void add_objects(typed_number least, typed_number most) noexcept {
        counts_objects_ = true;
        least_ = sum(least_, least);
        most_ = sum(most_, most);
    }
    // A negative number is kept, so that the check can refuse it.
    static typed_number sum(typed_number left, typed_number right) noexcept {
        if (left.is_negative) return left;
        if (right.is_negative) return right;
        const std::uint64_t result = left.bits + right.bits;
        return result < left.bits ? ~std::uint64_t{0} : result;
    }

    bool is_ignored_ = false;
    bool is_repeated_ = false;
    bool counts_objects_ = false;
    typed_number least_ = 0;
    typed_number most_ = 0;
    std::string patterns_;  // lines, as in leak_options::expected
};

// The test that an adapter is checking now.
class running_test {
public:
    void begin() {
        const std::lock_guard<std::mutex> lock{mutex_};
        said_ = said_of_leaks{};
        is_running_ = true;
    }
    // Returns the remarks since the last call, and forgets them.
    said_of_leaks take() {
        const std::lock_guard<std::mutex> lock{mutex_};
        said_of_leaks result = static_cast<said_of_leaks&&>(said_);
        said_ = said_of_leaks{};
        return result;
    }
    said_of_leaks end() {
        said_of_leaks result = take();
        const std::lock_guard<std::mutex> lock{mutex_};
        is_running_ = false;
        return result;
    }

    bool is_running() {
        const std::lock_guard<std::mutex> lock{mutex_};
        return is_running_;
    }
    leak_remark say(const leak_remark& remark) {
        const std::lock_guard<std::mutex> lock{mutex_};
        if (is_running_) said_.add(remark);
        return remark;
    }

private:
    std::mutex mutex_;
    said_of_leaks said_;
    bool is_running_ = false;
};

inline running_test test_that_runs;

}  // namespace detail

// At the end of this test exactly `objects` objects must be alive, or at least `least` and at most
// `most`. Objects that a pattern fits do not count. The numbers of several calls are added. In a
// test, the call throws std::invalid_argument if a number is negative or the least is more than the
// most (-fno-exceptions: prints the message and aborts). As a decorator it fails each pass through
// the case with the same message.
ALLOCSCOPE_EXCEPTIONS_TAG inline detail::leak_remark expect_leaks(detail::typed_number least,
                                                                  detail::typed_number most) {
    const pause_recording pause;
    if (detail::test_that_runs.is_running()) {
        const std::uint64_t low = detail::checked_count("allocscope", "expect_leaks", least);
        const std::uint64_t high = detail::checked_count("allocscope", "expect_leaks", most);
        if (low > high) detail::refuse_order("allocscope", "expect_leaks", low, high);
    }
    return detail::test_that_runs.say({detail::leak_remark::kind::objects, least, most, ""});
}
// A template, so that 0 is a number and not a null pointer for the overload below.
template <class Integer, std::enable_if_t<std::is_integral_v<Integer>, int> = 0>
ALLOCSCOPE_EXCEPTIONS_TAG detail::leak_remark expect_leaks(Integer objects) {
    return expect_leaks(objects, objects);
}

// Any number of objects that a pattern fits may be alive at the end of this test. The lines are
// those of leak_options::expected. A line that is not understood is refused as in
// expect_leaks(number).
ALLOCSCOPE_EXCEPTIONS_TAG inline detail::leak_remark expect_leaks(const char* patterns) {
    const pause_recording pause;
    if (patterns == nullptr) patterns = "leak:";  // which is refused by name
    if (detail::test_that_runs.is_running()) detail::check_expected(patterns);
    return detail::test_that_runs.say({detail::leak_remark::kind::pattern, 0, 0, patterns});
}

// This test is not checked.
inline detail::leak_remark ignore_leaks() {
    const pause_recording pause;
    return detail::test_that_runs.say({detail::leak_remark::kind::ignored, 0, 0, ""});
}

// For tests that fill caches. A test that leaves something alive is run three times more, and fails
// only if each of these runs left more alive than the one before. Its assertions count each time. A
// pass with SUBCASEs or SECTIONs cannot be run again from inside, and is judged as usual.
inline detail::leak_remark only_repeated_leaks() {
    const pause_recording pause;
    return detail::test_that_runs.say({detail::leak_remark::kind::repeated, 0, 0, ""});
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_LEAK_REMARKS_HPP
