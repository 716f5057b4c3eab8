// bare_requests.hpp - what the library allocates where its inlined functions have no scopes.
//
// Room:     types (floor 9), not malloc-safe
// Called:   by type_ladder.hpp
// Threads:  one cache belongs to one thread
// Memory:   of the arena of read_names
//
// With -g1, clang names inlined functions without the classes around them, and so does g++ for
// types in unnamed namespaces. The files of such functions show that they belong to the library:
//
//     make_unique<part>   bits/unique_ptr.h        "part"
//
//     allocate            bits/new_allocator.h     a container asks for memory,
//     _M_allocate         bits/stl_vector.h        for the elements of a vector,
//     push_back           bits/stl_vector.h        because of
//     load()              load.cpp:7:11            parts.push_back(...): the source has its type
//
// Only functions of the same container may stand between, because an element that is made or
// assigned there may allocate, too. A function that was not inlined has its whole name, which says
// more than the source.

#ifndef ALLOCSCOPE_TYPES_BARE_REQUESTS_HPP
#define ALLOCSCOPE_TYPES_BARE_REQUESTS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/source/declared_variable.hpp>
#include <allocscope/source/new_expressions.hpp>
#include <allocscope/source/source_cache.hpp>
#include <allocscope/source/standard_names.hpp>
#include <allocscope/spelling/function_name.hpp>
#include <allocscope/spelling/name_brackets.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/types/called_name.hpp>
#include <allocscope/types/library_calls.hpp>
#include <allocscope/types/read_names.hpp>
#include <allocscope/types/type_answer.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// A container of libstdc++: the header that asks for the memory of the elements, all its headers,
// and the classes that are made of it.
struct container_headers {
    text asking;
    text files;
    text classes;
};

constexpr container_headers containers[] = {
    {"stl_vector.h", "stl_vector.h vector.tcc stl_stack.h stl_queue.h allocator.h",
     "vector stack priority_queue"},
    {"stl_deque.h", "stl_deque.h deque.tcc stl_stack.h stl_queue.h", "deque stack queue"},
    {"stl_list.h", "stl_list.h list.tcc stl_stack.h stl_queue.h", "list stack queue"},
    {"forward_list.h", "forward_list.h forward_list.tcc", "forward_list"},
    {"stl_tree.h", "stl_tree.h stl_map.h stl_multimap.h stl_set.h stl_multiset.h",
     "map multimap set multiset"},
    {"hashtable_policy.h", "hashtable_policy.h hashtable.h unordered_map.h unordered_set.h",
     "unordered_map unordered_multimap unordered_set unordered_multiset"}};

// The name of a standard header without its folders; "" for another file.
inline text standard_header(const text& file) noexcept {
    return is_standard_header(file) ? file_name_of(file) : text{};
}

// The element, as a rule for filled_in(), by the class of a container.
constexpr word_meaning elements[] = {
    {"map multimap unordered_map unordered_multimap", "$p"},
    {"_Rb_tree _Hashtable _Map_base", "$1"},
    {"vector deque list forward_list set multiset unordered_set unordered_multiset stack queue "
     "priority_queue _Vector_base _Deque_base _List_base _Fwd_list_base",
     "$0"}};

// The element type of a container. `scope` is the class of one of its functions, or of its
// variable; "" if it is not a class of a container.
inline text element_of(arena& memory, const text& scope, const text& brackets) {
    return filled_in(memory, listed_meaning(elements, scope), split_arguments(memory, brackets));
}

// The same for a type in its printed form, if its class is one of `classes`.
inline text element_of_class(arena& memory, const text& type, const text& classes) {
    const std::size_t open = type.find('<');
    if (open == no_position || !type.starts_with("std::") || !type.ends_with(">")) return no_text();
    text own = type.substr(5, open - 5);
    take_start(own, "pmr::");
    return is_listed(own, classes) ? element_of(memory, own, type.substr(open)) : text{};
}

// The same for the only such class in a std::pair; "" if both are such.
inline text element_in_pair(arena& memory, const text& type, const text& classes) {
    text only;
    if (!type.starts_with("std::pair<") || !type.ends_with(">")) return no_text();
    for (const text& part : split_arguments(memory, type.substr(9))) {
        const text element = element_of_class(memory, without_const(part), classes);
        if (!element.empty() && !only.empty()) return no_text();
        if (!element.empty()) only = element;
    }
    return only;
}

// `void (*)()` and `int (*)[3]` have their star inside.
inline text pointer_to(arena& memory, const text& type) {
    std::size_t star = 0;
    while (star < type.size() && !type.has_at(star, "(*")) {
        star = type[star] == '<' ? skip_brackets(type, star) : star + 1;
    }
    star = star < type.size() ? star + 1 : type.size();
    return replaced(memory, type, star, star, "*");
}

// What a container allocates if its function in frames[at] asks the allocator; "" if it is not
// certain.
inline type_answer type_of_container(read_names& names, const list<code_frame>& frames,
                                     std::size_t at, source_cache& sources,
                                     const type_knowledge& knowledge) {
    arena& memory = names.memory();
    const code_frame& asker = frames[at];
    const text request = own_name_of(names.of(asker.function));
    const text header = standard_header(asker.file);
    if (header == "stl_bvector.h") return {"unsigned long", type_evidence::make_frame};
    if (!is_listed(request, "_M_allocate _M_get_node _M_allocate_node _M_allocate_map")) return {};
    const container_headers* container = nullptr;
    for (const container_headers& each : containers) {
        if (each.asking == header) container = &each;
    }
    if (container == nullptr) return {};
    text element;
    text function;
    text argument;            // of the function inside
    bool is_in_pair = false;  // the container is a part of a std::pair
    for (; at < frames.size(); ++at) {
        const text function_inside = function;
        const code_frame& frame = frames[at];
        const text file = standard_header(frame.file);
        if (file.empty()) break;
        const read_name& name = names.of(frame.function);
        function = own_name_of(name);
        const bool assigns = is_listed(function, "operator= assign") ||
                             function.starts_with("_M_assign") || function.starts_with("_M_move");
        const std::size_t count = name.parts.components.size();
        // An element may be assigned by a function of the container around it, but not by the user.
        if (assigns && element.empty() && count < 3) {
            if (at + 1 == frames.size()) return {};
            const code_frame& caller = frames[at + 1];
            const text outer = own_name_of(names.of(caller.function));
            const bool is_own = standard_header(caller.file).empty() ||
                                (function != "operator=" && is_listed(outer, "operator= assign"));
            if (!is_own) return {};
            continue;
        }
        if (assigns && !element.empty()) break;
        if (file == "stl_pair.h" && function == "pair" &&
            is_listed(function_inside, container->classes)) {
            is_in_pair = true;
            function = function_inside;
            continue;
        }
        if (!is_listed(file, container->files)) {
            if (!element.empty()) break;  // whoever calls a function that was not inlined
            // The container is made in another one, construct<X, ...>(X*, ...), or in a std::any,
            // std::optional, std::variant or std::tuple, which is given one: _Storage<const X&>.
            const bool is_made =
                is_listed(function_inside, container->classes) &&
                is_listed(function,
                          "_Construct construct make_unique _S_create _Storage _Uninitialized "
                          "_Head_base");
            if (!is_made) return {};
            const text made = decayed(printed_type(memory, own_argument_of(memory, name)));
            element = is_in_pair ? element_in_pair(memory, made, container->classes)
                                 : element_of_class(memory, made, container->classes);
            if (element.empty()) return {};
            break;
        }
        if (count == 0) continue;
        const text arguments = name.parts.last().arguments;
        // It passes an element on: _M_realloc_insert<const part&>, emplace_back<part>; or, for
        // std::vector<part>{a, b}, the list: _M_range_initialize<const part*>.
        const bool is_list =
            arguments.empty() && argument.ends_with("*") &&
            is_listed(function_inside, "_M_range_initialize _M_initialize_dispatch");
        const bool adds = is_list || is_listed(function, "push_back push_front");
        // Not for a reference to a pointer to functions, `int (* const&)(char)`.
        if (count == 1 && adds && !argument.empty() && !argument.contains("&)(")) {
            element = decayed(printed_type(memory, argument));
            if (is_list) element = without_const(without_pointer(element));
            break;
        }
        argument = own_argument_of(memory, name);
        // What makes the node is passed on: _M_insert_<const int&, std::_Rb_tree<...>::_Alloc_node>
        const std::size_t tree = arguments.find("std::_Rb_tree<");
        if (tree != no_position) {
            element = element_of(memory, "_Rb_tree", arguments.substr(tree + 13));
        }
        if (count < 3) continue;
        const name_component& scope = name.parts.outer();
        const text said = element_of(memory, scope.name, scope.arguments);
        if (!said.empty()) element = said;
        if (assigns) break;  // a function outside may be that of a container around it
    }
    type_evidence evidence = type_evidence::allocator_frame;
    if (element.empty() && at < frames.size()) {
        const text calling = called_name(names, frames, at, sources, knowledge);
        const function_name& caller = names.of(calling).parts;
        const text type = type_of_object(names, frames[at], caller, function, sources, knowledge);
        element = element_of_class(memory, type, container->classes);
        if (needs_compiler(element)) return {};
        evidence = type_evidence::source_text;
    }
    if (element.empty()) return {};
    if (request == "_M_allocate_map") element = pointer_to(memory, element);
    return {printed_type(memory, element), evidence, true};
}

// The characters of a string, whose functions allocate nothing else: its constructor has its
// allocator as an argument, what copies a text has a pointer to it, and a function that was not
// inlined has the class. "": it is no string.
inline text character_of_string(arena& memory, read_names& names, const list<code_frame>& frames,
                                std::size_t at) {
    for (; at < frames.size(); ++at) {
        const code_frame& frame = frames[at];
        const text header = standard_header(frame.file);
        const read_name& name = names.of(frame.function);
        if (!is_listed(header, "basic_string.h basic_string.tcc") || !name.parts.is_known()) break;
        const text first = own_argument_of(memory, name);
        text character = allocated_by(first);
        if (own_name_of(name) == "_M_construct" && first.ends_with("*")) {
            // A text is made of iterators, which may be pointers to other characters.
            if (at + 1 < frames.size() && frames[at + 1].function.contains(", void>")) {
                return no_text();
            }
            character = without_const(without_spaces_around(without_pointer(first)));
        }
        if (character.empty()) character = type_of_character_buffer(name.call);
        if (is_listed(character, "char wchar_t char8_t char16_t char32_t")) return character;
    }
    return no_text();
}

// `lambda` is "(lambda at src/main.cpp:3:9)", with the path that the compiler was given. When a
// std::function is copied, a function that was not inlined names the lambda. Or else the function
// that makes a call on that line contains it: "main::{lambda}". "" if there is none.
inline text lambda_of_caller(read_names& names, const list<code_frame>& frames, std::size_t at,
                             const text& lambda) {
    constexpr std::size_t start = 11;  // "(lambda at "
    const text place = file_name_of(lambda.substr(start));
    for (; at < frames.size(); ++at) {
        const code_frame& frame = frames[at];
        const library_call& call = names.of(frame.function).call;
        if (call.scope == "_Base_manager") return call.scope_first;
        if (call.scope == "_Function_handler") return call.scope_second;
        text_out line{names.memory()};
        line << file_name_of(frame.file) << ':';
        line << decimal{static_cast<std::uint64_t>(frame.line)} << ':';
        if (place.starts_with(line.view())) {
            return joined(names.memory(), frame.function, "::{lambda}");
        }
    }
    return no_text();
}

// `asking` is the frame that called operator new.
inline type_answer type_of_bare_request(read_names& names, const list<code_frame>& frames,
                                        std::size_t asking, source_cache& sources,
                                        const type_knowledge& knowledge) {
    arena& memory = names.memory();
    const code_frame& asker = frames[asking];
    const read_name& name = names.of(asker.function);
    const text header = standard_header(asker.file);
    if (header.empty() || name.parts.components.size() != 1) return {};
    library_call call;
    call.function = own_name_of(name);
    const bool is_any = header == "any" && call.function == "_S_create";
    const read_name& told =
        is_any && asking + 1 < frames.size() ? names.of(frames[asking + 1].function) : name;
    if (is_any && !is_listed(own_name_of(told), "any emplace __do_emplace")) return {};
    call.function_first = own_argument_of(memory, told);
    const text character = character_of_string(memory, names, frames, asking);
    if (!character.empty()) return printed_answer(memory, character, type_evidence::make_frame);
    if (is_listed(header, "std_thread.h stop_token shared_ptr_base.h")) call.scope = call.function;
    if (call.function != "allocate") {
        const bool is_functor = header == "std_function.h" && call.function == "_M_create";
        text type =
            is_any || is_functor ? decayed(call.function_first) : type_of_make_call(memory, call);
        if (type.starts_with("(lambda at ")) {
            type = lambda_of_caller(names, frames, asking, type);
        }
        return printed_answer(memory, type, type_evidence::make_frame);
    }
    std::size_t at = asking;
    constexpr const char* allocators = "new_allocator.h alloc_traits.h allocator.h memory_resource";
    while (at < frames.size() && own_name_of(names.of(frames[at].function)) == "allocate" &&
           is_listed(standard_header(frames[at].file), allocators)) {
        ++at;
    }
    if (at == asking || at == frames.size() || !is_standard_header(frames[at].file)) return {};
    const text text_of = character_of_string(memory, names, frames, at);
    if (!text_of.empty()) return printed_answer(memory, text_of, type_evidence::allocator_frame);
    const read_name& caller = names.of(frames[at].function);
    const bool is_bare = caller.parts.components.size() == 1;
    if (is_bare) {
        call.function = own_name_of(caller);
        call.function_first = own_argument_of(memory, caller);
    }
    const text type = type_of_container_call(memory, is_bare ? call : caller.call);
    if (!type.empty()) return printed_answer(memory, type, type_evidence::allocator_frame);
    return type_of_container(names, frames, at, sources, knowledge);
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_BARE_REQUESTS_HPP
