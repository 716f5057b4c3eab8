// type_ladder.hpp - names the type that a stack allocated: the best rung that holds.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by naming/, once for each stack, and once more when a live object can tell what the
//           stack could not
// Threads:  one source_cache belongs to one thread
// Memory:   of the given arena, the answer too; the source_cache has its own
//
//     type_answer type = name_type(memory, frames, sources);
//     type.name;                                         // "std::string"
//     type.evidence;                                     // type_evidence::allocator_frame
//     if (type.is_open()) type = with_vtable(memory, type, "vtable for app::widget", fit);
//
// `frames` are the logical frames of the whole stack, innermost first, starting at the direct
// caller of operator new. When nothing is certain the answer is "?".
//
// The first rung is what the direct caller of operator new tells by its name:
//
//     std::__new_allocator<std::_List_node<int> >::allocate(...)    "int", allocator_frame
//     std::make_unique<app::widget, int>(int&&)                     "app::widget", make_frame
//     app::pool_allocator<int>::allocate(...)                       none: it may ask for anything
//     allocscope::allocator<int>::allocate(...)                     "int", tag
//
// Only the direct caller counts: an allocator's frame further out says what some container
// allocates, not what the user's code between them does. A frame without a line comes from a symbol
// table: whatever was inlined into it cannot be seen. Such a frame is believed only where nothing
// of another type can be allocated inside.

#ifndef ALLOCSCOPE_TYPES_TYPE_LADDER_HPP
#define ALLOCSCOPE_TYPES_TYPE_LADDER_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/types/class_size.hpp>
#include <allocscope/types/function_name.hpp>
#include <allocscope/types/library_calls.hpp>
#include <allocscope/types/pretty_type.hpp>
#include <allocscope/types/source_cache.hpp>
#include <allocscope/types/type_from_source.hpp>
#include <allocscope/types/wrapped_type.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// The rungs of the ladder; what each of them means is told in docs/types_and_places.md.
enum class type_evidence {
    none,             // not known: the name is "?"
    tag,              // the code that allocated says it: allocscope::allocator<T> and its like
    allocator_frame,  // std::allocator<T>::allocate called operator new
    make_frame,       // std::make_unique<T> and its like did
    vtable,           // the live object points to the vtable of T, and is as large as a T
    source_text,      // `new T` stands at that line and column
    unsized_vtable    // as vtable; but how large a T is, nothing tells
};

// As snapshot::row::type_source says it.
inline const char* word_of(type_evidence evidence) noexcept {
    switch (evidence) {
        case type_evidence::tag:
            return "report";
        case type_evidence::allocator_frame:
            return "allocator";
        case type_evidence::make_frame:
            return "make_function";
        case type_evidence::vtable:
            return "vtable";
        case type_evidence::source_text:
            return "source";
        case type_evidence::unsized_vtable:
            return "unsized_vtable";
        case type_evidence::none:
            break;
    }
    return "";
}

struct type_answer {
    text name = "?";
    type_evidence evidence = type_evidence::none;
    bool is_array = false;  // said to be: the block may be larger than one of them

    bool is_known() const noexcept { return evidence != type_evidence::none; }

    // The vtable of a live object may say more.
    bool is_open() const noexcept {
        return evidence == type_evidence::none || evidence == type_evidence::source_text;
    }
};

// The type as it is printed, of a spelling of the demangler's.
inline text printed_type(arena& memory, text type) {
    return unwrapped_type(memory, pretty_type(memory, type));
}

// A frame and its name, taken apart.
struct named_frame {
    text plain;
    library_call call;
    bool has_line;
};

inline named_frame read_frame(arena& memory, const code_frame& frame) {
    const function_name name = parse_function_name(memory, frame.function);
    return {plain_name(memory, name), as_library_call(memory, name), frame.line > 0};
}

// Reports what somebody else allocates.
inline bool is_reporting_frame(text plain) noexcept {
    return plain.starts_with("allocscope::") &&
           (plain.ends_with("::report_allocation") || plain.ends_with("::report_resize") ||
            plain.ends_with("::report_birth") || plain.ends_with("::report_new_size") ||
            plain.ends_with("::reported_resource::do_allocate"));
}

// Forwards a request for memory and nothing else: its caller is the one to ask.
inline bool is_forwarding_frame(text plain) noexcept {
    return plain.starts_with("operator new") || plain.ends_with("::__libcpp_operator_new") ||
           plain.ends_with("::__libcpp_allocate") || plain.ends_with("newdel_res_t::do_allocate") ||
           plain.ends_with("__new_delete_memory_resource_imp::do_allocate") ||
           plain == "std::pmr::memory_resource::allocate" || plain == "__cxa_allocate_exception" ||
           is_reporting_frame(plain);
}

inline bool is_forwarding_frame(arena& memory, const code_frame& frame) {
    const text function = frame.function;
    if (!function.contains("operator") && !function.contains("allocate") &&
        !function.contains("report_")) {
        return false;  // most
    }
    const function_name name = parse_function_name(memory, function);
    return is_own_operator_new(name) || is_forwarding_frame(plain_name(memory, name));
}

// Index of the frame that wanted the memory; frames.size() when there is none.
inline std::size_t asking_frame(arena& memory, const list<code_frame>& frames) {
    std::size_t index = 0;
    while (index < frames.size() && is_forwarding_frame(memory, frames[index])) ++index;
    return index;
}

// A class's own operator new may ask for a whole chunk of objects. False: one of those before the
// asking frame may, or asks for something of its own, which `answer` then is.
inline bool hands_on_request(arena& memory, const list<code_frame>& frames, std::size_t asking,
                             source_cache& sources, const type_knowledge& knowledge,
                             type_answer& answer) {
    for (std::size_t i = 0; i < asking; ++i) {
        if (!is_own_operator_new(parse_function_name(memory, frames[i].function))) continue;
        const text type = type_from_source(memory, frames[i], sources, knowledge);
        if (!type.empty()) answer = {type, type_evidence::source_text, true};
        if (!type.empty() || !hands_on_size(frames[i], sources)) return false;
    }
    return true;
}

// What one frame says by itself, were it the direct caller of operator new.
inline type_answer type_from_frame(arena& memory, const named_frame& frame) {
    const library_call& call = frame.call;
    if (call.function.empty()) return {};
    text type = type_of_allocator_call(call);
    if (!type.empty()) return {printed_type(memory, type), type_evidence::allocator_frame};
    type = type_of_character_buffer(call);
    if (type.empty()) type = type_of_compiled_function(frame.plain);
    if (type.empty() && frame.has_line) type = type_of_container_call(memory, call);
    if (type.empty() && frame.has_line) type = type_of_make_call(memory, call);
    if (type.empty()) return {};
    return {printed_type(memory, type), type_evidence::make_frame};
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
inline type_answer follow_request(arena& memory, const list<code_frame>& frames,
                                  std::size_t asking) {
    named_frame inner = read_frame(memory, frames[asking]);
    type_answer answer = type_from_frame(memory, inner);
    bool was_vector = false;  // the inner frame is a member of std::vector
    for (std::size_t at = asking + 1; answer.is_known() && at < frames.size(); ++at) {
        const named_frame outer = read_frame(memory, frames[at]);
        if (outer.call.function.empty()) break;
        const bool is_same_function = outer.plain == inner.plain;
        inner = outer;
        if (is_same_function && !was_vector) {
            const type_evidence evidence = answer.evidence;
            answer = type_from_frame(memory, outer);
            if (answer.is_known()) answer.evidence = evidence;
            continue;
        }
        text type = type_of_allocator_call(outer.call);
        if (type.empty()) type = type_of_container_call(memory, outer.call);
        const bool is_vector = type.empty();
        if (is_vector) type = element_of_vector(outer.call);
        if (type.empty()) break;
        type = printed_type(memory, type);
        if (is_vector && was_vector && !is_same_function && type != answer.name) {
            // A vector of vectors copies an element; anything else cannot be told apart from that.
            if (type != joined(memory, "std::vector<", answer.name, ">")) answer = {};
            break;
        }
        answer.name = type;
        was_vector = was_vector || is_vector;
    }
    return answer;
}

// The type that was handed in with a report, as a compiler spells it.
inline type_answer type_from_tag(arena& memory, text spelled) {
    if (spelled.empty()) return {};
    constexpr text unnamed = "{anonymous}";  // g++; clang++ and the demanglers write the other
    for (std::size_t at = spelled.find(unnamed); at != no_position; at = spelled.find(unnamed)) {
        spelled = joined(memory, spelled.substr(0, at), "(anonymous namespace)",
                         spelled.substr(at + unnamed.size()));
    }
    return {printed_type(memory, spelled), type_evidence::tag};
}

// allocscope::allocator<T>::allocate: nothing else is inlined there, and no other function is it.
inline type_answer type_of_typed_allocator(arena& memory, const code_frame& frame) {
    if (!frame.function.contains("allocscope::")) return {};  // most
    const function_name name = parse_function_name(memory, frame.function);
    const std::size_t count = name.components.size();
    if (count < 3 || name.components[0].name != "allocscope" || name.last().name != "allocate") {
        return {};
    }
    const name_component& scope = name.components[count - 2];
    if (scope.name != "allocator") return {};
    const list<text> arguments = split_arguments(memory, scope.arguments);
    if (arguments.empty()) return {};
    return {printed_type(memory, arguments[0]), type_evidence::tag};
}

// What the asking frame tells by its name. One without a name is believed to be of the library's
// own code when its caller is, and only that can be allocated there.
inline type_answer type_from_frames(arena& memory, const list<code_frame>& frames,
                                    std::size_t asking) {
    if (asking >= frames.size()) return {};
    if (frames[asking].function.empty() && asking + 1 < frames.size()) {
        named_frame caller = read_frame(memory, frames[asking + 1]);
        caller.has_line = false;
        const type_answer answer = type_from_frame(memory, caller);
        return answer.evidence == type_evidence::make_frame ? answer : type_answer{};
    }
    const type_answer tagged = type_of_typed_allocator(memory, frames[asking]);
    if (tagged.is_known()) return tagged;
    const type_answer answer = follow_request(memory, frames, asking);
    if (asking == 0 || answer.evidence == type_evidence::allocator_frame) return answer;
    // Behind memory_resource::allocate stands whoever asked the resource: believe only the
    // allocator that passes its request on as it is.
    const named_frame below = read_frame(memory, frames[asking - 1]);
    return below.plain.ends_with("memory_resource::allocate") ||
                   below.plain.ends_with("reported_resource::do_allocate")
               ? type_answer{}
               : answer;
}

// The class of a symbol such as "vtable for app::widget", "" when it is no vtable: the one of a
// construction vtable belongs to an object that is half built.
inline text type_from_vtable(arena& memory, text symbol) {
    constexpr text mark = "vtable for ";
    if (!symbol.starts_with(mark)) return {};
    symbol = symbol.substr(mark.size());
    return printed_type(memory, symbol.substr(0, symbol.find(" [clone ")));  // of -flto
}

// How the sizes of classes compare with that of a live object of the stack.
struct known_fits {
    size_fit of_vtable = size_fit::unknown;
    size_fit of_answer = size_fit::unknown;
};

// `vtable_symbol`: the demangled symbol that the first word of a live object of this stack points
// into, "" when it points to none. A vtable says the whole name; but it may be that of a first
// member, so the block must be as large, and it does not stand against a source text that can be
// true.
inline type_answer with_vtable(arena& memory, const type_answer& so_far, text vtable_symbol,
                               const known_fits& fits = {}) {
    if (!so_far.is_open()) return so_far;
    const bool is_refuted = so_far.is_known() && fits.of_answer == size_fit::other;
    const text type = type_from_vtable(memory, vtable_symbol);
    if (type.empty()) return is_refuted ? type_answer{} : so_far;
    const bool agrees = so_far.is_known() &&
                        (type == so_far.name || type.ends_with(joined(memory, "::", so_far.name)));
    if (agrees || (fits.of_vtable == size_fit::same && (is_refuted || !so_far.is_known()))) {
        return {type, type_evidence::vtable};
    }
    if (is_refuted) return {};
    if (so_far.is_known() || fits.of_vtable == size_fit::other) return so_far;
    // Control blocks and nodes of the library are hardly ever a part of something else.
    const bool is_of_library = vtable_symbol.starts_with("vtable for std::");
    return {is_of_library ? type : joined(memory, "begins with ", type),
            type_evidence::unsized_vtable};
}

// `knowledge` is asked about the frame asking_frame().
inline type_answer name_type(arena& memory, const list<code_frame>& frames, source_cache& sources,
                             const type_knowledge& knowledge = {}) {
    const std::size_t asking = asking_frame(memory, frames);
    type_answer answer;
    if (!hands_on_request(memory, frames, asking, sources, knowledge, answer)) return answer;
    answer = type_from_frames(memory, frames, asking);
    if (answer.is_known() || asking == frames.size()) return answer;
    code_frame frame = frames[asking];
    if (asking + 1 < frames.size() && frames[asking + 1].function != frame.function) {
        // When it was folded with another instantiation of the same template, its name says
        // nothing about its template arguments.
        const named_frame outer = read_frame(memory, frames[asking + 1]);
        if (outer.plain == read_frame(memory, frame).plain) frame.function = {};
    }
    bool is_array = false;
    const text type = type_from_source(memory, frame, sources, knowledge, &is_array);
    if (!type.empty()) answer = {type, type_evidence::source_text, is_array};
    return answer;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_TYPE_LADDER_HPP
