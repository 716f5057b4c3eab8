#include <allocscope/types/thrown_value.hpp>
#include <allocscope/types/type_from_source.hpp>

#include <doctest/doctest.h>

#include <string>

#include "marked_source.hpp"
#include "support/show_text.hpp"

using namespace allocscope::symbolize;
using allocscope_test::marked_source;

namespace {

// The type of the exception whose memory is asked for at the mark; "" if it is not certain.
std::string thrown_at(const std::string& source) {
    const marked_source marked{"struct failure { int n; };\n" + source};
    arena memory;
    code_frame frame;
    frame.function = "shop::open(int)";
    frame.file = marked.path().c_str();
    frame.line = marked.line();
    frame.column = marked.column();
    source_cache sources;
    read_names names{memory};
    source_notes notes;
    notes.is_thrown = true;
    const text type = type_from_source(names, frame, sources, {}, &notes);
    return {type.data(), type.size()};
}

}  // namespace

TEST_CASE("thrown_value: the value's class, at both places of the call") {
    CHECK(thrown_at("if (n) throw std::runtime_error(\"no file\"@);") == "std::runtime_error");
    CHECK(thrown_at("if (n) @throw std::runtime_error(\"no file\");") == "std::runtime_error");
    CHECK(thrown_at("throw failure{\"a\", {1,\n 2}@};") == "failure");
    CHECK(thrown_at("throw holder<int, char>(f(2), [] { return 3; }@);") == "holder<int, char>");
    CHECK(thrown_at("throw int(3@);") == "int");
}

TEST_CASE("thrown_value: a variable") {
    CHECK(thrown_at("void open(int n) { failure f{n}; throw @f; }") == "failure");
}

TEST_CASE("thrown_value: a pointer has another type than what is made for it") {
    CHECK(thrown_at("throw @new failure;").empty());
    CHECK(thrown_at("throw new failure(3@);").empty());
    CHECK(thrown_at("throw *new failure(3@);").empty());
}

TEST_CASE("thrown_value: nothing is concluded from a part of the value, or from its surroundings") {
    CHECK(thrown_at("throw n ? failure(1) : failure(2@);").empty());
    CHECK(thrown_at("throw failure(part(1@));").empty());
    CHECK(thrown_at("throw failure(1); f(2@);").empty());
    CHECK(thrown_at("if (n) throw failure(1);\nf(2@);").empty());
    CHECK(thrown_at("f(2@)").empty());
    CHECK(thrown_at("@throw").empty());
}
