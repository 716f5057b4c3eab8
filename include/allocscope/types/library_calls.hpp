// library_calls.hpp - what a function of the standard library allocates, by its template arguments.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by type_from_frames.hpp
// Threads:  any
// Memory:   strings
//
// Each question below knows one kind of function and answers with the type as the demangler
// spelled it, or "" when it is not one of its kind. libstdc++ and libc++ are known; everything
// else answers "".
//
//     std::(__new_allocator<int>)::(allocate)              type_of_allocator_call: "int"
//     std::(_Deque_base<int, std::allocator<int> >)::(_M_allocate_map)
//                                                          type_of_container_call: "int*"
//     std::(make_unique<app::widget>)                      type_of_make_call: "app::widget"

#ifndef ALLOCSCOPE_TYPES_LIBRARY_CALLS_HPP
#define ALLOCSCOPE_TYPES_LIBRARY_CALLS_HPP

#include <allocscope/types/function_name.hpp>
#include <allocscope/types/name_brackets.hpp>
#include <allocscope/types/wrapped_type.hpp>

#include <cstddef>      // size_t
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// The scope and the function of a member of a library template: std::(scope<...>)::(function<...>).
struct library_call {
    std::string_view scope;  // "" for a function of the namespace itself
    std::vector<std::string_view> scope_arguments;
    std::string_view function;
    std::vector<std::string_view> function_arguments;
};

// Function "" when it is not one of the standard library's.
inline library_call as_library_call(const function_name& name) {
    library_call call;
    if (name.components.size() < 2) return call;
    const std::string_view space = name.components[0].name;
    if (space != "std" && space != "__gnu_cxx") return call;
    call.function = name.last().name;
    call.function_arguments = split_arguments(name.last().arguments);
    const name_component& scope = name.components[name.components.size() - 2];
    if (name.components.size() > 2) {
        call.scope = scope.name;
        call.scope_arguments = split_arguments(scope.arguments);
    }
    return call;
}

// The T of "std::allocator<T>"; "" for an allocator that is not the library's own.
inline std::string_view allocated_by(std::string_view allocator) {
    for (const std::string_view start :
         {"std::allocator<", "std::__1::allocator<", "std::__new_allocator<",
          "__gnu_cxx::new_allocator<", "std::pmr::polymorphic_allocator<"}) {
        if (!starts_with(allocator, start) || !ends_with(allocator, ">")) continue;
        const std::size_t size = allocator.size() - start.size() - 1;
        return without_spaces_around(allocator.substr(start.size(), size));
    }
    return {};
}

// allocate() of the library's allocators: the element type, "" for everything else.
inline std::string_view type_of_allocator_call(const library_call& call) {
    if (call.function != "allocate" || call.scope_arguments.empty()) return {};
    const std::string_view first = call.scope_arguments[0];
    for (const std::string_view scope : {"__new_allocator", "new_allocator", "allocator",
                                         "polymorphic_allocator", "malloc_allocator"}) {
        if (call.scope == scope) return first;
    }
    return call.scope == "allocator_traits" ? allocated_by(first) : std::string_view{};
}

// Members that can allocate only characters, inlined code or not.
inline std::string_view type_of_character_buffer(const library_call& call) {
    if (call.scope_arguments.empty()) return {};
    const std::string_view character = call.scope_arguments[0];
    const bool is_plain = character == "char" || character == "wchar_t" || character == "char8_t" ||
                          character == "char16_t" || character == "char32_t";
    const bool is_buffer =
        call.scope == "basic_string" || call.scope == "basic_stringbuf" ||
        (call.scope == "basic_filebuf" && call.function == "_M_allocate_internal_buffer");
    return is_plain && is_buffer ? character : std::string_view{};
}

// The internal functions by which containers ask their allocator.
inline std::string type_of_container_call(const library_call& call) {
    const std::string_view function = call.function;
    if (function == "_M_allocate_buckets" || function == "_M_rehash_aux") return "hash buckets";
    const std::size_t count = call.scope_arguments.size();
    if (call.scope.empty() && function == "__allocate_guarded" &&
        !call.function_arguments.empty()) {
        return std::string{allocated_by(call.function_arguments[0])};
    }
    if (count == 0) return {};
    const std::string first{call.scope_arguments[0]};
    const bool is_node = function == "_M_get_node" || function == "_M_create_node";
    if (call.scope == "_Rb_tree") {
        return is_node && count > 1 ? std::string{call.scope_arguments[1]} : std::string{};
    }
    if (call.scope == "_Hashtable_alloc") {
        return function == "_M_allocate_node" ? std::string{allocated_by(first)} : std::string{};
    }
    const bool is_standard = count > 1 && !allocated_by(call.scope_arguments[1]).empty();
    if (!is_standard) return {};
    if (call.scope == "_Vector_base") return first;
    const bool is_list =
        call.scope == "_List_base" || call.scope == "list" || call.scope == "_Fwd_list_base";
    if (is_list && is_node) return first;
    if (call.scope == "_Deque_base" && function == "_M_allocate_node") return first;
    if (call.scope == "_Deque_base" && function == "_M_allocate_map") return first + '*';
    return {};
}

// Any member of a vector: the type of its elements. Such a member may also copy an element that
// allocates, so it only confirms what functions further in have said.
inline std::string element_of_vector(const library_call& call) {
    if (call.scope != "vector" || call.scope_arguments.size() < 2) return {};
    if (allocated_by(call.scope_arguments[1]).empty()) return {};
    const std::string_view element = call.scope_arguments[0];
    return element == "bool" ? std::string{} : std::string{element};
}

// Functions that contain `new T` themselves and name T in their arguments.
inline std::string type_of_make_call(const library_call& call) {
    const std::string_view function = call.function;
    const std::string_view scope_first =
        call.scope_arguments.empty() ? std::string_view{} : call.scope_arguments[0];
    const std::string_view first =
        call.function_arguments.empty() ? std::string_view{} : call.function_arguments[0];

    if (call.scope.empty() || call.scope == "__1" || call.scope == "__detail") {
        for (const std::string_view maker :
             {"make_unique", "make_unique_for_overwrite", "make_shared", "allocate_shared",
              "make_shared_for_overwrite", "get_temporary_buffer", "__get_temporary_buffer"}) {
            if (function == maker) return std::string{without_array(first)};
        }
        return {};
    }
    if (call.scope == "_Base_manager" &&
        (function == "_M_create" || function == "_M_init_functor" || function == "_M_clone")) {
        return std::string{scope_first};
    }
    if (call.scope == "_Manager_external" && (function == "_S_create" || function == "_S_manage")) {
        return std::string{scope_first};
    }
    if (call.scope == "__shared_count" && function == "__shared_count" && ends_with(first, "*")) {
        return "std::_Sp_counted_ptr<" + std::string{first} + '>';
    }
    if (call.scope == "thread" && function == "thread") return "std::thread state";
    if (call.scope == "promise" && function == "promise") {
        return "std::__future_base::_Result<" + std::string{scope_first} + '>';
    }
    if (call.scope == "__future_base" && function == "_S_allocate_result") {
        return "std::__future_base::_Result<" + std::string{first} + '>';
    }
    if ((call.scope == "_Deferred_state" || call.scope == "_Async_state_impl") &&
        function == call.scope && call.scope_arguments.size() > 1) {
        return "std::__future_base::_Result<" + std::string{call.scope_arguments[1]} + '>';
    }
    if (call.scope == "locale" && function == "locale") return "std::locale::_Impl";
    return type_of_container_call(call);
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_LIBRARY_CALLS_HPP
