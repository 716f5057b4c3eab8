#include <allocscope/types/type_ladder.hpp>

#include <doctest/doctest.h>

#include <string>

namespace {

std::string type_from_vtable(const char* symbol) {
    allocscope::plain::arena memory;
    const auto type = allocscope::symbolize::type_from_vtable(memory, symbol);
    return {type.data(), type.size()};
}

}  // namespace

TEST_CASE("type_from_vtable: the class is named as people write it") {
    CHECK(type_from_vtable("vtable for app::widget") == "app::widget");
    CHECK(type_from_vtable("vtable for app::box<std::vector<int, std::allocator<int> > >") ==
          "app::box<std::vector<int>>");
    CHECK(type_from_vtable("vtable for (anonymous namespace)::node") ==
          "(anonymous namespace)::node");
    CHECK(type_from_vtable("vtable for app::widget [clone .lto_priv.0]") == "app::widget");
    CHECK(type_from_vtable("vtable for std::_Sp_counted_ptr_inplace<app::widget, "
                           "std::allocator<void>, (__gnu_cxx::_Lock_policy)2>") == "app::widget");
}

TEST_CASE("type_from_vtable: other symbols name no type") {
    CHECK(type_from_vtable("").empty());
    CHECK(type_from_vtable("app::table").empty());
    CHECK(type_from_vtable("vtable for ").empty());
    CHECK(type_from_vtable("construction vtable for app::base-in-app::derived").empty());
    CHECK(type_from_vtable("typeinfo for app::widget").empty());
}

TEST_CASE("type_answer: a candidate may lack scopes, and what is in its brackets") {
    using allocscope::symbolize::is_candidate_for;
    CHECK(is_candidate_for("app::part", "app::part"));
    CHECK(is_candidate_for("part", "app::part"));
    CHECK(!is_candidate_for("art", "app::part"));
    CHECK(!is_candidate_for("part", "app::other"));
    CHECK(!is_candidate_for("", "app::part"));
    CHECK(is_candidate_for("box<>", "app::box<app::part>"));
    CHECK(is_candidate_for("app::box<>", "app::box<int>"));
    CHECK(!is_candidate_for("box<>", "app::inbox<int>"));
    CHECK(!is_candidate_for("part<>", "app::box<app::part<int> >"));
}
