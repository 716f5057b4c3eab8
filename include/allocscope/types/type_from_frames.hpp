// type_from_frames.hpp - the type in the template arguments of the function that called new.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by type_ladder.hpp, once for each stack
// Threads:  any
// Memory:   strings
//
// Only the direct caller of operator new counts. An allocator's frame further out says what some
// container allocates, not what the user's code between them does.
//
//     std::__new_allocator<std::_List_node<int> >::allocate(...)    "int", allocator_frame
//     std::make_unique<app::widget, int>(int&&)                     "app::widget", make_frame
//     app::pool_allocator<int>::allocate(...)                       none: it may ask for anything
//
// A frame without a line comes from a symbol table: whatever was inlined into it cannot be seen.
// Such a frame is believed only where nothing of another type can be allocated inside.

#ifndef ALLOCSCOPE_TYPES_TYPE_FROM_FRAMES_HPP
#define ALLOCSCOPE_TYPES_TYPE_FROM_FRAMES_HPP

#include <allocscope/symbols/code_location.hpp>
#include <allocscope/types/function_name.hpp>
#include <allocscope/types/library_calls.hpp>
#include <allocscope/types/pretty_type.hpp>
#include <allocscope/types/type_answer.hpp>
#include <allocscope/types/wrapped_type.hpp>

#include <cstddef>      // size_t
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// Forwards a request for memory and nothing else: its caller is the one to ask.
inline bool is_forwarding_frame(const code_frame& frame) {
    const std::string plain = plain_name(parse_function_name(frame.function));
    if (starts_with(plain, "operator new")) return true;
    for (const std::string_view end :
         {"::__libcpp_operator_new", "::__libcpp_allocate", "newdel_res_t::do_allocate",
          "__new_delete_memory_resource_imp::do_allocate", "std::pmr::memory_resource::allocate"}) {
        if (ends_with(plain, end)) return true;
    }
    return false;
}

// Index of the frame that wanted the memory; frames.size() when there is none.
inline std::size_t asking_frame(const std::vector<code_frame>& frames) {
    std::size_t index = 0;
    while (index < frames.size() && is_forwarding_frame(frames[index])) ++index;
    return index;
}

// What one frame says by itself, were it the direct caller of operator new.
inline type_answer type_from_frame(const code_frame& frame) {
    const function_name name = parse_function_name(frame.function);
    if (name.is_known() && name.components[0].name == "allocscope" &&
        name.last().name == "allocate" && name.components.size() > 2) {
        const name_component& scope = name.components[name.components.size() - 2];
        const std::vector<std::string_view> arguments = split_arguments(scope.arguments);
        if (scope.name != "allocator" || arguments.empty()) return {};
        return {unwrapped_type(pretty_type(arguments[0])), type_evidence::explicit_tag};
    }
    const library_call call = as_library_call(name);
    if (call.function.empty()) return {};
    std::string_view type = type_of_allocator_call(call);
    if (!type.empty()) {
        return {unwrapped_type(pretty_type(type)), type_evidence::allocator_frame};
    }
    type = type_of_character_buffer(call);
    if (!type.empty()) return {std::string{type}, type_evidence::make_frame};
    if (frame.line <= 0) return {};
    std::string made = type_of_container_call(call);
    if (made.empty()) made = type_of_make_call(call);
    if (made.empty()) return {};
    return {unwrapped_type(pretty_type(made)), type_evidence::make_frame};
}

// Two functions with the same code are one in a program built with -O2: g++ lets one of them call
// the other, and what is inlined below carries the other's names. The frames further out tell:
//
//     std::__new_allocator<char const*>::allocate                       says const char*
//     std::_Vector_base<char const*, ...>::_M_allocate                  says const char*
//     std::_Vector_base<std::unique_ptr<int>, ...>::_M_allocate         is right
//     std::vector<std::unique_ptr<int>, ...>::emplace_back              agrees
//
// So the answer of the asking frame is checked outwards, as long as the frames can only pass on
// the same request, and the outermost of them is believed.
class request_path {
public:
    request_path(const std::vector<code_frame>& frames, std::size_t asking)
        : frames_(frames), at_(asking), answer_(type_from_frame(frames[asking])) {
        plain_ = plain_name(parse_function_name(frames_[at_].function));
    }

    type_answer follow() {
        while (answer_.is_known() && ++at_ < frames_.size() && step()) {
        }
        return answer_;
    }

private:
    // False when this frame asks for something of its own.
    bool step() {
        const function_name name = parse_function_name(frames_[at_].function);
        std::string plain = plain_name(name);
        const bool is_same_function = plain == plain_ && !plain.empty();
        plain_ = static_cast<std::string&&>(plain);
        const library_call call = as_library_call(name);
        if (call.function.empty()) return false;
        if (is_same_function && !was_vector_) {
            const type_evidence evidence = answer_.evidence;
            answer_ = type_from_frame(frames_[at_]);
            if (answer_.is_known()) answer_.evidence = evidence;
            return true;
        }
        std::string type{type_of_allocator_call(call)};
        if (type.empty()) type = type_of_container_call(call);
        if (type.empty()) return vector_step(element_of_vector(call), is_same_function);
        answer_.name = unwrapped_type(pretty_type(type));
        return true;
    }

    bool vector_step(const std::string& element, bool is_same_function) {
        if (element.empty()) return false;
        const std::string type = unwrapped_type(pretty_type(element));
        if (type != answer_.name && was_vector_ && !is_same_function) {
            // A vector of vectors copies an element; anything else cannot be told apart from that.
            if (type != "std::vector<" + answer_.name + '>') answer_ = {};
            return false;
        }
        answer_.name = type;
        was_vector_ = true;
        return true;
    }

    const std::vector<code_frame>& frames_;
    std::size_t at_;
    type_answer answer_;
    std::string plain_;        // of the frame before
    bool was_vector_ = false;  // the frame before is a member of std::vector
};

// What the direct caller of operator new tells by its name. `frames` innermost first.
inline type_answer type_from_frames(const std::vector<code_frame>& frames) {
    const std::size_t asking = asking_frame(frames);
    if (asking == frames.size()) return {};
    // Behind memory_resource::allocate stands whoever asked the resource: believe only the
    // allocator that passes its request on as it is.
    const bool is_resource =
        asking > 0 && ends_with(plain_name(parse_function_name(frames[asking - 1].function)),
                                "memory_resource::allocate");
    const type_answer answer = request_path{frames, asking}.follow();
    if (is_resource && answer.evidence != type_evidence::allocator_frame) return {};
    return answer;
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_TYPE_FROM_FRAMES_HPP
