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

inline text without_pointer(text type) noexcept {
    if (type.ends_with("*")) type.remove_suffix(1);
    return type;
}

inline text without_array(text type) noexcept {
    const std::size_t bracket = type.rfind('[');
    const bool is_array = type.ends_with("]") && bracket != no_position && bracket != 0;
    return is_array ? without_spaces_around(type.substr(0, bracket)) : type;
}

// The same as without_wrapping, for Boost.
inline text without_boost(arena& memory, text type) {
    constexpr text indexed = "boost::multi_index::detail::";
    constexpr text innermost = "boost::multi_index::detail::index_node_base<";
    if (type == "boost::unordered::detail::ptr_bucket") return "hash buckets";
    const std::size_t open = type.find('<');
    if (open == no_position || skip_brackets(type, open) != type.size()) return type;
    if (type.starts_with("boost::multi_index::detail::hashed_index_base_node_impl<")) {
        return "hash buckets";
    }
    const std::size_t node = type.starts_with(indexed) ? type.find(innermost) : no_position;
    const text brackets = type.substr(node == no_position ? open : node + innermost.size() - 1);
    const list<text> arguments = split_arguments(memory, brackets);
    if (arguments.empty()) return type;
    const text name = type.substr(7, open - 7);
    const text first = arguments[0];
    if (node != no_position ||
        is_listed(name,
                  "unordered::detail::ptr_node unordered::detail::node any::holder "
                  "container::dtl::list_node container::dtl::slist_node "
                  "container::dtl::tree_node")) {
        return first;
    }
    if (name == "container::dtl::pair") return joined(memory, "std::pair", type.substr(open));
    if (!is_listed(name,
                   "detail::sp_counted_impl_p detail::sp_counted_impl_pd "
                   "detail::sp_counted_impl_pda")) {
        return type;
    }
    const bool is_made =
        arguments.size() > 1 && arguments[1].starts_with("boost::detail::sp_ms_deleter<");
    if (is_made) return without_pointer(first);  // boost::make_shared: the object is in the block
    return joined(memory, "boost::shared_ptr<", without_pointer(first), "> control block");
}

// Removes one layer; returns `type` itself if it has no wrapping.
inline text without_wrapping(arena& memory, text type) {
    if (type.starts_with("boost::")) return without_boost(memory, type);
    if (type.starts_with("absl::container_internal::AlignedType<")) return "container slots";
    if (!type.starts_with("std::")) return type;
    if (type == "std::__detail::_Hash_node_base*" ||
        (type.starts_with("std::__hash_node_base<") && type.ends_with("*"))) {
        return "hash buckets";
    }
    if (is_listed(type, "std::__future_base::_State_baseV2 std::__assoc_sub_state")) {
        return "std::future state";
    }
    const std::size_t open = type.find('<');
    if (open == no_position || skip_brackets(type, open) != type.size()) return type;
    const list<text> arguments = split_arguments(memory, type.substr(open));
    if (arguments.empty()) return type;
    const text name = type.substr(5, open - 5);
    const text first = arguments[0];
    if (is_listed(name,
                  "_Rb_tree_node __detail::_Hash_node _List_node _Fwd_list_node "
                  "_Sp_counted_ptr_inplace __tree_node __hash_node __list_node "
                  "__forward_list_node __shared_ptr_emplace __function::__func")) {
        return first;
    }
    if (is_listed(name, "__value_type __hash_value_type") && arguments.size() > 1) {
        const text key = joined(memory, "std::pair<", with_const(memory, first), ", ");
        return joined(memory, key, arguments[1], ">");
    }
    if (is_listed(name, "_Sp_counted_ptr _Sp_counted_deleter __shared_ptr_pointer")) {
        return joined(memory, "std::shared_ptr<", without_pointer(first), "> control block");
    }
    if (name == "__future_base::_Result") return joined(memory, "std::future<", first, "> result");
    if (is_listed(name,
                  "__future_base::_Deferred_state __future_base::_Async_state_impl "
                  "__future_base::_Task_state __deferred_assoc_state __async_assoc_state")) {
        return "std::future state";
    }
    return name == "thread::_State_impl" ? "std::thread state" : type;
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
