#include <allocscope/types/type_ladder.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <unistd.h>

#include <fstream>

using allocscope::symbolize::code_frame;
using allocscope::symbolize::name_type;
using allocscope::symbolize::source_cache;
using allocscope::symbolize::type_answer;
using allocscope::symbolize::type_evidence;

namespace {

code_frame frame(const char* function, const std::string& file, int line, int column) {
    code_frame made;
    made.function = function;
    made.file = file;
    made.line = line;
    made.column = column;
    return made;
}

class source_of_one_line {
public:
    explicit source_of_one_line(const char* line)
        : path_("/tmp/allocscope_ladder_" + std::to_string(::getpid())) {
        std::ofstream{path_} << line << '\n';
    }
    ~source_of_one_line() { ::unlink(path_.c_str()); }
    source_of_one_line(const source_of_one_line&) = delete;
    source_of_one_line& operator=(const source_of_one_line&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace

TEST_CASE("type_ladder: the allocator's frame comes before everything else") {
    source_cache sources;
    const type_answer answer = name_type(
        {frame("std::__new_allocator<int>::allocate(unsigned long, void const*)", "", 0, 0)},
        sources, "vtable for app::widget");
    CHECK(answer.name == "int");
    CHECK(answer.evidence == type_evidence::allocator_frame);
}

TEST_CASE("type_ladder: a vtable names what nothing else does") {
    source_cache sources;
    const type_answer answer =
        name_type({frame("app::make()", "", 0, 0)}, sources, "vtable for app::widget");
    CHECK(answer.name == "app::widget");
    CHECK(answer.evidence == type_evidence::vtable);
}

TEST_CASE("type_ladder: a vtable gives the whole name of what the source says") {
    const source_of_one_line file{"auto* w = new widget;"};
    source_cache sources;
    const std::vector<code_frame> frames = {frame("app::make()", file.path(), 1, 11)};
    CHECK(name_type(frames, sources, "vtable for app::widget").name == "app::widget");
    CHECK(name_type(frames, sources).name == "widget");
    CHECK(name_type(frames, sources).evidence == type_evidence::source_text);
}

TEST_CASE("type_ladder: the vtable of a first member does not stand against the source") {
    const source_of_one_line file{"auto* w = new holder;"};
    source_cache sources;
    const type_answer answer =
        name_type({frame("app::make()", file.path(), 1, 11)}, sources, "vtable for app::widget");
    CHECK(answer.name == "holder");
    CHECK(answer.evidence == type_evidence::source_text);
}

TEST_CASE("type_ladder: a folded function does not tell its template arguments") {
    const source_of_one_line file{"template <class T> T* make() { return new T; }"};
    source_cache sources;
    const code_frame other = frame("app::a* make<app::a>()", file.path(), 1, 39);
    CHECK(name_type({other}, sources).name == "app::a");
    CHECK(name_type({other, frame("app::b* make<app::b>()", file.path(), 1, 23)}, sources).name ==
          "?");
}

TEST_CASE("type_ladder: only the direct caller's source is read") {
    const source_of_one_line file{"auto* w = new widget;"};
    source_cache sources;
    CHECK(
        name_type({frame("", "", 0, 0), frame("app::make()", file.path(), 1, 11)}, sources).name ==
        "?");
    CHECK(name_type({frame("operator new(unsigned long)", "", 0, 0),
                     frame("app::make()", file.path(), 1, 11)},
                    sources)
              .name == "widget");
    CHECK(name_type({}, sources).name == "?");
}
