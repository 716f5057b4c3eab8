// marked_source.hpp - source files for tests; a mark shows the place that is asked about.
//
// Room:     tests/unit/types
// Called:   by tests of what is read from source files
// Threads:  one
// Memory:   a temporary file for each object
//
//     const marked_source marked{"keep(@new part);"};    // line 1, column 6; the file has no mark
//     type_at_mark("keep(@new part);")                   // "part"

#ifndef ALLOCSCOPE_TESTS_UNIT_TYPES_MARKED_SOURCE_HPP
#define ALLOCSCOPE_TESTS_UNIT_TYPES_MARKED_SOURCE_HPP

#include <allocscope/types/type_from_source.hpp>
#include <allocscope/types/type_ladder.hpp>
#include <allocscope/types/wrapped_request.hpp>

#include <doctest/doctest.h>
#include <cstddef>  // size_t
#include <cstdlib>  // mkstemp
#include <string>   // string

#include <unistd.h>  // close, unlink, write

namespace allocscope_test {

// A file with a text, for as long as the object lives.
class source_file {
public:
    explicit source_file(const std::string& text) {
        char name[] = "/tmp/allocscope_source_XXXXXX";
        const int descriptor = ::mkstemp(name);
        REQUIRE(descriptor >= 0);
        path_ = name;
        REQUIRE(::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
        ::close(descriptor);
    }
    ~source_file() { ::unlink(path_.c_str()); }
    source_file(const source_file&) = delete;
    source_file& operator=(const source_file&) = delete;

    const std::string& path() const { return path_; }

private:
    std::string path_;
};

// The same for a text with one "@", in front of the token that a line table names.
class marked_source {
public:
    explicit marked_source(const std::string& text)
        : mark_(text.find('@')), file_(text.substr(0, mark_) + text.substr(mark_ + 1)) {
        for (std::size_t i = 0; i < mark_; ++i) {
            column_ = text[i] == '\n' ? 1 : column_ + 1;
            line_ += text[i] == '\n' ? 1 : 0;
        }
    }

    const std::string& path() const { return file_.path(); }
    int line() const { return line_; }
    int column() const { return column_; }

private:
    std::size_t mark_;
    source_file file_;
    int line_ = 1;
    int column_ = 1;
};

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

#endif  // ALLOCSCOPE_TESTS_UNIT_TYPES_MARKED_SOURCE_HPP
