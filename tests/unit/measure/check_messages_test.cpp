// Danger: the message of a failed check names calls of which none is the user's: those of a
// library, of one recursive function, or of what runs the tests.
// compiled: alone (it compares the names of its functions)

#include "../../support/escape.hpp"
#include "deep_library.hpp"

#include <allocscope/allocscope.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <initializer_list>
#include <string>

using namespace allocscope;

namespace {

bool has(const char* text, const char* part) {
    return std::string{text}.find(part) != std::string::npos;
}

__attribute__((noinline)) char* make_text(std::size_t bytes) {
    return allocscope_test::opaque(new char[bytes]);
}

template <int depth>
__attribute__((noinline)) char* loaded_here() {
    char* volatile loaded = nullptr;
    if constexpr (depth == 1) {
        loaded = make_text(50);
    } else {
        loaded = loaded_here<depth - 1>();
    }
    return loaded;
}

__attribute__((noinline)) char* dig(int depth) {
    char* made = depth == 0 ? make_text(33) : dig(depth - 1);
    allocscope_test::barrier();
    return made;
}

}  // namespace

TEST_CASE("recursion is one caller, and does not hide who began it") {
    for (const int depth : {4, 40}) {  // a check keeps more frames than the 24 of a window
        leak_check leaks{"deep"};
        char* left = dig(depth);
        const check_result found = leaks.finish();
        delete[] left;
        const std::string message = found.message();
        CAPTURE(message);
        const std::size_t first = message.find("called from ");
        const std::size_t second = message.find("called from ", first + 1);
        REQUIRE(second != std::string::npos);
        const std::string caller = message.substr(first, second - first);
        CHECK(has(caller.c_str(), " in (anonymous namespace)::dig"));
        CHECK(has(caller.c_str(), ("::dig, " + std::to_string(depth + 1) + " times\n").c_str()));
        CHECK_FALSE(has(message.substr(second).c_str(), "dig"));
    }
}

TEST_CASE("the outermost call is named where its file would not be, and only there") {
    leak_check leaks{"deep in a library"};
    const int line = __LINE__ + 1;
    char* left = deep_library::load<4>();
    const check_result deep = leaks.finish();
    delete[] left;
    const std::string here = "check_messages_test.cpp:" + std::to_string(line) + " in ";
    const std::string message = deep.message();
    CHECK(has(message.c_str(), "deep_library.hpp:"));
    const std::size_t outermost = message.find("further out, from ");
    REQUIRE(outermost != std::string::npos);
    CHECK(has(message.substr(outermost).c_str(), here.c_str()));
    CHECK_FALSE(has(message.substr(0, outermost).c_str(), "check_messages_test.cpp:"));

    leak_check two_calls{"not deep"};
    left = deep_library::load<2>();
    const check_result found = two_calls.finish();
    delete[] left;
    CHECK(has(found.message(), "called from "));
    CHECK(has(found.message(), "check_messages_test.cpp:"));
    CHECK_FALSE(has(found.message(), "further out"));

    leak_check in_one_file{"deep in one file"};
    left = loaded_here<4>();
    const check_result own = in_one_file.finish();
    delete[] left;
    CHECK(has(own.message(), "::loaded_here\n    called from "));
    CHECK_FALSE(has(own.message(), "further out"));
}
