#include <allocscope/types/coroutine_frame.hpp>

#include <doctest/doctest.h>

#include <string>

#include "support/marked_source.hpp"

using allocscope::plain::arena;
using allocscope::plain::text;
using allocscope::symbolize::code_frame;
using allocscope::symbolize::source_cache;

namespace {

// What the call at the mark allocates: "frame of run() at 1", or "".
std::string frame_at_mark(const std::string& source, const char* function = "run(int)") {
    const allocscope_test::marked_source marked{source};
    arena memory;
    code_frame frame;
    frame.function = function;
    frame.file = marked.path().c_str();
    frame.line = marked.line();
    frame.column = marked.column();
    source_cache sources;
    const text found = allocscope::symbolize::coroutine_frame(memory, frame, sources);
    if (found.empty()) return {};
    return std::string{found.data(), found.size()} + " at " + std::to_string(frame.line);
}

}  // namespace

TEST_CASE("coroutine_frame: both compilers' places lead to the function") {
    CHECK(frame_at_mark("task run(int n) {\n    co_return n;\n@}\n") == "frame of run() at 1");
    CHECK(frame_at_mark("\ntask @run(int n) {\n    co_await n;\n}\n") == "frame of run() at 2");
    CHECK(frame_at_mark("auto f = @[](int n) -> task {\n    co_yield n;\n};\n") ==
          "frame of run() at 1");
    CHECK(frame_at_mark("auto f = @[](int n) -> task {\n    co_yield n;\n};\n", "operator()") ==
          "frame of {lambda}() at 1");
}

TEST_CASE("coroutine_frame: the name of the function is whole") {
    const auto named = [](const char* function) {
        return frame_at_mark("task run(int n) {\n    co_return n;\n@}\n", function);
    };
    CHECK(named("(anonymous namespace)::run(int)") == "frame of run() at 1");
    CHECK(named("app::(anonymous namespace)::run(int)") == "frame of app::run() at 1");
    CHECK(named("task run<int (*)(char)>(int)") == "frame of run<int (*)(char)>() at 1");
    CHECK(named("main::{lambda(int)#1}::operator()(int) const") ==
          "frame of main::{lambda}() at 1");
}

TEST_CASE("coroutine_frame: clang -g1 names an inlined function without its scopes") {
    const auto named = [](const std::string& before) {
        return frame_at_mark(before + " task @run(int n) { co_return n; } }\n", "run");
    };
    CHECK(named("namespace app { namespace {} inline namespace v1 {} namespace net {") ==
          "frame of app::net::run() at 1");
    CHECK(named("namespace app { struct server {") == "frame of app::server::run() at 1");
    CHECK(named("namespace {") == "frame of run() at 1");
}

TEST_CASE("coroutine_frame: a function that only names coroutines has no frame") {
    CHECK(frame_at_mark("void run(int n) {\n    work(n);\n@}\n").empty());
    CHECK(frame_at_mark("void run(int n) {\n    co_spawn(n, work);\n@}\n").empty());
    CHECK(frame_at_mark("void run(int n) {\n    int co_count = n;\n@}\n").empty());
    CHECK(frame_at_mark("void run(int n) {\n    go([] { co_return; });\n@}\n").empty());
}
