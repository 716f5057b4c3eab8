#include <allocscope/places/known_frames.hpp>

#include <doctest/doctest.h>

using allocscope::plain::arena;
using allocscope::symbolize::code_frame;
using allocscope::symbolize::frame_rule;
using allocscope::symbolize::frame_traits;
using allocscope::symbolize::known_frames;

namespace {

code_frame frame(const char* function, const char* file) {
    code_frame made;
    made.function = function;
    made.file = file;
    made.line = 1;
    return made;
}

}  // namespace

TEST_CASE("known_frames: says what the rule says") {
    arena memory;
    const frame_rule rule;
    known_frames known{memory};
    CHECK(known.traits_of(memory, frame("std::f()", "/p/a.cpp"), rule).is_library);
    CHECK_FALSE(known.traits_of(memory, frame("app::f()", "/p/a.cpp"), rule).is_library);
    CHECK(known.traits_of(memory, frame("app::w::operator new(unsigned long)", ""), rule)
              .is_own_operator_new);
    CHECK_FALSE(known.traits_of(memory, frame("operator new(unsigned long)", ""), rule)
                    .is_own_operator_new);
    CHECK(known.traits_of(memory, frame("app::pool<int>::allocate(long)", ""), rule).is_allocate);
    CHECK(known.is_library_file(memory, "/usr/include/x.h"));
    CHECK_FALSE(known.is_library_file(memory, "/p/a.cpp"));
}

TEST_CASE("known_frames: a pattern that is added later counts, and so does another file") {
    arena memory;
    frame_rule rule;
    known_frames known{memory};
    const char* function = "app::f()";
    const code_frame here = frame(function, "/p/a.cpp");
    const code_frame in_header = frame(function, "/usr/include/c++/12/a.h");
    CHECK_FALSE(known.traits_of(memory, here, rule).is_library);
    CHECK(known.traits_of(memory, in_header, rule).is_library);
    CHECK_FALSE(known.traits_of(memory, here, rule).is_library);
    rule.add("app::");
    CHECK(known.traits_of(memory, here, rule).is_library);
}
