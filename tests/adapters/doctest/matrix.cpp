// Cases that must pass and cases that must fail, as their names say. matrix_test.py runs them and
// judges exit codes and reports from outside.
#include <allocscope/integrations/doctest.hpp>

#include <cstdlib>
#include <iostream>
#include <locale>
#include <memory>
#include <mutex>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

// What a program would write into ALLOCSCOPE_DOCTEST_CHECK_EVERY_CASE(...).
allocscope::leak_options wanted_by_environment() {
    allocscope::leak_options wanted;
    const char* setting = std::getenv("MATRIX_OPTIONS");
    const std::string text = setting != nullptr ? setting : "";
    if (text == "current") wanted.window.from = allocscope::threads::current;
    if (text == "tolerant") wanted.objects = 1;
    wanted.only_repeated_leaks = text == "repeated";
    if (text == "pattern") wanted.expected = "leak:leak_one";
    if (text == "function") {
        wanted.is_expected = [](const allocscope::leak_stack& stack, const void*) {
            return stack.frame_count != 0;
        };
    }
    return wanted;
}

}  // namespace

ALLOCSCOPE_DOCTEST_CHECK_EVERY_CASE(wanted_by_environment());

namespace {

// Through a volatile pointer, so that no compiler leaves a pair of new and delete out.
void* volatile sink;

__attribute__((noinline)) int* leak_one() {
    int* lost = new int(7);  // LEAK
    sink = lost;
    return lost;
}

void allocate_and_free(int times) {
    for (int i = 0; i < times; ++i) {
        int* made = new int(i);
        sink = made;
        delete made;
    }
}

struct tidy_fixture {
    std::vector<int> numbers = std::vector<int>(100);
};
struct leaking_fixture {
    int* lost = leak_one();
};

// Something to print that is longer than any buffer kept inside a string.
struct printed {
    int value;
    bool operator==(const printed& other) const { return value == other.value; }
};
std::ostream& operator<<(std::ostream& stream, const printed& shown) {
    return stream << "a text that is long enough to need memory of its own: "
                  << std::string(600, 'x') << shown.value;
}

struct leaks_when_printed {
    bool operator==(const leaks_when_printed&) const { return true; }
};
std::ostream& operator<<(std::ostream& stream, const leaks_when_printed&) {
    leak_one();
    return stream << "printed";
}

struct leaks_when_compared {
    bool operator==(const leaks_when_compared&) const {
        leak_one();
        return true;
    }
};

std::unique_ptr<std::string> older;
std::unique_ptr<std::string> oldest;

// Older than any case.
const bool older_is_made = [] {
    older = std::make_unique<std::string>(100, 'o');
    oldest = std::make_unique<std::string>(100, 'o');
    return older != oldest;
}();

std::vector<int>& cache_of_thread() {
    thread_local std::vector<int> cache;
    return cache;
}

std::vector<int>& cache_of_process() {
    static std::vector<int> cache;
    if (cache.empty()) cache.resize(1000);  // by whoever comes first
    return cache;
}

// A listener that keeps what it hears, as one that writes a report at the end does. What it keeps
// is no leak of a case.
struct collector : doctest::IReporter {
    explicit collector(const doctest::ContextOptions&) {}
    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats&) override {}
    void test_case_start(const doctest::TestCaseData&) override { keep(); }
    void test_case_reenter(const doctest::TestCaseData&) override { keep(); }
    void test_case_end(const doctest::CurrentTestCaseStats&) override { keep(); }
    void test_case_exception(const doctest::TestCaseException&) override { keep(); }
    void subcase_start(const doctest::SubcaseSignature&) override { keep(); }
    void subcase_end() override { keep(); }
    void log_assert(const doctest::AssertData&) override { keep(); }
    void log_message(const doctest::MessageData&) override { keep(); }
    void test_case_skipped(const doctest::TestCaseData&) override { keep(); }

private:
    void keep() {
        const std::lock_guard<std::mutex> one_at_a_time{mutex_};  // of any thread
        heard_.push_back(std::make_unique<std::string>(100, 'h'));
    }
    std::mutex mutex_;
    std::vector<std::unique_ptr<std::string>> heard_;
};

}  // namespace

DOCTEST_REGISTER_LISTENER("collector", 1, collector);

// --- what must pass ---

TEST_CASE("pass: empty") {}

TEST_CASE("pass: a static made at its first use") {
    static const std::vector<std::string> names(3, std::string(100, 's'));
    CHECK(names.size() == 3);
}

TEST_CASE("pass: everything freed") {
    const std::string text(100, 'x');
    std::vector<std::string> many(10, text);
    many.push_back("one more");
    CHECK(many.size() == 11);
}

TEST_CASE_FIXTURE(tidy_fixture, "pass: fixture") {
    CHECK(numbers.size() == 100);
}

TEST_CASE("pass: assertions messages and contexts") {
    const printed one{1};
    INFO("a context with ", one, " and ", std::string(300, 'y'));
    CAPTURE(one);
    CHECK(one == printed{1});
    CHECK_MESSAGE(one == printed{1}, "a message with ", one);
    CHECK_THROWS_AS(throw std::runtime_error("expected"), std::runtime_error);
    CHECK_EQ(std::string(200, 'z'), std::string(200, 'z'));
    WARN(one == printed{2});
    MESSAGE("printed while the case runs: ", std::string(500, 'm'));
}

TEST_CASE("pass: subcases") {
    const std::vector<int> shared(10);
    SUBCASE("one with a name that is longer than what fits into a small string") {
        SUBCASE("inner left") {
            CHECK(shared.size() == 10);
        }
        SUBCASE("inner right") {
            CHECK(shared.size() == 10);
        }
    }
    SUBCASE("two") {
        allocate_and_free(3);
    }
    for (int i = 0; i < 3; ++i) {
        DOCTEST_SUBCASE((std::string("made in a loop ") + std::to_string(i)).c_str()) {
            allocate_and_free(1);
        }
    }
}

TEST_CASE_TEMPLATE("pass: template", Type, int, std::string) {
    const std::vector<Type> many(20);
    CHECK(many.size() == 20);
}

TEST_CASE("pass: an older object is freed") {
    older.reset();
    CHECK(older == nullptr);
}

TEST_CASE("pass: an older object grows") {
    oldest->assign("short");
    CHECK(oldest->size() == 5);
}

TEST_CASE("pass: another thread") {
    std::thread worker{[] {
        allocate_and_free(100);
        cache_of_thread().resize(1000);  // freed when the thread ends
    }};
    worker.join();
}

TEST_CASE("pass: assertions in other threads") {
    std::vector<std::thread> workers;
    for (int i = 0; i < 4; ++i) {
        workers.emplace_back([i] {
            INFO("worker ", i, std::string(300, 'w'));
            const printed mine{i};
            CHECK(mine == printed{i});
        });
    }
    for (std::thread& worker : workers) worker.join();
}

TEST_CASE("pass: first use of streams and strings") {
    std::ostringstream text;
    text << 3.25 << ' ' << std::hex << 255 << ' ' << std::string(1000, 's');
    std::istringstream numbers{"1 2.5 word"};
    int whole = 0;
    double part = 0;
    std::string word;
    numbers >> whole >> part >> word;
    std::clog << "";
    std::wostringstream wide;
    wide << 1.5 << L"wide";
    text.imbue(std::locale("C"));
    text << 1234567;
    CHECK(word == "word");
    CHECK(std::stod("2.5") == part);
}

TEST_CASE("pass: skipped" * doctest::skip()) {
    leak_one();
}

TEST_CASE("pass: two are expected" * allocscope::expect_leaks(2)) {
    leak_one();
    leak_one();
}

TEST_CASE("pass: one to three are expected" * allocscope::expect_leaks(1, 3)) {
    SUBCASE("one") {
        leak_one();
    }
    SUBCASE("two and three") {
        for (int i = 0; i < 3; ++i) leak_one();
    }
}

TEST_CASE("pass: expected by pattern" * allocscope::expect_leaks("leak:leak_one")) {
    for (int i = 0; i < 10; ++i) leak_one();
}

TEST_CASE("pass: a pattern and a number" * allocscope::expect_leaks("leak:leak_one") *
          allocscope::expect_leaks(1)) {
    leak_one();
    sink = new double(1);
}

TEST_CASE("pass: ignored" * allocscope::ignore_leaks()) {
    leak_one();
}

TEST_SUITE("lenient" * allocscope::expect_leaks(1)) {
    TEST_CASE("pass: expected by the suite") {
        leak_one();
    }
    TEST_CASE("pass: its own number comes first" * allocscope::expect_leaks(0)) {}
    TEST_CASE("fail: more than the suite expects") {
        leak_one();
        leak_one();
    }
}

TEST_CASE("pass: caches are warm after once" * allocscope::only_repeated_leaks()) {
    cache_of_thread().resize(500);
    CHECK(cache_of_process().size() == 1000);
}

TEST_CASE("pass: may fail" * doctest::may_fail()) {
    leak_one();
}

TEST_CASE("pass: should fail" * doctest::should_fail()) {
    leak_one();
}

TEST_CASE("pass: fails as often as expected" * doctest::expected_failures(1)) {
    leak_one();
}

TEST_CASE("pass: blocks") {
    ALLOCSCOPE_CHECK_NO_LEAKS {
        allocate_and_free(5);
    }
    ALLOCSCOPE_REQUIRE_NO_LEAKS {}
    ALLOCSCOPE_CHECK_NO_LEAKS_ON_THIS_THREAD {
        allocate_and_free(1);
    }
    ALLOCSCOPE_REQUIRE_NO_LEAKS_ON_THIS_THREAD {}
    ALLOCSCOPE_CHECK_NO_ALLOCATIONS {}
    ALLOCSCOPE_REQUIRE_NO_ALLOCATIONS {
        older.reset();
    }
    ALLOCSCOPE_CHECK_ALLOCATIONS_AT_MOST(3) {
        allocate_and_free(3);
    }
    ALLOCSCOPE_REQUIRE_ALLOCATIONS_AT_MOST(3U) {
        allocate_and_free(2);
    }
    ALLOCSCOPE_CHECK_NO_LEAKS {
        ALLOCSCOPE_CHECK_ALLOCATIONS_AT_MOST(1) {
            allocate_and_free(1);
        }
        const printed one{1};
        CHECK(one == printed{1});
    }
// A macro of the user is one line.
#define ALLOCSCOPE_TEST_NOTHING_LEAKS_OR_IS_ALLOCATED \
    ALLOCSCOPE_CHECK_NO_LEAKS ALLOCSCOPE_CHECK_ALLOCATIONS_AT_MOST(0)
    ALLOCSCOPE_TEST_NOTHING_LEAKS_OR_IS_ALLOCATED {}
    const auto left_early = [] {
        ALLOCSCOPE_CHECK_NO_LEAKS {
            return 5;
        }
        return 6;
    };
    CHECK(left_early() == 5);
}

TEST_CASE("pass: only this thread counts in a block") {
    int* lost = nullptr;
    ALLOCSCOPE_CHECK_NO_LEAKS_ON_THIS_THREAD {
        ALLOCSCOPE_CHECK_ALLOCATIONS_AT_MOST(1) {  // the thread's own beginning
            std::thread{[&lost] { lost = new int(1); }}.join();
        }
    }
    delete lost;
}

TEST_CASE("pass: many decorators" * doctest::description("a text longer than a short string") *
          doctest::timeout(100) * doctest::no_breaks() * allocscope::expect_leaks(1)) {
    leak_one();
}

TEST_CASE("pass: may fail and throws" * doctest::may_fail()) {
    leak_one();
    throw std::runtime_error("thrown");
}

// --- what must fail ---

TEST_CASE("fail: leak") {
    CHECK(*leak_one() == 7);
}

TEST_CASE_FIXTURE(leaking_fixture, "fail: leak in a fixture") {
    CHECK(*lost == 7);
}

TEST_CASE("fail: leak in one subcase") {
    SUBCASE("tidy") {
        allocate_and_free(1);
    }
    SUBCASE("leaks") {
        leak_one();
    }
    SUBCASE("tidy too") {
        allocate_and_free(1);
    }
}

TEST_CASE("fail: leak in two subcases") {
    SUBCASE("first") {
        leak_one();
    }
    SUBCASE("second") {
        leak_one();
    }
}

TEST_CASE("fail: leak in another thread") {
    std::thread{[] { leak_one(); }}.join();
}

TEST_CASE("fail: leak through a static") {
    static std::vector<int*> kept;
    kept.push_back(leak_one());
}

TEST_CASE("fail: leak in four threads at a time") {
    std::vector<std::thread> workers;
    for (int i = 0; i < 4; ++i) workers.emplace_back([] { leak_one(); });
    for (std::thread& worker : workers) worker.join();
}

TEST_CASE("fail: cache filled at first use") {
    CHECK(cache_of_process().size() == 1000);  // LEAK
}

TEST_CASE_TEMPLATE("fail: template", Type, double) {
    sink = new Type(1);  // LEAK
}

TEST_CASE("fail: twice but expected once" * doctest::expected_failures(1)) {
    SUBCASE("first") {
        leak_one();
    }
    SUBCASE("second") {
        leak_one();
    }
}

TEST_CASE("fail: cache of this thread") {
    cache_of_thread().resize(300);  // LEAK
}

TEST_CASE("fail: an older object keeps a new one") {
    oldest->append(std::string(500, 'n'));  // LEAK
}

TEST_CASE("fail: leak when printed") {
    const leaks_when_printed it{};
    INFO("it is ", it);
    MESSAGE("it is ", it);
}

TEST_CASE("fail: leak when compared") {
    const leaks_when_compared it{};
    const bool same = it == it;
    CHECK(same);
}

TEST_CASE("fail: leak when compared in an assertion") {
    CHECK_UNARY(leaks_when_compared{} == leaks_when_compared{});
}

TEST_CASE("fail: nothing of what is expected" * allocscope::expect_leaks(1)) {}

TEST_CASE("fail: fewer than expected" * allocscope::expect_leaks(2)) {
    leak_one();
}

TEST_CASE("fail: more than expected" * allocscope::expect_leaks(2)) {
    for (int i = 0; i < 3; ++i) leak_one();
}

TEST_CASE("fail: expected elsewhere" * allocscope::expect_leaks("leak:no_such_function")) {
    leak_one();
}

TEST_CASE("fail: less than nothing is expected" * allocscope::expect_leaks(-1)) {}

TEST_CASE("fail: at least more than at most" * allocscope::expect_leaks(3, 1)) {}

TEST_CASE("fail: no pattern" * allocscope::expect_leaks("leak_one")) {}

TEST_CASE("fail: leak at each run" * allocscope::only_repeated_leaks()) {
    leak_one();
}

TEST_CASE("fail: assertion and a leak") {
    leak_one();
    CHECK(sink == nullptr);
}

TEST_CASE("fail: exception and a leak") {
    leak_one();
    throw std::runtime_error("thrown");
}

TEST_CASE("fail: required and a leak") {
    leak_one();
    REQUIRE(sink == nullptr);
}

TEST_CASE("fail: assertion in another thread and a leak") {
    std::thread{[] {
        leak_one();
        CHECK(sink == nullptr);
    }}.join();
}

TEST_CASE("fail: should fail and does not" * doctest::should_fail()) {
    allocate_and_free(1);
}

TEST_CASE("fail: block leaks" * allocscope::ignore_leaks()) {
    ALLOCSCOPE_CHECK_NO_LEAKS {
        leak_one();
    }
    MESSAGE("reached");
}

TEST_CASE("fail: required block leaks" * allocscope::ignore_leaks()) {
    ALLOCSCOPE_REQUIRE_NO_LEAKS {
        leak_one();
    }
    MESSAGE("not reached");
}

TEST_CASE("fail: block allocates") {
    ALLOCSCOPE_CHECK_NO_ALLOCATIONS {
        allocate_and_free(2);
    }
    MESSAGE("reached");
}

TEST_CASE("fail: block allocates too much") {
    ALLOCSCOPE_REQUIRE_ALLOCATIONS_AT_MOST(3) {
        allocate_and_free(4);
    }
    MESSAGE("not reached");
}

TEST_CASE("fail: block left by return") {
    const auto left_early = [] {
        ALLOCSCOPE_REQUIRE_NO_ALLOCATIONS {
            allocate_and_free(1);
            return;
        }
    };
    left_early();
}

TEST_CASE("fail: block left by an exception") {
    ALLOCSCOPE_CHECK_NO_ALLOCATIONS {
        allocate_and_free(1);
        throw std::runtime_error("thrown");
    }
}

TEST_CASE("fail: block with less than nothing") {
    ALLOCSCOPE_CHECK_ALLOCATIONS_AT_MOST(-2) {}
}
