// Test cases of which the tag tells what the adapter must make of them: [passes], [leaks] in each
// pass, [some] in some passes, [blocks], [fails] for another reason. matrix_test.py runs this
// program in many ways and looks at exit codes, console, JUnit and XML.
#define CATCH_CONFIG_RUNNER
#include <allocscope/allocscope.hpp>
#include <allocscope/integrations/catch2.hpp>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#if CATCH_VERSION_MAJOR > 2 && __has_include(<catch2/catch_all.hpp>)
    #include <catch2/catch_all.hpp>  // matchers, generators
#endif

#include "support/escape.hpp"

namespace {

using allocscope_test::opaque;

// With one argument in the environment the options are others.
allocscope::leak_options wanted_options() {
    allocscope::leak_options wanted;
    if (std::getenv("EXPECT_LEAK_ONE") != nullptr) wanted.expected = "leak:leak_one";
    return wanted;
}

struct thing {
    int number = 0;
};

// What a leak is kept in, so that no compiler can see that nobody uses it.
void* volatile kept_somewhere = nullptr;

void leak_one() {
    kept_somewhere = opaque(new thing);
}

void use_and_free() {
    const std::unique_ptr<thing> owned{opaque(new thing)};
}

auto contains_two() {
#if CATCH_VERSION_MAJOR == 2
    return Catch::Matchers::Contains("two");
#else
    return Catch::Matchers::ContainsSubstring("two");
#endif
}

// Makes Catch2 print a long text into its own streams.
struct printed {
    int number = 1;
    friend bool operator==(const printed& left, const printed& right) {
        return left.number == right.number;
    }
    friend std::ostream& operator<<(std::ostream& out, const printed& value) {
        return out << std::string(300, 'p') << value.number;
    }
};

// A listener that keeps what it hears, as one that writes a report at the end does. What it keeps
// is no leak of a test case.
struct collector : allocscope::detail::catch2_listener_base {
    using allocscope::detail::catch2_listener_base::catch2_listener_base;
    void testCaseStarting(const Catch::TestCaseInfo&) override { keep(); }
    void sectionStarting(const Catch::SectionInfo&) override { keep(); }
    void assertionStarting(const Catch::AssertionInfo&) override { keep(); }
    void sectionEnded(const Catch::SectionStats&) override { keep(); }
    void testCaseEnded(const Catch::TestCaseStats&) override { keep(); }

private:
    void keep() { heard_.push_back(std::make_unique<std::string>(100, 'h')); }
    std::vector<std::unique_ptr<std::string>> heard_;
};

CATCH_REGISTER_LISTENER(collector)

}  // namespace

ALLOCSCOPE_CATCH2_MAIN(wanted_options())

// --- must pass ---

TEST_CASE("empty", "[passes]") {}

TEST_CASE("a name that is longer than any short string could be, also of other libraries",
          "[passes][a-tag-that-is-longer-than-any-short-string]") {
    use_and_free();
}

TEST_CASE("assertions of all kinds", "[passes]") {
    INFO("information that is longer than a short string " << printed{});
    CAPTURE(std::string(100, 'a'));
    CHECK(printed{} == printed{});
    CHECK_FALSE(printed{} == printed{2});
    CHECK(std::string(100, 'b') == std::string(100, 'b'));
    CHECK_THROWS_AS(throw std::runtime_error(std::string(100, 'c')), std::runtime_error);
    CHECK_NOTHROW(use_and_free());
    REQUIRE_THAT(std::string("one two"), contains_two());
    SUCCEED("a message that is longer than a short string");
    WARN("a warning that is longer than a short string");
}

TEST_CASE("a static made at its first use", "[passes]") {
    static const std::vector<std::string> names(3, std::string(100, 's'));
    CHECK(names.size() == 3);
}

TEST_CASE("first use of streams and strings", "[passes]") {
    std::ostringstream out;
    out << 1.5 << ' ' << std::string(100, 'b');
    CHECK(out.str().size() == 104);
    std::cout << "printed through std::cout, which some reporters catch" << std::endl;
    for (int i = 0; i < 9; ++i) std::cout << std::string(100, 'd') << '\n';
    std::clog << std::string(200, 'e') << '\n';
}

TEST_CASE("sections", "[passes]") {
    const std::unique_ptr<thing> of_all{opaque(new thing)};
    SECTION("one with a name that is longer than a short string") {
        use_and_free();
        SECTION("inner one with a name that is longer than a short string") {
            CHECK(of_all != nullptr);
        }
        SECTION("inner two with a name that is longer than a short string") {
            use_and_free();
        }
    }
    SECTION("two with a name that is longer than a short string") {
        std::vector<std::string> words(100, std::string(50, 'f'));
        CHECK(words.size() == 100);
    }
}

namespace {

// Holds memory of its own until the last value was asked for.
class words_generator final : public Catch::Generators::IGenerator<std::string> {
public:
    bool next() override { return ++at_ < words_.size(); }
    const std::string& get() const override { return words_[at_]; }

private:
    std::vector<std::string> words_{3, std::string(100, 'g')};
    std::size_t at_ = 0;
};

Catch::Generators::GeneratorWrapper<std::string> words() {
    auto* made = new words_generator;
#if CATCH_VERSION_MAJOR == 2
    using owner = std::unique_ptr<Catch::Generators::IGenerator<std::string>>;
    return Catch::Generators::GeneratorWrapper<std::string>{owner{made}};
#else
    return Catch::Generators::GeneratorWrapper<std::string>{made};
#endif
}

}  // namespace

TEST_CASE("generators", "[passes]") {
    const int number = GENERATE(1, 2, 3);
    const std::string word = GENERATE(words());
    CHECK(word.size() * static_cast<std::size_t>(number) >= 100);
    const std::string other = GENERATE(std::string(100, 'h'), std::string(200, 'i'));
    CHECK(other.size() >= 100);
}

namespace {
class passing_fixture {
protected:
    std::unique_ptr<std::string> text_ = std::make_unique<std::string>(100, 'j');
};
}  // namespace

TEST_CASE_METHOD(passing_fixture, "a fixture", "[passes]") {
    CHECK(text_->size() == 100);
}

TEMPLATE_TEST_CASE("types", "[passes]", int, std::string) {
    const std::unique_ptr<TestType> owned{opaque(new TestType{})};
    CHECK(owned != nullptr);
}

TEST_CASE("threads that free", "[passes]") {
    std::vector<std::thread> workers;
    for (int i = 0; i < 4; ++i) {
        workers.emplace_back([] {
            use_and_free();
            thread_local std::string cache;
            cache.assign(1000, 'k');
        });
    }
    for (std::thread& each : workers) each.join();
}

namespace {
std::unique_ptr<thing> born_before{opaque(new thing)};
}  // namespace

TEST_CASE("frees what is older", "[passes]") {
    born_before.reset();
}

TEST_CASE("expected leaks", "[passes]") {
    SECTION("exactly") {
        allocscope::expect_leaks(2);
        leak_one();
        leak_one();
    }
    SECTION("between") {
        allocscope::expect_leaks(0, 2);
        leak_one();
    }
    SECTION("by name") {
        allocscope::expect_leaks("leak:leak_one");
        leak_one();
        leak_one();
    }
    SECTION("ignored") {
        allocscope::ignore_leaks();
        leak_one();
    }
    SECTION("paused") {
        const allocscope::pause_recording pause;
        leak_one();
    }
}

TEST_CASE("blocks that hold", "[passes]") {
    const allocscope::catch2_leak_scope whole;
    ALLOCSCOPE_CHECK_NO_LEAKS {}
    ALLOCSCOPE_REQUIRE_NO_LEAKS {
        use_and_free();
        CHECK(printed{} == printed{});
    }
    ALLOCSCOPE_CHECK_NO_LEAKS_ON_THIS_THREAD {
        use_and_free();
    }
    ALLOCSCOPE_CHECK_NO_ALLOCATIONS {}
    ALLOCSCOPE_REQUIRE_NO_ALLOCATIONS {}
    ALLOCSCOPE_CHECK_ALLOCATIONS_AT_MOST(0) {}
    ALLOCSCOPE_REQUIRE_ALLOCATIONS_AT_MOST(2) {
        use_and_free();
        ALLOCSCOPE_CHECK_ALLOCATIONS_AT_MOST(1) use_and_free();
    }
    allocscope::allocation_budget limits;
    limits.allocations = allocscope::between(1, 2);
    limits.bytes = sizeof(thing);
    ALLOCSCOPE_CHECK_WITHIN_BUDGET(limits) {
        use_and_free();
    }
    CHECK_THROWS_AS(
        [] {
            ALLOCSCOPE_CHECK_NO_LEAKS {
                throw 1;
            }
        }(),
        int);
    ALLOCSCOPE_CHECK_NO_LEAKS {
        break;
    }
}

// --- must fail, and say where ---

TEST_CASE("in the body", "[leaks]") {
    kept_somewhere = opaque(new thing);  // line of "in the body"
}

TEST_CASE("in another thread", "[leaks]") {
    std::thread{[] { leak_one(); }}.join();
}

TEST_CASE("in a static", "[leaks]") {
    static std::vector<int> grows;
    grows.assign(100, 1);
}

TEST_CASE("in a thread_local of this thread", "[leaks]") {
    thread_local std::string cache;
    cache.assign(1000, 'l');
}

TEST_CASE("less than was said", "[leaks]") {
    allocscope::expect_leaks(3);
    leak_one();
    leak_one();
}

TEST_CASE("more than was said", "[leaks]") {
    allocscope::expect_leaks(1);
    leak_one();
    leak_one();
}

TEST_CASE("after an exception was caught", "[leaks]") {
    CHECK_THROWS_AS((leak_one(), throw 1), int);
}

namespace {
struct leaky {
    friend bool operator==(const leaky&, const leaky&) {
        leak_one();
        return true;
    }
};
class leaking_fixture {
protected:
    leaking_fixture() { kept_somewhere = opaque(new thing); }
};
}  // namespace

TEST_CASE("in what Catch2 calls", "[leaks]") {
    CHECK(leaky{} == leaky{});
}

TEST_CASE_METHOD(leaking_fixture, "in the fixture", "[leaks]") {}

TEST_CASE("in a generated value", "[leaks]") {
    const int number = GENERATE(1, 2);
    for (int i = 0; i < number; ++i) leak_one();
}

TEMPLATE_TEST_CASE("of a type", "[leaks]", double) {
    kept_somewhere = opaque(new TestType{});
}

TEST_CASE("in four threads at a time", "[leaks]") {
    std::vector<std::thread> workers;
    for (int i = 0; i < 4; ++i) workers.emplace_back([] { leak_one(); });
    for (std::thread& each : workers) each.join();
}

namespace {
const std::string& filled_by_the_first() {
    static std::string cache;
    if (cache.empty()) cache.assign(1000, 'm');
    return cache;
}
}  // namespace

TEST_CASE("a cache beside generators", "[repeated]") {
    allocscope::only_repeated_leaks();
    static std::vector<int> cache;
    cache.reserve(1000);
    CHECK(GENERATE(1, 2, 3) + GENERATE(4, 5) + GENERATE(range(0, 10)) > 0);
}

TEST_CASE("a leak beside generators", "[repeated][!shouldfail]") {
    allocscope::only_repeated_leaks();
    CHECK(GENERATE(1, 2) + GENERATE(4, 5) > 0);
    leak_one();
}

TEST_CASE("in a cache that the first fills", "[leaks]") {
    CHECK(filled_by_the_first().size() == 1000);
}

TEST_CASE("in a section made by a loop", "[leaks]") {
    for (int i = 0; i < 2; ++i) {
        DYNAMIC_SECTION("number " << i) {
            leak_one();
        }
    }
}

TEST_CASE("hidden unless it is named", "[.][hidden]") {
    leak_one();
}

SCENARIO("a story leaks in its middle", "[story]") {
    GIVEN("a thing") {
        WHEN("it is forgotten") {
            leak_one();
            THEN("that is told") {
                CHECK(kept_somewhere != nullptr);
            }
        }
        WHEN("it is freed") {
            use_and_free();
            THEN("that is not") {
                SUCCEED();
            }
        }
    }
}

TEST_CASE("in one section of two", "[some]") {
    SECTION("good") {
        use_and_free();
    }
    SECTION("bad") {
        SECTION("inner") {
            leak_one();
        }
    }
}

TEST_CASE("may fail", "[may][!mayfail]") {
    leak_one();
}

TEST_CASE("should fail", "[should][!shouldfail]") {
    leak_one();
}

// --- blocks that must fail ---

TEST_CASE("check goes on", "[blocks]") {
    ALLOCSCOPE_CHECK_NO_LEAKS {
        leak_one();
    }
    std::puts("went on");
}

TEST_CASE("require ends", "[blocks]") {
    ALLOCSCOPE_REQUIRE_NO_LEAKS {
        leak_one();
    }
    std::puts("went on");
}

TEST_CASE("no allocations", "[blocks]") {
    ALLOCSCOPE_CHECK_NO_ALLOCATIONS {
        use_and_free();
    }
}

TEST_CASE("at most", "[blocks]") {
    ALLOCSCOPE_REQUIRE_ALLOCATIONS_AT_MOST(2) {
        use_and_free();
        use_and_free();
        use_and_free();
    }
}

TEST_CASE("left early", "[blocks]") {
    ALLOCSCOPE_CHECK_NO_LEAKS {
        leak_one();
        break;
    }
}

TEST_CASE("leak scope", "[blocks]") {
    const allocscope::catch2_leak_scope scope;
    leak_one();
}

TEST_CASE("negative", "[blocks]") {
    ALLOCSCOPE_CHECK_ALLOCATIONS_AT_MOST(-1) {}
}

// --- fail by themselves: nothing is said about leaks ---

TEST_CASE("by an assertion", "[fails]") {
    leak_one();
    CHECK(1 == 2);
}

TEST_CASE("by a fatal assertion", "[fails]") {
    leak_one();
    REQUIRE(1 == 2);
}

TEST_CASE("by an exception", "[fails]") {
    leak_one();
    throw std::runtime_error("thrown by the test");
}

TEST_CASE("by an exception in another section", "[fails]") {
    SECTION("good") {
        use_and_free();
    }
    SECTION("throws") {
        leak_one();
        throw std::runtime_error("thrown by the section");
    }
}

TEST_CASE("by a negative number", "[fails]") {
    allocscope::expect_leaks(-2);
}

#if CATCH_VERSION_MAJOR > 2
TEST_CASE("skipped after a leak", "[skips]") {
    leak_one();
    SKIP("was skipped");
}
#endif
