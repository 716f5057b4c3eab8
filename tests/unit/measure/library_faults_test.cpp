// Danger: a sweep that holds for our own containers only. Here it goes through code that others
// wrote: a JSON parser, regular expressions, streams, maps, type-erased functions. What they do
// without memory is told as it is.
// not with: clang, noframe, asan, tsan (it depends on neither stacks nor threads, the library is
// the same with both compilers, and it takes longest; under asan, fault_injection_test.cpp goes
// through the same code of ours)

#include "../../support/escape.hpp"
#include "../../support/forked_child.hpp"

#include <allocscope/allocscope.hpp>

#include <doctest/doctest.h>

#include <csignal>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#if __has_include(<nlohmann/json.hpp>)
    #include <nlohmann/json.hpp>
    #define ALLOCSCOPE_HAS_JSON 1
#else
    #define ALLOCSCOPE_HAS_JSON 0
#endif

using namespace allocscope;

namespace {

constexpr const char* long_word = "a word that is longer than any short string";

// Every run good, each allocation had its turn, and there were some.
template <class Work>
void check_all(Work work, std::size_t least_allocations) {
    const fault_sweep swept = for_each_allocation_failing(work);
    CHECK(swept.message() == std::string{});
    CHECK(swept.passed());
    REQUIRE(swept.size() > least_allocations);
    CHECK(swept[swept.size() - 1].outcome == fault_outcome::returned);
}

}  // namespace

TEST_CASE("a map of strings and vectors survives each failing allocation") {
    check_all(
        [] {
            std::map<std::string, std::vector<std::string>> index;
            for (int i = 0; i < 5; ++i) {
                index[long_word + std::to_string(i)].assign(2, long_word);
            }
            index.erase(index.begin());
            std::map<std::string, std::vector<std::string>> copy = index;
            index.swap(copy);
            index.insert(copy.begin(), copy.end());
        },
        20);
}

TEST_CASE("a function that holds more than fits inside survives each failing allocation") {
    check_all(
        [] {
            const std::string word = long_word;
            const std::vector<int> numbers(20, 1);
            std::function<std::size_t()> size = [word, numbers] {
                return word.size() + numbers.size();
            };
            const std::function<std::size_t()> copy = size;
            size = [inner = copy, shared = std::make_shared<std::string>(word)] {
                return inner() + shared->size();
            };
            allocscope_test::opaque(&size);
        },
        5);
}

TEST_CASE("a regular expression survives each failing allocation") {
    check_all(
        [] {
            const std::regex pattern{"([a-z]+)(-[0-9]{1,3})?|x*"};
            std::smatch found;
            const std::string text = "order-12";
            const bool fits = std::regex_match(text, found, pattern);
            static_cast<void>(fits);
        },
        20);
}

// A stream catches what its buffer throws: without memory it goes bad, and says so to who asks.
TEST_CASE("a stream survives each failing allocation, and is bad or tells") {
    check_all(
        [] {
            std::ostringstream out;
            out << long_word << ' ' << 12345 << ' ' << 1.5 << ' ' << std::string(300, 'x');
            std::istringstream in{out.str()};
            std::string word;
            while (in >> word) {
            }
            std::getline(in, word);
        },
        3);
    const fault_sweep swept = for_each_allocation_failing([] {
        std::ostringstream out;
        out << std::string(2000, 'x');
        if (!out) throw std::bad_alloc{};  // never silently too short
        if (out.str().size() != 2000) throw 1;
    });
    CHECK(swept.message() == std::string{});
    CHECK(swept.passed());
}

#if ALLOCSCOPE_HAS_JSON

namespace {

constexpr const char* document =
    R"({"name": "a text that is longer than any short string", "numbers": [1, 2.5, -3],
        "nested": {"list": [[], {}, ["a text that is longer than any short string", null]],
                   "yes": true}})";

}  // namespace

// Destroyed under a pause, where nothing fails: see below.
TEST_CASE("a JSON parser survives each failing allocation") {
    check_all(
        [] {
            auto parsed = std::make_unique<nlohmann::json>(nlohmann::json::parse(document));
            const pause_recording safely;
            parsed.reset();
        },
        20);
    const nlohmann::json given = nlohmann::json::parse(document);
    check_all(
        [&given] {
            const std::string text = given.dump();
            allocscope_test::opaque(&text);
        },
        3);
}

// Release 3.11.2 moves the elements of an array or object to a vector when it is destroyed: without
// memory that throws out of a destructor, which ends the program. That is not a leak, and the sweep
// shows it as what it is: a crash.
TEST_CASE("a JSON value that is destroyed without memory ends the program, or passes") {
    const auto child = allocscope_test::in_child([] {
        std::signal(SIGABRT, SIG_DFL);  // doctest has one that prints
        const fault_sweep swept = for_each_allocation_failing(
            [] { const nlohmann::json parsed = nlohmann::json::parse(document); });
        return swept.passed() ? 0 : 1;
    });
    CHECK((child.was_killed_by(SIGABRT) || child.exited_with(0)));
}

#endif
