#include <allocscope/types/constructed_class.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/marked_source.hpp"
#include "unit/types/type_at_mark.hpp"

using allocscope::plain::arena;
using allocscope::plain::text;
using allocscope::symbolize::code_frame;
using allocscope::symbolize::known_fits;
using allocscope::symbolize::name_kind;
using allocscope::symbolize::size_fit;
using allocscope::symbolize::source_cache;
using allocscope::symbolize::source_places;
using allocscope::symbolize::type_answer;
using allocscope::symbolize::type_evidence;
using allocscope::symbolize::type_knowledge;
using allocscope::symbolize::with_vtable;

namespace {

// What the code makes at the place of a frame in line 3.
struct made_there {
    const char* classes;
    std::uint32_t column;
};

// Knows the constructors at one place, as debug_object does.
type_knowledge knowledge_of(made_there& made) {
    type_knowledge knowledge;
    knowledge.context = &made;
    knowledge.made = [](void* context, const text& own, const source_places& places, arena&) {
        const made_there& known = *static_cast<const made_there*>(context);
        const bool is_there = places.find(3, known.column) < places.count();
        return own.empty() && is_there ? text{known.classes} : text{};
    };
    return knowledge;
}

// The candidates for a frame at column 9 of that line.
std::string candidate(const char* classes, std::uint32_t column, int frame_column = 9) {
    made_there made{classes, column};
    arena memory;
    allocscope::symbolize::list<code_frame> frames{memory};
    code_frame frame;
    frame.function = "app::make()";
    frame.file = "/no/such/file.cpp";
    frame.line = 3;
    frame.column = frame_column;
    frames.push_back(frame);
    source_cache sources;
    allocscope::symbolize::read_names names{memory};
    const type_answer answer =
        allocscope_test::name_type(names, frames, sources, knowledge_of(made));
    CHECK_FALSE(answer.is_known());
    return {answer.candidate.data(), answer.candidate.size()};
}

}  // namespace

TEST_CASE(
    "constructed_class: the constructors at the place of the call, or at the name of the class") {
    CHECK(candidate("app::part", 9) == "(app::part)");   // g++
    CHECK(candidate("app::part", 13) == "(app::part)");  // clang
    CHECK(candidate("app::part", 12) == "");
    CHECK(candidate("app::part", 0, 0) == "");  // the line table has no columns
    CHECK(candidate("app::part, app::box<int, long>", 9) == "(app::part, app::box<int, long>)");
}

// g++ gives the place of an aggregate to the constructors of its members.
TEST_CASE("constructed_class: a class of the standard library may be a member") {
    CHECK(candidate("std::string", 9) == "");
    CHECK(candidate("std::allocator<char>, app::part, std::string", 9) == "(app::part)");
    CHECK(candidate("stdlike::part", 9) == "(stdlike::part)");
    // The block is as large as this class, not as large as what stands in it.
    CHECK(candidate("boost::any::holder<char>", 9) == "(boost::any::holder<char>)");
}

TEST_CASE("constructed_class: a row says that a constructor told its type") {
    arena memory;
    type_answer answer;
    answer.candidate = "app::part";  // the one that is as large as the block
    known_fits fits;
    fits.of_candidate = size_fit::same;
    fits.candidate_evidence = type_evidence::constructor;
    const type_answer found = with_vtable(memory, answer, "", fits);
    CHECK(found.name == "app::part");
    CHECK(std::string{word_of(found.evidence)} == "constructor");
}

TEST_CASE("constructed_class: what is thrown, where compilers place its constructor") {
    const auto thrown = [](const char* classes, std::uint32_t column) {
        made_there made{classes, column};
        arena memory;
        code_frame frame;
        frame.line = 3;
        frame.column = 9;
        const text found =
            allocscope::symbolize::constructed_classes(memory, frame, knowledge_of(made), true);
        return std::string{found.data(), found.size()};
    };
    CHECK(thrown("app::failure", 9) == "[app::failure]");
    CHECK(thrown("app::failure", 15) == "[app::failure]");  // clang, behind `throw `
    CHECK(thrown("app::failure", 13) == "");
    CHECK(thrown("std::string, std::basic_string<char>, std::runtime_error", 9) ==
          "[std::string, std::runtime_error]");
    CHECK(thrown("std::allocator<char>", 9) == "");
}

TEST_CASE("constructed_class: the template that the source names, with the arguments of the code") {
    const allocscope_test::marked_source marked{
        "template <class T> void f() { typedef typename BIND(T) made; keep(@new holder<made>); }"};
    type_knowledge knowledge;
    knowledge.kind = [](void*, const text&) { return name_kind::type; };
    const auto deduced = [&](auto made) {
        knowledge.made = made;
        std::string found;
        CHECK(allocscope_test::type_at(marked.path(), marked.line(), marked.column(),
                                       "void f<int>()", knowledge, &found) == "?");
        return found;
    };
    CHECK(deduced([](void*, const text& own, const source_places&, arena&) {
              return text{own == "holder" ? "app::holder<char>" : ""};
          }) == "app::holder<char>");
    CHECK(deduced([](void*, const text&, const source_places&, arena&) { return text{}; }) ==
          "holder<>");
    CHECK(deduced([](void*, const text&, const source_places&, arena&) {
              return text{"other<int>"};
          }) == "holder<>");
}

TEST_CASE(
    "constructed_class: the class of a template is as large as the block, not what is in it") {
    const allocscope_test::marked_source marked{"void f() { keep(@new holder{3}); }"};
    type_knowledge knowledge;
    knowledge.kind = [](void*, const text&) { return name_kind::class_template; };
    knowledge.made = [](void*, const text& own, const source_places&, arena&) {
        return text{own == "holder" ? "boost::any::holder<char>" : ""};
    };
    std::string deduced;
    CHECK(allocscope_test::type_at(marked.path(), marked.line(), marked.column(), "f()", knowledge,
                                   &deduced) == "?");
    CHECK(deduced == "boost::any::holder<char>");
}

TEST_CASE("constructed_class: GoogleTest's TEST makes only its factory") {
    made_there made{
        "testing::internal::CodeLocation, "
        "testing::internal::TestFactoryImpl<shop_opens_Test>",
        9};
    arena memory;
    allocscope::symbolize::list<code_frame> frames{memory};
    code_frame frame;
    frame.function = "__static_initialization_and_destruction_0";
    frame.file = "/no/such/file.cpp";
    frame.line = 3;
    frame.column = 9;
    frames.push_back(frame);
    source_cache sources;
    allocscope::symbolize::read_names names{memory};
    const type_answer answer =
        allocscope_test::name_type(names, frames, sources, knowledge_of(made));
    CHECK(answer.name == "testing::internal::TestFactoryImpl<shop_opens_Test>");
    CHECK(answer.evidence == type_evidence::constructor);
}
