#include <allocscope/types/merged_calls.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "support/marked_source.hpp"

using allocscope::plain::text;
using allocscope::symbolize::code_frame;
using allocscope::symbolize::source_cache;
using allocscope::symbolize::type_knowledge;

namespace {

// The call is at the mark. `has_call`: so has the function for every other `new`.
bool is_merged(const std::string& source, bool has_call = false, bool is_inlined = false) {
    const allocscope_test::marked_source marked{source};
    code_frame frame;
    frame.function = "f()";
    frame.file = marked.path().c_str();
    frame.line = marked.line();
    frame.column = marked.column();
    frame.is_inlined = is_inlined;
    type_knowledge knowledge;
    knowledge.context = &has_call;
    knowledge.has_call_at = [](void* answer, const text&, int, int) {
        return *static_cast<bool*>(answer);
    };
    knowledge.bytes = [](void*, const text& name) -> std::uint64_t {
        return name == "cat" || name == "dog" ? 8 : name == "cow" ? 16 : 0;
    };
    source_cache sources;
    return allocscope::symbolize::is_merged_call(frame, sources, knowledge);
}

}  // namespace

TEST_CASE("merged_calls: the call of a branch may be that of the other one") {
    CHECK(is_merged("if (n) p = new @dog; else p = new cat;"));
    CHECK(is_merged("if (n) p = new dog; else p = new @cat;"));
    CHECK(is_merged("if (n) { p = @new dog; } else { p = new cat; }"));
    CHECK(is_merged("p = n ? make(new dog) : make(new @cat);"));
    CHECK(is_merged("switch (n) { case 0: p = new dog; break; case 1: p = new @cat; break; }"));
    CHECK(is_merged("switch (n) { case 0: { p = new dog; } default: p = new @cat; }"));
    CHECK(is_merged("void* f() { if (n) return keep(new @dog); return keep(new cat); }"));
    CHECK(is_merged("if (n) p = new @dog; else p = new unknown;"));
    CHECK(is_merged("if (n) p = new a::@cat; else p = new b::cat;"));
    CHECK(is_merged("p = @malloc(sizeof(dog)); if (!p) return; q = malloc(2 * sizeof(cat));"));
    CHECK(is_merged("if (n) p = new @dog; else p = ::operator new(2 * sizeof(cat));"));
}

TEST_CASE("merged_calls: both calls are there, or cannot be one") {
    CHECK_FALSE(is_merged("if (n) p = new @dog; else p = new cat;", true));
    CHECK_FALSE(is_merged("if (n) p = new @dog; else p = new cat;", false, true));
    CHECK_FALSE(is_merged("if (n) p = new @dog; else p = new dog;"));
    CHECK_FALSE(is_merged("if (n) p = new @dog; else p = new cow;"));
    CHECK_FALSE(is_merged("p = @malloc(sizeof(dog)); if (!p) return; q = calloc(3, sizeof(cat));"));
    CHECK_FALSE(is_merged("if (n) p = new @dog; else p = malloc(sizeof(cat));"));
    CHECK_FALSE(is_merged("struct s { s() : p(new @dog) {} cat* f() { return new cat; } };"));
    CHECK_FALSE(is_merged("if constexpr (n) p = new @dog; else p = new cat;"));
    CHECK_FALSE(is_merged("if constexpr (n) { p = f(new dog); } else { p = new @cat; }"));
    CHECK_FALSE(is_merged("if constexpr (n) p = new dog; else if constexpr (m) p = new @cat;"));
    CHECK(is_merged("if constexpr (n) f(); if (n) p = new @dog; else p = new cat;"));
    CHECK_FALSE(is_merged("p = new @dog; q = new cat;"));
    CHECK_FALSE(is_merged("void f() { if (n) { p = new @dog; } } void g() { q = new cat; }"));
    CHECK_FALSE(is_merged("f(n ? new @dog : [] { return new cat; }());"));
    CHECK_FALSE(is_merged("p = new @dog;"));
}
