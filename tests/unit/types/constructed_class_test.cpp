#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/types/type_from_source.hpp>

#include <doctest/doctest.h>

#include <string>

#include "support/marked_source.hpp"

using allocscope::plain::arena;
using allocscope::symbolize::code_frame;
using allocscope::symbolize::name_kind;
using allocscope::symbolize::source_cache;

// From version 13 on, g++ gives the place of an aggregate to the constructors of its members.
TEST_CASE("constructed_class: whose constructor is called tells the type, but for std") {
    static const char* constructed = "";
    const auto seen = [](const char* called) {
        constructed = called;
        const allocscope_test::marked_source marked{
            "template <class T> void f() { keep(@new typename pick<T>::type{\"x\"}); }"};
        allocscope::symbolize::type_knowledge knowledge;
        knowledge.kind = [](void*, allocscope::plain::text) { return name_kind::unknown; };
        knowledge.made = [](void*, allocscope::plain::text own,
                            const allocscope::symbolize::source_places&, arena&) {
            return allocscope::plain::text{own.empty() ? constructed : ""};
        };
        arena memory;
        code_frame frame;
        frame.function = "f<int>()";
        frame.file = marked.path().c_str();
        frame.line = marked.line();
        frame.column = marked.column();
        source_cache sources;
        allocscope::symbolize::read_names names{memory};
        allocscope::symbolize::source_notes notes;
        CHECK(type_from_source(names, frame, sources, knowledge, &notes).empty());
        return std::string{notes.deduced.data(), notes.deduced.size()};
    };
    CHECK(seen("app::part") == "app::part");
    CHECK(seen("std::string") == "");
    CHECK(seen("stdlike::part") == "stdlike::part");
    // The block is as large as this class, not as large as what stands in it.
    CHECK(seen("boost::any::holder<char>") == "boost::any::holder<char>");
}
