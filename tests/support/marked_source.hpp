// marked_source.hpp - source files for tests; a mark shows the place that is asked about.
//
// Room:     tests/support
// Called:   by tests of what is read from source files
// Threads:  one
// Memory:   a temporary file for each object
//
//     const marked_source marked{"keep(@new part);"};    // line 1, column 6; the file has no mark

#ifndef ALLOCSCOPE_TESTS_SUPPORT_MARKED_SOURCE_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_MARKED_SOURCE_HPP

#include <doctest/doctest.h>
#include <cstddef>  // size_t
#include <cstdlib>  // mkstemps
#include <string>   // string

#include <unistd.h>  // close, unlink, write

namespace allocscope_test {

// A file with a text, for as long as the object lives.
class source_file {
public:
    // The name of the file ends with `ending`, ".c" for example.
    explicit source_file(const std::string& text, const std::string& ending = "") {
        std::string name = "/tmp/allocscope_source_XXXXXX" + ending;
        const int descriptor = ::mkstemps(name.data(), static_cast<int>(ending.size()));
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

}  // namespace allocscope_test

#endif  // ALLOCSCOPE_TESTS_SUPPORT_MARKED_SOURCE_HPP
