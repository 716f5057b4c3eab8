// wrapped_type.hpp - takes the library's wrapping off a type: nodes, control blocks, buckets.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by type_from_frames.hpp and type_from_vtable.hpp
// Threads:  any
// Memory:   strings
//
// A std::map<int, char> allocates std::_Rb_tree_node<std::pair<const int, char>>; the user put a
// std::pair<const int, char> in. Where the block holds nothing of the user's, the text says what
// it is for instead. Inputs are pretty already.
//
//     "std::_Rb_tree_node<std::pair<const int, char>>"  -> "std::pair<const int, char>"
//     "std::_Sp_counted_ptr<widget*, ...>"              -> "std::shared_ptr<widget> control block"
//     "std::__detail::_Hash_node_base*"                 -> "hash buckets"

#ifndef ALLOCSCOPE_TYPES_WRAPPED_TYPE_HPP
#define ALLOCSCOPE_TYPES_WRAPPED_TYPE_HPP

#include <allocscope/types/default_arguments.hpp>
#include <allocscope/types/name_brackets.hpp>

#include <cstddef>      // size_t
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// A type that is one template with arguments and nothing behind them.
struct template_type {
    std::string_view name;
    std::vector<std::string_view> arguments;  // empty: it is no such type
};

inline template_type split_template(std::string_view type) {
    const std::size_t open = type.find('<');
    if (open == no_position || open == 0 || skip_brackets(type, open) != type.size()) return {};
    return {type.substr(0, open), split_arguments(type.substr(open))};
}

inline std::string_view without_pointer(std::string_view type) noexcept {
    if (ends_with(type, "*")) type.remove_suffix(1);
    return type;
}

inline std::string_view without_array(std::string_view type) noexcept {
    const std::size_t bracket = type.rfind('[');
    const bool is_array = ends_with(type, "]") && bracket != no_position && bracket != 0;
    return is_array ? without_spaces_around(type.substr(0, bracket)) : type;
}

enum class wrapping { none, node, pair_node, control_block, future_result, future_state };

inline wrapping wrapping_of(std::string_view name) noexcept {
    struct known {
        std::string_view name;
        wrapping is;
    };
    constexpr known all[] = {
        {"std::_Rb_tree_node", wrapping::node},
        {"std::__detail::_Hash_node", wrapping::node},
        {"std::_List_node", wrapping::node},
        {"std::_Fwd_list_node", wrapping::node},
        {"std::_Sp_counted_ptr_inplace", wrapping::node},
        {"std::__tree_node", wrapping::node},
        {"std::__hash_node", wrapping::node},
        {"std::__list_node", wrapping::node},
        {"std::__forward_list_node", wrapping::node},
        {"std::__shared_ptr_emplace", wrapping::node},
        {"std::__function::__func", wrapping::node},
        {"std::__value_type", wrapping::pair_node},
        {"std::__hash_value_type", wrapping::pair_node},
        {"std::_Sp_counted_ptr", wrapping::control_block},
        {"std::_Sp_counted_deleter", wrapping::control_block},
        {"std::__shared_ptr_pointer", wrapping::control_block},
        {"std::__future_base::_Result", wrapping::future_result},
        {"std::__future_base::_Deferred_state", wrapping::future_state},
        {"std::__future_base::_Async_state_impl", wrapping::future_state},
        {"std::__future_base::_Task_state", wrapping::future_state},
    };
    for (const known& entry : all) {
        if (name == entry.name) return entry.is;
    }
    return wrapping::none;
}

// What stands in the block, for a user. Idempotent.
inline std::string unwrapped_type(std::string type) {
    for (int layer = 0; layer < 4; ++layer) {
        if (type == "std::__detail::_Hash_node_base*") return "hash buckets";
        if (starts_with(type, "std::__hash_node_base<") && ends_with(type, "*")) {
            return "hash buckets";
        }
        if (type == "std::__future_base::_State_baseV2") return "std::future state";
        const template_type parts = split_template(type);
        if (parts.arguments.empty()) return type;
        const std::string first{parts.arguments[0]};
        switch (wrapping_of(parts.name)) {
            case wrapping::none:
                return type;
            case wrapping::node:
                type = first;
                break;
            case wrapping::pair_node:
                if (parts.arguments.size() < 2) return type;
                type =
                    "std::pair<" + with_const(first) + ", " + std::string{parts.arguments[1]} + '>';
                break;
            case wrapping::control_block:
                return "std::shared_ptr<" + std::string{without_pointer(first)} + "> control block";
            case wrapping::future_result:
                return "std::future<" + first + "> result";
            case wrapping::future_state:
                return "std::future state";
        }
    }
    return type;
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_WRAPPED_TYPE_HPP
