// library_calls.hpp - what a function of the standard library allocates, by its template arguments.
//
// Room:     types (floor 9), not malloc-safe
// Called:   by type_ladder.hpp, read_names.hpp and bare_requests.hpp
// Threads:  any
// Memory:   of the given arena
//
// Each function below recognises one kind of function in libstdc++ and libc++. It returns the type
// as the demangler spelled it, or "" for all other functions.
//
//     std::(__new_allocator<int>)::(allocate)              type_of_allocator_call: "int"
//     std::(_Deque_base<int, std::allocator<int> >)::(_M_allocate_map)
//                                                          type_of_container_call: "int*"
//     std::(make_unique<app::widget>)                      type_of_make_call: "app::widget"

#ifndef ALLOCSCOPE_TYPES_LIBRARY_CALLS_HPP
#define ALLOCSCOPE_TYPES_LIBRARY_CALLS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/spelling/function_name.hpp>
#include <allocscope/spelling/name_brackets.hpp>
#include <allocscope/types/wrapped_type.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// The scope and the function of a member of a library template: std::(scope<...>)::(function<...>).
// `..._first` and `..._second` are template arguments; "" if there is none.
struct library_call {
    // Without it g++ writes all members at each place that makes one.
    ALLOCSCOPE_NOINLINE library_call() noexcept {}

    text scope;  // "" for a function of the namespace itself
    text function;
    text scope_first;
    text scope_second;
    text function_first;
    bool is_of_libcxx = false;
};

// `function` in the result is "" if the function is not the standard library's.
inline library_call as_library_call(arena& memory, const function_name& name) {
    library_call call;
    const std::size_t count = name.components.size();
    if (count < 2 || !is_listed(name.components[0].name, "std __gnu_cxx")) return call;
    call.function = name.last().name;
    call.function_first = first_argument(memory, name.last().arguments);
    if (count == 2) return call;
    call.is_of_libcxx = name.components[1].name == "__1";
    const name_component& scope = name.outer();
    call.scope = scope.name;
    const list<text> arguments = split_arguments(memory, scope.arguments);
    if (!arguments.empty()) call.scope_first = arguments[0];
    if (arguments.size() > 1) call.scope_second = arguments[1];
    return call;
}

// The T of "std::allocator<T>"; "" for an allocator that is not the standard library's own.
inline text allocated_by(text allocator) noexcept {
    const text start = listed_start(
        allocator,
        "std::allocator< std::__1::allocator< std::__new_allocator< __gnu_cxx::new_allocator< "
        "std::pmr::polymorphic_allocator<");
    if (start.empty() || !allocator.ends_with(">")) return no_text();
    allocator.remove_prefix(start.size());
    allocator.remove_suffix(1);
    return without_spaces_around(allocator);
}

// allocate() of the library's allocators: the element type, "" for everything else.
inline text type_of_allocator_call(const library_call& call) noexcept {
    if (call.function != "allocate") return no_text();
    if (call.scope == "allocator_traits") return allocated_by(call.scope_first);
    const bool is_allocator =
        is_listed(call.scope,
                  "__new_allocator new_allocator allocator polymorphic_allocator malloc_allocator");
    return is_allocator ? call.scope_first : text{};
}

// Functions that can allocate only characters, whatever was inlined into them.
inline text type_of_character_buffer(const library_call& call) noexcept {
    const bool is_buffer =
        is_listed(call.scope,
                  "basic_string basic_stringbuf basic_stringstream basic_istringstream "
                  "basic_ostringstream") ||
        (is_listed(call.scope, "basic_filebuf collate") &&
         is_listed(call.function, "_M_allocate_internal_buffer setbuf do_transform"));
    text character = is_buffer ? call.scope_first : text{};
    if (is_listed(call.function, "operator+ __do_uninit_copy __do_uninit_fill_n")) {
        character = call.function_first;
        if (character.starts_with("std::__cxx11::basic_string<char,")) return "char";
    }
    // setbuf: of a wide stream of libc++, one of its two buffers.
    const bool may_be_wide = call.function != "setbuf";
    const bool is_plain =
        character == "char" ||
        (may_be_wide && is_listed(character, "wchar_t char8_t char16_t char32_t"));
    return is_plain ? character : text{};
}

// A path of libstdc++ has the list of its parts in a block of 8 bytes and 48 for each part. The
// same functions allocate the text of a part. A text that is as large as a list is taken for one.
constexpr text path_components = "std::filesystem::path components";

inline text part_of_path(std::uint64_t bytes) noexcept {
    return bytes % 48 == 8 ? path_components : text{"char"};
}

// What functions of libstdc++.so and libc++.so allocate that allocate one thing only, by the start
// of their whole name.
constexpr word_meaning compiled_functions[] = {
    {"std::filesystem::__cxx11::path::_M_split_cmpts std::filesystem::__cxx11::path::_List::",
     path_components},
    {"std::string::_Rep::_S_create std::runtime_error::runtime_error "
     "std::logic_error::logic_error",
     "char"},  // the text of an exception
    {"std::pmr::monotonic_buffer_resource::_M_new_buffer",
     "std::pmr::monotonic_buffer_resource buffer"},
    {"std::__1::__thread_struct::__thread_struct", "std::thread state"},
    {"std::locale::_Impl::_Impl", "std::locale data"}};

// The same for the functions without a name that they call.
constexpr word_meaning nameless_parts[] = {
    {"std::filesystem::__cxx11::path::operator std::filesystem::__cxx11::path::_M_",
     path_components},
    {"std::error_code::message", "char"},
    {"std::pmr::synchronized_pool_resource:: std::pmr::unsynchronized_pool_resource::",
     "std::pmr pool buffer"},
    {"std::__basic_file::open", "FILE"},
    {"std::locale::_Impl::_Impl", "std::locale data"}};

inline text type_of_compiled_function(const text& plain, bool is_nameless_part) noexcept {
    static_assert(sizeof compiled_functions == sizeof nameless_parts, "the loop is for both");
    for (const word_meaning& each : is_nameless_part ? nameless_parts : compiled_functions) {
        if (!listed_start(plain, each.words).empty()) return each.meaning;
    }
    return no_text();
}

// What functions of the C library and of the loader allocate that allocate one thing only.
constexpr word_meaning c_functions[] = {
    {"__cxa_thread_atexit_impl", "thread_local destructor"},
    {"_dl_allocate_tls __tls_get_addr", "thread-local storage"},
    {"mktime timelocal tzset", "time zone"},
    {"wcsdup", "wchar_t"},
    {"_IO_fdopen", "FILE"},
    {"strdup __strdup strndup __strndup asprintf __asprintf vasprintf __vasprintf getdelim "
     "__getdelim realpath getcwd _IO_file_doallocate "
     "_IO_fclose",  // gives the text of open_memstream its last size
     "char"}};

// The internal functions by which containers ask their allocator.
inline text type_of_container_call(arena& memory, const library_call& call) {
    const text function = call.function;
    if (is_listed(function, "_M_allocate_buckets _M_rehash_aux")) return "hash buckets";
    if (call.scope.empty()) {
        return function == "__allocate_guarded" ? allocated_by(call.function_first) : text{};
    }
    const bool is_node = is_listed(function, "_M_get_node _M_create_node");
    const bool allocates_node = function == "_M_allocate_node";
    if (call.scope == "_Rb_tree" && is_node) return call.scope_second;
    if (call.scope == "_Hashtable_alloc" && allocates_node) return allocated_by(call.scope_first);
    if (allocated_by(call.scope_second).empty()) return no_text();
    const bool is_deque = call.scope == "_Deque_base";
    const bool is_list = is_listed(call.scope, "_List_base list _Fwd_list_base");
    if ((is_list && is_node) || (is_deque && allocates_node) || call.scope == "_Vector_base") {
        return call.scope_first;
    }
    // For pointers to functions the allocator further in has the name: `void (**)()`.
    const bool is_map = function == "_M_allocate_map" && !call.scope_first.contains("(*");
    return is_deque && is_map ? joined(memory, call.scope_first, "*") : text{};
}

// The element type, for any member of a vector, list or tree. A member of a vector may also copy an
// element that allocates, so the answer can only confirm that of functions further in.
inline text element_of_members(const library_call& call) noexcept {
    if (call.scope == "_Rb_tree") return call.scope_second;
    if (call.function == "_M_create_nodes") return call.scope_first;  // of a deque
    const bool is_known = is_listed(call.scope, "vector list") && call.scope_first != "bool" &&
                          !allocated_by(call.scope_second).empty();
    return is_known ? call.scope_first : text{};
}

// Such functions are called by their names only.
inline bool is_member_of_container(const library_call& call) noexcept {
    return is_listed(call.scope, "vector list deque _Rb_tree _Hashtable basic_string");
}

// Whether the function, which calls `called`, only passes on the request of a deque for its first
// blocks, or for the table of them.
ALLOCSCOPE_PURE inline bool begins_deque(const library_call& call, const text& called) noexcept {
    return is_listed(call.scope, "_Deque_base deque") &&
           is_listed(call.function, "_M_initialize_map _Deque_base deque") &&
           is_listed(called, "_M_create_nodes _M_allocate_map _M_initialize_map _Deque_base");
}

// A member function that contains `new T` itself, and that T as a rule for filled_in(): $0 and $1
// are the first arguments of its class, $2 is its own.
struct making_member {
    text scope;
    text functions;
    text rule;
};

constexpr making_member making_members[] = {
    {"_Base_manager", "_M_create _M_init_functor _M_clone", "$0"},
    {"_Manager_external", "_S_create _S_manage", "$0"},
    {"polymorphic_allocator", "allocate_object", "$2"},
    {"promise", "promise", "std::__future_base::_Result<$0>"},
    {"__future_base", "_S_allocate_result", "std::__future_base::_Result<$2>"},
    {"_Deferred_state", "_Deferred_state", "std::__future_base::_Result<$1>"},
    {"_Async_state_impl", "_Async_state_impl", "std::__future_base::_Result<$1>"},
    {"__shared_count", "__shared_count", "std::_Sp_counted_ptr<$2>"},
    {"shared_ptr", "shared_ptr", "std::_Sp_counted_ptr<$2*>"},
    {"thread", "thread", "std::thread state"},
    {"_Stop_state_ref", "_Stop_state_ref", "std::stop_token state"},
    {"locale", "locale", "std::locale::_Impl"}};

// Functions that contain `new T` themselves and name T in their arguments.
inline text type_of_make_call(arena& memory, const library_call& call) {
    if (call.scope.empty() || is_listed(call.scope, "__1 __detail")) {
        const bool is_maker =
            is_listed(call.function,
                      "make_unique make_unique_for_overwrite make_shared allocate_shared "
                      "make_shared_for_overwrite get_temporary_buffer __get_temporary_buffer "
                      "__valarray_get_storage make_exception_ptr");
        return is_maker ? without_array(call.function_first) : text{};
    }
    if (call.scope == "__shared_count" && !call.function_first.ends_with("*")) return no_text();
    if (call.scope == "shared_ptr" && !call.is_of_libcxx) return no_text();
    for (const making_member& each : making_members) {
        if (call.scope != each.scope || !is_listed(call.function, each.functions)) continue;
        const text known[] = {call.scope_first, call.scope_second, call.function_first};
        list<text> arguments{memory};
        arguments.append(known, 3);
        const text type = filled_in(memory, each.rule, arguments);
        return type == "std::__future_base::_Result<>" ? text{} : type;
    }
    return no_text();
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_LIBRARY_CALLS_HPP
