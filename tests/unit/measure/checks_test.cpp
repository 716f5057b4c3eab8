// Danger: a check that passes although its promise was broken, or one that fails without telling
// where. Every kind of limit, window and handler has a case that passes and one that does not.
// compiled: alone (it compares the names of its functions)

#include "../../support/escape.hpp"

#include <allocscope/allocscope.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace allocscope;
using allocscope_test::allocate;
using allocscope_test::release;

namespace {

// Most cases want no files.
const int without_files = setenv("ALLOCSCOPE_EVIDENCE_DIR", "", 1);

bool has(const char* text, const char* part) {
    return std::string{text}.find(part) != std::string::npos;
}

template <class Work>
std::string refusal_of(Work work) {
    try {
        work();
    } catch (const std::invalid_argument& refused) {
        return refused.what();
    }
    return "";
}

__attribute__((noinline)) char* make_text(std::size_t bytes) {
    return allocscope_test::opaque(new char[bytes]);
}

__attribute__((noinline)) char* make_other_text(std::size_t bytes) {
    return allocscope_test::opaque(new char[bytes]);
}

check_result check_of_two_objects(const allocation_budget& budget) {
    scope window{"two"};
    char* first = make_text(100);
    delete[] make_text(50);
    check_result found = check(window, budget);
    delete[] first;
    return found;
}

}  // namespace

TEST_CASE("a budget holds or fails, limit by limit, at both ends") {
    allocation_budget budget;
    CHECK(check_of_two_objects(budget).passed());
    SUBCASE("allocations") {
        budget.allocations = 2;
        CHECK(check_of_two_objects(budget).passed());
        budget.allocations = 1;
        CHECK(has(check_of_two_objects(budget).message(), "allocations is 2, allowed at most 1"));
        budget.allocations = at_least(3);
        CHECK(has(check_of_two_objects(budget).message(), "is 2, allowed at least 3"));
    }
    SUBCASE("bytes") {
        budget.bytes = between(150, 150);
        CHECK(check_of_two_objects(budget).passed());
        budget.bytes = exactly(149U);
        CHECK(has(check_of_two_objects(budget).message(), "bytes is 150, allowed exactly 149"));
    }
    SUBCASE("peak_bytes") {
        budget.peak_bytes = 150L;
        CHECK(check_of_two_objects(budget).passed());
        budget.peak_bytes = 149ULL;
        CHECK(has(check_of_two_objects(budget).message(), "peak_bytes is 150"));
    }
    SUBCASE("live") {
        budget.live_objects = exactly(1);
        budget.live_bytes = at_most(100);
        CHECK(check_of_two_objects(budget).passed());
        budget.live_objects = 0;
        CHECK(has(check_of_two_objects(budget).message(), "live_objects is 1, allowed 0"));
        budget.live_objects = 1;
        budget.live_bytes = between(101, 200);
        CHECK(has(check_of_two_objects(budget).message(), "live_bytes is 100, allowed 101 to 200"));
    }
    SUBCASE("several at once") {
        budget.allocations = 1;
        budget.bytes = 150;
        budget.peak_bytes = 149;
        budget.live_bytes = 0;
        CHECK(has(check_of_two_objects(budget).message(),
                  "allocations is 2, allowed at most 1; peak_bytes is 150, allowed at most 149; "
                  "live_bytes is 100, allowed 0; allocated, freed since or not:"));
    }
}

TEST_CASE("bad limits are refused, each with its name, its value and a remedy") {
    const scope window{"refused"};
    const auto refused = [&window](const allocation_budget& budget) {
        return refusal_of([&] { static_cast<void>(check(window, budget)); });
    };
    allocation_budget budget;
    budget.allocations = -1;
    CHECK(refused(budget) ==
          "allocscope: allocation_budget::allocations is -1; it counts something,"
          " so give 0 or more");
    budget.allocations = 0;
    CHECK(refused(budget).empty());
    budget.bytes = between(5, 3);
    CHECK(
        has(refused(budget).c_str(),
            "allocation_budget::bytes must be at least 5 and at most 3; exchange the two numbers"));
    budget.bytes = {};
    budget.live_objects = at_least(1);
    CHECK(has(refused(budget).c_str(), "raise the most of `allocations`"));
    budget = {};
    budget.peak_bytes = at_least(10);
    budget.bytes = 9;
    CHECK(has(refused(budget).c_str(), "raise the most of `bytes`"));

    leak_options tolerance;
    tolerance.objects = -2;
    CHECK(has(refusal_of([&] {
                  static_cast<void>(leak_check{"x", tolerance});
              }).c_str(),
              "leak_options::objects is -2"));
    tolerance = {};
    tolerance.expected = "\n# fine\nleak:x\nsuppress:y";
    CHECK(has(refusal_of([&] {
                  static_cast<void>(leak_check{"x", tolerance});
              }).c_str(),
              "line 4: 'suppress:y' is not a pattern"));
    tolerance.expected = "leak:*";
    CHECK(has(refusal_of([&] {
                  static_cast<void>(leak_check{"x", tolerance});
              }).c_str(),
              "fits everything"));
    const auto work = [] {};
    CHECK(has(refusal_of([&] { leak_check::repeat(1, work); }).c_str(), "2 or more"));
    CHECK(has(refusal_of([&] { leak_check::repeat(-5, work); }).c_str(), "-5"));
    CHECK(has(refusal_of([&] { allocations_of(work, 0); }).c_str(), "runs is 0; give 1 or more"));
    CHECK(has(refusal_of([&] { allocations_of(work, -1); }).c_str(), "runs is -1"));
}

TEST_CASE("a failing budget names who allocated, also when all of it was freed again") {
    scope window{"temporaries"};
    for (int i = 0; i < 7; ++i) delete[] make_text(8);
    allocation_budget budget;
    budget.allocations = 3;
    const check_result found = check(window, budget);
    REQUIRE_FALSE(found.passed());
    CHECK_FALSE(static_cast<bool>(found));
    CHECK(has(found.message(), "budget \"temporaries\": allocations is 7"));
    CHECK(has(found.message(), "checks_test.cpp:"));
    CHECK(has(found.message(), "7 objects of char, 56 bytes, in (anonymous namespace)::make_text"));
    CHECK(has(found.message(), "called from "));
    REQUIRE(found.rows().size() == 1);
    CHECK(found.rows()[0].objects == 7);
    CHECK(found.counts().allocations == 7);
    CHECK(found.saved_to()[0] == '\0');
}

TEST_CASE("a window that was stopped is judged by what it ended with; a sampled one is not") {
    allocation_budget one;
    one.allocations = 1;
    scope window{"stopped"};
    release(allocate(10));
    window.stop();
    CHECK(check(window, one).passed());
    one.allocations = 0;
    CHECK(has(check(window, one).message(), "allocations is 1, allowed 0"));

    options estimated;
    estimated.record = recording::sampled;
    const scope sampled{"sampled", estimated};
    CHECK(has(check(sampled, {}).message(), "a sampled window has estimates only"));
    options numbers;
    numbers.record = recording::counters;
    const scope counted{"counters", numbers};
    release(allocate(10));
    CHECK(has(check(counted, one).message(), "allocations is 1, allowed 0"));
}

TEST_CASE("a leak check passes when nothing is left, and names what is") {
    leak_check clean{"clean"};
    delete[] make_text(5);
    CHECK(clean.finish().passed());
    const char* const ended = "nothing was checked: finish() was called before";
    CHECK(has(clean.finish().message(), ended));
    CHECK(has(clean.check().message(), ended));
    CHECK_FALSE(clean.check().passed());

    leak_check leaks{"leaky"};
    char* left = make_text(33);
    const check_result early = leaks.check();
    const check_result found = leaks.finish();
    delete[] left;
    CHECK_FALSE(early.passed());
    CHECK(has(found.message(),
              "leak check \"leaky\": 1 object with 33 bytes is still alive, allowed 0"));
    CHECK(has(found.message(), "make_text"));
    CHECK(found.rows().live_bytes() == 33);
    CHECK(leaks.counts().allocations == 1);
}

namespace {

const std::vector<std::string>& first_used() {
    static const std::vector<std::string> names(3, std::string(40, 'x'));
    return names;
}

// The whole check runs while the static is initialised.
const check_result& judged_in_a_static(char*& left) {
    static const check_result result = [&left] {
        leak_check leaks{"in a static"};
        left = make_text(9);
        static const std::string other(60, 'z');
        return leaks.finish();
    }();
    return result;
}

std::vector<char*>& filled_later() {
    static std::vector<char*> blocks;
    return blocks;
}

}  // namespace

TEST_CASE("what a function-local static makes at its first use is no leak, and told apart") {
    leak_check alone{"first use"};
    CHECK(first_used().size() == 3);
    const check_result passed = alone.finish();
    CHECK(passed.passed());
    CHECK(passed.first_use_objects() == 4);
    CHECK(passed.first_use_bytes() == 3 * 41 + 3 * sizeof(std::string));

    static const auto use = [] {
        static const std::string other(50, 'y');
        return other.size();
    };
    leak_check beside{"beside"};
    CHECK(use() == 50);
    filled_later().push_back(make_text(7));
    const check_result failed = beside.finish();
    CHECK_FALSE(failed.passed());
    CAPTURE(failed.message());
    CHECK(has(failed.message(), "2 objects with 15 bytes are still alive"));  // a block of pointers
    CHECK(has(failed.message(),
              "\n  not counted: 1 object with 51 bytes of function-local statics, made at their"
              " first use"));
    CHECK(failed.rows().live_objects() == 2);
    delete[] filled_later()[0];
    std::vector<char*>{}.swap(filled_later());
}

TEST_CASE("a check inside the initialisation of a static judges what that one allocates") {
    char* left = nullptr;
    const check_result& result = judged_in_a_static(left);
    CAPTURE(result.message());
    CHECK_FALSE(result.passed());
    CHECK(result.rows().live_bytes() == 9);
    CHECK(result.first_use_bytes() == 61);  // that static is complete
    delete[] left;
}

TEST_CASE("tolerance, expected leaks, and threads") {
    leak_options wanted;
    const auto leak_of = [&wanted](std::size_t bytes) {
        leak_check leaks{"tolerant", wanted};
        char* left = make_text(bytes);
        const bool passed = leaks.finish().passed();
        delete[] left;
        return passed;
    };
    wanted.expected = nullptr;  // as ""
    CHECK_FALSE(leak_of(40));
    wanted.expected = "";
    wanted.objects = 1;
    CHECK(leak_of(10));
    wanted.bytes = 9;
    CHECK_FALSE(leak_of(10));
    wanted.objects = 0;
    wanted.bytes = 10;
    CHECK(leak_of(10));
    wanted = {};
    CHECK_FALSE(leak_of(10));
    for (const char* pattern : {"leak:make_text", "leak:checks_test.cpp", "leak:^char$",
                                "# why\n\n leak:*make*xt* \n", "leak:nobody\nleak:unit_"}) {
        CAPTURE(pattern);
        wanted.expected = pattern;
        CHECK(leak_of(10));
    }
    for (const char* pattern : {"leak:make_txt", "leak:^make_text", "leak:^cha$", "leak:text^"}) {
        CAPTURE(pattern);
        wanted.expected = pattern;
        CHECK_FALSE(leak_of(10));
    }

    leak_options mine;
    mine.window.from = threads::current;
    char* theirs = nullptr;
    const auto other_thread = [&theirs] {
        std::thread{[&theirs] { theirs = make_text(4); }}.join();
    };
    leak_check everybody{"all"};
    leak_check only_me{"me", mine};
    other_thread();
    CHECK(only_me.finish().passed());
    const check_result of_all = everybody.finish();
    CHECK(of_all.rows().live_bytes() >= 4);
    CHECK_FALSE(of_all.passed());
    delete[] theirs;
}

TEST_CASE("repeat tells a cache from a leak") {
    std::vector<char*> kept;
    kept.reserve(100);
    const auto leaks = [&kept] { kept.push_back(make_text(3)); };
    const check_result leak = leak_check::repeat(4, leaks);
    CHECK(has(leak.message(), "each of 4 runs left at least 1 object with 3 bytes more alive"));
    CHECK(has(leak.message(), "make_text"));
    CHECK(kept.size() == 5);  // and the warm-up
    for (char* each : kept) delete[] each;

    // What only some of the runs left behind is no part of what each of them did.
    int runs = 0;
    std::vector<char*> now_and_then;
    kept.clear();
    const check_result both = leak_check::repeat(4, [&] {
        leaks();
        if (++runs % 2 == 0) now_and_then.push_back(make_other_text(1000));
    });
    CHECK(has(both.message(), "4 objects of char, 12 bytes, in (anonymous namespace)::make_text"));
    CHECK_FALSE(has(both.message(), "make_other_text"));
    CHECK(both.rows().live_objects() > 4);  // the evidence has all
    for (char* each : kept) delete[] each;
    for (char* each : now_and_then) delete[] each;
    kept.clear();
    bool is_odd = false;
    const check_result in_turns = leak_check::repeat(4, [&] {
        is_odd = !is_odd;
        kept.push_back(is_odd ? make_text(3) : make_other_text(3));
    });
    CHECK(has(in_turns.message(),
              "2 objects of char, 6 bytes, in (anonymous namespace)::make_other_text"));
    for (char* each : kept) delete[] each;

    char* slot = nullptr;
    CHECK(leak_check::repeat(3, [&slot] {
        delete[] slot;
        slot = make_text(3);
    }));
    delete[] slot;

    std::vector<int> growing;  // its buffer grows in some of the runs
    CHECK(leak_check::repeat(5, [&growing] { growing.push_back(1); }));

    char* once = nullptr;
    CHECK(leak_check::repeat(2, [&once] {
        if (once == nullptr) once = make_text(1);
    }));
    delete[] once;
    CHECK_THROWS_AS(leak_check::repeat(2, [] { throw std::logic_error{"mine"}; }),
                    std::logic_error);
    CHECK_THROWS_WITH_AS(
        leak_check::repeat(1, [] {}),
        "allocscope: leak_check::repeat runs is 1; give 2 or more, to tell a cache from a leak",
        std::invalid_argument);
}

TEST_CASE("library_frames refuses a pattern with the pattern and the reason") {
    CHECK_THROWS_WITH_AS(
        library_frames(""),
        "allocscope: library_frames(\"\"): the pattern is empty: it would fit every "
        "frame",
        std::invalid_argument);
    CHECK_THROWS_WITH_AS(
        library_frames("a*b"),
        "allocscope: library_frames(\"a*b\"): a '*' is only allowed at the end of a "
        "function's name; write a folder as \"parts/\"",
        std::invalid_argument);
    const std::string at_most(255, 'x');
    const std::string too_long = at_most + 'x';
    const std::string message = "allocscope: library_frames(\"" + at_most.substr(0, 60) +
                                "...\"): the pattern is over 255 characters";
    CHECK_THROWS_WITH_AS(library_frames(too_long.c_str()), message.c_str(), std::invalid_argument);
    CHECK_NOTHROW(library_frames(at_most.c_str()));
    CHECK_THROWS_AS(library_frames(nullptr), std::invalid_argument);
}

TEST_CASE("allocations_of counts this thread exactly, and itself never") {
    CHECK(allocations_of([] {}).allocations == 0);
    CHECK(allocations_of([] {}).bytes_allocated == 0);
    CHECK(allocations_of([] {}, 50).least.allocations == 0);
    const run_counts one = allocations_of([] { delete[] make_text(24); });
    CHECK(one.allocations == 1);
    CHECK(one.frees == 1);
    CHECK(one.bytes_allocated == 24);
    CHECK(one.peak_bytes == 24);

    int run = 0;  // 0 is the warm-up; then 1, 2, 3 allocations
    const run_counts rising = allocations_of(
        [&run] {
            for (int i = 0; i < run; ++i) delete[] make_text(2);
            ++run;
        },
        3);
    CHECK(rising.runs == 3);
    CHECK(rising.allocations == 2);
    CHECK(rising.least.allocations == 1);
    CHECK(rising.average_allocations == doctest::Approx(2));
    CHECK(rising.average_bytes == doctest::Approx(4));

    std::atomic<bool> stops{false};
    std::thread noise{[&stops] {
        while (!stops.load()) delete[] make_text(1);
    }};
    CHECK(allocations_of([] { delete[] make_text(1); }, 20).allocations == 1);
    stops = true;
    noise.join();
    CHECK_THROWS_AS(allocations_of([] { throw std::logic_error{"mine"}; }), std::logic_error);
}

TEST_CASE("windows and guards nest and overlap") {
    allocation_budget three;
    three.allocations = 3;
    budget_guard outer{"outer", three};
    release(allocate(1));
    {
        allocation_budget one;
        one.allocations = 1;
        budget_guard inner{"inner", one};
        release(allocate(1));
        CHECK(inner.finish().passed());
    }
    leak_options mine;
    mine.window.from = threads::current;
    leak_check inner_leaks{"inner leaks", mine};
    const auto counts_before = outer.counts().allocations;
    release(allocate(1));
    const auto counts_after = outer.counts().allocations;
    CHECK(inner_leaks.finish().passed());
    CHECK(counts_after - counts_before == 1);
    outer.check();  // looks only
    const check_result end = outer.finish();
    // doctest's own allocations are in the outer window too, as it watches everything
    CHECK(end.counts().allocations >= 3);
}

TEST_CASE("tests that run beside each other do not disturb each other") {
    std::atomic<int> wrong{0};
    const auto test = [&wrong](bool leaks) {
        leak_options mine;
        mine.window.from = threads::current;
        allocation_budget one;
        one.allocations = 1;
        for (int i = 0; i < 40; ++i) {
            leak_check check_of_this{"parallel", mine};
            budget_guard budget{"parallel", one, on_violation::report(), mine.window};
            char* left = make_text(7);
            if (!leaks) delete[] left;
            if (!budget.finish().passed()) ++wrong;
            const bool passed = check_of_this.finish().passed();
            if (leaks) delete[] left;
            if (passed == leaks) ++wrong;
            bool failed = false;
            {
                const fail_allocation second{2};
                void* kept = allocate(1);
                try {
                    release(allocate(1));
                } catch (const std::bad_alloc&) {
                    failed = true;
                }
                release(kept);
            }
            if (!failed) ++wrong;
            no_allocation_guard guard{"parallel", on_violation::throw_error()};
            if (!guard.finish().passed()) ++wrong;
        }
    };
    std::vector<std::thread> runners;
    for (int i = 0; i < 4; ++i) runners.emplace_back(test, i % 2 == 1);
    for (std::thread& each : runners) each.join();
    CHECK(wrong.load() == 0);
}

TEST_CASE("the evidence is saved, and where is said; where it cannot be, why not is said") {
    char folder[] = "/tmp/allocscope-test-XXXXXX";
    REQUIRE(mkdtemp(folder) != nullptr);
    setenv("ALLOCSCOPE_EVIDENCE_DIR", (std::string{folder} + "/evidence").c_str(), 1);
    leak_check leaks{"../a \"name\" with\nall sorts"};
    char* left = make_text(77);
    const check_result found = leaks.finish();
    delete[] left;
    const std::string path = found.saved_to();
    REQUIRE_FALSE(path.empty());
    CHECK(path.find(std::string{folder} + "/evidence/_._a__name__with_all_sorts-") == 0);
    CHECK(has(found.message(), ("saved in " + path).c_str()));
    std::stringstream text;
    text << std::ifstream{path}.rdbuf();
    CHECK(has(text.str().c_str(), "1 object with 77 bytes is still alive"));
    CHECK(has(text.str().c_str(), "            at (anonymous namespace)::make_text"));
    unlink(path.c_str());
    rmdir((std::string{folder} + "/evidence").c_str());

    setenv("ALLOCSCOPE_EVIDENCE_DIR", (std::string{folder} + "/no/such/folder").c_str(), 1);
    leak_check again{"again"};
    left = make_text(1);
    const check_result unsaved = again.finish();
    delete[] left;
    rmdir(folder);
    unsetenv("ALLOCSCOPE_EVIDENCE_DIR");
    leak_check unasked{"nobody asked for a file"};
    left = make_text(1);
    const check_result without_file = unasked.finish();
    delete[] left;
    setenv("ALLOCSCOPE_EVIDENCE_DIR", "", 1);
    CHECK_FALSE(without_file.passed());
    CHECK(without_file.saved_to()[0] == '\0');
    CHECK_FALSE(has(without_file.message(), "saved"));
    CHECK_FALSE(unsaved.passed());
    CHECK(unsaved.saved_to()[0] == '\0');
    CHECK(has(unsaved.message(), "not saved: cannot write '"));
    CHECK(has(unsaved.message(), "No such file or directory"));
}

TEST_CASE("a result may be copied and outlives its window") {
    check_result kept;
    CHECK_FALSE(kept.passed());
    {
        leak_check leaks{"gone"};
        char* left = make_text(9);
        const check_result found = leaks.finish();
        delete[] left;
        check_result copy{found};
        kept = copy;
        kept = *&kept;
    }
    CHECK(has(kept.message(), "gone"));
    CHECK(kept.rows().live_bytes() == 9);
}
