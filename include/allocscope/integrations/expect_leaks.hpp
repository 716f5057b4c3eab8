// expect_leaks.hpp - what a running test says about what it will leave alive.
//
// Room:     integrations (floor 10), not malloc-safe
// Called:   by the user in the body of a GoogleTest or Catch2 test
// Threads:  any; what is said belongs to the test that is running
// Memory:   one text, charged to nobody
//
//     TEST(registry, keeps_two) {
//         allocscope::expect_leaks(2);                     // exactly two objects
//         allocscope::expect_leaks("leak:load_locale");    // and any number that this fits
//         ...
//     }
//
// Without a listener of the adapter the calls do nothing. Not to be included beside the doctest
// adapter, where the same names are decorators.

#ifndef ALLOCSCOPE_INTEGRATIONS_EXPECT_LEAKS_HPP
#define ALLOCSCOPE_INTEGRATIONS_EXPECT_LEAKS_HPP

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

// What a test said; for the window of a suite, what its tests said together.
struct said_of_leaks {
    std::uint64_t least_objects = 0;
    std::uint64_t most_objects = 0;
    std::string patterns;  // lines as in leak_options::expected
    bool is_ignored = false;

    void add(const said_of_leaks& other) {
        least_objects += other.least_objects;
        most_objects += other.most_objects;
        patterns += other.patterns;
        is_ignored = is_ignored || other.is_ignored;
    }

    // The adapter's options with what was said added to them. The result points into this.
    leak_options add_to(const leak_options& wanted) {
        leak_options result = wanted;
        result.least_objects = wanted.least_objects.bits + least_objects;
        result.objects = wanted.objects.bits + most_objects;
        patterns += wanted.expected;
        result.expected = patterns.c_str();
        return result;
    }
};

// The test that is running.
class running_test {
public:
    // Hands over what was said since the last call.
    said_of_leaks take() {
        const std::lock_guard<std::mutex> lock{mutex_};
        said_of_leaks result = static_cast<said_of_leaks&&>(said_);
        said_ = said_of_leaks{};
        return result;
    }
    void say(const said_of_leaks& more) {
        const std::lock_guard<std::mutex> lock{mutex_};
        said_.add(more);
    }

private:
    std::mutex mutex_;
    said_of_leaks said_;
};

inline running_test test_that_runs;

}  // namespace detail

// So many objects must be alive at the end of this test, with two numbers at least and at most so
// many; beside those that a pattern fits. Several calls add up. Throws std::invalid_argument when a
// number is negative or the least is more than the most (-fno-exceptions: prints it and aborts).
ALLOCSCOPE_EXCEPTIONS_TAG inline void expect_leaks(detail::typed_number least,
                                                   detail::typed_number most) {
    const pause_recording pause;
    detail::said_of_leaks more;
    more.least_objects = detail::checked_count("allocscope", "expect_leaks", least);
    more.most_objects = detail::checked_count("allocscope", "expect_leaks", most);
    if (more.least_objects > more.most_objects) {
        detail::refuse_order("allocscope", "expect_leaks", more.least_objects, more.most_objects);
    }
    detail::test_that_runs.say(more);
}
// A template, so that 0 is a number and not the null pointer of the text below.
template <class Integer, std::enable_if_t<std::is_integral_v<Integer>, int> = 0>
ALLOCSCOPE_EXCEPTIONS_TAG void expect_leaks(Integer objects) {
    expect_leaks(objects, objects);
}

// What fits may be alive at the end of this test; lines as in leak_options::expected. Throws
// std::invalid_argument when a line is not understood (-fno-exceptions: prints it and aborts).
ALLOCSCOPE_EXCEPTIONS_TAG inline void expect_leaks(const char* patterns) {
    const pause_recording pause;
    if (patterns == nullptr) patterns = "leak:";  // which is refused by name
    detail::check_expected(patterns);
    detail::said_of_leaks more;
    more.patterns = patterns;
    more.patterns += '\n';
    detail::test_that_runs.say(more);
}

// This test is not checked.
inline void ignore_leaks() {
    const pause_recording pause;
    detail::said_of_leaks more;
    more.is_ignored = true;
    detail::test_that_runs.say(more);
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_EXPECT_LEAKS_HPP
