// library_frames.hpp - what a call allocates whose inlined functions have no scopes, as with -g1.
//
// Room:     tests/unit/types
// Called:   by tests of bare_requests.hpp and called_name.hpp
// Threads:  one
// Memory:   a temporary file for each call
//
//     of_vector("void load(std::vector<part>& v) { v.@reserve(3); }", "reserve")      // "part"

#ifndef ALLOCSCOPE_TESTS_UNIT_TYPES_LIBRARY_FRAMES_HPP
#define ALLOCSCOPE_TESTS_UNIT_TYPES_LIBRARY_FRAMES_HPP

#include <allocscope/types/type_ladder.hpp>

#include <cstddef>  // size_t
#include <string>   // string
#include <vector>   // vector

#include "unit/types/type_at_mark.hpp"

namespace allocscope_test {

using allocscope::plain::arena;
using allocscope::plain::list;
using allocscope::symbolize::code_frame;
using allocscope::symbolize::source_cache;
using allocscope::symbolize::type_answer;
using allocscope::symbolize::type_knowledge;

struct library_frame {
    const char* function;
    const char* header;
};

inline std::string type_of_frames(arena& memory, list<code_frame>& frames,
                                  const type_knowledge& knowledge = {}) {
    source_cache sources;
    allocscope::symbolize::read_names names{memory};
    const type_answer answer = name_type(names, frames, sources, knowledge);
    return {answer.name.data(), answer.name.size()};
}

// The frame of the user, at the mark of the source.
inline code_frame frame_at(const marked_source& marked, const char* function) {
    code_frame user;
    user.function = function;
    user.file = marked.path().c_str();
    user.line = marked.line();
    user.column = marked.column();
    return user;
}

inline code_frame inlined_frame(const char* function, const char* file) {
    code_frame frame;
    frame.function = function;
    frame.file = file;
    frame.line = 1;
    frame.column = 1;
    frame.is_inlined = true;
    return frame;
}

// The frames of the library, and then the user's at the mark of the source.
inline std::string type_of(const std::vector<library_frame>& stack, const std::string& source,
                           const char* function = "load()",
                           const char* folder = "/usr/include/c++/12/",
                           const type_knowledge& knowledge = {}) {
    const marked_source marked{source};
    arena memory;
    std::vector<std::string> paths;
    for (const library_frame& each : stack) paths.push_back(std::string{folder} + each.header);
    list<code_frame> frames{memory};
    for (std::size_t i = 0; i < stack.size(); ++i) {
        frames.push_back(inlined_frame(stack[i].function, paths[i].c_str()));
    }
    frames.push_back(frame_at(marked, function));
    return type_of_frames(memory, frames, knowledge);
}

// What `vector` or one of its functions allocates.
inline std::string of_vector(const std::string& source, const char* called = "vector",
                             const char* function = "load()",
                             const type_knowledge& knowledge = {}) {
    return type_of({{"allocate", "bits/new_allocator.h"},
                    {"allocate", "bits/alloc_traits.h"},
                    {"_M_allocate", "bits/stl_vector.h"},
                    {called, "bits/stl_vector.h"}},
                   source, function, "/usr/include/c++/12/", knowledge);
}

}  // namespace allocscope_test

#endif  // ALLOCSCOPE_TESTS_UNIT_TYPES_LIBRARY_FRAMES_HPP
