// type_at_mark.hpp - the type at a place of a source file, found as the product finds it.
//
// Room:     tests/unit/types
// Called:   by tests of what is read from source files
// Threads:  one
// Memory:   a temporary file for each question
//
//     type_at_mark("keep(@new part);")    // "part"

#ifndef ALLOCSCOPE_TESTS_UNIT_TYPES_TYPE_AT_MARK_HPP
#define ALLOCSCOPE_TESTS_UNIT_TYPES_TYPE_AT_MARK_HPP

#include <allocscope/types/type_from_source.hpp>
#include <allocscope/types/type_ladder.hpp>
#include <allocscope/types/wrapped_request.hpp>

#include <string>  // string

#include "support/marked_source.hpp"

namespace allocscope_test {

// The type that the source has there, without debug information but `knowledge`; "?" when it is not
// certain. `candidate` gets what the size of the block can still make it.
inline std::string type_at(const std::string& path, int line, int column, const char* function,
                           const allocscope::symbolize::type_knowledge& knowledge = {},
                           std::string* candidate = nullptr) {
    allocscope::plain::arena memory;
    allocscope::symbolize::code_frame frame;
    frame.function = function;
    frame.file = path.c_str();
    frame.line = line;
    frame.column = column;
    allocscope::symbolize::source_cache sources;
    allocscope::symbolize::read_names names{memory};
    allocscope::symbolize::source_notes notes;
    const auto type =
        allocscope::symbolize::type_from_source(names, frame, sources, knowledge, &notes);
    if (candidate != nullptr) candidate->assign(notes.deduced.data(), notes.deduced.size());
    return type.empty() ? "?" : std::string{type.data(), type.size()};
}

inline std::string type_at_mark(const std::string& source, const char* function = "main") {
    const marked_source marked{source};
    return type_at(marked.path(), marked.line(), marked.column(), function);
}

inline std::string candidate_at_mark(const std::string& source, const char* function) {
    const marked_source marked{source};
    std::string candidate;
    type_at(marked.path(), marked.line(), marked.column(), function, {}, &candidate);
    return candidate;
}

// A header beside the marked sources that include it.
class header_beside {
public:
    explicit header_beside(const std::string& text) : file_(text) {}

    std::string type_at_mark(const std::string& source, const char* function,
                             const allocscope::symbolize::type_knowledge& knowledge) const {
        const std::string& path = file_.path();
        const std::string name = path.substr(path.rfind('/') + 1);
        const marked_source marked{"#include \"" + name + "\"\n" + source};
        return type_at(marked.path(), marked.line(), marked.column(), function, knowledge);
    }
    // Of `new MADE`.
    std::string type_of(const std::string& made,
                        const allocscope::symbolize::type_knowledge& knowledge) const {
        return type_at_mark("auto* p = @new " + made + ";", "main", knowledge);
    }

private:
    source_file file_;
};

// The type of what the innermost of these frames asked for.
inline allocscope::symbolize::type_answer name_type(
    allocscope::symbolize::read_names& names,
    allocscope::symbolize::list<allocscope::symbolize::code_frame>& frames,
    allocscope::symbolize::source_cache& sources,
    const allocscope::symbolize::type_knowledge& knowledge = {}) {
    using namespace allocscope::symbolize;
    const wrapped_request request =
        find_wrapped_request(names, frames, asking_frame(names, frames), sources);
    return allocscope::symbolize::name_type(names, frames, request, sources, knowledge);
}

}  // namespace allocscope_test

#endif  // ALLOCSCOPE_TESTS_UNIT_TYPES_TYPE_AT_MARK_HPP
