// wrapped_type.hpp - removes the library's wrapping from a type: nodes, control blocks, buckets.
//
// Room:     types (floor 9), not malloc-safe
// Called:   by read_names.hpp; library_calls.hpp uses its helpers
// Threads:  any
// Memory:   of the given arena
//
// A std::map<int, char> allocates std::_Rb_tree_node<std::pair<const int, char>>, but the user
// inserted a std::pair<const int, char>. If the block contains nothing of the user's, the text says
// what the block is for. Inputs must be pretty.
//
//     "std::_Rb_tree_node<std::pair<const int, char>>"  -> "std::pair<const int, char>"
//     "std::_Sp_counted_ptr<widget*, ...>"              -> "std::shared_ptr<widget> control block"
//     "std::__detail::_Hash_node_base*"                 -> "hash buckets"

#ifndef ALLOCSCOPE_TYPES_WRAPPED_TYPE_HPP
#define ALLOCSCOPE_TYPES_WRAPPED_TYPE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/spelling/default_arguments.hpp>
#include <allocscope/spelling/name_brackets.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

inline text without_array(const text& type) noexcept {
    const std::size_t bracket = type.rfind('[');
    const bool is_array = type.ends_with("]") && bracket != no_position && bracket != 0;
    return is_array ? without_spaces_around(type.substr(0, bracket)) : type;
}

// Types that contain nothing of the user's.
constexpr word_meaning wrappers[] = {
    {"std::__detail::_Hash_node_base* boost::unordered::detail::ptr_bucket", "hash buckets"},
    {"std::__future_base::_State_baseV2 std::__assoc_sub_state", "std::future state"}};

// What is in a template, as a rule for filled_in().
constexpr word_meaning wrapper_templates[] = {
    {"std::_Rb_tree_node std::__detail::_Hash_node std::_List_node std::_Fwd_list_node "
     "std::_Sp_counted_ptr_inplace std::__tree_node std::__hash_node std::__list_node "
     "std::__forward_list_node std::__shared_ptr_emplace std::__function::__func "
     "boost::unordered::detail::ptr_node boost::unordered::detail::node boost::any::holder "
     "boost::container::dtl::list_node boost::container::dtl::slist_node "
     "boost::container::dtl::tree_node",
     "$0"},
    {"std::__value_type std::__hash_value_type", "$p"},
    {"std::_Sp_counted_ptr std::_Sp_counted_deleter std::__shared_ptr_pointer",
     "std::shared_ptr<$*> control block"},
    {"std::__future_base::_Result", "std::future<$0> result"},
    {"std::__future_base::_Deferred_state std::__future_base::_Async_state_impl "
     "std::__future_base::_Task_state std::__deferred_assoc_state std::__async_assoc_state",
     "std::future state"},
    {"std::thread::_State_impl", "std::thread state"},
    {"boost::container::dtl::pair", "std::pair<$0, $1>"},
    {"boost::multi_index::detail::hashed_index_base_node_impl", "hash buckets"},
    {"boost::detail::sp_counted_impl_p boost::detail::sp_counted_impl_pd "
     "boost::detail::sp_counted_impl_pda",
     "boost::shared_ptr<$*> control block"}};

// Removes one layer; returns `type` itself if it has no wrapping.
inline text without_wrapping(arena& memory, const text& type) {
    if (type.starts_with("absl::container_internal::AlignedType<")) return "container slots";
    if (listed_start(type, "std:: boost::").empty()) return type;
    const text name = listed_meaning(wrappers, type);
    if (!name.empty()) return name;
    if (type.starts_with("std::__hash_node_base<") && type.ends_with("*")) return "hash buckets";
    std::size_t open = type.find('<');
    if (open == no_position || skip_brackets(type, open) != type.size()) return type;
    text rule = listed_meaning(wrapper_templates, type.substr(0, open));
    if (rule.empty() && type.starts_with("boost::multi_index::detail::")) {
        constexpr text innermost = "boost::multi_index::detail::index_node_base<";
        const std::size_t node = type.find(innermost);
        if (node == no_position) return type;
        open = node + innermost.size() - 1;
        rule = "$0";
    }
    const list<text> arguments = split_arguments(memory, type.substr(open));
    if (arguments.empty()) return type;
    // boost::make_shared: the object is in the block
    const bool is_made = rule.starts_with("boost::") && arguments.size() > 1 &&
                         arguments[1].starts_with("boost::detail::sp_ms_deleter<");
    const text inner = filled_in(memory, is_made ? "$*" : rule, arguments);
    return inner.empty() ? type : inner;
}

// The type of what the user put into the block. Applying it twice changes nothing.
inline text unwrapped_type(arena& memory, text type) {
    for (int layer = 0; layer < 4; ++layer) {
        const text inner = without_wrapping(memory, type);
        if (inner.data() == type.data()) break;
        type = inner;
    }
    return type;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_WRAPPED_TYPE_HPP
