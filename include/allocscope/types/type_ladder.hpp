// type_ladder.hpp - names the type that a stack allocated, by the best rung of evidence.
//
// Room:     types (floor 9), not malloc-safe
// Called:   by naming/, once for each stack, and once more when a live object can tell what the
//           stack could not
// Threads:  one source_cache belongs to one thread
// Memory:   of the given arena or that of read_names; the source_cache has its own
//
//     type_answer type = name_type(names, frames, request, sources);
//     type.name;                                         // "std::string"
//     type.evidence;                                     // type_evidence::allocator_frame
//     if (type.is_open()) type = with_vtable(memory, type, "vtable for app::widget", fit);
//
// `frames` are the logical frames of the whole stack, innermost first, starting with the direct
// caller of operator new. If nothing is certain, the answer is "?".
//
// The first rung is the name of operator new's direct caller:
//
//     std::__new_allocator<std::_List_node<int> >::allocate(...)    "int", allocator_frame
//     std::make_unique<app::widget, int>(int&&)                     "app::widget", make_frame
//     app::pool_allocator<int>::allocate(...)                       none: it may ask for anything
//     allocscope::allocator<int>::allocate(...)                     "int", tag
//
// Only the direct caller counts: an allocator's frame further out says what a container allocates,
// not what the user's code between the two does. A frame without a line comes from a symbol table
// and may hide inlined calls. It is believed only if nothing of another type can be allocated in
// it.

#ifndef ALLOCSCOPE_TYPES_TYPE_LADDER_HPP
#define ALLOCSCOPE_TYPES_TYPE_LADDER_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/class_size.hpp>
#include <allocscope/source/source_cache.hpp>
#include <allocscope/spelling/function_name.hpp>
#include <allocscope/spelling/name_brackets.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/types/bare_requests.hpp>
#include <allocscope/types/called_name.hpp>
#include <allocscope/types/constructed_class.hpp>
#include <allocscope/types/handed_on_size.hpp>
#include <allocscope/types/implied_new.hpp>
#include <allocscope/types/library_calls.hpp>
#include <allocscope/types/merged_calls.hpp>
#include <allocscope/types/read_names.hpp>
#include <allocscope/types/thrown_value.hpp>
#include <allocscope/types/type_answer.hpp>
#include <allocscope/types/type_from_source.hpp>
#include <allocscope/types/wrapped_request.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Index of the frame that asked for the memory; frames.size() if there is none.
inline std::size_t asking_frame(read_names& names, const list<code_frame>& frames) {
    // What throws in libc++ calls a function that has no name.
    std::size_t index = frames.size() > 1 && is_throwing(frames, 2) ? 2 : 0;
    while (index < frames.size() && names.of(frames[index].function).is_forwarding) ++index;
    return index;
}

// Whether a function that passes a request on is an operator new, or a memory resource, of the
// user.
inline bool is_of_user(read_names& names, const code_frame& frame) {
    const read_name& name = names.of(frame.function);
    if (name.is_own_allocator || !name.plain.starts_with("operator new"))
        return name.is_own_allocator;
    // With -g1, clang names an inlined operator without its class.
    const bool has_more = name.whole.contains(", ") && !name.whole.contains("nothrow_t") &&
                          !name.whole.contains("align_val_t");
    return frame.is_inlined || has_more;
}

// A class's own operator new, or a memory resource, may ask for a whole chunk of objects. Returns
// false if one of those further in than the asking frame may do so, or asks for something else,
// which is then in `answer`.
inline bool hands_on_request(read_names& names, const list<code_frame>& frames, std::size_t asking,
                             source_cache& sources, const type_knowledge& knowledge,
                             type_answer& answer) {
    const type_knowledge less = knowledge.elsewhere();  // it is about the asking frame
    for (std::size_t i = 0; i < asking; ++i) {
        const code_frame& frame = frames[i];
        if (!is_of_user(names, frame)) continue;
        const text type = type_from_source(names, frame, sources, less);
        if (!type.empty()) answer.set_source_text(type, true);
        if (!type.empty() || !hands_on_size(frame, sources)) return false;
    }
    return true;
}

// The T of an allocator pool<T> of the user, which may itself ask std::allocator<T>, or inherit it;
// "" for other functions.
inline text wanted_by_allocator(arena& memory, const read_name& function) {
    if (own_name_of(function) != "allocate") return no_text();
    text arguments = function.parts.outer().arguments;
    if (function.call.scope == "allocator_traits") {
        const text allocator = function.call.scope_first;
        if (allocator.starts_with("std::") || !allocator.contains("<")) return no_text();
        arguments = allocator.substr(allocator.find('<'));
    } else if (!function.call.function.empty()) {
        return no_text();
    }
    return arguments.empty() ? text{} : printed_type(memory, first_argument(memory, arguments));
}

// With -O2 a program has one function in place of two with equal code: g++ makes one call the
// other, and the calls inlined there have the names of the other. The frames further out show it:
//
//     std::__new_allocator<char const*>::allocate                       says const char*
//     std::_Vector_base<char const*, ...>::_M_allocate                  says const char*
//     std::_Vector_base<std::unique_ptr<int>, ...>::_M_allocate         is right
//     std::vector<std::unique_ptr<int>, ...>::emplace_back              agrees
//
// So the answer of the asking frame is compared with those of the frames further out that can only
// have passed on the same request. The outermost of these is believed.
inline type_answer follow_request(read_names& names, const list<code_frame>& frames,
                                  std::size_t asking) {
    arena& memory = names.memory();
    const code_frame& asker = frames[asking];
    const read_name* inner = &names.of(asker.function);
    type_answer answer = names.alone(asker.function, asker.line > 0);
    if (!answer.is_known() && asker.is_nearby) {  // g++ forgot what it calls
        answer = printed_answer(memory, element_of_members(inner->call), type_evidence::make_frame);
    }
    bool was_member = false;  // an inner frame is a member of a container
    bool is_table = false;    // asked: that of a deque
    for (std::size_t at = asking + 1; answer.is_known() && at < frames.size(); ++at) {
        const code_frame& frame = frames[at];
        const bool has_line = frame.line > 0;
        const read_name& outer = names.of(frame.function);
        text wanted;
        if (inner->call.function == "allocate") wanted = wanted_by_allocator(memory, outer);
        const bool is_other = !wanted.empty() && wanted != answer.name;
        if (is_other && bytes_of_plain_type(answer.name) != 1) return {};  // it may ask for bytes
        if (outer.call.function.empty()) break;
        const bool is_same_function = outer.plain == inner->plain;
        const text called = inner->call.function;
        is_table = is_table || called == "_M_allocate_map";
        inner = &outer;
        if (is_same_function && !was_member) {
            const type_evidence evidence = answer.evidence;
            answer = names.alone(frame.function, has_line);
            if (answer.is_known()) answer.evidence = evidence;
            continue;
        }
        if (outer.call.scope == "_Auto_node") continue;  // of a tree
        text type = type_of_allocator_call(outer.call);
        if (type.empty()) type = type_of_container_call(memory, outer.call);
        const bool is_member = type.empty();
        const bool is_vector = is_member && outer.call.scope == "vector";
        if (is_vector || (is_member && has_line)) type = element_of_members(outer.call);
        if (type.empty() && begins_deque(outer.call, called)) {
            type = is_table ? pointer_to(memory, outer.call.scope_first) : outer.call.scope_first;
        }
        if (type.empty()) break;
        type = printed_type(memory, type);
        if (is_vector && was_member && !is_same_function && type != answer.name) {
            // A vector of vectors copies an element. Any other combination may be such a copy, too.
            if (type != enclosed(memory, "std::vector<", answer.name, ">")) return {};
            break;
        }
        answer.name = type;
        was_member = was_member || is_member;
    }
    return answer;
}

// The type that was passed with a report, as a compiler spells it.
inline type_answer type_from_tag(arena& memory, text spelled) {
    constexpr text unnamed = "{anonymous}";  // g++; others write "(anonymous namespace)"
    for (std::size_t at = spelled.find(unnamed); at != no_position; at = spelled.find(unnamed)) {
        spelled = replaced(memory, spelled, at, at + unnamed.size(), anonymous_namespace);
    }
    return printed_answer(memory, spelled, type_evidence::tag);
}

// The T of allocscope::allocator<T>::allocate. Nothing else is inlined into it, and no other
// function has this name.
inline type_answer type_of_typed_allocator(arena& memory, const function_name& name) {
    if (name.components.size() < 3 || name.components[0].name != "allocscope" ||
        name.last().name != "allocate") {
        return {};
    }
    const name_component& scope = name.outer();
    if (scope.name != "allocator") return {};
    return printed_answer(memory, first_argument(memory, scope.arguments), type_evidence::tag);
}

// What std::__throw_out_of_range_fmt and its like throw: "std::out_of_range"; "" for others. With
// -g1, clang names inlined functions without scopes.
inline text type_of_thrower(arena& memory, text plain) {
    take_start(plain, "std::");
    const bool is_other = plain.ends_with("failure") || plain.ends_with("_impl");
    if (is_other || !take_start(plain, "__throw_")) return no_text();
    take_end(plain, "_fmt");
    return joined(memory, "std::", plain);
}

constexpr word_meaning called_c_functions[] = {
    // left by a jump
    {"vasprintf", "char"},
    {"localtime localtime_r mktime tzset", "time zone"},
    {"opendir", "DIR"},
    {"fopen fdopen", "FILE"}};

// The object of the C library that the source asks for at a call of one of its functions.
inline text type_of_c_call(const code_frame& call, source_cache& sources) {
    const auto [file, at] = token_of(call, sources);
    if (at == 0) return no_text();
    const std::size_t end = end_of_callee(*file, at);
    const bool has_scope = file->is_at(end - 1, "::") && file->is_word_at(end - 2);
    const bool is_other = has_scope && !file->is_at(end - 2, "std");
    if (is_other || file->is_any_at(end - 1, ". ->")) return no_text();  // not the C library's
    return listed_meaning(called_c_functions, file->text_at(end));
}

// What the name of the asking frame says. If it has no name, it is a part of a function of a
// library: then what the name of that function says, or the call of it.
inline type_answer type_from_frames(read_names& names, const list<code_frame>& frames,
                                    std::size_t asking, source_cache& sources) {
    std::size_t named = asking;
    while (named < frames.size() && frames[named].function.empty()) ++named;
    if (named >= frames.size()) return {};
    const code_frame& frame = frames[named];
    const text function = frame.function;
    const read_name& name = names.of(function);
    if (named != asking) {
        const text called = type_of_c_call(frame, sources);
        const text part = !called.empty() ? called : type_of_compiled_function(name.plain, true);
        if (!part.empty()) {
            return {part, !called.empty() ? type_evidence::source_text : type_evidence::make_frame};
        }
        const type_answer& answer = names.alone(function, false);
        return answer.evidence == type_evidence::make_frame ? answer : type_answer{};
    }
    if (is_throwing(frames, asking)) {
        const text thrown = type_of_thrower(names.memory(), name.plain);
        if (!thrown.empty()) return {thrown, type_evidence::make_frame};
    }
    const type_answer tagged = type_of_typed_allocator(names.memory(), name.parts);
    if (tagged.is_known()) return tagged;
    const type_answer answer = follow_request(names, frames, asking);
    if (asking == 0 || answer.evidence == type_evidence::allocator_frame) return answer;
    // Any code may call memory_resource::allocate. Only an allocator that passes its request on
    // unchanged is believed.
    const text below = names.of(frames[asking - 1].function).plain;
    return below.ends_with("memory_resource::allocate") ||
                   below.ends_with("reported_resource::do_allocate")
               ? type_answer{}
               : answer;
}

// The class of a symbol such as "vtable for app::widget"; "" if it is not a vtable. A construction
// vtable does not count, because it belongs to an object that is half built.
inline text type_from_vtable(arena& memory, text symbol) {
    if (!take_start(symbol, "vtable for ")) return no_text();
    return printed_type(memory, symbol.substr(0, symbol.find(" [clone ")));  // of -flto
}

// How the sizes of classes compare with the size of a live object of the stack.
struct known_fits {
    size_fit of_vtable = size_fit::unknown;
    size_fit of_answer = size_fit::unknown;
    size_fit of_candidate = size_fit::unknown;
    type_evidence candidate_evidence = type_evidence::source_text;
};

// Completes an answer with `vtable_symbol`, the demangled symbol into which the first word of a
// live object of the stack points; "" if there is none. A vtable has the whole name of its class,
// but that may be the class of a first member. So the block must be as large as the class, and a
// vtable does not refute a source text that can be true.
inline type_answer with_vtable(arena& memory, type_answer so_far, const text& vtable_symbol,
                               const known_fits& fits = {}) {
    if (!so_far.is_open()) return so_far;
    bool is_refuted = so_far.is_known() && fits.of_answer == size_fit::other;
    if (so_far.evidence == type_evidence::made_object && !is_refuted) return so_far;
    if ((is_refuted || !so_far.is_known()) && fits.of_candidate == size_fit::same) {
        so_far = printed_answer(memory, so_far.candidate, fits.candidate_evidence);
        is_refuted = false;
    }
    so_far.candidate = {};
    const text type = type_from_vtable(memory, vtable_symbol);
    if (type.empty()) return is_refuted ? type_answer{} : so_far;
    const bool agrees = so_far.is_known() && is_candidate_for(so_far.name, type);
    if (agrees || (fits.of_vtable == size_fit::same && (is_refuted || !so_far.is_known()))) {
        return {type, type_evidence::vtable};
    }
    if (is_refuted) return {};
    if (so_far.is_known() || fits.of_vtable == size_fit::other) return so_far;
    // Control blocks and nodes of the library are hardly ever parts of other objects.
    const bool is_of_library = vtable_symbol.starts_with("vtable for std::");
    return {is_of_library ? type : joined(memory, "begins with ", type),
            type_evidence::unsized_vtable};
}

// Whether a function, or one into which it was inlined, was folded with another instantiation of
// the same template. Then the template arguments in the name of the inner one may be wrong. g++
// gives the outer one the place of its declaration; otherwise the template calls itself.
inline bool is_folded(read_names& names, const list<code_frame>& frames, std::size_t at,
                      text function, source_cache& sources) {
    const std::size_t first = at;
    while (at + 1 < frames.size() && has_arguments(names.of(function).parts)) {
        if (at > first && !frames[at].is_inlined) return false;
        const code_frame& outer = frames[++at];
        const read_name& inner = names.of(function);
        const read_name& caller = names.of(outer.function);
        // Functions that differ in their parameters only are different functions.
        if (caller.plain == inner.plain && caller.parts.whole != inner.parts.whole &&
            may_share_template(inner.parts, caller.parts) &&
            // It calls itself, or an overload.
            !is_called_behind(&outer, sources) &&
            !is_written_call(outer, inner.parts.last().name, sources)) {
            return true;
        }
        function = outer.function;
    }
    return false;
}

// g++ also folds `allocate` of two allocators of a user, pool<int> and pool<long>, before it
// inlines them. The function as std::allocator_traits calls it; "" if it has the right name.
inline text unfolded_allocator(read_names& names, const list<code_frame>& frames,
                               std::size_t asking) {
    const code_frame& frame = frames[asking];
    if (!frame.is_inlined || asking + 1 >= frames.size()) return no_text();
    const read_name& outer = names.of(frames[asking + 1].function);
    if (outer.call.scope != "allocator_traits") return no_text();
    const text wanted = wanted_by_allocator(names.scratch(), outer);
    const text own = wanted_by_allocator(names.scratch(), names.of(frame.function));
    const bool is_other = !wanted.empty() && !own.empty() && wanted != own;
    return is_other ? joined(names.memory(), outer.call.scope_first, "::allocate(unsigned long)")
                    : text{};
}

// `request` is the answer of find_wrapped_request() for the frame that asking_frame() returns, and
// `knowledge` is about its frame. That may get the line of the `new`, if the compiler has given its
// call another one.
inline type_answer name_type(read_names& names, list<code_frame>& frames,
                             const wrapped_request& request, source_cache& sources,
                             type_knowledge knowledge = {}) {
    const std::size_t asking = request.frame;
    type_answer answer;
    if (!hands_on_request(names, frames, asking, sources, knowledge, answer)) return answer;
    answer = type_from_frames(names, frames, asking, sources);
    if (answer.name == path_components) {
        answer = {};
        answer.candidate = path_components;
        return answer;
    }
    if (answer.is_known() || asking == frames.size()) return answer;
    answer = type_of_bare_request(names, frames, asking, sources, knowledge);
    if (answer.is_known()) return answer;
    code_frame& asker = frames[asking];
    code_frame frame = asker;
    frame.function = called_name(names, frames, asking, sources, knowledge);
    const text unfolded = unfolded_allocator(names, frames, asking);
    if (!unfolded.empty()) {
        frame.function = unfolded;
        knowledge.forget_frame();
    }
    if (is_folded(names, frames, asking, frame.function, sources)) {
        frame.function = {};
        knowledge.forget_frame();
    }
    source_notes notes;
    notes.is_thrown = is_throwing(frames, asking);
    if (request.is_wrapped) notes.wrapped = &request.expression;
    new_expression prefixed;
    const bool takes_place = asking != 0 && is_of_user(names, frames[asking - 1]);
    if (!request.is_wrapped && !notes.is_thrown &&
        find_prefixed_new(frame, sources, takes_place, prefixed)) {
        notes.wrapped = &prefixed;
    }
    const bool is_in_macro = request.handing.argument != 0;
    const text type =
        is_in_macro ? text{} : type_from_source(names, frame, sources, knowledge, &notes);
    if (!type.empty() && is_merged_call(frame, sources, knowledge)) return answer;
    if (!type.empty()) answer.set_source_text(type, notes.is_array);
    answer.candidate = notes.deduced;
    const bool is_told = !type.empty() || !notes.deduced.empty();
    if (notes.is_thrown && !is_told) {
        const borrowed_memory meanwhile{names.scratch()};
        const text thrown = type_thrown_by_macro(names.scratch(), frame, sources,
                                                 names.of(frame.function).parts, knowledge);
        if (!thrown.empty()) answer.set_source_text(names.made(thrown), true);
    } else if (!notes.is_thrown && (!is_told || notes.shares_place)) {
        add_implied(names, frame, sources, knowledge, request.handing, answer);
    }
    if (!answer.is_known() && answer.candidate.empty() && !notes.shares_place) {
        const borrowed_memory meanwhile{names.scratch()};
        answer.candidate = copy_of(names.memory(), constructed_classes(names.scratch(), frame,
                                                                       knowledge, notes.is_thrown));
    }
    // GoogleTest's TEST makes nothing else itself. With -g1 no size would show it.
    constexpr text factory = "testing::internal::TestFactoryImpl<";
    const std::size_t begin = answer.candidate.find(factory);
    if (begin != no_position) {
        const std::size_t end = skip_brackets(answer.candidate, begin + factory.size() - 1);
        answer = printed_answer(names.memory(), answer.candidate.substr(begin, end - begin),
                                type_evidence::constructor);
    }
    asker.file = frame.file;
    asker.line = frame.line;
    return answer;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_TYPE_LADDER_HPP
