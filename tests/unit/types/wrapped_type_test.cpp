#include <allocscope/types/wrapped_type.hpp>

#include <doctest/doctest.h>

#include <string>

namespace {

std::string unwrapped_type(const std::string& type) {
    allocscope::plain::arena memory;
    const auto inside = allocscope::symbolize::unwrapped_type(memory, {type.data(), type.size()});
    return {inside.data(), inside.size()};
}

}  // namespace

TEST_CASE("wrapped_type: nodes hold what the user put in") {
    CHECK(unwrapped_type("std::_Rb_tree_node<std::pair<const int, char>>") ==
          "std::pair<const int, char>");
    CHECK(unwrapped_type("std::__detail::_Hash_node<int, true>") == "int");
    CHECK(unwrapped_type("std::_List_node<app::box<int, 3>>") == "app::box<int, 3>");
    CHECK(unwrapped_type("std::_Fwd_list_node<int>") == "int");
    CHECK(unwrapped_type("std::_Sp_counted_ptr_inplace<app::widget, std::allocator<void>, "
                         "(__gnu_cxx::_Lock_policy)2>") == "app::widget");
}

TEST_CASE("wrapped_type: the nodes of libc++ too") {
    CHECK(unwrapped_type("std::__tree_node<std::__value_type<int, char>, void*>") ==
          "std::pair<const int, char>");
    CHECK(unwrapped_type("std::__hash_node<std::__hash_value_type<char*, int>, void*>") ==
          "std::pair<char* const, int>");
    CHECK(unwrapped_type("std::__list_node<int, void*>") == "int");
    CHECK(unwrapped_type("std::__shared_ptr_emplace<app::widget, std::allocator<app::widget>>") ==
          "app::widget");
    CHECK(
        unwrapped_type("std::__function::__func<main::$_0, std::allocator<main::$_0>, void ()>") ==
        "main::$_0");
}

TEST_CASE("wrapped_type: what holds nothing of the user's says what it is for") {
    CHECK(unwrapped_type("std::_Sp_counted_ptr<app::widget*, (__gnu_cxx::_Lock_policy)2>") ==
          "std::shared_ptr<app::widget> control block");
    CHECK(unwrapped_type("std::_Sp_counted_deleter<int*, main::{lambda(int*)#1}, "
                         "std::allocator<void>, (__gnu_cxx::_Lock_policy)2>") ==
          "std::shared_ptr<int> control block");
    CHECK(unwrapped_type("std::__detail::_Hash_node_base*") == "hash buckets");
    CHECK(unwrapped_type("std::__hash_node_base<std::__hash_node<int, void*>*>*") ==
          "hash buckets");
    CHECK(unwrapped_type("std::__future_base::_Result<int>") == "std::future<int> result");
    CHECK(unwrapped_type("std::_Sp_counted_ptr_inplace<std::__future_base::_State_baseV2, "
                         "std::allocator<void>, (__gnu_cxx::_Lock_policy)2>") ==
          "std::future state");
    CHECK(unwrapped_type("std::__deferred_assoc_state<int, f()::{lambda}>") == "std::future state");
    CHECK(unwrapped_type("std::thread::_State_impl<std::thread::_Invoker<std::tuple<f>>>") ==
          "std::thread state");
}

TEST_CASE("wrapped_type: Boost's nodes and control blocks, and Abseil's slots") {
    CHECK(unwrapped_type("boost::detail::sp_counted_impl_p<app::widget>") ==
          "boost::shared_ptr<app::widget> control block");
    CHECK(unwrapped_type("boost::detail::sp_counted_impl_pd<app::widget*, app::closer>") ==
          "boost::shared_ptr<app::widget> control block");
    CHECK(unwrapped_type("boost::detail::sp_counted_impl_pd<app::widget*, "
                         "boost::detail::sp_ms_deleter<app::widget>>") == "app::widget");
    CHECK(unwrapped_type("boost::unordered::detail::ptr_node<std::pair<const int, char>>") ==
          "std::pair<const int, char>");
    CHECK(unwrapped_type("boost::any::holder<app::widget>") == "app::widget");
    CHECK(unwrapped_type("boost::unordered::detail::ptr_bucket") == "hash buckets");
    CHECK(unwrapped_type("boost::container::dtl::list_node<app::widget, void*>") == "app::widget");
    CHECK(unwrapped_type("boost::container::dtl::tree_node<boost::container::dtl::pair<int, char>, "
                         "void*, (boost::container::tree_type_enum)0, true>") ==
          "std::pair<int, char>");
    CHECK(unwrapped_type("boost::multi_index::detail::ordered_index_node<boost::multi_index::"
                         "detail::null_augment_policy, boost::multi_index::detail::"
                         "index_node_base<app::widget, std::allocator<app::widget>>>") ==
          "app::widget");
    CHECK(unwrapped_type("boost::multi_index::detail::hashed_index_base_node_impl<"
                         "std::allocator<char>>") == "hash buckets");
    CHECK(unwrapped_type("absl::container_internal::AlignedType<8>") == "container slots");
    for (const char* type : {"boost::shared_ptr<int>", "boost::any", "boost::any::holder<int>*",
                             "boost::detail::sp_counted_impl_p<", "boost::any::holder<>"}) {
        CAPTURE(type);
        CHECK(unwrapped_type(type) == type);
    }
}

TEST_CASE("wrapped_type: a user's type is never unwrapped") {
    for (const char* type : {"int", "app::widget", "std::vector<int>", "app::_Rb_tree_node<int>",
                             "std::pair<int, int>", "std::_Rb_tree_node<int>*",
                             "std::_Rb_tree_node<int>::inner", "std::_List_node<", ""}) {
        CAPTURE(type);
        CHECK(unwrapped_type(type) == type);
    }
}
