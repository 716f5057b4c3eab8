#include <allocscope/types/thrown_value.hpp>
#include <allocscope/types/type_from_source.hpp>
#include <allocscope/types/type_ladder.hpp>

#include <doctest/doctest.h>

#include <string>

#include "support/marked_source.hpp"
#include "support/show_text.hpp"

using namespace allocscope::symbolize;
using allocscope_test::marked_source;

namespace {

// The type of the exception whose memory is asked for at the mark; "" if it is not certain.
std::string thrown_at(const std::string& source, const type_knowledge& knowledge = {}) {
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
    const text type = type_from_source(names, frame, sources, knowledge, &notes);
    return {type.data(), type.size()};
}

}  // namespace

TEST_CASE("thrown_value: the value's class, at both places of the call") {
    CHECK(thrown_at("if (n) throw std::runtime_error(\"no file\"@);") == "std::runtime_error");
    CHECK(thrown_at("if (n) @throw std::runtime_error(\"no file\");") == "std::runtime_error");
    CHECK(thrown_at("throw failure{\"a\", {1,\n 2}@};") == "failure");
    CHECK(thrown_at("throw holder<int, char>(f(2), [] { return 3; }@);") == "holder<int, char>");
    CHECK(thrown_at("throw int(3@);") == "int");
    CHECK(thrown_at("throw (failure(3@));") == "failure");
    CHECK(thrown_at("throw (failure(3)@);") == "failure");
    CHECK(thrown_at("@throw (failure(3));") == "failure");
    CHECK(thrown_at("int k = @n ? *n : throw failure(3);") == "failure");  // clang
    CHECK(thrown_at("return @find(1, 2) != nullptr ? get(3) : throw failure{3};") == "failure");
    CHECK(thrown_at("return @FIND(n) ? n : throw failure{3};").empty());  // it may throw, too
    CHECK(thrown_at("return @n ? throw other{1} : throw failure{3};").empty());
    CHECK(thrown_at("@f(n); throw failure{3};").empty());
    CHECK(thrown_at("@throw (failure)(3);").empty());
    CHECK(thrown_at("@throw (failure(3), other(4));").empty());
}

TEST_CASE("thrown_value: an alias is no type of its own") {
    CHECK(thrown_at("using lost = failure;\nvoid f() { throw lost(3@); }") == "failure");
    CHECK(thrown_at("struct desk { typedef failure lost; void open() { throw lost(3@); } };") ==
          "failure");
    CHECK(thrown_at("void f() { using lost = failure; throw lost{3@}; }") == "failure");
}

TEST_CASE("thrown_value: a variable") {
    CHECK(thrown_at("void open(int n) { failure f{n}; throw @f; }") == "failure");
    CHECK(thrown_at("void open(int n) { failure f(n); throw @f; }") == "failure");
    CHECK(thrown_at("failure f();\nvoid open(int n) { throw @f; }").empty());
    CHECK(thrown_at("void f(int) {}\nvoid open(int n) { throw @f; }").empty());
    CHECK(thrown_at("failure f(int) noexcept;\nvoid open(int n) { throw @f; }").empty());
    type_knowledge knowledge;
    text type;
    knowledge.context = &type;
    knowledge.meaning = [](void* context, const text&, asked_name, arena&) {
        return *static_cast<text*>(context);
    };
    const auto thrown = [&](const char* described) {
        type = described;
        return thrown_at("void open() { throw @f; }", knowledge);
    };
    CHECK(thrown("const failure&") == "failure");
    CHECK(thrown("void (*)(int)") == "void (*)(int)");
    CHECK(thrown("const char (&)[7]").empty());
    CHECK(thrown("char [7]").empty());
    CHECK(thrown("void (int)").empty());
}

TEST_CASE("thrown_value: a class in the class of the function is none of its variables") {
    const std::string thrown = "};\nvoid desk::open(int n) { throw lost(n@); }";
    CHECK(thrown_at("struct desk { struct lost : failure { lost(int); };" + thrown) == "lost");
    CHECK(thrown_at("struct desk { int (*lost)(int), lost = 3;" + thrown).empty());
}

TEST_CASE("thrown_value: a class of a header, if the debug information describes no types") {
    type_knowledge knowledge;
    knowledge.kind = [](void*, const text&) { return name_kind::undescribed; };
    const auto thrown_with = [&](const char* declared) {
        const allocscope_test::source_file header{declared, ".hpp"};
        const std::string name = header.path().substr(header.path().rfind('/') + 1);
        return thrown_at("#include \"" + name + "\"\nvoid f() { throw lost(3@); }", knowledge);
    };
    CHECK(thrown_with("class lost : public failure { lost(int n); };") == "lost");
    CHECK(thrown_with("class SHOP_API lost : public failure { lost(int n); };") == "lost");
    CHECK(thrown_with("failure lost(int n);").empty());
    CHECK(thrown_with("struct lost {}; failure lost(int n);").empty());
    CHECK(thrown_with("template <class T> struct lost { lost(T); };").empty());
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

TEST_CASE("thrown_value: an exception of std whose name a `using` makes visible") {
    const std::string used = "using namespace std; void open() { throw length_error(\"a\"@); }";
    type_knowledge knowledge;
    knowledge.kind = [](void*, const text&) { return name_kind::unknown; };
    CHECK(thrown_at(used, knowledge) == "std::length_error");
    CHECK(thrown_at("using std::overflow_error; void open() { throw overflow_error(n@); }",
                    knowledge) == "std::overflow_error");
    CHECK(thrown_at("void open() { throw length_error(\"a\"@); }", knowledge).empty());
    // A namespace around the function may have its own.
    knowledge.qualified = [](void*, const text& name, const text& function) {
        return text{name == "length_error" && function == "shop::open" ? "shop::length_error" : ""};
    };
    knowledge.kind = [](void*, const text&) { return name_kind::type; };
    CHECK(thrown_at(used, knowledge) == "shop::length_error");
    knowledge.qualified = nullptr;
    knowledge.kind = [](void*, const text&) { return name_kind::undescribed; };
    CHECK(thrown_at(used, knowledge).empty());
}

namespace {

// The same through the whole ladder, for an exception that a macro may throw.
std::string thrown_by_macro(const std::string& source, const type_knowledge& knowledge = {}) {
    const marked_source marked{"struct failure { int n; };\n" + source};
    arena memory;
    list<code_frame> frames{memory};
    code_frame frame;
    frame.function = "__cxa_allocate_exception";
    frames.push_back(frame);
    frame.function = "shop::open(int)";
    frame.file = marked.path().c_str();
    frame.line = marked.line();
    frame.column = marked.column();
    frames.push_back(frame);
    source_cache sources;
    read_names names{memory};
    wrapped_request request;
    request.frame = 1;
    const type_answer answer = name_type(names, frames, request, sources, knowledge);
    return {answer.name.data(), answer.name.size()};
}

}  // namespace

TEST_CASE("thrown_value: the macro throws") {
    const std::string raise = "#define RAISE(x) throw x\n";
    CHECK(thrown_by_macro(raise + "void open() { @RAISE(failure(1)); }") == "failure");
    CHECK(thrown_by_macro(raise + "void open() { @RAISE(failure{1}); }") == "failure");
    CHECK(thrown_by_macro("#define RAISE(x) throw(x)\nvoid open() { @RAISE(failure(1)); }") ==
          "failure");
    CHECK(thrown_by_macro(raise + "void open() { @RAISE(std::range_error(\"a\")); }") ==
          "std::range_error");
    CHECK(thrown_by_macro(raise + "#define NEED(c) do { if (!(c)) RAISE(failure(1)); } while (0)\n"
                                  "void open() { @NEED(n > 1); }") == "failure");
    CHECK(thrown_by_macro("#define FAIL(n) throw failure{n};\nvoid open() { @FAIL(3) }") ==
          "failure");
}

TEST_CASE("thrown_value: of several definitions of a macro, it is the only one that throws") {
    const std::string use = "void open() { @RAISE(failure(1)); }";
    const std::string either = "#ifdef QUIET\n#define RAISE(x) abort()\n#else\n";
    CHECK(thrown_by_macro(either + "#define RAISE(x) throw x\n#endif\n" + use) == "failure");
    CHECK(thrown_by_macro("#define RAISE(x) throw other(x)\n" + either +
                          "#define RAISE(x) throw x\n#endif\n" + use) == "?");
    CHECK(thrown_by_macro("#define RAISE(x) if (n) throw 1; else throw x\n" + use) == "?");
    CHECK(thrown_by_macro("#define RAISE(x) abort()\n" + use) == "?");
    CHECK(thrown_by_macro("void open() { @RAISE(failure(1)); }") == "?");
}

TEST_CASE("thrown_value: a macro that throws what a function makes") {
    const std::string use = "#define RAISE(x) throw x\nvoid open() { @RAISE(made(1)); }";
    type_knowledge knowledge;
    knowledge.kind = [](void*, const text&) { return name_kind::undescribed; };
    CHECK(thrown_by_macro(use, knowledge) == "?");
    knowledge.made = [](void*, const text& own, const source_places& places, arena&) {
        return text{own == "made" && places.find(3, 15) == 0 ? "shop::failure" : ""};
    };
    CHECK(thrown_by_macro(use, knowledge) == "shop::failure");
}

TEST_CASE("thrown_value: exceptions of the standard library, where no types are described") {
    type_knowledge knowledge;
    knowledge.kind = [](void*, const text&) { return name_kind::undescribed; };
    for (const char* name : {"bad_cast", "bad_optional_access", "bad_array_new_length",
                             "future_error", "filesystem::filesystem_error", "nested_exception"}) {
        const std::string type = std::string{"std::"} + name;
        CHECK(thrown_at("void open() { throw " + type + "(@); }", knowledge) == type);
    }
    CHECK(thrown_at("void open() { throw std::bad_expected_access(3@); }", knowledge).empty());
    CHECK(thrown_at("void open() { throw std::make_failed(3@); }", knowledge).empty());
    CHECK(thrown_at("void open() { throw lost_error(3@); }", knowledge).empty());
    // Of a class that is described, the path may have an alias, or lack an inline namespace.
    knowledge.kind = [](void*, const text&) { return name_kind::type; };
    knowledge.only = [](void*, const text& name, const text&) {
        return name == "failed" ? text{"shop::v2::failed"} : text{};
    };
    CHECK(thrown_at("void open() { throw shop::failed(3@); }", knowledge) == "shop::failed");
    knowledge.only = [](void*, const text&, const text&) { return text{}; };
    CHECK(thrown_at("void open() { throw shop::failed(3@); }", knowledge).empty());
}
