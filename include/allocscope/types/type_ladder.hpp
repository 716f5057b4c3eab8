// type_ladder.hpp - names the type that a stack allocated: the best rung that holds.
//
// Room:     types (floor 8), not malloc-safe
// Called:   once for each stack when a snapshot is named
// Threads:  one source_cache belongs to one thread
// Memory:   strings
//
//     source_cache sources;                              // one for each report
//     type_answer type = name_type(frames, sources);
//     type.name;                                         // "std::string"
//     type.evidence;                                     // type_evidence::allocator_frame
//
// `frames` are the logical frames of the whole stack, innermost first, starting at the direct
// caller of operator new. When nothing is certain the answer is "?".

#ifndef ALLOCSCOPE_TYPES_TYPE_LADDER_HPP
#define ALLOCSCOPE_TYPES_TYPE_LADDER_HPP

#include <allocscope/symbols/code_location.hpp>
#include <allocscope/types/function_name.hpp>
#include <allocscope/types/source_cache.hpp>
#include <allocscope/types/type_answer.hpp>
#include <allocscope/types/type_from_frames.hpp>
#include <allocscope/types/type_from_source.hpp>
#include <allocscope/types/type_from_vtable.hpp>

#include <cstddef>      // size_t
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// The direct caller of operator new, for its source text. When it was folded with another
// instantiation of the same template, its name says nothing about its template arguments.
inline code_frame frame_for_source(const std::vector<code_frame>& frames, std::size_t asking) {
    code_frame frame = frames[asking];
    if (asking + 1 < frames.size() && frames[asking + 1].function != frame.function &&
        plain_name(parse_function_name(frames[asking + 1].function)) ==
            plain_name(parse_function_name(frame.function))) {
        frame.function.clear();
    }
    return frame;
}

// `vtable_symbol`: the demangled symbol that the first word of a live object of this stack points
// into, "" when it points to none. A vtable says the whole name; but it may be that of the first
// member of a class without virtual functions, so it does not stand against the source text.
inline type_answer name_type(const std::vector<code_frame>& frames, source_cache& sources,
                             std::string_view vtable_symbol = {}) {
    type_answer answer = type_from_frames(frames);
    if (answer.is_known()) return answer;
    const std::size_t asking = asking_frame(frames);
    if (asking < frames.size()) {
        answer = type_from_source(frame_for_source(frames, asking), sources);
    }
    const std::string dynamic = type_from_vtable(vtable_symbol);
    if (dynamic.empty()) return answer;
    const bool agrees =
        !answer.is_known() || dynamic == answer.name || ends_with(dynamic, "::" + answer.name);
    if (agrees) return {dynamic, type_evidence::vtable};
    return answer;
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_TYPE_LADDER_HPP
