// doctest_expectations.hpp - decorators: what a doctest case may leave alive.
//
// Room:     integrations (floor 10), not malloc-safe
// Called:   by the user in TEST_CASE("x" * allocscope::expect_leaks(2)), before main
// Threads:  decorators are applied before main, by one thread; afterwards they are only read
// Memory:   48 bytes for each decorator, until the process ends
//
// doctest's TestCase has no field for us, so what a decorator says is kept in a list of its own.
// The key of a case is its function, which no other case has; that of a suite is its name.

#ifndef ALLOCSCOPE_INTEGRATIONS_DOCTEST_EXPECTATIONS_HPP
#define ALLOCSCOPE_INTEGRATIONS_DOCTEST_EXPECTATIONS_HPP

#include <allocscope/config.hpp>
#include <allocscope/measure/leak_check.hpp>

#ifndef DOCTEST_LIBRARY_INCLUDED  // the user may have included a copy from elsewhere
    #include <doctest/doctest.h>  // TestCase, TestSuite
#endif

#include <cstddef>  // size_t

#ifndef DOCTEST_CONFIG_DISABLE

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

enum class doctest_remark_kind { objects, pattern, ignored, repeated };

// What one decorator says about one case, or about all cases of a suite.
struct doctest_remark {
    doctest_remark_kind kind = doctest_remark_kind::ignored;
    int least_objects = 0;
    int most_objects = 0;
    const char* pattern = "";
    doctest::detail::funcType test = nullptr;  // null: of the suite
    const char* suite = nullptr;
    const doctest_remark* next = nullptr;
};

// Constant-initialised, so that the decorators of every translation unit find it ready.
inline const doctest_remark* doctest_remarks = nullptr;

inline void add_doctest_remark(doctest_remark remark) {
    remark.next = doctest_remarks;
    doctest_remarks = new doctest_remark(remark);  // lives as long as doctest's own registry
}

// What a decorator has in common with the others: doctest applies it by calling fill().
class doctest_decorator {
public:
    void fill(doctest::detail::TestCase& test) const {
        doctest_remark remark = remark_;
        remark.test = test.m_test;
        add_doctest_remark(remark);
    }
    void fill(doctest::detail::TestSuite& suite) const {
        doctest_remark remark = remark_;
        remark.suite = suite.m_test_suite;
        add_doctest_remark(remark);
    }

protected:
    explicit doctest_decorator(const doctest_remark& remark) noexcept : remark_(remark) {}
    ~doctest_decorator() = default;

private:
    doctest_remark remark_;
};

inline doctest_remark objects_remark(int least, int most) noexcept {
    doctest_remark remark;
    remark.kind = doctest_remark_kind::objects;
    remark.least_objects = least;
    remark.most_objects = most;
    return remark;
}

inline doctest_remark pattern_remark(const char* pattern) noexcept {
    doctest_remark remark;
    remark.kind = doctest_remark_kind::pattern;
    remark.pattern = pattern;
    return remark;
}

inline doctest_remark remark_of_kind(doctest_remark_kind kind) noexcept {
    doctest_remark remark;
    remark.kind = kind;
    return remark;
}

}  // namespace detail

// TEST_CASE("keeps two" * allocscope::expect_leaks(2)): the case fails unless exactly so many
// objects are alive after each pass through it. With two numbers: at least and at most so many.
// With a text: what fits is no leak, any number of it; lines as in leak_options::expected, such as
// "leak:load_locale". Several decorators add up. On a TEST_SUITE it holds for each of its cases
// that has none of its own. Numbers that make no sense and patterns that are not understood fail
// the case and are named.
class expect_leaks : public detail::doctest_decorator {
public:
    explicit expect_leaks(int objects) noexcept
        : doctest_decorator(detail::objects_remark(objects, objects)) {}
    expect_leaks(int least, int most) noexcept
        : doctest_decorator(detail::objects_remark(least, most)) {}
    explicit expect_leaks(const char* pattern) noexcept
        : doctest_decorator(detail::pattern_remark(pattern)) {}
};

// The case, or each case of the suite, is not checked.
class ignore_leaks : public detail::doctest_decorator {
public:
    ignore_leaks() noexcept
        : doctest_decorator(detail::remark_of_kind(detail::doctest_remark_kind::ignored)) {}
};

// For cases that fill caches. One that leaves something alive is run three times more, and fails
// only if each of those left more alive than the one before. Its assertions are counted each time.
// A pass with SUBCASEs cannot be run again from inside, and is judged as always.
class only_repeated_leaks : public detail::doctest_decorator {
public:
    only_repeated_leaks() noexcept
        : doctest_decorator(detail::remark_of_kind(detail::doctest_remark_kind::repeated)) {}
};

namespace detail {

inline bool is_same_suite(const char* left, const char* right) noexcept {
    std::size_t i = 0;
    while (left[i] != '\0' && left[i] == right[i]) ++i;
    return left[i] == right[i];
}

// What the decorators of one case say together.
class doctest_expectation {
public:
    // `always` are patterns that hold for every case.
    void read(doctest::detail::funcType test, const char* suite, const char* always) {
        *this = doctest_expectation{};
        add_pattern(always);
        bool has_own = false;
        for (const doctest_remark* each = doctest_remarks; each != nullptr; each = each->next) {
            if (each->test != test || test == nullptr) continue;
            add(*each);
            has_own = true;
        }
        if (has_own || suite == nullptr) return;
        for (const doctest_remark* each = doctest_remarks; each != nullptr; each = each->next) {
            if (each->suite != nullptr && is_same_suite(each->suite, suite)) add(*each);
        }
    }

    bool is_ignored() const noexcept { return is_ignored_; }
    bool is_repeated() const noexcept { return is_repeated_; }
    // More patterns were given than there is room for.
    bool is_too_long() const noexcept { return is_too_long_; }

    // `wanted` with what the decorators say put in; the texts are this object's.
    leak_options apply_to(leak_options wanted) const noexcept {
        wanted.expected = patterns_;
        if (!counts_objects_) return wanted;
        wanted.least_objects = least_objects_;
        wanted.objects = most_objects_;
        return wanted;
    }

private:
    void add(const doctest_remark& remark) {
        if (remark.kind == doctest_remark_kind::ignored) is_ignored_ = true;
        if (remark.kind == doctest_remark_kind::repeated) is_repeated_ = true;
        if (remark.kind == doctest_remark_kind::pattern) add_pattern(remark.pattern);
        if (remark.kind == doctest_remark_kind::objects) add_objects(remark);
    }

    // A negative number stays, so that the check can refuse it.
    void add_objects(const doctest_remark& remark) {
        counts_objects_ = true;
        least_objects_ = sum(least_objects_, remark.least_objects);
        most_objects_ = sum(most_objects_, remark.most_objects);
    }
    static int sum(int left, int right) noexcept {
        if (left < 0 || right < 0) return left < right ? left : right;
        int result = 0;
        return __builtin_add_overflow(left, right, &result) ? left : result;
    }

    void add_pattern(const char* pattern) {
        if (pattern == nullptr) pattern = "";
        if (pattern[0] == '\0') return;
        // The last byte stays 0.
        fixed_text text{patterns_ + pattern_bytes_, sizeof patterns_ - 1 - pattern_bytes_};
        text.append(pattern, length_of(pattern));
        text.append('\n');
        pattern_bytes_ += text.size();
        if (text.was_cut()) is_too_long_ = true;
    }

    static std::size_t length_of(const char* text) noexcept {
        std::size_t length = 0;
        while (text[length] != '\0') ++length;
        return length;
    }

    bool is_ignored_ = false;
    bool is_repeated_ = false;
    bool counts_objects_ = false;
    int least_objects_ = 0;
    int most_objects_ = 0;
    std::size_t pattern_bytes_ = 0;
    bool is_too_long_ = false;
    char patterns_[4096] = {};
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // DOCTEST_CONFIG_DISABLE

#endif  // ALLOCSCOPE_INTEGRATIONS_DOCTEST_EXPECTATIONS_HPP
